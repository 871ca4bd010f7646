//! What is printed and stored for a master that carries values of others: `tests/generated`.

use crate::generated::expect;
use crate::project::Project;

const MODEL: &str = "entity City { id code: text, name: text }
entity Restaurant { id rid: int, name: text, ref city: City? }
entity Customer { id name: text }
entity Order { id ref customer: Customer, id number: int, ref restaurant: Restaurant?, note: text }

collection Orders of Order {
  master;
  key customer;
  sort number desc;
  keep restaurant.name, restaurant.city;
}

query orders: SELECT number, restaurant.name FROM Order WHERE customer = :customer ORDER BY number DESC
query order: SELECT note, restaurant.name, restaurant.city
  FROM Order WHERE customer = :customer AND number = :number
query town: SELECT restaurant.city.name FROM Order WHERE customer = :customer AND number = :number
write found: INSERT City
write join: INSERT Customer
write open: INSERT Restaurant
write place: INSERT Order
write setNote: UPDATE Order SET note = :note WHERE customer = :customer AND number = :number
write move: UPDATE Order SET restaurant = :restaurant WHERE customer = :customer AND number = :number
write rename: UPDATE Restaurant SET name = :name WHERE rid = :rid
write cancel: DELETE Order WHERE customer = :customer AND number = :number
";

fn printed(target: &str) -> String {
    let project = Project::new().with("m.loom", MODEL);
    project.run(&["generate", "m.loom", "--method", "given", "--target", target, "-o", "out"]).exits(0);
    let mut text = String::new();
    for file in ["schema.cql", "schema.sh", "schema.js", "schema.rb", "tables.sql"]
        .into_iter()
        .map(str::to_owned)
        .chain(["cql", "sh", "js", "rb", "jsh", "redis"].map(|end| format!("statements.{end}")))
    {
        if project.exists(&format!("out/{file}")) {
            text.push_str(&format!("== {file}\n{}\n", project.read(&format!("out/{file}"))));
        }
    }
    text
}

#[test]
fn carried_values_are_columns_on_every_store() {
    for target in ["cassandra", "dynamodb", "mongodb", "redis", "redis-cluster", "hbase", "oracle-nosql"] {
        let text = printed(target);
        let is_comment = |line: &&str| ["--", "#", "//"].iter().any(|mark| line.starts_with(mark));
        let mut said = text.lines().filter(|line| !is_comment(line));
        assert!(!said.any(|line| line.to_lowercase().contains("carried")), "a table of its own on {target}");
        expect(&format!("carried.{target}.txt"), &text);
    }
}

#[test]
fn carried_values_follow_every_write() {
    let store = ["--store", "file:db"];
    let project = Project::new().with("m.loom", MODEL);
    let apply = |project: &Project| project.run(&[&["apply", "m.loom"], &store[..]].concat());
    let run = |args: &[&str]| project.run(&[&["run", "m.loom"], args, &store].concat()).exits(0).stdout;
    let verify = || project.run(&[&["verify", "m.loom"], &store[..]].concat());
    apply(&project).exits(0);
    run(&["found", "code=o", "name=Oslo"]);
    run(&["join", "name=c"]);
    for (rid, name) in [("rid=1", "name=Roma"), ("rid=2", "name=Napoli")] {
        run(&["open", rid, name, "city=o"]);
    }
    for (number, more) in [("number=1", "restaurant=1"), ("number=2", "restaurant=2")] {
        run(&["place", "customer=c", number, more, "note=n"]);
    }
    run(&["place", "customer=c", "number=3", "note=n"]);
    let orders = || run(&["orders", "customer=c", "--format", "csv"]);
    assert_eq!(orders().lines().skip(1).collect::<Vec<_>>(), ["3,", "2,Napoli", "1,Roma"]);
    run(&["rename", "rid=1", "name=Milano"]);
    run(&["move", "customer=c", "number=2", "restaurant=1"]);
    assert_eq!(orders().lines().skip(1).collect::<Vec<_>>(), ["3,", "2,Milano", "1,Milano"]);
    let order = run(&["order", "customer=c", "number=1", "--format", "csv"]);
    assert!(order.contains("n,Milano,o"), "{order}");
    run(&["cancel", "customer=c", "number=1"]);
    verify().exits(0);
    // What lies in the records of a master cannot change while there are some.
    let less = project.with("m.loom", MODEL.replace("restaurant.name, restaurant.city", "restaurant.name"));
    apply(&less).exits(3).says("would be another");
    let none = less.with("m.loom", MODEL.replace("  keep restaurant.name, restaurant.city;\n", ""));
    apply(&none).exits(3).says("would no longer carry");
}

#[test]
fn what_a_master_carries_is_filled_on_a_store_with_data() {
    let store = ["--store", "file:db"];
    let bare = MODEL.replace("  keep restaurant.name, restaurant.city;\n", "");
    let project = Project::new().with("m.loom", bare);
    let run = |project: &Project, args: &[&str]| {
        project.run(&[&["run", "m.loom"], args, &store].concat()).exits(0).stdout
    };
    let apply = |project: &Project| project.run(&[&["apply", "m.loom"], &store[..]].concat()).exits(0);
    apply(&project);
    run(&project, &["join", "name=c"]);
    run(&project, &["open", "rid=1", "name=Roma"]);
    run(&project, &["place", "customer=c", "number=1", "restaurant=1", "note=n"]);
    let project = project.with("m.loom", MODEL);
    apply(&project).says("OrdersCarried");
    project.run(&[&["verify", "m.loom"], &store[..]].concat()).exits(0);
    let orders = run(&project, &["orders", "customer=c", "--format", "csv"]);
    assert_eq!(orders.lines().skip(1).collect::<Vec<_>>(), ["1,Roma"]);
}
