//! What people know about how many rows are selected, and that estimates follow it.

use crate::examples::{designed, model, query};
use askloom_model::{AssumptionAbout, Plan};
use askloom_plan::planner;

const ORDERS: &str = "
@count(100_000) entity Customer { id c: int }
@count(1_000_000) entity Order {
  id n: int
  ref customer: Customer
  ref coupon: Customer? NULLS
  at: timestamp
  note: text? NOTES
}
WHOLE query q: SELECT n FROM Order WHERE customer = :c ONE AND at >= :t TWO ORDER BY at
query noted: SELECT n FROM Order WHERE note IS NULL
query couponed: SELECT n FROM Order WHERE coupon IS NULL
query given: SELECT n FROM Order JOIN coupon AS c
";

fn planned(name: &str, with: &[(&str, &str)]) -> Plan {
    let mut text = ORDERS.to_owned();
    for (place, what) in with {
        text = text.replace(place, what);
    }
    for place in ["NULLS", "NOTES", "WHOLE", "ONE", "TWO"] {
        text = text.replace(place, "");
    }
    let (model, design) = designed(model(&text));
    planner::answer(&askloom_target::embedded::costing(), &model, &design, query(&model, name)).unwrap()
}

#[track_caller]
fn near(found: f64, meant: f64) {
    assert!((found / meant - 1.0).abs() < 1e-9, "{found} is not {meant}");
}

fn assumes_share(plan: &Plan) -> bool {
    plan.priced.assumed.iter().any(|one| matches!(one.about, AssumptionAbout::Share(_)))
}

#[test]
fn rows_and_shares_of_comparisons_are_those_that_are_given() {
    // Ten orders a customer, a third of them assumed.
    let plain = planned("q", &[]);
    near(plain.rows_out(), 10.0 / 3.0);
    assert!(assumes_share(&plain));
    let rows = planned("q", &[("TWO", "@rows(4)")]);
    near(rows.rows_out(), 4.0);
    assert!(!assumes_share(&rows), "what is given is not assumed: {:?}", rows.priced.assumed);
    near(planned("q", &[("TWO", "@selects(20%)")]).rows_out(), 2.0);
    // An equality selects of everything, and the rest of what it selects.
    near(planned("q", &[("ONE", "@rows(50)"), ("TWO", "@selects(20%)")]).rows_out(), 10.0);
    near(planned("q", &[("ONE", "@selects(0.01%)"), ("TWO", "@rows(30)")]).rows_out(), 30.0);
}

#[test]
fn rows_of_a_query_go_to_the_comparisons_that_say_nothing() {
    let whole = planned("q", &[("WHOLE", "@rows(5)")]);
    near(whole.rows_out(), 5.0);
    assert!(!assumes_share(&whole));
    near(planned("q", &[("WHOLE", "@selects(0.0004%)")]).rows_out(), 4.0);
    near(planned("q", &[("WHOLE", "@rows(5)"), ("ONE", "@rows(50)")]).rows_out(), 5.0);
}

#[test]
fn shares_of_nulls_are_those_that_are_given() {
    near(planned("noted", &[("NOTES", "@freq(null 40%)")]).rows_out(), 400_000.0);
    near(planned("couponed", &[("NULLS", "@freq(null 90%)")]).rows_out(), 900_000.0);
    let joined = planned("given", &[("NULLS", "@freq(null 90%)")]);
    near(joined.rows_out(), 100_000.0);
    assert!(!joined.priced.assumed.iter().any(|one| matches!(one.about, AssumptionAbout::Present(_))));
}

#[test]
fn explain_lists_them_as_given() {
    let text = ORDERS.replace("TWO", "@rows(15)").replace("WHOLE", "@selects(10%)");
    let text = ["NULLS", "NOTES", "ONE"].iter().fold(text, |text, place| text.replace(place, ""));
    let model = model(&text);
    assert_eq!(
        planner::print_given(&model, query(&model, "q")),
        "given: at >= :t keeps 15 rows, WHERE keeps 10%\n"
    );
    assert_eq!(planner::print_given(&model, query(&model, "noted")), "");
}
