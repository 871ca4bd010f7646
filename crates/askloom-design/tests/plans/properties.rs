//! What holds of every estimate, on every store, with any statistics and any collections.

use crate::examples::{EXAMPLES, example};
use askloom_design::simple;
use askloom_model::{Design, Id, MemberStatistics, Model, Plan};
use askloom_plan::cost::Costing;
use askloom_plan::planner::{self, write};
use askloom_plan::upkeep;

/// A small generator of random numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

/// The model with other statistics: none, small, huge, zero.
pub(crate) fn shaken(mut model: Model, random: &mut Random) -> Model {
    let conceptual = &mut model.conceptual;
    let counts = [None, Some(0), Some(1), Some(7), Some(20_000), Some(9_000_000_000)];
    let averages = [None, Some(0.0), Some(0.01), Some(1.0), Some(3.5), Some(1e6)];
    let pick = |random: &mut Random| usize::try_from(random.below(6)).unwrap();
    for id in conceptual.classes.ids() {
        conceptual.classes[id].statistics.count = counts[pick(random)];
    }
    let mut shake = |statistics: &mut MemberStatistics| {
        statistics.avg = averages[pick(random)];
        statistics.distinct = counts[pick(random)];
        statistics.size_bytes = counts[pick(random) % 5];
        statistics.skew = averages[pick(random) % 5];
    };
    for id in conceptual.attributes.ids() {
        shake(&mut conceptual.attributes[id].statistics);
    }
    for id in conceptual.ends.ids() {
        shake(&mut conceptual.ends[id].statistics);
    }
    model
}

/// Masters, then views of the queries and indexes, in random order.
pub(crate) fn growing(model: &Model, random: &mut Random) -> Vec<Design> {
    let mut all = Design { method: "random".to_owned(), ..Design::default() };
    simple::masters(model, askloom_model::Origin::Method, &mut all);
    let masters = all.collections.len();
    for query in &model.workload.queries {
        all.collections.push(simple::view(model, query));
    }
    upkeep::add_indexes(model, &mut all);
    let mut rest: Vec<usize> = (masters..all.collections.len()).collect();
    let mut design = Design { method: "random".to_owned(), ..Design::default() };
    for index in 0..masters {
        design.collections.push(all.collections[askloom_model::CollectionId::from_index(index)].clone());
    }
    let mut designs = vec![design.clone()];
    while !rest.is_empty() {
        let at = usize::try_from(random.below(rest.len() as u64)).unwrap();
        let next = askloom_model::CollectionId::from_index(rest.swap_remove(at));
        design.collections.push(all.collections[next].clone());
        designs.push(design.clone());
    }
    designs
}

fn is_sound(plan: &Plan) {
    let estimate = plan.estimate;
    let mut costs = 0.0;
    for step in plan.all().flat_map(|plan| &plan.steps) {
        let numbers = step.estimate;
        for number in
            [numbers.requests, numbers.partitions, numbers.rows, numbers.bytes, numbers.cost, step.out]
        {
            assert!(number.is_finite() && number >= 0.0, "{step:?} of {plan:?}");
        }
        costs += numbers.cost;
    }
    assert!((costs - estimate.cost).abs() <= 1e-9 * costs.max(1.0), "the steps add up");
    assert!(estimate.requests >= 1.0, "every plan asks for something: {plan:?}");
}

#[test]
fn estimates_are_sound_and_the_cheapest_plan_is_taken_and_more_collections_never_cost_more() {
    let mut random = Random(7);
    for round in 0..4 {
        for name in EXAMPLES {
            let model = example(name);
            let model = if round == 0 { model } else { shaken(model, &mut random) };
            let designs = growing(&model, &mut random);
            for target in askloom_target::targets() {
                let costing = Costing::from(target);
                for query in &model.workload.queries {
                    cheaper_and_cheaper(&costing, &model, &designs, query);
                }
            }
        }
    }
}

fn cheaper_and_cheaper(
    costing: &Costing<'_>,
    model: &Model,
    designs: &[Design],
    query: &askloom_model::Query,
) {
    let mut before = f64::INFINITY;
    for design in designs {
        let plans = planner::plans(costing, &model.conceptual, design, query);
        plans.iter().for_each(is_sound);
        let Some(chosen) = planner::plan(costing, &model.conceptual, design, query) else {
            assert!(plans.is_empty());
            continue;
        };
        for other in &plans {
            assert!(chosen.estimate.cost <= other.estimate.cost);
        }
        // Whatever was not looked at any more: of those that are as good, the first is taken.
        let rank = |plan: &&Plan| [plan.estimate.cost, plan.estimate.requests, plan.estimate.bytes];
        let first = plans.iter().min_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap());
        assert_eq!(first, Some(&chosen));
        let cost = chosen.estimate.cost;
        assert!(cost <= before * (1.0 + 1e-12), "{} cost {before}, now {cost}", query.header.name);
        before = cost;
    }
    assert!(before.is_finite(), "{} has no plan on {}", query.header.name, costing.capability.target);
}

#[test]
fn estimates_of_writes_are_sound() {
    let mut random = Random(11);
    for round in 0..3 {
        for name in EXAMPLES {
            let model = example(name);
            let model = if round == 0 { model } else { shaken(model, &mut random) };
            let design = simple::design(&model);
            for target in askloom_target::targets() {
                let costing = Costing::from(target);
                let of_workload = model
                    .workload
                    .writes
                    .iter()
                    .filter_map(|w| write::plan(&costing, &model, &design, w).ok());
                for plan in of_workload.chain(write::implicit(&costing, &model, &design).unwrap()) {
                    let e = plan.estimate;
                    for number in [e.requests, e.rows, e.puts, e.deletes, e.written, e.cost] {
                        assert!(number.is_finite() && number >= 0.0, "{e:?} of {:?}", plan.of);
                    }
                    plan.steps.iter().for_each(|step| is_sound(&step.find));
                }
            }
        }
    }
}
