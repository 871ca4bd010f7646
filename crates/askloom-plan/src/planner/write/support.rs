//! Support reads: those that find the rows of copies, and those that rebuild them.

use super::copies::{is_inside, is_many};
use super::step::{Changes, Lists};
use super::{Writing, lookup};
use crate::dependency;
use crate::planner::join_strategy;
use crate::upkeep::{self, Place};
use askloom_model::{BackStep, ClassId, Collection, Joining, Member, SupportOf, Work};

/// The support reads of a step, copy by copy. What one copy has read, the next need not read again.
#[derive(Default)]
pub(super) struct Support {
    known: Vec<Read>,
    open: Vec<Read>,
}

#[derive(Clone)]
pub(super) struct Read {
    /// The class of the rows' roots, where it matters, and the steps from there to the written instance.
    pub(super) from: (Option<ClassId>, Vec<Member>),
    pub(super) of: SupportOf,
    pub(super) work: Work,
    pub(super) shared: bool,
}

impl Support {
    fn push(&mut self, root: Option<ClassId>, way: &[Member], of: SupportOf, work: Work) {
        let from = (root, way.to_vec());
        let same = |read: &Read| read.from == from && is_same_read(&read.of, &of);
        if self.open.iter().any(same) {
            return;
        }
        let shared = self.known.iter().any(same);
        let work = if shared { Work::default() } else { work };
        self.open.push(Read { from, of, work, shared });
    }

    /// The reads of the copy that is done.
    pub(super) fn take(&mut self) -> Vec<Read> {
        let reads = std::mem::take(&mut self.open);
        self.known.extend(reads.iter().cloned());
        reads
    }
}

impl Writing<'_> {
    /// From the written instances to the roots of the rows that hold them. How many those are.
    pub(super) fn walk_back(&self, point: &[Member], support: &mut Support) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let mut there = self.matched;
        for (at, &step) in point.iter().enumerate().rev() {
            let Member::End(end) = step else { continue };
            if is_inside(conceptual, step) {
                continue;
            }
            let row = &conceptual.ends[end];
            if !row.stored {
                // The instance itself stores the link.
                there *=
                    row.inverse.map_or(1.0, |stored| self.planner.statistics.fan_out(Member::End(stored)));
                continue;
            }
            let each = self.planner.statistics.referring(end);
            let index = self.planner.design.reverse_index(end);
            let holder =
                conceptual.aggregate_root(row.class).and_then(|root| self.planner.design.master(root));
            let sizes = self.sizes();
            let work = match (index, holder) {
                (Some(index), _) => lookup::found(self.planner.costing, &sizes, index, there, each),
                (None, Some(master)) => lookup::scan(self.planner.costing, &sizes, master),
                (None, None) => Work::default(),
            };
            let (_, way) = point.split_at(at);
            support.push(None, way, SupportOf::Back(BackStep { end, index }), work);
            there *= each;
        }
        there
    }

    /// Reads what else stands in the rows.
    pub(super) fn rebuild(
        &self,
        collection: &Collection,
        point: &[Member],
        roots: f64,
        support: &mut Support,
    ) {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let source = collection.source.root;
        let root = conceptual.aggregate_root(source);
        if let (false, Some(master)) = (point.is_empty(), root.and_then(|root| design.master(root))) {
            let how = Joining::LookUp { master };
            let work = lookup::get(self.planner.costing, &self.sizes(), master, roots);
            support.push(Some(source), point, SupportOf::Rebuild { steps: Vec::new(), how }, work);
        }
        let places = upkeep::places(conceptual, collection);
        for Place { steps, .. } in places.iter().filter(|place| place.steps != point) {
            let Some((&step, before)) = steps.split_last() else { continue };
            let Some(how) = lookup::joining(conceptual, design, step) else { continue };
            let Some((how, work)) = self.reached(before, step, how, point, roots) else { continue };
            support.push(Some(source), point, SupportOf::Rebuild { steps: steps.clone(), how }, work);
        }
    }

    fn is_relied_on(&self, step: Member) -> bool {
        let conceptual = &self.planner.model.conceptual;
        match step {
            Member::End(end) => dependency::is_relied_on(conceptual, conceptual.stored_end(end)),
            Member::Attribute(_) => false,
        }
    }

    /// How one step towards what else stands in the rows is taken, and its work; nothing if that is there already.
    fn reached(
        &self,
        before: &[Member],
        step: Member,
        how: Joining,
        point: &[Member],
        roots: f64,
    ) -> Option<(Joining, Work)> {
        let conceptual = &self.planner.model.conceptual;
        let (costing, sizes) = (self.planner.costing, self.sizes());
        let own = point.is_empty() && before.iter().all(|&step| is_inside(conceptual, step));
        if let (true, Changes::Made(lists)) = (own, &self.step.changes) {
            match how {
                // Nobody refers to what is only now made. Where that is not relied on, it has to be seen.
                Joining::Back { .. } | Joining::BackByScan { .. } if self.is_relied_on(step) => return None,
                Joining::Back { index, .. } => {
                    let work = lookup::found(costing, &sizes, index, roots, 0.0);
                    return Some((how, work));
                }
                Joining::LookUp { .. } | Joining::PartByIndex { .. } | Joining::PartByScan { .. }
                    if *lists == Lists::Empty && is_many(conceptual, step) =>
                {
                    return None;
                }
                Joining::Inside
                | Joining::LookUp { .. }
                | Joining::PartByIndex { .. }
                | Joining::PartByScan { .. }
                | Joining::BackByScan { .. } => {}
            }
        }
        let there: f64 = before.iter().map(|&step| self.planner.statistics.fan_out(step)).product();
        let work = lookup::work(costing, &sizes, &how, step, roots * there);
        match how {
            Joining::Inside => None,
            // Reading all owners can be cheaper than going to the index for each part.
            Joining::PartByIndex { .. } => {
                Some(join_strategy::cheaper(costing, &sizes, &how, &work).unwrap_or((how, work)))
            }
            Joining::LookUp { .. }
            | Joining::PartByScan { .. }
            | Joining::Back { .. }
            | Joining::BackByScan { .. } => Some((how, work)),
        }
    }
}

/// Whether two reads are one, however it is done: that follows from the design.
pub(super) fn is_same_read(one: &SupportOf, other: &SupportOf) -> bool {
    match (one, other) {
        (SupportOf::Back(one), SupportOf::Back(other)) => one.end == other.end,
        (SupportOf::Rebuild { steps: one, .. }, SupportOf::Rebuild { steps: other, .. }) => one == other,
        (SupportOf::Back(_), SupportOf::Rebuild { .. }) | (SupportOf::Rebuild { .. }, SupportOf::Back(_)) => {
            false
        }
    }
}
