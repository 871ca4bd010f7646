//! Cost models that are no store's own, on a model that is small enough to work out by hand.

use crate::examples::{model, query, write as statement};
use askloom_design::method::{self, Method, Options};
use askloom_model::{Design, Model, StepOf};
use askloom_plan::cost::{Costing, Tariff};
use askloom_plan::planner::{self, write};

const BIDS: &str = "\
@count(1000)
entity Bid {
  id bidId: int
  item: text @distinct(50) @skew(1.2)
  state: enum(open, won, lost, void) @freq(open 90%)
  amount: int
  note: text
}

@rate(10/s)
query above: SELECT bidId, note FROM Bid WHERE item = :item AND amount > :least ORDER BY note, bidId

@rate(3/s)
query open: SELECT bidId, note FROM Bid WHERE item = :item AND state = 'open'

@rate(2/s)
write place: INSERT Bid

@rate(1/s)
write withdraw: DELETE Bid WHERE bidId = :bidId

collection BidsOfItem of Bid { key item; sort amount; keep bidId, state, note; }
";

fn bids() -> (Model, Design) {
    let model = model(BIDS);
    let cassandra = Costing::from(askloom_target::target("cassandra").unwrap());
    let design = method::design(Method::Given, &model, &cassandra, &Options::default()).design;
    (model, design)
}

fn near(cost: f64, by_hand: f64) {
    assert!((cost / by_hand - 1.0).abs() < 1e-9, "{cost} is not {by_hand}");
}

const STEP: f64 = 0.007_839_564_5;
const PARTITION: f64 = 0.001_369_278_6;
const ROW: f64 = 0.000_011_709_363_838_649_6;
const INSERT: f64 = 0.013_329_108;
const DELETE: f64 = 0.001_328_790_3;

#[test]
fn the_published_model_of_cassandra_by_hand() {
    let (model, design) = bids();
    let published = Tariff::named("cassandra-published").unwrap();
    let costing = Costing::new(&askloom_target::cassandra::CAPABILITY, &published);
    // One partition: 1000 bids by 50 items are 20, however uneven; a tenth of them are in the range. A sort costs 1.
    let above = planner::answer(&costing, &model, &design, query(&model, "above")).unwrap();
    near(above.estimate.rows, 2.0);
    near(above.estimate.cost, STEP + PARTITION + 2.0 * ROW + 1.0);
    let sort = above.steps.iter().find(|step| step.of == StepOf::Sort).unwrap();
    near(sort.estimate.cost, 1.0);
    assert_eq!(above.priced.unit, "units");
    // Four states have a quarter each, whatever `@freq` says, and what the client filters costs nothing.
    let open = planner::answer(&costing, &model, &design, query(&model, "open")).unwrap();
    near(open.rows_out(), 5.0);
    near(open.estimate.cost, STEP + PARTITION + 20.0 * ROW);
}

#[test]
fn the_published_costs_of_writes_and_of_a_workload_by_hand() {
    let (model, design) = bids();
    let published = Tariff::named("cassandra-published").unwrap();
    // A store where a copy is kept in the same unit: nothing is written but the bid, its copy, and the
    // version of the bid, which every write puts.
    let costing = Costing::new(&askloom_target::embedded::CAPABILITY, &published);
    let cost =
        |name: &str| write::plan(&costing, &model, &design, statement(&model, name)).unwrap().estimate.cost;
    let place = STEP + PARTITION + 3.0 * INSERT;
    let withdraw = STEP + PARTITION + ROW + 2.0 * DELETE + INSERT;
    near(cost("place"), place);
    near(cost("withdraw"), withdraw);
    let above = STEP + PARTITION + 2.0 * ROW + 1.0;
    let open = STEP + PARTITION + 20.0 * ROW;
    let total = method::cost::total(&model, &costing, &design);
    near(total, 10.0 * above + 3.0 * open + 2.0 * place + withdraw);
}

#[test]
fn a_step_costs_its_requests() {
    let (model, design) = bids();
    let requests = Tariff::named("request-count").unwrap();
    for target in askloom_target::targets() {
        let costing = Costing::new(target.capability, &requests);
        for query in &model.workload.queries {
            let Ok(found) = planner::answer(&costing, &model, &design, query) else { continue };
            assert_eq!(found.estimate.cost, found.estimate.requests, "{}", query.header.name);
            let each = |step: &askloom_model::PlanStep| step.estimate.cost == step.estimate.requests;
            assert!(found.steps.iter().all(each) && found.priced.unit == "requests");
        }
        for one in &model.workload.writes {
            let Ok(found) = write::plan(&costing, &model, &design, one) else { continue };
            assert_eq!(found.estimate.cost, found.estimate.requests, "{}", one.header.name);
        }
    }
}
