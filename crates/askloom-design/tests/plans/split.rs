//! Plans that find first what rows lead to.

use crate::examples::{model, query};
use askloom_design::method::{self, Method, Options};
use askloom_model::{Model, Plan};
use askloom_plan::planner::{self, splits};

const ORDERS: &str = "\
@count(200_000)
entity Order {
  id orderId: int
  placed: date
  paid: bool
  ref customer: Customer
}

@count(10_000)
entity Customer {
  id customerId: int
  name: text
  street: text?
  ref city: City?
}

@count(500)
entity City {
  id cityId: int
  name: text @distinct(450)
}

query inCity: SELECT orderId, placed FROM Order WHERE customer.city.name = :city AND paid = :paid
query joined: SELECT orderId, c.name FROM Order JOIN Order.customer AS c WHERE c.street = :street
query homeless: SELECT orderId FROM Order WHERE customer.city.name IS NULL
query elsewhere: SELECT orderId FROM Order WHERE NOT customer.city.name = :city
query own: SELECT orderId FROM Order WHERE customer = :customer AND paid = :paid

@rate(100/s)
write order: INSERT Order
@rate(50/s)
write rename: UPDATE City SET name = :name WHERE cityId = :city
";

/// What is found first, from the far end on.
fn found(model: &Model, plan: &Plan) -> Vec<String> {
    let class = |plan: &Plan| {
        let found = plan.first.as_ref()?;
        let class = found.query.positions[planner::main()].class?;
        Some(model.conceptual.classes[class].name.clone())
    };
    let mut found: Vec<String> = plan.all().filter_map(class).collect();
    found.reverse();
    found
}

#[test]
fn a_path_is_split_at_each_entity() {
    let model = model(ORDERS);
    let of = |name: &str| -> Vec<String> {
        let splits = splits(&model.conceptual, query(&model, name));
        let class = |split: &planner::Split| split.first.positions[planner::main()].class.unwrap();
        splits.iter().map(|split| model.conceptual.classes[class(split)].name.clone()).collect()
    };
    assert_eq!(of("inCity"), ["Customer", "City"]);
    // As what is joined, and as what the order refers to.
    assert_eq!(of("joined"), ["Customer", "Customer"]);
    // These are true of orders that lead to nobody.
    assert!(of("homeless").is_empty());
    assert!(of("elsewhere").is_empty());
    assert!(of("own").is_empty());
}

#[test]
fn what_changes_often_is_found_first() {
    let model = model(ORDERS);
    let costing = askloom_target::embedded::costing();
    let made = method::design(Method::Cost, &model, &costing, &Options::default());
    let asked = query(&model, "inCity");
    let plan = planner::plan(&costing, &model.conceptual, &made.design, asked).unwrap();
    // A copy of orders by the names of cities would change with each name: the cities come first, then their customers.
    assert_eq!(found(&model, &plan), ["City", "Customer"]);
    let printed = planner::print(&model, &made.design, asked, &plan);
    assert!(printed.contains("by customer IN"), "{printed}");
    assert!(printed.contains(":customer_ids is "), "{printed}");
    let steps = planner::outline(&model, &made.design, asked, &plan);
    let total: f64 = steps.iter().map(|step| step.cost).sum();
    assert!((total / plan.estimate.cost - 1.0).abs() < 1e-9, "{total} is not {}", plan.estimate.cost);
    let read = |id| plan.collections().any(|read| read == id);
    let about = |step: &planner::Line| step.collection.is_none_or(read);
    assert!(steps.iter().all(about));
}
