//! Support reads: those that find the rows of copies, and those that rebuild them.

use super::copies::{is_inside, is_many};
use super::step::{Changes, Lists};
use super::{Writing, lookup};
use crate::cost::Statistics;
use crate::delta::{self, Delta};
use askloom_model::{
    BackStep, ClassId, Collection, Conceptual, Contents, EndId, Joining, Member, SupportOf, Work,
};

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

/// Rows that one delta of a copy finds.
pub(super) struct Rebuilt<'r> {
    pub(super) collection: &'r Collection,
    pub(super) delta: &'r Delta,
    /// From the root of the rows to the written instance.
    pub(super) point: &'r [Member],
    /// How many instances there are on each level of the way, the roots first.
    pub(super) levels: &'r [f64],
    /// Whether any rows are expected. If not, nothing is expected to be read for them either, but it may be.
    pub(super) expected: bool,
}

impl Rebuilt<'_> {
    /// Whether the way up leaves one instance at a place of each row: a position on it, or a single hop of its path.
    fn binds(&self, conceptual: &Conceptual, place: &Delta) -> bool {
        if place.hops.is_empty() {
            return self.delta.chain.contains(&place.bound());
        }
        let single = place.hops.iter().all(|&hop| {
            let row = &conceptual.ends[hop];
            row.stored && row.inverse != Some(hop) && !row.cardinality.is_many()
        });
        single && place.bound() == self.delta.bound() && self.delta.hops.starts_with(&place.hops)
    }

    /// In how many rows something stands at the end of some steps: one for each that is bound, and all beyond that.
    fn rows(&self, statistics: &Statistics<'_>, steps: &[Member]) -> f64 {
        let shared = steps.iter().zip(self.point).take_while(|(one, other)| one == other).count();
        let bound = self.levels.get(shared).copied().unwrap_or(0.0);
        let beyond = steps.iter().skip(shared).map(|&step| statistics.fan_out(step));
        bound * beyond.product::<f64>()
    }
}

impl Writing<'_> {
    /// From the written instances to the roots of the rows that hold them. How many there are on each level of the way,
    /// the roots first.
    pub(super) fn walk_back(&self, point: &[Member], from: f64, support: &mut Support) -> Vec<f64> {
        let conceptual = &self.planner.model.conceptual;
        let mut levels = vec![from];
        let mut there = from;
        for (at, &step) in point.iter().enumerate().rev() {
            there *= match step {
                Member::End(end) if !is_inside(conceptual, step) => {
                    let (_, way) = point.split_at(at);
                    self.step_back(end, way, there, support)
                }
                Member::End(_) | Member::Attribute(_) => 1.0,
            };
            levels.push(there);
        }
        levels.reverse();
        levels
    }

    /// One step towards the roots: how many each of so many instances leads to.
    fn step_back(&self, end: EndId, way: &[Member], there: f64, support: &mut Support) -> f64 {
        let conceptual = &self.planner.model.conceptual;
        let statistics = &self.planner.statistics;
        let row = &conceptual.ends[end];
        if !row.stored {
            // The instance itself stores the link.
            let each = row.inverse.map_or(1.0, |stored| statistics.fan_out(Member::End(stored)));
            self.owner_of(end, way, there * each, support);
            return each;
        }
        if row.inverse == Some(end) {
            self.owner_of(end, way, there * statistics.fan_out(Member::End(end)), support);
        }
        // Nobody refers to what is only now made. That has to be seen.
        let is_new = way.len() == 1 && self.step.makes(conceptual, row.target);
        let each = if is_new { 0.0 } else { statistics.referring(end) };
        let (costing, sizes) = (self.planner.costing, self.sizes());
        let ways = lookup::every_way_back(conceptual, self.planner.design, end);
        let of_way = each / (ways.len() as f64).max(1.0);
        for how in ways {
            let (index, master, work) = match how {
                Joining::Back { index, master } => {
                    (Some(index), master, lookup::found(costing, &sizes, index, there, of_way))
                }
                Joining::BackByScan { master } => (None, master, lookup::scan(costing, &sizes, master)),
                Joining::Inside
                | Joining::LookUp { .. }
                | Joining::PartByIndex { .. }
                | Joining::PartByScan { .. } => continue,
            };
            let first = way.iter().skip(1).all(|&step| is_inside(conceptual, step));
            support.push(None, way, SupportOf::Back(BackStep { end, first, index, master }), work);
        }
        each
    }

    /// The owner of a part that the written instance refers to: rows go on from there.
    fn owner_of(&self, derived: EndId, way: &[Member], parts: f64, support: &mut Support) {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let class = conceptual.ends[derived].class;
        let master = conceptual.aggregate_root(class).and_then(|root| design.master(root));
        let Some(master) = master.filter(|_| lookup::is_part(conceptual, class)) else { return };
        let how = lookup::by_id(conceptual, design, master, class);
        let work = lookup::work_of_roots(self.planner.costing, &self.sizes(), &how, parts);
        support.push(None, way, SupportOf::Rebuild { steps: way.to_vec(), how }, work);
    }

    /// Reads what else stands in the rows: what is bound on the way up once, other branches with all that is there.
    pub(super) fn rebuild(&self, rebuilt: &Rebuilt<'_>, support: &mut Support) {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        let Rebuilt { collection, point, .. } = *rebuilt;
        let source = collection.source.root;
        for place in delta::deltas(conceptual, collection) {
            let steps = place.steps(&collection.source.positions);
            let found: Vec<(Joining, Work)> = match steps.split_last() {
                None => self.root_of(rebuilt).into_iter().collect(),
                Some((&step, before)) => {
                    let by = |how| match rebuilt.binds(conceptual, &place) {
                        true => self.bound(rebuilt, &place, &steps, how),
                        false => {
                            let rows = rebuilt.rows(&self.planner.statistics, before);
                            self.reached(before, step, how, point, rows)
                        }
                    };
                    let ways = lookup::every_way(conceptual, design, step).into_iter();
                    ways.chain(self.mirrored(step)).filter_map(by).collect()
                }
            };
            for (how, work) in found {
                let work = if rebuilt.expected { work } else { Work::default() };
                support.push(Some(source), point, SupportOf::Rebuild { steps: steps.clone(), how }, work);
            }
        }
    }

    /// The partners of a symmetric relationship that hold the link themselves.
    fn mirrored(&self, step: Member) -> Option<Joining> {
        let conceptual = &self.planner.model.conceptual;
        match step {
            Member::End(end) if conceptual.ends[end].inverse == Some(end) => {
                lookup::referring(conceptual, self.planner.design, end)
            }
            Member::End(_) | Member::Attribute(_) => None,
        }
    }

    /// The aggregates with the roots of the rows, unless they are what is written.
    fn root_of(&self, rebuilt: &Rebuilt<'_>) -> Option<(Joining, Work)> {
        let (conceptual, design) = (&self.planner.model.conceptual, self.planner.design);
        if rebuilt.point.iter().all(|&step| is_inside(conceptual, step)) {
            return None;
        }
        let master = design.master(conceptual.aggregate_root(rebuilt.collection.source.root)?)?;
        let roots = rebuilt.levels.first().copied().unwrap_or(0.0);
        let work = lookup::get(self.planner.costing, &self.sizes(), master, roots);
        Some((Joining::LookUp { master }, work))
    }

    /// An instance on the way up, which is known by its id. Where it matters whether there are others, the first is
    /// looked for.
    fn bound(
        &self,
        rebuilt: &Rebuilt<'_>,
        place: &Delta,
        steps: &[Member],
        how: Joining,
    ) -> Option<(Joining, Work)> {
        let conceptual = &self.planner.model.conceptual;
        let (costing, sizes) = (self.planner.costing, self.sizes());
        let (above, rest) = (steps.len() - 1, rebuilt.point.get(steps.len()..).unwrap_or_default());
        let level = |at: usize| rebuilt.levels.get(at).copied().unwrap_or(0.0);
        let is_written = rest.iter().all(|&step| is_inside(conceptual, step));
        let probed = place.hops.is_empty()
            && (rebuilt.collection.source.positions[place.bound()].outer
                || matches!(rebuilt.collection.contents, Contents::Nested(_)));
        match how {
            Joining::Inside => None,
            Joining::Back { index, master } if probed => {
                let first = lookup::found(costing, &sizes, index, level(above), 1.0);
                let others = lookup::get(costing, &sizes, master, level(steps.len()));
                Some((how, lookup::add(first, others)))
            }
            Joining::BackByScan { master } if probed => Some((how, lookup::scan(costing, &sizes, master))),
            Joining::LookUp { .. }
            | Joining::PartByIndex { .. }
            | Joining::PartByScan { .. }
            | Joining::Back { .. }
            | Joining::BackByScan { .. }
                if is_written =>
            {
                None
            }
            Joining::Back { master, .. } | Joining::BackByScan { master } | Joining::LookUp { master } => {
                let work = lookup::get(costing, &sizes, master, level(steps.len()));
                Some((Joining::LookUp { master }, work))
            }
            Joining::PartByIndex { .. } | Joining::PartByScan { .. } => {
                let work = lookup::work_of_roots(costing, &sizes, &how, level(steps.len()));
                Some((how, work))
            }
        }
    }

    fn is_relied_on(&self, step: Member) -> bool {
        let conceptual = &self.planner.model.conceptual;
        match step {
            Member::End(end) => delta::is_relied_on(conceptual, conceptual.stored_end(end)),
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
        rows: f64,
    ) -> Option<(Joining, Work)> {
        let conceptual = &self.planner.model.conceptual;
        let (costing, sizes) = (self.planner.costing, self.sizes());
        let own = point.is_empty() && before.iter().all(|&step| is_inside(conceptual, step));
        if let (true, Changes::Made(lists)) = (own, &self.step.changes) {
            match how {
                // Nobody refers to what is only now made. Where that is not relied on, it has to be seen.
                Joining::Back { .. } | Joining::BackByScan { .. } if self.is_relied_on(step) => return None,
                Joining::Back { index, .. } => {
                    let work = lookup::found(costing, &sizes, index, rows, 0.0);
                    return Some((how, work));
                }
                Joining::LookUp { .. } | Joining::PartByIndex { .. } | Joining::PartByScan { .. }
                    if *lists == Lists::Empty && is_many(conceptual, step) =>
                {
                    // A part is given whole, with what is in its lists, which is not expected to be much.
                    return (!before.is_empty()).then(|| (how, Work::default()));
                }
                Joining::Inside
                | Joining::LookUp { .. }
                | Joining::PartByIndex { .. }
                | Joining::PartByScan { .. }
                | Joining::BackByScan { .. } => {}
            }
        }
        let work = lookup::work(costing, &sizes, &how, step, rows);
        match how {
            Joining::Inside => None,
            Joining::LookUp { .. }
            | Joining::PartByIndex { .. }
            | Joining::PartByScan { .. }
            | Joining::Back { .. }
            | Joining::BackByScan { .. } => Some((how, work)),
        }
    }
}

/// Whether two reads are one, however it is done: that follows from the design.
pub(super) fn is_same_read(one: &SupportOf, other: &SupportOf) -> bool {
    match (one, other) {
        (SupportOf::Back(one), SupportOf::Back(other)) => {
            let from = one.first == other.first && one.end == other.end;
            from && one.master == other.master && one.index == other.index
        }
        (SupportOf::Rebuild { steps: one, how: by }, SupportOf::Rebuild { steps: other, how: otherwise }) => {
            one == other && goes_back(by) == goes_back(otherwise)
        }
        (SupportOf::Back(_), SupportOf::Rebuild { .. }) | (SupportOf::Rebuild { .. }, SupportOf::Back(_)) => {
            false
        }
    }
}

/// Whether those that refer are looked for.
fn goes_back(how: &Joining) -> bool {
    match how {
        Joining::Back { .. } | Joining::BackByScan { .. } => true,
        Joining::Inside
        | Joining::LookUp { .. }
        | Joining::PartByIndex { .. }
        | Joining::PartByScan { .. } => false,
    }
}
