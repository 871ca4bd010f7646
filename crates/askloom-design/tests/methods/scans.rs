//! Every statement of every example has a plan under every method, and goes through everything only where it is listed.

use crate::{EXAMPLES, example, propose};
use askloom_design::method::{Method, scans};
use askloom_model::Model;
use askloom_plan::planner;

/// A range that holds a quarter of all or a third, and a key of which a handful is everything: a scan is cheaper than an index. And what
/// is asked twenty times a day costs less than an index that every order would keep. And all flights are gone through
/// before the passengers of some, who are far more.
const SCANNING: [(&str, &str, &str); 10] = [
    ("qodm", "airline", "Q5_passengersDepartingGivenPeriod"),
    ("noam", "shop", "bestRated"),
    ("noam", "shop", "shelves"),
    ("qodm", "shop", "bestRated"),
    ("qodm", "shop", "sales"),
    ("kvmod", "shop", "bestRated"),
    ("kvmod", "shop", "sales"),
    ("kvmod", "shop", "shelves"),
    ("given", "shop", "bestRated"),
    ("given", "shop", "shelves"),
];

fn statements(model: &Model) -> Vec<askloom_model::Query> {
    let asks = model.workload.asks.iter();
    let asks = asks.map(|ask| askloom_plan::ask::query(&model.conceptual, ask).unwrap());
    model.workload.queries.iter().cloned().chain(asks).collect()
}

#[test]
fn only_what_is_listed_goes_through_everything() {
    let mut found = Vec::new();
    for name in EXAMPLES {
        let model = example(name);
        for method in Method::ALL {
            let proposal = propose(method, &model);
            for query in statements(&model) {
                let plan = planner::plan(
                    &askloom_target::embedded::costing(),
                    &model.conceptual,
                    &proposal.design,
                    &query,
                )
                .expect("a plan");
                if scans(&plan) {
                    found.push(format!("{} {name} {}", method.name(), query.header.name));
                }
            }
            for write in &model.workload.writes {
                let plan = planner::write::plan(
                    &askloom_target::embedded::costing(),
                    &model,
                    &proposal.design,
                    write,
                );
                let plan = plan.unwrap_or_else(|why| panic!("{}: {}", write.header.name, why.message));
                if plan.steps.iter().any(|step| scans(&step.find)) {
                    found.push(format!("{} {name} {}", method.name(), write.header.name));
                }
            }
        }
    }
    let listed: Vec<String> = SCANNING.iter().map(|(m, e, s)| format!("{m} {e} {s}")).collect();
    assert_eq!(found, listed);
}
