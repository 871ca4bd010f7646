//! The papers' reason to partition: a round is added to a game without writing the game again.

use crate::{class, entries, parse, schema};
use askloom_embedded::Memory;
use askloom_embedded::codec::BlockEntry;
use askloom_embedded::keyspace::write as keyed;
use askloom_engine::write::{Expect, Inputs};
use askloom_model::{Record, Rule, Value};
use askloom_plan::partition::{Strategy, elements_apart};
use std::collections::BTreeMap;

/// The entries that adding a round puts, by rules.
fn put_by(rules: &[Rule]) -> Vec<String> {
    let model = parse(include_str!("../../../../examples/noam-game/noam-game.loom"));
    let root = class(&model.conceptual, "Game");
    let schema = schema(&model, root, rules);
    let json = |text: &str| text.parse().unwrap();
    let game = json(
        r#"{"id": "2345", "firstPlayer": "mary", "secondPlayer": "rick",
            "rounds": [{"moves": "a"}, {"moves": "b", "spell": "c"}]}"#,
    );
    let game = Record::from_json(&model.conceptual, root, &game).unwrap();
    let inputs = Inputs { now: "2026-06-01T00:00:00Z".parse().unwrap(), uuids: Vec::new(), id: None };
    let mut keyspace = Memory::new();
    keyed::store(&schema, &keyspace, game, Expect::Absent, &inputs).unwrap().0.apply(&mut keyspace);
    let write = model.workload.writes.iter().find(|write| write.header.name == "completeRound").unwrap();
    let round = class(&model.conceptual, "Round");
    let round = Record::from_json(&model.conceptual, round, &json(r#"{"moves": "d"}"#)).unwrap();
    let arguments = BTreeMap::from([
        ("id".to_owned(), Value::Text("2345".to_owned())),
        ("round".to_owned(), Value::Record(Box::new(round))),
    ]);
    let arguments = arguments.into_iter().collect();
    let (change, outcome) = keyed::statement(&schema, &keyspace, write, &arguments, &inputs).unwrap();
    assert_eq!(outcome.matched, [1]);
    let put = entries(&schema, root, change.puts.keys()).into_iter();
    put.map(|(_, entry)| match entry {
        BlockEntry::System => "#".to_owned(),
        BlockEntry::Aggregate(path) => path.to_string(),
        BlockEntry::Carried => "carried".to_owned(),
    })
    .collect()
}

#[test]
fn a_new_round_writes_itself_and_the_system_entry() {
    assert_eq!(put_by(&elements_apart(None, &["rounds"], Strategy::PerAggregate)), ["#", "rounds[2]"]);
    assert_eq!(put_by(&elements_apart(None, &["rounds"], Strategy::PerTopLevelField)), ["#", "rounds[2]"]);
    assert_eq!(put_by(&[Strategy::PerAtomicValue.rule(None)]), ["#", "rounds[2].moves"]);
    assert_eq!(put_by(&[Strategy::PerTopLevelField.rule(None)]), ["#", "rounds"]);
    assert_eq!(put_by(&[Strategy::PerAggregate.rule(None)]), ["#", ""]);
}
