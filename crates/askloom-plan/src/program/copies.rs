//! What a write changes in the copies of what it is about.

use super::read::slots;
use super::write::{Writing, assignments};
use super::{Change, ChangeKind, EachChange, ValueFrom};
use crate::layout::{Column, Shape, Source, Table};
use crate::planner::is_single;
use crate::positions::each_value;
use askloom_model::{Assignment, Collection, Leaf, Member, PositionId, RelationshipKind, WriteAction};

impl Writing<'_> {
    /// The rows of a copy: those that it was in go, those that it is in come.
    pub(super) fn copy(&self, table: &Table, changes: &mut Vec<Change>) {
        let collection = &self.layout().design.collections[table.collection];
        let own = collection.source.positions.len() == 1
            && self.conceptual().is_kind_of(self.plan.class, collection.source.root)
            && each_value(self.conceptual(), collection)
                .and_then(|at| collection.block_key.get(at))
                .is_none_or(|field| is_single(self.conceptual(), &field.path))
            && self.is_root_alone(collection);
        let drops = match self.plan.action {
            // A row of what it belongs to may have stood there without it.
            WriteAction::Insert => !self.is_root_alone(collection),
            WriteAction::Upsert
            | WriteAction::Store
            | WriteAction::Delete
            | WriteAction::Remove(_)
            | WriteAction::Disconnect(_)
            | WriteAction::Connect(_)
            | WriteAction::UpdateElements(_)
            | WriteAction::Add(_) => true,
            WriteAction::Update => self.changes_key(table) || collection.source.condition.is_some(),
        };
        if drops {
            let each = if own { EachChange::OldRow } else { EachChange::OldRows(table.collection) };
            let key = slots(table, Column::is_key, ValueFrom::Before);
            changes.push(self.change(table, ChangeKind::DropRow(key), each));
        }
        // What it was joined to may stay behind in a row of its own.
        if self.plan.action != WriteAction::Delete || !self.is_root_alone(collection) {
            let each = match (&collection.source.condition, own) {
                (_, false) => EachChange::NewRows(table.collection),
                (Some(_), true) => EachChange::RowIfHeld,
                (None, true) => EachChange::Once,
            };
            let cells = if own { self.cells(table) } else { slots(table, |_| true, ValueFrom::After) };
            changes.push(self.change(table, ChangeKind::PutRow(cells), each));
        }
    }

    /// Whether rows come and go with the written instance, which stands in them nowhere else.
    fn is_root_alone(&self, collection: &Collection) -> bool {
        let conceptual = self.conceptual();
        let class = self.plan.class;
        let related = |other| conceptual.is_kind_of(class, other) || conceptual.is_kind_of(other, class);
        let mut others = collection.source.positions.iter().skip(1);
        let mut hops = collection.held().flat_map(|path| &path.hops);
        // Who refers to an instance is stored in others.
        let mut referrers = collection.held().filter_map(|path| match path.leaf {
            Leaf::Reference(end) => Some(&conceptual.ends[end]).filter(|row| !row.stored),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        });
        conceptual.is_kind_of(class, collection.source.root)
            && !others.any(|(_, position)| position.class.is_some_and(related))
            && !hops.any(|&hop| related(conceptual.ends[hop].target))
            && !referrers.any(|row| related(row.target))
    }

    /// Whether an update may move rows to other keys.
    fn changes_key(&self, table: &Table) -> bool {
        let stored = |assignment: &Assignment| match assignment.member {
            Member::End(end) => Member::End(self.conceptual().stored_end(end)),
            attribute @ Member::Attribute(_) => attribute,
        };
        let set: Vec<Member> = assignments(self.step).iter().map(stored).collect();
        // A node is keyed by all above it, so that another link moves it.
        let is_link = |member: &Member| matches!(member, Member::End(_));
        // A part that is replaced takes the rows along in which it stands.
        let collection = &self.layout().design.collections[table.collection];
        if set.iter().any(|&member| self.holds_a_position(member, collection)) {
            return true;
        }
        if matches!(table.shape, Shape::Nodes(_)) && set.iter().any(is_link) {
            return true;
        }
        let leaf = |path: &askloom_model::Path| match path.leaf {
            Leaf::Attribute(id) => set.contains(&Member::Attribute(id)),
            Leaf::Reference(id) => set.contains(&Member::End(self.conceptual().stored_end(id))),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        };
        let hops = |path: &askloom_model::Path| {
            path.hops.iter().any(|&end| set.contains(&Member::End(self.conceptual().stored_end(end))))
        };
        table.columns.iter().filter(|column| column.is_key()).any(|column| match &column.source {
            Source::Path { path, .. } => {
                leaf(path) || hops(path) || self.is_below(table, path.position, &set)
            }
            // Another target of a link is another row.
            Source::Position { position, .. } => self.is_below(table, *position, &set),
            Source::Node | Source::Whole(_) | Source::Member(_) => false,
        })
    }

    /// Whether a member has parts that stand at a position of a copy, or that its key goes through.
    fn holds_a_position(&self, member: Member, collection: &Collection) -> bool {
        let conceptual = self.conceptual();
        let Member::End(end) = member else { return false };
        let row = &conceptual.ends[end];
        let parts = match row.kind {
            RelationshipKind::Composition => conceptual.inside(row.target),
            RelationshipKind::Association | RelationshipKind::Aggregation => return false,
        };
        let classes = collection.source.positions.iter().filter_map(|(_, position)| position.class);
        let keys = collection.block_key.iter().chain(&collection.entry_key);
        let through = keys.flat_map(|field| &field.path.hops).map(|&hop| conceptual.ends[hop].target);
        let related = |one, other| conceptual.is_kind_of(one, other) || conceptual.is_kind_of(other, one);
        classes.chain(through).any(|class| parts.iter().any(|&part| related(part, class)))
    }

    fn is_below(&self, table: &Table, position: PositionId, set: &[Member]) -> bool {
        let collection = &self.layout().design.collections[table.collection];
        let chain = collection.chain(position);
        let stored = |step: Member| match step {
            Member::End(end) => Member::End(self.conceptual().stored_end(end)),
            Member::Attribute(_) => step,
        };
        let mut hops = chain.iter().filter_map(|&at| collection.source.positions[at].from);
        hops.any(|hop| set.contains(&stored(hop.step)))
    }
}
