//! What is printed for several classes in one partition, beside what is expected: `tests/generated`.

use crate::generated::expect;
use crate::project::Project;

/// Customers with what belongs to them: purchases with lines in records of their own, visits by time, one profile.
const MODEL: &str = "entity Restaurant { id rid: int, name: text }
entity Customer { id customerId: int, name: text, city: text }
entity Purchase {
  id ref customer: Customer, id number: long
  name: text, total: decimal, ref restaurant: Restaurant, part lines: Line[*]
}
value Line { sku: text, price: decimal }
entity Profile { id ref customer: Customer, motto: text }
entity Visit { id at: timestamp, id ref guest: Customer, note: text? }

collection CustomerPurchases of Customer, Purchase, Profile, Visit {
  master;
  key customerId;
  sort number desc, at;
  keep restaurant.name;
}

represent Purchase as lines {
  /Purchase/*/lines[*]
  /Purchase/*
}

query customer: SELECT name FROM Customer WHERE customerId = :id
query latest: SELECT number, total, restaurant.name FROM Purchase WHERE customer = :id
  ORDER BY number DESC LIMIT 10
query since: SELECT number FROM Purchase WHERE customer = :id AND number >= :from ORDER BY number
query visits: SELECT at, note FROM Visit WHERE guest = :id AND at <= :until ORDER BY at DESC LIMIT 3
query purchase: SELECT * FROM Purchase WHERE customer = :id AND number = :number
query shown: SELECT total, customer.name FROM Purchase WHERE customer = :id AND number = :number
query profile: SELECT motto FROM Profile WHERE customer = :id
query everybody: SELECT name FROM Customer
write open: INSERT Restaurant
write join: INSERT Customer
write rename: UPDATE Customer SET name = :name WHERE customerId = :id
write buy: INSERT Purchase
write addLine: ADD :line TO Purchase.lines WHERE customer = :customer AND number = :number
write drop: DELETE Purchase WHERE customer = :customer AND number = :number
write say: UPSERT Profile
write visit: INSERT Visit
write forget: DELETE Visit WHERE guest = :guest AND at = :at
write call: UPDATE Restaurant SET name = :name WHERE rid = :rid
";

const PARAMS: &str = r#"{"customer": {"id": 7}, "since": {"id": 7, "from": 42},
 "visits": {"id": 7, "until": "2026-11-17T01:00:00Z"},
 "purchase": {"id": 7, "number": 42}, "profile": {"id": 7},
 "join": {"customerId": 7, "name": "ann", "city": "Oslo"},
 "visit": {"guest": 7, "at": "2026-11-17T01:00:00Z", "note": "late"},
 "drop": {"customer": 7, "number": 42, "$version": 3, "$stamp": 1800000000000000}}"#;

fn printed(target: &str) -> String {
    let project = Project::new().with("m.loom", MODEL).with("params.json", PARAMS);
    let args = ["generate", "m.loom", "--method", "given", "--target", target, "-o"];
    project.run(&[&args[..], &["slots", "--sample"]].concat()).exits(0);
    project.run(&[&args[..], &["values", "--params", "params.json"]].concat()).exits(0);
    let mut text = String::new();
    for file in ["slots/schema", "slots/statements", "values/statements"] {
        for end in ["cql", "sh"] {
            let file = format!("{file}.{end}");
            if project.exists(&file) {
                text.push_str(&format!("== {file}\n{}\n", project.read(&file)));
            }
        }
    }
    text
}

#[test]
fn classes_of_one_partition_are_one_table() {
    for target in ["cassandra", "dynamodb"] {
        expect(&format!("item_collections.{target}.txt"), &printed(target));
    }
}

#[test]
fn other_stores_refuse_them_by_name() {
    let project = Project::new().with("m.loom", MODEL);
    let says = "`Purchase` lies in the partitions of `CustomerPurchases`, which is not generated";
    for target in ["mongodb", "redis", "redis-search", "redis-cluster", "hbase", "oracle-nosql"] {
        let args = ["generate", "m.loom", "--method", "given", "--target", target, "-o", "out"];
        project.run(&args).exits(1).says(says);
    }
    let explain = ["explain", "m.loom", "customer", "--method", "given", "--target", "mongodb"];
    let explained = project.run(&explain).exits(0).stdout;
    assert!(explained.contains("its text for MongoDB is not generated"), "{explained}");
    let args = ["generate", "m.loom", "--method", "given", "--target", "dynamodb", "--faithful", "-o", "out"];
    project.run(&args).exits(1).says("no paper prints several classes in one table");
    // Keys start with what tells the classes apart.
    let project = project.with("askloom.toml", "[target.dynamodb]\nkeys = { Purchase = \"P#\" }\n");
    let args = ["generate", "m.loom", "--method", "given", "--target", "dynamodb", "-o", "out"];
    project.run(&args).exits(1).says("`keys` names `Purchase`");
}

#[test]
fn a_store_keeps_classes_of_one_partition() {
    let store = ["--store", "file:db"];
    let project = Project::new().with("m.loom", MODEL);
    project.run(&[&["apply", "m.loom"], &store[..]].concat()).exits(0);
    let run = |args: &[&str]| project.run(&[&["run", "m.loom"], args, &store].concat()).exits(0);
    run(&["open", "rid=1", "name=Roma"]);
    run(&["join", "customerId=7", "name=ann", "city=Oslo"]);
    for number in ["2", "10", "1"] {
        let number = format!("number={number}");
        run(&["buy", "customer=7", &number, "name=x", "total=3", "restaurant=1"]);
    }
    run(&["say", "customer=7", "motto=on"]);
    run(&["visit", "guest=7", "at=2026-11-17T01:00:00Z", "note=late"]);
    run(&["call", "rid=1", "name=Milano"]);
    let latest = run(&["latest", "id=7", "--format", "csv"]).stdout;
    let rows: Vec<&str> = latest.lines().skip(1).collect();
    assert_eq!(rows, ["10,3,Milano", "2,3,Milano", "1,3,Milano"], "{latest}");
    let since = run(&["since", "id=7", "from=2", "--format", "csv"]).stdout;
    assert_eq!(since.lines().skip(1).collect::<Vec<_>>(), ["2", "10"]);
    let everybody = run(&["everybody", "--format", "csv"]).stdout;
    assert_eq!(everybody.lines().skip(1).collect::<Vec<_>>(), ["ann"]);
    project.run(&[&["verify", "m.loom"], &store[..]].concat()).exits(0);
    // Each class has a range of keys of its own here, so that nothing has to move.
    let project = project.with("m.loom", MODEL.replace("Purchase, Profile, Visit", "Purchase, Visit"));
    project.run(&[&["apply", "m.loom"], &store[..]].concat()).exits(0);
    let profile = project.run(&["run", "m.loom", "profile", "id=7", "--format", "csv", "--store", "file:db"]);
    assert_eq!(profile.exits(0).stdout.lines().skip(1).collect::<Vec<_>>(), ["on"]);
}

/// Where a key is bytes, the records of another class whose name goes on from this one's lie right behind.
#[test]
fn ranges_of_keys_in_bytes_end_with_their_class() {
    let model = "entity Customer { id c: int }
entity Purchase { id ref customer: Customer, id price: decimal }
entity PurchaseNote { id ref customer: Customer, note: text }
collection All of Customer, Purchase, PurchaseNote { master; key c; sort price; }
query dear: SELECT price FROM Purchase WHERE customer = :c AND price > :p
query cheap: SELECT price FROM Purchase WHERE customer = :c AND price < :p
";
    let project = Project::new().with("m.loom", model);
    let args = ["generate", "m.loom", "--method", "given", "--target", "dynamodb", "-o", "out"];
    project.run(&args).exits(0);
    let printed = project.read("out/statements.sh");
    assert!(
        printed.contains("Purchase#:p (the next)") && printed.contains("Purchase# (the last)"),
        "{printed}"
    );
    assert!(printed.contains("Purchase#:p (the one before)"), "{printed}");
    assert!(!printed.contains("Purchase (the last)"), "{printed}");
}
