//! Changes that a write causes in other aggregates: it deletes or clears references to a deleted aggregate, and clears
//! the link of the former holder where only one aggregate may have it.

use super::read::slots;
use super::write::{Writing, assignments};
use super::{Change, ChangeKind, EachChange, Holder, LostLink, Term, ValueFrom};
use crate::layout::{Column, Table};
use askloom_model::{
    CheckOf, ClassId, Collection, EndId, Member, OnDelete, RelationshipKind, Value, WriteAction,
};

impl Writing<'_> {
    /// Adds the changes of all other aggregates.
    pub(super) fn cascades(&self, changes: &mut Vec<Change>) {
        let mut gone = Vec::new();
        for check in &self.plan.checks {
            if let CheckOf::Referrers { .. } = check.what {
                self.referrer(check.end, &mut gone, changes);
            }
        }
        for end in self.taken() {
            self.cut(Holder { end, because: LostLink::TakenOver }, changes);
        }
    }

    /// The links that the write sets and that only one aggregate may have to a target.
    fn taken(&self) -> Vec<EndId> {
        let conceptual = self.conceptual();
        let set: Vec<Member> = match self.plan.action {
            WriteAction::Insert | WriteAction::Upsert | WriteAction::Store => {
                conceptual.all_members(self.plan.class).collect()
            }
            WriteAction::Update => assignments(self.step).iter().map(|assigned| assigned.member).collect(),
            WriteAction::Connect(end) => vec![Member::End(conceptual.stored_end(end))],
            WriteAction::Delete
            | WriteAction::Add(_)
            | WriteAction::Remove(_)
            | WriteAction::UpdateElements(_)
            | WriteAction::Disconnect(_) => Vec::new(),
        };
        let ends = set.into_iter().filter_map(|member| match member {
            Member::End(end) => Some(end),
            Member::Attribute(_) => None,
        });
        let alone = |end: &EndId| {
            let row = &conceptual.ends[*end];
            let other = row.inverse.map(|inverse| conceptual.ends[inverse].cardinality.is_many());
            row.stored && row.kind != RelationshipKind::Composition && other == Some(false)
        };
        ends.filter(alone).collect()
    }

    /// Applies the rule of a reference to the aggregates that refer to a deleted one.
    fn referrer(&self, end: EndId, gone: &mut Vec<EndId>, changes: &mut Vec<Change>) {
        if gone.contains(&end) {
            return;
        }
        gone.push(end);
        let conceptual = self.conceptual();
        let row = &conceptual.ends[end];
        let holder = Holder { end, because: LostLink::TargetDeleted };
        match row.on_delete() {
            Some(OnDelete::Refuse) | None => {}
            Some(OnDelete::Clear) => self.cut(holder, changes),
            Some(OnDelete::Cascade) => {
                let is_root = conceptual.classes[row.class].owner.is_none();
                let Some(root) = conceptual.aggregate_root(row.class).filter(|_| is_root) else {
                    return self.cut(holder, changes);
                };
                self.bury(root, holder, changes);
                let further = conceptual.ends.iter().filter(|(_, other)| {
                    other.stored && conceptual.aggregate_root(other.target) == Some(root)
                });
                further.for_each(|(other, _)| self.referrer(other, gone, changes));
            }
        }
    }

    fn bury(&self, root: ClassId, holder: Holder, changes: &mut Vec<Change>) {
        let Some(table) = self.master_of(root) else { return };
        let key = slots(table, |column| table.names_block(column), ValueFrom::Other);
        let each = EachChange::Holder(holder);
        changes.push(Change { class: root, ..self.change(table, ChangeKind::Bury { key }, each) });
        self.rows(holder, changes, |collection| self.is_about(collection, root));
    }

    /// Removes a link from the aggregates that hold it.
    fn cut(&self, holder: Holder, changes: &mut Vec<Change>) {
        let end = holder.end;
        let conceptual = self.conceptual();
        let class = conceptual.ends[end].class;
        let roots = match conceptual.aggregate_root(class) {
            Some(root) => vec![root],
            None => conceptual.homes(class).iter().map(|home| home.root).collect(),
        };
        for root in roots {
            let Some(table) = self.master_of(root) else { continue };
            let occurrences = conceptual.occurrences(class);
            let inside = occurrences.iter().filter(|at| at.root == root).filter_map(|at| at.hops.first());
            let mut members: Vec<Member> = inside.map(|&hop| Member::End(hop)).collect();
            if members.is_empty() {
                members.push(Member::End(end));
            }
            let key = slots(table, |column| table.names_block(column), ValueFrom::Other);
            // A to-one link becomes null. Of a to-many link, or inside a part, the other values stay.
            let alone = members == [Member::End(end)] && !conceptual.ends[end].cardinality.is_many();
            let lost = |term: Term| Term {
                name: format!("other.{}", term.name).into(),
                from: ValueFrom::Other,
                value: alone.then_some(Value::Null),
                ..term
            };
            let set = self.members(table, &members).into_iter().map(lost).collect();
            let kind = ChangeKind::Set { key, set };
            changes.push(Change { class: root, ..self.change(table, kind, EachChange::Holder(holder)) });
            let uses = |collection: &Collection| {
                self.is_about(collection, root) && (!collection.whole().is_empty() || uses(collection, end))
            };
            self.rows(holder, changes, uses);
        }
    }

    fn master_of(&self, root: ClassId) -> Option<&Table> {
        self.layout().table(self.layout().design.master(root)?)
    }

    /// Replaces the rows of the holder in the copies that are wanted.
    fn rows(&self, holder: Holder, changes: &mut Vec<Change>, wanted: impl Fn(&Collection) -> bool) {
        let layout = self.layout();
        for table in layout.tables() {
            let collection = &layout.design.collections[table.collection];
            let is_master = layout.design.master(collection.source.root) == Some(table.collection);
            if is_master || !wanted(collection) {
                continue;
            }
            let drop = ChangeKind::DropRow(slots(table, Column::is_key, ValueFrom::Before));
            changes.push(self.change(table, drop, EachChange::OldRowsOfHolder(table.collection, holder)));
            let put = ChangeKind::PutRow(slots(table, |_| true, ValueFrom::Other));
            changes.push(self.change(table, put, EachChange::NewRowsOfHolder(table.collection, holder)));
        }
    }

    /// Whether rows of a collection contain data of aggregates of a root.
    fn is_about(&self, collection: &Collection, root: ClassId) -> bool {
        let conceptual = self.conceptual();
        let is = |class: ClassId| conceptual.aggregate_root(class) == Some(root);
        let hop = |member: Member| match member {
            Member::End(end) => is(conceptual.ends[end].class) || is(conceptual.ends[end].target),
            Member::Attribute(_) => false,
        };
        is(collection.source.root) || collection.members().any(hop)
    }
}

fn uses(collection: &Collection, end: EndId) -> bool {
    collection.members().any(|member| member == Member::End(end))
}
