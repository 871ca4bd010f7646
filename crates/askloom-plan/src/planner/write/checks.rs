//! What references ask of a write: `checked` ones that targets live, others that both ends of a link agree.

use super::step::Changes;
use super::{Writing, lookup};
use askloom_model::{
    CheckOf, CollectionId, EndId, Joining, Member, OnDelete, ReferenceCheck, Work, WriteAction,
};

impl Writing<'_> {
    pub(super) fn checks(&self, master: CollectionId) -> Vec<ReferenceCheck> {
        let mut checks = match self.step.changes {
            Changes::Ended => self.referrers(master),
            Changes::Made(_) | Changes::Replaced | Changes::Fields(_) => self.targets(),
        };
        checks.extend(self.links());
        checks
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
                let how = lookup::joining(conceptual, self.planner.design, Member::End(end))?;
                let work = lookup::work_of_roots(self.planner.costing, &self.sizes(), &how, self.matched);
                Some(self.check(end, CheckOf::TargetLives { how }, work))
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
                let how = lookup::back(self.planner.design, end, holder);
                let each = self.planner.statistics.referring(end);
                let mut work = self.holders(&how, self.matched, each);
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
                Some(self.check(end, CheckOf::Referrers { how }, work))
            })
            .collect()
    }

    /// Those that hold a reference to each of so many targets, each of which so many refer to.
    pub(super) fn holders(&self, how: &Joining, targets: f64, each: f64) -> Work {
        let (costing, sizes) = (self.planner.costing, self.sizes());
        match *how {
            Joining::Back { index, master } => {
                let found = lookup::found(costing, &sizes, index, targets, each);
                lookup::add(found, lookup::get(costing, &sizes, master, targets * each))
            }
            Joining::BackByScan { master } => lookup::scan(costing, &sizes, master),
            Joining::Inside
            | Joining::LookUp { .. }
            | Joining::PartByIndex { .. }
            | Joining::PartByScan { .. } => Work::default(),
        }
    }

    pub(super) fn check(&self, end: EndId, what: CheckOf, work: Work) -> ReferenceCheck {
        let work = self.together(work);
        ReferenceCheck { end, what, work, estimate: self.price(&work) }
    }
}
