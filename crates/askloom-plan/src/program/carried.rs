//! What a write changes in the values of others that the records of a master carry.

use super::read::slots;
use super::write::Writing;
use super::{Change, ChangeKind, EachChange, ValueFrom};
use crate::layout::Table;
use askloom_model::{ClassId, Collection, Member};

impl Writing<'_> {
    /// Aggregates that the step writes get the values with their members; others that refer to what it writes are each
    /// changed by itself, with the version that it has. The changes of the step begin at `own`.
    pub(super) fn carried(&self, carried: &Table, own: usize, changes: &mut Vec<Change>) {
        let design = &self.layout().design;
        let Some(master) = self.layout().table(design.stored_in(carried.collection)) else { return };
        let values = slots(master, |column| master.carries(column), ValueFrom::After);
        for change in changes.iter_mut().skip(own) {
            if change.table == master.collection
                && change.each == EachChange::Once
                && let ChangeKind::Set { set, .. } = &mut change.kind
            {
                set.extend(values.iter().cloned());
            }
        }
        if self.is_carried_elsewhere(&design.collections[carried.collection]) {
            let key = slots(master, |column| master.names_block(column), ValueFrom::After);
            let set = ChangeKind::Set { key, set: values };
            changes.push(self.change(master, set, EachChange::NewRows(carried.collection)));
        }
    }

    /// Whether the paths of what is carried lead to what the step writes.
    fn is_carried_elsewhere(&self, carried: &Collection) -> bool {
        let conceptual = self.conceptual();
        // A link that is named by one end may be held by the aggregate at the other.
        let holders = self.other_ends().into_iter().map(|end| conceptual.ends[end].class);
        let classes = std::iter::once(self.plan.class).chain(holders);
        let written: Vec<ClassId> = classes.filter_map(|class| conceptual.aggregate_root(class)).collect();
        let is_written = |class| conceptual.aggregate_root(class).is_some_and(|root| written.contains(&root));
        carried.fields().iter().flat_map(|path| path.members()).any(|member| match member {
            Member::End(end) => is_written(conceptual.ends[end].target),
            Member::Attribute(_) => false,
        })
    }
}
