//! What `checked` references ask of a write.

use super::step::Changes;
use super::{Writing, lookup};
use askloom_model::{CheckOf, CollectionId, EndId, Member, OnDelete, ReferenceCheck, Work, WriteAction};

impl Writing<'_> {
    pub(super) fn checks(&self, master: CollectionId) -> Vec<ReferenceCheck> {
        match self.step.changes {
            Changes::Ended => self.referrers(master),
            Changes::Made(_) | Changes::Replaced | Changes::Fields(_) => self.targets(),
        }
    }

    /// The targets of checked references that the step sets are there.
    fn targets(&self) -> Vec<ReferenceCheck> {
        let conceptual = &self.planner.model.conceptual;
        let set = |member: &Member| match &self.step.changes {
            Changes::Made(_) | Changes::Replaced => true,
            Changes::Ended => false,
            Changes::Fields(changes) => changes.iter().any(|change| change.path.last() == Some(member)),
        };
        // UPDATE of elements sets references of the elements.
        let inside: Vec<Member> = match (&self.step.changes, self.step.action) {
            (Changes::Fields(changes), WriteAction::UpdateElements(_)) => {
                changes.iter().filter_map(|change| change.path.last().copied()).collect()
            }
            (_, _) => Vec::new(),
        };
        let members = conceptual.all_members(self.step.class).chain(inside);
        let checked = members.filter_map(|member| match member {
            Member::End(end) => {
                let row = &conceptual.ends[end];
                (row.stored && row.is_checked() && set(&member)).then_some(end)
            }
            Member::Attribute(_) => None,
        });
        checked
            .filter_map(|end| {
                let target = conceptual.aggregate_root(conceptual.ends[end].target)?;
                let master = self.planner.design.master(target)?;
                let work = lookup::get(self.planner.costing, &self.sizes(), master, self.matched);
                Some(self.check(end, CheckOf::TargetLives { master }, work))
            })
            .collect()
    }

    /// Those that refer to what is deleted: refused for, deleted too, or cut loose. Of those that follow, only the
    /// aggregates themselves are counted, not their copies.
    fn referrers(&self, master: CollectionId) -> Vec<ReferenceCheck> {
        let conceptual = &self.planner.model.conceptual;
        let root = self.planner.design.collections[master].source.root;
        let checked = conceptual.ends.iter().filter(|(_, end)| {
            end.stored && end.is_checked() && conceptual.aggregate_root(end.target) == Some(root)
        });
        checked
            .filter_map(|(end, row)| {
                let sizes = self.sizes();
                let holder = self.planner.design.master(conceptual.aggregate_root(row.class)?)?;
                let index = self.planner.design.reverse_index(end);
                let each = self.planner.statistics.referring(end);
                let mut work = match index {
                    Some(index) => lookup::found(self.planner.costing, &sizes, index, self.matched, each),
                    None => lookup::scan(self.planner.costing, &sizes, holder),
                };
                let followed = each * self.matched;
                let entry = sizes.entry_bytes(holder);
                match row.on_delete() {
                    Some(OnDelete::Cascade) => {
                        let block = sizes.block(holder);
                        work.deletes = followed * block.entries;
                        work.dropped = followed * block.bytes;
                    }
                    Some(OnDelete::Clear) => {
                        work = Work { puts: followed, written: followed * entry, ..work };
                    }
                    Some(OnDelete::Refuse) | None => {}
                }
                Some(self.check(end, CheckOf::Referrers { index }, work))
            })
            .collect()
    }
    fn check(&self, end: EndId, what: CheckOf, work: Work) -> ReferenceCheck {
        let work = self.together(work);
        ReferenceCheck { end, what, work, estimate: self.price(&work) }
    }
}
