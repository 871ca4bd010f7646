//! Values of others that the records of a master carry, as the model declares them: all methods design with them, and a
//! plan that needs them reads no more than the master.

use crate::model;
use askloom_design::method::{Method, Options, design, not_designed_yet};
use askloom_design::saved::{from_json, to_json};
use askloom_model::{CollectionId, Design, Model, Plan, Role};
use askloom_plan::cost::Costing;
use askloom_plan::planner;

const ORDERS: &str = "@count(1_000)
entity Restaurant { id rid: int, name: text, city: text }
@count(1_000_000)
entity Order { id orderId: uuid, ref restaurant: Restaurant, placedAt: timestamp, note: text }
collection Orders of Order { master; key orderId; keep restaurant.name; }
@rate(100/s)
query order: SELECT placedAt, restaurant.name FROM Order WHERE orderId = :id
@rate(1/s)
query place: SELECT placedAt, restaurant.city FROM Order WHERE orderId = :id
@rate(1/s)
query every: SELECT orderId, restaurant.name FROM Order
@rate(10/s)
write open: INSERT Order
@rate(1/s)
write setNote: UPDATE Order SET note = :note WHERE orderId = :id
@rate(0.001/s)
write rename: UPDATE Restaurant SET name = :name WHERE rid = :rid
";

const STORES: [&str; 4] = ["embedded", "dynamodb", "cassandra", "mongodb"];

fn costing(target: &str) -> Costing<'static> {
    Costing::from(askloom_target::target(target).unwrap())
}

fn made(method: Method, model: &Model, target: &str) -> Design {
    design(method, model, &costing(target), &Options::default()).design
}

fn plan(model: &Model, design: &Design, target: &str, query: &str) -> Plan {
    let query = model.workload.queries.iter().find(|one| one.header.name == query).unwrap();
    planner::plan(&costing(target), &model.conceptual, design, query).unwrap()
}

fn carried(design: &Design) -> CollectionId {
    let mut all = design.collections.iter().filter(|(_, one)| one.role == Role::Carried);
    let (id, _) = all.next().unwrap();
    assert!(all.next().is_none(), "the master carries one row");
    id
}

#[test]
fn every_method_keeps_what_a_master_carries_and_saves_it() {
    let model = model(ORDERS);
    assert!(not_designed_yet(&model).is_empty());
    for target in STORES {
        for method in Method::ALL {
            let design = made(method, &model, target);
            let id = carried(&design);
            let master = design.stored_in(id);
            assert_eq!(design.collections[master].name, "Orders", "{method:?} on {target}");
            assert_eq!(design.collections[id].fields().len(), 1);
            // Renames fan out by the way back along the reference.
            let back = design.collections.iter().any(|(_, one)| one.reverses().is_some());
            assert!(back, "{method:?} on {target}");
            assert_eq!(from_json(&model, &to_json(&model, &design)).unwrap(), design);
        }
    }
}

#[test]
fn what_is_carried_comes_with_the_record() {
    let model = model(ORDERS);
    for target in STORES {
        let design = made(Method::Given, &model, target);
        // Which collections are read for a query.
        let read = |name: &str| {
            let plan = plan(&model, &design, target, name);
            let reads = plan.steps.iter().filter(|step| step.work.reads > 0.0).count();
            (plan.access.collection, reads, plan.fetches.len())
        };
        let master = design.stored_in(carried(&design));
        assert_eq!(read("order"), (master, 1, 1), "{target}");
        assert_eq!(read("every"), (master, 1, 1), "a scan, too, on {target}");
        assert_eq!(read("place"), (master, 2, 0), "what is not carried is looked up");
    }
}

#[test]
fn only_what_changes_a_carried_value_pays_for_it() {
    let model = model(ORDERS);
    let bare = crate::model(&ORDERS.replace("keep restaurant.name; ", ""));
    for target in STORES {
        let written = |model: &Model, name: &str| {
            let design = made(Method::Given, model, target);
            let write = model.workload.writes.iter().find(|one| one.header.name == name).unwrap();
            let plan = planner::write::plan(&costing(target), model, &design, write).unwrap();
            plan.steps[0].copies.iter().map(|copy| copy.work.puts).sum::<f64>()
        };
        assert!(written(&model, "rename") >= 1_000.0, "each order of a restaurant on {target}");
        assert!(written(&bare, "rename") < 1.0);
        // The way back along the reference is the only row of its own.
        assert!(written(&model, "open") <= 3.0, "{}", written(&model, "open"));
        assert!(written(&model, "setNote") < 1.0);
    }
}

#[test]
fn a_saved_design_says_what_is_carried_by_the_aggregate() {
    let model = model(ORDERS);
    let design = made(Method::Given, &model, "embedded");
    let saved = to_json(&model, &design);
    let refuses = |from: &str, to: &str, message: &str| {
        assert!(saved.contains(from), "{saved}");
        let errors = from_json(&model, &saved.replacen(from, to, 1)).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains(message)), "{errors:?}");
    };
    refuses("\"role\": \"carried\"", "\"role\": \"hauled\"", "`copy`, `index` or `carried`");
    refuses("\"role\": \"carried\"", "\"role\": \"master\"", "master");
    let once = design.collections[carried(&design)].clone();
    let mut twice = design;
    twice.collections.push(askloom_model::Collection { name: "Again".to_owned(), ..once });
    let errors = from_json(&model, &to_json(&model, &twice)).unwrap_err();
    assert!(errors.iter().any(|error| error.message.contains("is one collection")), "{errors:?}");
}
