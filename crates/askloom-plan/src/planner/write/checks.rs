//! What references ask of a write: `checked` ones that targets live, others that both ends of a link agree.

use super::copies::roots;
use super::step::{Changes, Lists};
use super::{Writing, lookup};
use askloom_model::{CheckOf, ClassId, End, EndId, Joining, Member, OnDelete, ReferenceCheck, Work};
use std::collections::BTreeMap;

/// How many aggregates of a root are deleted for the sake of a reference of theirs.
type Gone = BTreeMap<(ClassId, EndId), f64>;

impl Writing<'_> {
    pub(super) fn checks(&self) -> Vec<ReferenceCheck> {
        let mut checks = match self.step.changes {
            Changes::Ended => Vec::new(),
            Changes::Made(_) | Changes::Replaced | Changes::Fields(_) => self.targets(),
        };
        checks.extend(self.referrers());
        checks.extend(self.links());
        checks
    }

    /// The targets of checked references that the step sets are there.
    fn targets(&self) -> Vec<ReferenceCheck> {
        let conceptual = &self.planner.model.conceptual;
        let checked = conceptual
            .ends
            .iter()
            .filter(|(end, row)| row.stored && row.is_checked() && self.step.effects.sets(conceptual, *end));
        checked
            .filter_map(|(end, _)| {
                let how = lookup::joining(conceptual, self.planner.design, Member::End(end))?;
                let gets = if self.is_in_empty_list(end) { 0.0 } else { self.matched };
                let work = lookup::work_of_roots(self.planner.costing, &self.sizes(), &how, gets);
                Some(self.check(end, CheckOf::TargetLives { how }, work))
            })
            .collect()
    }

    /// Whether references at an end come only with a list that a new instance is expected to start without.
    fn is_in_empty_list(&self, end: EndId) -> bool {
        let conceptual = &self.planner.model.conceptual;
        let Changes::Made(Lists::Empty) = self.step.changes else { return false };
        let is_many = |end: EndId| conceptual.ends[end].cardinality.is_many();
        let occurrences = conceptual.occurrences(conceptual.ends[end].class);
        let root = conceptual.aggregate_root(self.step.class);
        let here = occurrences.iter().filter(|occurrence| Some(occurrence.root) == root);
        let mut within = here.map(|occurrence| occurrence.hops.iter().any(|&hop| is_many(hop)));
        is_many(end) || within.all(|in_list| in_list)
    }

    /// Those that refer to what is deleted: refused for, deleted too, or cut loose. Of those that follow, only the
    /// aggregates themselves are counted here; their copies are counted with the copies.
    fn referrers(&self) -> Vec<ReferenceCheck> {
        let conceptual = &self.planner.model.conceptual;
        let gone = self.gone();
        let checked = conceptual.ends.iter().filter_map(|(id, end)| {
            let targets = self.ended_targets(end, &gone).filter(|_| end.stored && end.is_checked())?;
            Some((id, end, targets))
        });
        let ways = checked.flat_map(|(end, row, targets)| {
            let ways = lookup::every_way_back(conceptual, self.planner.design, end);
            let each = self.planner.statistics.referring(end) / (ways.len() as f64).max(1.0);
            ways.into_iter().map(move |how| (end, row, how, targets, each))
        });
        ways.map(|(end, row, how, targets, each)| {
            let sizes = self.sizes();
            let mut work = self.holders(&how, targets, each);
            let followed = each * targets;
            match (row.on_delete(), how.master()) {
                (Some(OnDelete::Cascade), Some(holder)) => {
                    let block = sizes.block(holder);
                    work.deletes = followed * block.entries;
                    work.dropped = followed * block.bytes;
                }
                (Some(OnDelete::Clear), Some(holder)) => {
                    let entry = sizes.entry_bytes(holder);
                    work = Work { puts: followed, written: followed * entry, ..work };
                }
                (Some(OnDelete::Cascade | OnDelete::Clear | OnDelete::Refuse) | None, _) => {}
            }
            self.check(end, CheckOf::Referrers { how }, work)
        })
        .collect()
    }

    /// How many targets of an end are deleted: with what is written, or along with it.
    fn ended_targets(&self, end: &End, gone: &Gone) -> Option<f64> {
        let conceptual = &self.planner.model.conceptual;
        if self.step.effects.ends(conceptual, end.target) {
            return Some(self.matched);
        }
        let root = conceptual.aggregate_root(end.target)?;
        let here = gone.iter().filter(|((of, _), _)| *of == root).map(|(_, number)| *number);
        here.reduce(|one, other| one + other)
    }

    /// What checked references delete along with what is written.
    fn gone(&self) -> Gone {
        let conceptual = &self.planner.model.conceptual;
        let mut gone = Gone::new();
        loop {
            let before = gone.len();
            for (id, end) in conceptual.ends.iter() {
                let cascades = end.stored && end.on_delete() == Some(OnDelete::Cascade);
                let Some(targets) = self.ended_targets(end, &gone).filter(|_| cascades) else { continue };
                let holders = targets * self.planner.statistics.referring(id);
                for root in roots(conceptual, end.class) {
                    gone.entry((root, id)).or_insert(holders);
                }
            }
            if gone.len() == before {
                return gone;
            }
        }
    }

    /// How many aggregates around instances of a class checked references delete or change along with what is written.
    pub(super) fn followers(&self, class: ClassId) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let (at, gone) = (roots(conceptual, class), self.gone());
        let holds = |end: &End| roots(conceptual, end.class).iter().any(|root| at.contains(root));
        let follows = |end: &End| matches!(end.on_delete(), Some(OnDelete::Cascade | OnDelete::Clear));
        let ends = conceptual.ends.iter().filter(|(_, end)| end.stored && follows(end) && holds(end));
        let followers = ends.filter_map(|(id, end)| {
            Some(self.ended_targets(end, &gone)? * self.planner.statistics.referring(id))
        });
        followers.sum()
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
