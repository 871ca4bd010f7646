//! Cost models that are no store's own, on a model that is small enough to work out by hand.

use crate::examples::{model, query, write as statement};
use askloom_design::cost::{Costing, Tariff};
use askloom_design::method::{self, Method, Options};
use askloom_design::plan::{self, write};
use askloom_model::{Design, Model, StepOf};

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
    let above = plan::answer(&costing, &model, &design, query(&model, "above")).unwrap();
    near(above.estimate.rows, 2.0);
    near(above.estimate.cost, STEP + PARTITION + 2.0 * ROW + 1.0);
    let sort = above.priced.steps.iter().find(|step| step.of == StepOf::Sort).unwrap();
    near(sort.estimate.cost, 1.0);
    assert_eq!(above.priced.unit, "units");
}

#[test]
fn a_step_costs_its_requests() {
    let (model, design) = bids();
    let requests = Tariff::named("request-count").unwrap();
    for target in askloom_target::targets() {
        let costing = Costing::new(target.capability, &requests);
        for query in &model.workload.queries {
            let Ok(found) = plan::answer(&costing, &model, &design, query) else { continue };
            assert_eq!(found.estimate.cost, found.estimate.requests, "{}", query.header.name);
            let each = |step: &askloom_model::StepEstimate| step.estimate.cost == step.estimate.requests;
            assert!(found.priced.steps.iter().all(each) && found.priced.unit == "requests");
        }
        for one in &model.workload.writes {
            let Ok(found) = write::plan(&costing, &model, &design, one) else { continue };
            assert_eq!(found.estimate.cost, found.estimate.requests, "{}", one.header.name);
        }
    }
}

#[test]
fn probe() {
    let (model, design) = bids();
    let published = Tariff::named("cassandra-published").unwrap();
    let costing = Costing::new(&askloom_target::cassandra::CAPABILITY, &published);
    for q in &model.workload.queries {
        println!("{}", plan::print(&model, &design, q, &plan::answer(&costing, &model, &design, q).unwrap()));
    }
    for w in &model.workload.writes {
        println!(
            "{}",
            write::print(&model, &design, Some(w), &write::plan(&costing, &model, &design, w).unwrap())
        );
    }
    println!("{}", query(&model, "open").header.name);
    println!("{:?}", statement(&model, "place").header.name);
    println!("{INSERT} {DELETE}");
}
