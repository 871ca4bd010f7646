//! Changes that a write causes in other aggregates: it deletes or clears references to a deleted aggregate, and clears
//! the link of the former holder where only one aggregate may have it; or the link itself is held by another one.

use super::read::slots;
use super::write::{Writing, assignments};
use super::{Change, ChangeKind, EachChange, Holder, LinkCause, Term, ValueFrom};
use crate::layout::{Column, Table};
use askloom_model::{
    CheckOf, ClassId, Collection, EndId, Member, OnDelete, RelationshipKind, Value, WriteAction,
};

impl Writing<'_> {
    /// Adds the changes of all other aggregates.
    pub(super) fn cascades(&self, changes: &mut Vec<Change>) {
        let mut gone = Vec::new();
        for check in &self.plan.checks {
            let end = check.end;
            match check.what {
                CheckOf::Referrers { .. } => self.referrer(end, &mut gone, changes),
                CheckOf::Holders { .. } if self.takes_over(end) => {
                    self.cut(Holder { end, because: LinkCause::TakenOver }, changes);
                }
                CheckOf::Partner { .. } if self.conceptual().ends[end].inverse == Some(end) => {
                    self.cut(Holder { end, because: LinkCause::Mirrored }, changes);
                }
                CheckOf::Holders { .. } | CheckOf::Partner { .. } | CheckOf::TargetLives { .. } => {}
            }
        }
        for end in self.other_ends() {
            self.cut(Holder { end, because: LinkCause::OtherEnd }, changes);
        }
    }

    /// The stored ends of links that the statement names by their other ends: other aggregates hold them.
    pub(super) fn other_ends(&self) -> Vec<EndId> {
        let conceptual = self.conceptual();
        let named: Vec<EndId> = match self.plan.action {
            WriteAction::Connect(end) | WriteAction::Disconnect(end) => vec![end],
            WriteAction::Update | WriteAction::UpdateElements(_) => {
                let set = assignments(self.step).iter().map(|assignment| assignment.member);
                set.filter_map(|member| match member {
                    Member::End(end) => Some(end),
                    Member::Attribute(_) => None,
                })
                .collect()
            }
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Delete
            | WriteAction::Add(_)
            | WriteAction::Remove(_) => Vec::new(),
        };
        let derived = named.into_iter().filter(|&end| {
            let row = &conceptual.ends[end];
            !row.stored && row.kind != RelationshipKind::Composition
        });
        derived.map(|end| conceptual.stored_end(end)).collect()
    }

    /// Whether the write sets a link that only one aggregate may have to a target.
    fn takes_over(&self, end: EndId) -> bool {
        let ends = &self.conceptual().ends;
        let sets = match self.plan.action {
            WriteAction::Insert
            | WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Update
            | WriteAction::UpdateElements(_)
            | WriteAction::Add(_)
            | WriteAction::Connect(_) => true,
            WriteAction::Delete | WriteAction::Remove(_) | WriteAction::Disconnect(_) => false,
        };
        sets && ends[end].inverse.is_some_and(|inverse| !ends[inverse].cardinality.is_many())
    }

    /// Applies the rule of a reference to the aggregates that refer to a deleted one.
    fn referrer(&self, end: EndId, gone: &mut Vec<EndId>, changes: &mut Vec<Change>) {
        if gone.contains(&end) {
            return;
        }
        gone.push(end);
        let conceptual = self.conceptual();
        let row = &conceptual.ends[end];
        let holder = Holder { end, because: LinkCause::TargetDeleted };
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

    /// Changes a link in the aggregates that hold it.
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
            let is_lost = match holder.because {
                LinkCause::TargetDeleted | LinkCause::TakenOver => true,
                LinkCause::Mirrored => false,
                LinkCause::OtherEnd => matches!(self.plan.action, WriteAction::Disconnect(_)),
            };
            let changed = |term: Term| Term {
                name: format!("other.{}", term.name).into(),
                from: ValueFrom::Other,
                value: (alone && is_lost).then_some(Value::Null),
                ..term
            };
            let set = self.members(table, &members).into_iter().map(changed).collect();
            let kind = ChangeKind::Set { key, set };
            changes.push(Change { class: root, ..self.change(table, kind, EachChange::Holder(holder)) });
            let reads = |collection: &Collection| {
                let goes = self.goes_along(holder) && self.has_part(collection, class);
                !collection.whole().is_empty() || uses(collection, end) || goes
            };
            self.rows(holder, changes, |collection| self.is_about(collection, root) && reads(collection));
        }
    }

    /// Whether whoever holds the link is deleted with its target: a part, since its aggregate stays.
    fn goes_along(&self, holder: Holder) -> bool {
        let cascades = self.conceptual().ends[holder.end].on_delete() == Some(OnDelete::Cascade);
        cascades && holder.because == LinkCause::TargetDeleted
    }

    /// Whether a collection goes by the owners of parts of a class.
    fn has_part(&self, collection: &Collection, part: ClassId) -> bool {
        let conceptual = self.conceptual();
        collection.members().any(|member| match member {
            Member::End(end) => {
                let target = conceptual.ends[conceptual.stored_end(end)].target;
                conceptual.is_kind_of(part, target) || conceptual.is_kind_of(target, part)
            }
            Member::Attribute(_) => false,
        })
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
