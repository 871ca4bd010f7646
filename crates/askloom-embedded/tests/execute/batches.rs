//! How often a query asks a store that is not here: once a stage, whatever the number of rows; and how much it keeps.

use crate::mirror::parse;
use askloom_design::simple;
use askloom_embedded::keyspace::write as keyed;
use askloom_embedded::{KeyedSchema, KeyspaceRecords, Memory};
use askloom_engine::Stop;
use askloom_engine::execute::{Answer, Arguments, PreparedQuery, Progress};
use askloom_engine::source::{CHUNK, Fetched, Wanted};
use askloom_engine::write::{Expect, Inputs};
use askloom_model::{Design, Model, Origin, Record, Table, Value};
use askloom_plan::{planner, upkeep};
use jiff::Timestamp;

const MODEL: &str = "
    entity City { id c: int, name: text }
    entity Player { id p: int, name: text, ref city: City }
    entity Game { id g: int, score: int, ref host: Player inverse hosted }
    query hosts: SELECT g, host.name, host.city.name AS city FROM Game
    query joined: SELECT g, h.name, c.name AS city FROM Game JOIN host AS h, h.city AS c WHERE c.name != 'c1'
    query back: SELECT p, x.g FROM Player JOIN hosted AS x
    query best: SELECT g FROM Game ORDER BY score DESC LIMIT 3
";

fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

/// Masters, and the indexes that lead back.
fn schema(model: &Model) -> KeyedSchema {
    let mut design = Design { method: "masters".to_owned(), collections: Table::default() };
    simple::masters(model, Origin::Method, &mut design);
    upkeep::add_indexes(model, &mut design);
    KeyedSchema::new(model.clone(), design)
}

fn put(schema: &KeyedSchema, keyspace: &mut Memory, class: &str, fields: &[(&str, Value)]) {
    let conceptual = &schema.model.conceptual;
    let (class, _) = conceptual.classes.iter().find(|(_, row)| row.name == class).unwrap();
    let mut record = Record::new(class);
    for (name, value) in fields {
        let mut members = conceptual.all_members(class);
        record.set(members.find(|member| conceptual.member_name(*member) == *name).unwrap(), value.clone());
    }
    let inputs = Inputs { now: now(), uuids: Vec::new(), id: None };
    let (change, _) = keyed::store(schema, keyspace, record, Expect::Absent, &inputs).unwrap();
    change.apply(keyspace);
}

/// Games 0 to n, a player each, ten cities.
fn games(n: i64) -> (KeyedSchema, Memory) {
    let model = parse(MODEL);
    let schema = schema(&model);
    let mut keyspace = Memory::new();
    let to = |id: i64| Value::Reference(vec![Value::Int(id)]);
    let text = |letter: char, id: i64| Value::Text(format!("{letter}{id}"));
    for c in 0..10 {
        put(&schema, &mut keyspace, "City", &[("c", Value::Int(c)), ("name", text('c', c))]);
    }
    for p in 0..n {
        let fields = [("p", Value::Int(p)), ("name", text('p', p)), ("city", to(p % 10))];
        put(&schema, &mut keyspace, "Player", &fields);
    }
    for g in 0..n {
        let score = Value::Int((g * 7919) % 1000);
        put(&schema, &mut keyspace, "Game", &[("g", Value::Int(g)), ("score", score), ("host", to(g))]);
    }
    (schema, keyspace)
}

/// The answer, and how many things each batch fetched.
fn run(schema: &KeyedSchema, keyspace: &Memory, name: &str) -> (Answer, Vec<usize>) {
    let conceptual = &schema.model.conceptual;
    let query = schema.model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
    let plan =
        planner::plan(&askloom_target::embedded::costing(), conceptual, &schema.design, query).unwrap();
    let prepared = PreparedQuery::new(schema, query, &plan);
    let source = KeyspaceRecords { schema, keyspace };
    let mut fetched = Fetched::new(schema);
    let mut batches = Vec::new();
    let mut evaluation = prepared.start(schema, &Arguments::new(), now(), None).unwrap();
    loop {
        let stop = match evaluation.step(&fetched) {
            Ok(Progress::More) => {
                fetched.forget();
                continue;
            }
            Ok(Progress::Done) => match evaluation.answer(&fetched) {
                Ok(answer) => return (answer, batches),
                Err(stop) => stop,
            },
            Err(stop) => stop,
        };
        assert_eq!(stop, Stop::Missing);
        let wanted: Vec<Wanted> = fetched.take_wanted();
        batches.push(wanted.len());
        for one in wanted {
            fetched.fetch(one, &source).unwrap();
        }
    }
}

#[test]
fn a_join_of_a_hundred_rows_is_one_batch_a_stage() {
    let (schema, keyspace) = games(100);
    // All games, then their hundred hosts at once, then the ten cities.
    for name in ["hosts", "joined"] {
        let (answer, batches) = run(&schema, &keyspace, name);
        assert_eq!(batches, [1, 100, 10], "{name}");
        assert_eq!(answer.rows.len(), if name == "hosts" { 100 } else { 90 });
    }
    // All players, then who refers back, then those.
    let (answer, batches) = run(&schema, &keyspace, "back");
    assert_eq!(answer.rows.len(), 100);
    assert!(batches.len() <= 3 && batches.iter().all(|&size| size <= 100), "{batches:?}");
}

#[test]
fn a_long_list_is_read_in_chunks() {
    let n = 3 * CHUNK as i64 - 1;
    let (schema, keyspace) = games(n);
    let (answer, batches) = run(&schema, &keyspace, "best");
    assert_eq!(batches, [1, 1, 1]);
    assert_eq!(answer.rows.len(), 3);
    let best = |g: &i64| (-((g * 7919) % 1000), -g);
    let mut all: Vec<i64> = (0..n).collect();
    all.sort_by_key(best);
    let meant: Vec<Vec<Value>> = all.into_iter().take(3).map(|g| vec![Value::Int(g)]).collect();
    assert_eq!(answer.rows, meant);
}
