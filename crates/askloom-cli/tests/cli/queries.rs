//! Lists as columns and the first rows of each group, from the model to the answer.

use crate::project::{Project, Ran};
use serde_json::json;

const MODEL: &str = "entity Order {
  id number: int
  placedAt: date
  tags: text[*]
  part lines: Line[*]
  ref coupons: Coupon[*] inverse orders
  ref customer: Customer? inverse placed
}

value Line { product: text, pieces: int }

entity Coupon { id code: text }

entity Customer { id name: text }

query all: SELECT number, tags, lines, coupons FROM Order WHERE customer = :customer
query derived: SELECT name, placed FROM Customer
query newest: SELECT customer, number FROM Order ORDER BY placedAt DESC LIMIT 1 PER customer
query pages: SELECT number FROM Order ORDER BY placedAt DESC LIMIT :each PER customer PAGE 2
query plain: SELECT number, tags FROM Order WHERE number = :number

write place: INSERT Order
write addLine: ADD :line TO Order.lines WHERE number = :number
write use: CONNECT Order.coupons TO :coupon WHERE number = :number
write know: INSERT Customer
";

const TARGETS: [&str; 8] =
    ["cassandra", "dynamodb", "hbase", "mongodb", "oracle-nosql", "redis", "redis-search", "redis-cluster"];

fn project() -> Project {
    Project::new().with("orders.loom", MODEL)
}

fn run(project: &Project, args: &[&str]) -> Ran {
    let all: Vec<&str> = ["run", "orders.loom"].iter().chain(args).copied().collect();
    project.command(&all).env("ASKLOOM_STORE", "file:store").output().unwrap().into()
}

fn filled() -> Project {
    let project = project();
    project.run(&["apply", "orders.loom", "--store", "file:store"]).exits(0);
    run(&project, &["know", "name=ada"]).exits(0);
    for (number, day, customer) in
        [("1", "03", "customer=ada"), ("2", "05", "customer=ada"), ("3", "04", ""), ("4", "01", "")]
    {
        let (number, day) = (format!("number={number}"), format!("placedAt=2026-11-{day}"));
        let args: Vec<&str> =
            ["place", &number, &day, customer].into_iter().filter(|arg| !arg.is_empty()).collect();
        run(&project, &args).exits(0);
    }
    for product in ["tea", "cup"] {
        let line = format!("line={{\"product\": \"{product}\", \"pieces\": 2}}");
        run(&project, &["addLine", "number=1", &line]).exits(0);
    }
    for coupon in ["z", "a"] {
        run(&project, &["use", "number=1", &format!("coupon={coupon}")]).exits(0);
    }
    project
}

#[test]
fn a_list_is_one_nested_value() {
    let project = filled();
    let ran = run(&project, &["all", "customer=ada", "--format", "json"]).exits(0);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let lines = json!([{"product": "tea", "pieces": 2}, {"product": "cup", "pieces": 2}]);
    assert_eq!(
        answer["rows"],
        json!([
            {"number": 1, "tags": [], "lines": lines, "coupons": ["a", "z"]},
            {"number": 2, "tags": [], "lines": [], "coupons": []},
        ])
    );
    let csv = run(&project, &["all", "customer=ada", "--format", "csv"]).exits(0).stdout;
    let nested =
        "\"[{\"\"pieces\"\":2,\"\"product\"\":\"\"tea\"\"},{\"\"pieces\"\":2,\"\"product\"\":\"\"cup\"\"}]\"";
    assert_eq!(
        csv,
        format!("number,tags,lines,coupons\r\n1,[],{nested},\"[\"\"a\"\",\"\"z\"\"]\"\r\n2,[],[],[]\r\n")
    );
    run(&project, &["derived"]).exits(0).prints("ada   [1,2]");
}

#[test]
fn the_first_of_each_group_and_pages_of_them() {
    let project = filled();
    let newest = run(&project, &["newest", "--format", "csv"]).exits(0).stdout;
    assert_eq!(newest, "customer,number\r\nada,2\r\n,3\r\n");
    let mut numbers = Vec::new();
    let mut next = String::new();
    loop {
        let mut args = vec!["pages", "each=1", "--format", "json"];
        if !next.is_empty() {
            args.extend(["--page", &next]);
        }
        let answer: serde_json::Value = serde_json::from_str(&run(&project, &args).exits(0).stdout).unwrap();
        numbers.extend(answer["rows"].as_array().unwrap().iter().map(|row| row["number"].clone()));
        match answer["next"].as_str() {
            Some(more) => next = more.to_owned(),
            None => break,
        }
    }
    assert_eq!(numbers, [json!(2), json!(3)]);
    run(&project, &["pages", "each=0"]).exits(2).says("LIMIT and PAGE take a whole number above zero");
}

#[test]
fn the_plan_says_what_is_cut_and_looked_up() {
    let project = project();
    project.run(&["explain", "orders.loom", "newest"]).exits(0).prints("first 1 rows of each customer");
    project.run(&["explain", "orders.loom", "derived"]).exits(0).prints("find placed by a scan of Order");
    let design = project.run(&["design", "orders.loom", "--format", "json"]).exits(0).stdout;
    let design: serde_json::Value = serde_json::from_str(&design).unwrap();
    let plans = design["plans"].as_array().unwrap();
    let newest = plans.iter().find(|plan| plan["statement"] == "newest").unwrap();
    assert!(newest["steps"].as_array().unwrap().iter().any(|step| step["op"] == "per_group"), "{newest}");
}

#[test]
fn what_no_store_prints_yet_is_named_and_the_rest_printed() {
    let project = project();
    for target in TARGETS {
        let ran = project.run(&["generate", "orders.loom", "--target", target]).exits(0).prints("plain");
        for (name, form) in [
            ("all", "a to-many relationship in SELECT"),
            ("derived", "a to-many relationship in SELECT"),
            ("newest", "LIMIT … PER"),
            ("pages", "LIMIT … PER"),
        ] {
            let note = format!("the text of `{name}` is not generated yet: it has {form}");
            assert!(ran.stderr.contains(&note), "{target}: no {note:?} in\n{}", ran.stderr);
        }
        assert!(!ran.stdout.contains("PER customer"), "{target}:\n{}", ran.stdout);
    }
    project
        .run(&["explain", "orders.loom", "newest", "--target", "mongodb"])
        .exits(0)
        .prints("is not generated yet: it has LIMIT … PER");
}
