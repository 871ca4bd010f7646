//! How the links of a plan are followed: by an index or by reading all. It is settled before the plan is counted.

use super::count::Counter;
use super::guarantee::lags;
use super::lookup;
use crate::cost::{Costing, Sizes, Statistics};
use askloom_model::{CollectionId, Design, Joining, Plan, Query, StepOf, Work};

/// Settles how each link is followed. Reading all of a small collection can be cheaper than going to an index for each row,
/// and is as fresh as can be.
pub(super) fn settle(
    costing: &Costing<'_>,
    statistics: &Statistics<'_>,
    design: &Design,
    query: &Query,
    plan: Plan,
) -> Plan {
    if !costing.capability.scan.value || !plan.follows().any(|how| instead(how).is_some()) {
        return plan;
    }
    let choosing = Choosing { costing, sizes: Sizes { statistics, design }, query };
    let mut counter = Counter::new(costing, statistics, design, query, &plan);
    let mut chosen: Vec<Option<Joining>> = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let work = counter.count(&step.of).work;
        let how = followed(&plan, &step.of);
        chosen.push(how.and_then(|how| choosing.better(how, &work)));
    }
    with(plan, chosen)
}

/// The link that a step follows.
fn followed<'p>(plan: &'p Plan, of: &'p StepOf) -> Option<&'p Joining> {
    match of {
        StepOf::Join(index) => Some(&plan.join(*index).how),
        StepOf::Follow(follow) => Some(&follow.how),
        StepOf::Access
        | StepOf::Fetch { .. }
        | StepOf::Filter
        | StepOf::Group
        | StepOf::Sort
        | StepOf::PerGroup
        | StepOf::Limit => None,
    }
}

/// The plan with other ways to follow the links of its steps, where there are any.
fn with(mut plan: Plan, chosen: Vec<Option<Joining>>) -> Plan {
    for (step, how) in plan.steps.iter_mut().zip(chosen) {
        let Some(how) = how else { continue };
        match &mut step.of {
            StepOf::Join(index) => {
                plan.joins.get_mut(*index).into_iter().for_each(|join| join.how = how.clone())
            }
            StepOf::Follow(follow) => follow.how = how,
            StepOf::Access
            | StepOf::Fetch { .. }
            | StepOf::Filter
            | StepOf::Group
            | StepOf::Sort
            | StepOf::PerGroup
            | StepOf::Limit => {}
        }
    }
    plan
}

/// Reading all in place of an index.
struct Scan {
    index: CollectionId,
    master: CollectionId,
    how: Joining,
}

fn instead(how: &Joining) -> Option<Scan> {
    match *how {
        Joining::PartByIndex { index, master } => {
            Some(Scan { index, master, how: Joining::PartByScan { master } })
        }
        Joining::Back { index, master } => Some(Scan { index, master, how: Joining::BackByScan { master } }),
        Joining::Inside
        | Joining::LookUp { .. }
        | Joining::PartByScan { .. }
        | Joining::BackByScan { .. } => None,
    }
}

/// Reading all, if the store can do that and it is cheaper than so much work by an index.
pub(super) fn cheaper(
    costing: &Costing<'_>,
    sizes: &Sizes<'_>,
    how: &Joining,
    work: &Work,
) -> Option<(Joining, Work)> {
    let scan = instead(how).filter(|_| costing.capability.scan.value)?;
    let all = lookup::scan(costing, sizes, scan.master);
    (costing.price(&all).cost < costing.price(work).cost).then_some((scan.how, all))
}

struct Choosing<'c> {
    costing: &'c Costing<'c>,
    sizes: Sizes<'c>,
    query: &'c Query,
}

impl Choosing<'_> {
    /// Another way to follow a link that is better than by an index with so much work.
    fn better(&self, how: &Joining, work: &Work) -> Option<Joining> {
        let cheaper = cheaper(self.costing, &self.sizes, how, work);
        let Sizes { statistics, design } = &self.sizes;
        let scan = instead(how)?;
        let too_old = self.query.fresh && lags(self.costing.capability, statistics, design, scan.index);
        if too_old { Some(scan.how) } else { cheaper.map(|(how, _)| how) }
    }
}
