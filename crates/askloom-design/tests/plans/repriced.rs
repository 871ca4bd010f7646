//! Plans are values: a price is put on what their steps are expected to do, and never changes them.

use crate::examples::{EXAMPLES, example, model};
use crate::properties::{Random, growing, shaken};
use askloom_design::method::{self, Method, Options};
use askloom_model::{Design, Estimate, Joining, Model, Plan, Query, Reading, StepOf, Work, WritePlan};
use askloom_plan::cost::{CostModel, Costing, Tariff, price, price_all};
use askloom_plan::planner::{self, StepWork, write};

/// The price of each step is that of its work, and the estimate of the plan is their sum.
fn is_priced_by_its_work(model: &dyn CostModel, plan: &Plan) {
    for step in plan.all().flat_map(|plan| &plan.steps) {
        assert_eq!(price(model, &step.work), step.estimate, "{step:?}");
    }
    assert_eq!(price_all(model, plan.work()), plan.estimate);
    let after: Estimate = plan.steps.iter().map(|step| price(model, &step.work)).sum();
    assert_eq!(after, plan.estimate_after(), "as the optimiser has it");
}

fn is_write_priced_by_its_work(model: &dyn CostModel, plan: &WritePlan) {
    assert_eq!(price_all(model, plan.work()), plan.estimate);
    for step in &plan.steps {
        is_priced_by_its_work(model, &step.find);
        let mut priced: Vec<(&Work, Estimate)> = vec![(&step.master.work, step.master.estimate)];
        priced.extend(step.reservations.iter().map(|one| (&one.work, one.estimate)));
        priced.extend(step.checks.iter().map(|one| (&one.work, one.estimate)));
        for copy in &step.copies {
            priced.push((&copy.work, copy.estimate));
            priced.extend(copy.support.iter().map(|read| (&read.work, read.estimate)));
        }
        for (work, estimate) in &priced {
            assert_eq!(price(model, work), *estimate);
        }
        let parts: f64 = priced.iter().map(|(_, one)| one.cost).sum();
        let total = price_all(model, step.work()).cost;
        assert!((parts + step.find.estimate.cost - total).abs() <= 1e-9 * total, "{parts} of {total}");
    }
}

/// What is counted again is what the plan has.
fn is_counted(costing: &Costing<'_>, model: &Model, design: &Design, query: &Query, plan: &Plan) {
    let statistics = costing.statistics(&model.conceptual);
    let counted = planner::count(costing, &statistics, design, query, plan);
    let known: Vec<StepWork> =
        plan.steps.iter().map(|step| StepWork { work: step.work, out: step.out }).collect();
    assert_eq!(counted, known, "{plan:?}");
    if let Some(found) = &plan.first {
        let query = found.plan.query(&found.query);
        is_counted(costing, model, design, query, &found.plan);
    }
}

fn check(model: &Model, design: &Design) {
    let other = Tariff::named("request-count").unwrap();
    for target in askloom_target::targets() {
        let costing = Costing::from(target);
        let elsewhere = Costing::new(target.capability, &other);
        for query in &model.workload.queries {
            for plan in planner::plans(&costing, &model.conceptual, design, query) {
                is_priced_by_its_work(costing.model, &plan);
            }
            let Some(plan) = planner::plan(&costing, &model.conceptual, design, query) else { continue };
            let before = plan.clone();
            let requests = price_all(&other, plan.work());
            assert_eq!(requests.cost, plan.estimate.requests, "the same plan by another cost model");
            let _ = planner::plan(&elsewhere, &model.conceptual, design, query);
            is_priced_by_its_work(costing.model, &plan);
            is_counted(&costing, model, design, plan.query(query), &plan);
            assert_eq!(plan, before);
            assert_eq!(planner::plan(&costing, &model.conceptual, design, query), Some(plan));
        }
        for one in &model.workload.writes {
            let Ok(plan) = write::plan(&costing, model, design, one) else { continue };
            is_write_priced_by_its_work(costing.model, &plan);
            assert_eq!(price_all(&other, plan.work()).cost, plan.estimate.requests);
        }
    }
}

#[test]
fn the_steps_of_any_plan_give_its_price_again() {
    let mut random = Random(23);
    for round in 0..3 {
        for name in EXAMPLES {
            let model = if round == 0 { example(name) } else { shaken(example(name), &mut random) };
            let designs = growing(&model, &mut random);
            for design in designs.iter().step_by(4).chain(designs.last()) {
                check(&model, design);
            }
        }
    }
}

#[test]
fn so_do_those_over_the_designs_of_every_method() {
    let mut targets = askloom_target::targets().iter().cycle();
    for name in EXAMPLES {
        let model = example(name);
        for method in Method::ALL {
            let costing = Costing::from(targets.next().unwrap());
            let design = method::design(method, &model, &costing, &Options::default()).design;
            check(&model, &design);
        }
    }
}

const NOTES: &str = "\
@count(1_000_000)
entity Note { id noteId: int, owner: text @distinct(1000), at: timestamp, body: text }

query page: SELECT noteId, at FROM Note WHERE owner = :owner ORDER BY at DESC PAGE 20
query pages: SELECT noteId, at FROM Note WHERE owner IN :owners ORDER BY at DESC PAGE :rows
query bodies: SELECT body FROM Note WHERE owner = :owner ORDER BY at DESC PAGE 20
query most: SELECT noteId, at FROM Note WHERE owner = :owner ORDER BY at DESC LIMIT 5 PER at PAGE 20

collection ByOwner of Note { key owner; sort at; keep noteId; }
";

#[test]
fn a_page_reads_one_row_more_than_it_has_where_rows_come_in_order() {
    let model = model(NOTES);
    let costing = askloom_target::embedded::costing();
    let design = method::design(Method::Given, &model, &costing, &Options::default()).design;
    let of = |name: &str| {
        planner::answer(&costing, &model, &design, crate::examples::query(&model, name)).unwrap()
    };
    let page = of("page");
    assert!(page.sort.is_none() && matches!(page.access.how, Reading::Range { limited: true, .. }));
    assert_eq!((page.estimate.rows, page.rows_out()), (21.0, 20.0));
    // Of each list as many as of one.
    let lists = of("pages").estimate.rows / 21.0;
    assert!(lists > 1.0 && (lists - lists.round()).abs() < 1e-9, "{lists}");
    // What the copy lacks is read for the page, not for the list.
    let bodies = of("bodies");
    assert_eq!(bodies.steps.last().map(|step| step.work.partitions), Some(20.0), "{:?}", bodies.steps);
    // The first of each group are not the first of the list.
    assert_eq!(of("most").estimate.rows, 1000.0);
}

const LINES: &str = "\
@count(1000)
entity Order { id number: int, part lines: Line[*] @avg(4) inverse order }
entity Line { id lineId: int, text: text }
@count(COUNT)
entity Claim { id claimId: int, ref line: Line }

query claims: SELECT claimId, line.text AS about FROM Claim WHERE claimId IN :claims
query owner: SELECT L.text, L.order.number AS number FROM Claim JOIN line AS L WHERE claimId = :claim
";

#[test]
fn how_a_part_is_found_is_settled_by_the_plan() {
    let model = model(&LINES.replace("COUNT", "100_000"));
    let design = askloom_design::simple::design(&model);
    let costing = askloom_target::embedded::costing();
    let of = |name: &str| {
        planner::answer(&costing, &model, &design, crate::examples::query(&model, name)).unwrap()
    };
    let follow = |step: &StepOf| match step {
        StepOf::Follow(follow) => Some(follow.how.clone()),
        _ => None,
    };
    let claims = of("claims");
    let how: Vec<Joining> = claims.steps.iter().filter_map(|step| follow(&step.of)).collect();
    assert!(matches!(how.as_slice(), [Joining::PartByIndex { .. }]), "{:?}", claims.steps);
    assert_eq!(claims.collections().count(), 3, "the claims, the index of lines, the orders");
    // The owner of a part is in the same aggregate.
    let owner = of("owner");
    assert!(matches!(owner.joins.as_slice(), [one] if matches!(one.how, Joining::PartByIndex { .. })));
    assert!(owner.steps.iter().all(|step| follow(&step.of).is_none()), "{:?}", owner.steps);
}
