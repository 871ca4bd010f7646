//! What is printed for masters whose id is split, beside what is expected: `tests/generated`.

use crate::generated::expect;
use crate::project::Project;

/// Messages of a room, readings of a sensor by day, items of a menu with extras in records of their own.
const MODEL: &str = "entity Room { id name: text }
immutable entity Message { id ref room: Room, id sentAt: timestamp, body: text }
entity Sensor { id name: text }
immutable entity Reading { id ref sensor: Sensor, id at: timestamp, value: double }
entity Restaurant { id rid: int }
entity MenuItem { id ref restaurant: Restaurant, id sku: text, price: decimal, part extras: Extra[*] }
value Extra { name: text, price: decimal }

collection Messages of Message { master; key room; sort sentAt desc; }
collection Readings of Reading { master; key sensor, day(at); sort at; }
collection MenuItems of MenuItem { master; key restaurant; sort sku; }

represent MenuItem as extras {
  /MenuItem/*/extras[*]
  /MenuItem/*
}

query latest: SELECT sentAt, body FROM Message WHERE room = :room ORDER BY sentAt DESC LIMIT 50
query since: SELECT sentAt, body FROM Message WHERE room = :room AND sentAt >= :from ORDER BY sentAt
query message: SELECT body FROM Message WHERE room = :room AND sentAt = :sentAt
query window: SELECT at, value FROM Reading WHERE sensor = :sensor AND at BETWEEN :from AND :until
  ORDER BY at DESC LIMIT 10
query menu: SELECT sku, price FROM MenuItem WHERE restaurant = :restaurant ORDER BY sku
query item: SELECT * FROM MenuItem WHERE restaurant = :restaurant AND sku = :sku
write open: INSERT Room
write post: INSERT Message
write note: INSERT Reading
write addExtra: ADD :extra TO MenuItem.extras WHERE restaurant = :restaurant AND sku = :sku
write setPrice: UPDATE MenuItem SET price = :price WHERE restaurant = :restaurant AND sku = :sku
write dropItem: DELETE MenuItem WHERE restaurant = :restaurant AND sku = :sku
";

const PARAMS: &str = r#"{"window": {"sensor": "a", "from": "2026-11-16T23:00:00Z", "until": "2026-11-17T01:00:00Z"},
 "note": {"sensor": "a", "at": "2026-11-17T01:00:00Z", "value": 1.5},
 "item": {"restaurant": 7, "sku": "x"},
 "dropItem": {"restaurant": 7, "sku": "x", "$version": 3}}"#;

fn printed(target: &str) -> String {
    // In a cluster a write says which version it makes.
    let stamp = r#""$stamp": 1800000000000000, "restaurant": 7, "sku": "x", "$version""#;
    let params = match target {
        "redis-cluster" => PARAMS
            .replace(r#""value": 1.5"#, r#""value": 1.5, "$stamp": 1800000000000000"#)
            .replace(r#""restaurant": 7, "sku": "x", "$version""#, stamp),
        _other => PARAMS.to_owned(),
    };
    let project = Project::new().with("m.loom", MODEL).with("params.json", &params);
    let args = ["generate", "m.loom", "--method", "given", "--target", target, "-o"];
    project.run(&[&args[..], &["slots"]].concat()).exits(0);
    project.run(&[&args[..], &["values", "--params", "params.json"]].concat()).exits(0);
    let mut text = String::new();
    for file in ["schema.cql", "schema.sh", "schema.js", "schema.rb", "tables.sql"] {
        if project.exists(&format!("slots/{file}")) {
            text.push_str(&format!("== {file}\n{}\n", project.read(&format!("slots/{file}"))));
        }
    }
    for folder in ["slots", "values"] {
        for end in ["cql", "sh", "js", "rb", "jsh", "redis"] {
            let file = format!("{folder}/statements.{end}");
            if project.exists(&file) {
                text.push_str(&format!("== {file}\n{}\n", project.read(&file)));
            }
        }
    }
    text
}

#[test]
fn split_masters_on_every_store() {
    for target in ["cassandra", "dynamodb", "mongodb", "redis", "redis-cluster", "hbase", "oracle-nosql"] {
        expect(&format!("clustered.{target}.txt"), &printed(target));
    }
}

#[test]
fn a_store_keeps_split_masters_in_their_order() {
    let store = ["--store", "file:db"];
    let project = Project::new().with("m.loom", MODEL);
    let apply = |project: &Project| project.run(&[&["apply", "m.loom"], &store[..]].concat());
    let run = |args: &[&str]| project.run(&[&["run", "m.loom"], args, &store].concat()).exits(0);
    apply(&project).exits(0);
    run(&["open", "name=r"]);
    for (at, body) in [("09", "b"), ("08", "a"), ("10", "c")] {
        let at = format!("sentAt=2026-11-17T{at}:00:00Z");
        run(&["post", "room=r", &at, &format!("body={body}")]);
    }
    let bodies = |ran: &str| -> Vec<String> {
        ran.lines().skip(1).filter_map(|line| line.split(',').nth(1)).map(str::to_owned).collect()
    };
    let latest = run(&["latest", "room=r", "--format", "csv"]).stdout;
    assert_eq!(bodies(&latest), ["c", "b", "a"], "{latest}");
    let since = run(&["since", "room=r", "from=2026-11-17T09:00:00Z", "--format", "csv"]).stdout;
    assert_eq!(bodies(&since), ["b", "c"], "{since}");
    project.run(&[&["verify", "m.loom"], &store[..]].concat()).exits(0);
    // Where aggregates are cannot change while there are some.
    let declared = "collection Messages of Message { master; key room; sort sentAt desc; }\n";
    let project =
        project.with("m.loom", MODEL.replace("key room; sort sentAt desc", "key room; sort sentAt"));
    apply(&project).exits(3).says("another way");
    let project = project.with("m.loom", MODEL.replace(declared, ""));
    apply(&project).exits(3).says("would be in another collection");
}
