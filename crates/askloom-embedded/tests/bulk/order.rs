//! Rows of a load may come before what they refer to, also in a store that holds something.

use crate::equal::inputs;
use crate::{Folder, class, now, parse};
use askloom_embedded::bulk::{Fate, Incoming, Loader, Mark};
use askloom_embedded::database::Database;
use serde_json::{Value as Json, json};

const MODEL: &str = "
entity Player { id name: text, score: int, ref mentor: Player? }
entity Game { id number: int, ref host: Player inverse hosted, part rounds: Round[*] }
entity Round { id k: int, ref winner: Player? }
query shown: SELECT number, host.score FROM Game WHERE host.score > :score
query mentors: SELECT name, m.score FROM Player JOIN mentor AS m WHERE m.score > :score
query hosts: SELECT name, g.number FROM Player LEFT JOIN hosted AS g WHERE score > :score
query wins: SELECT k, winner.score FROM Round WHERE winner.score > :score
";

fn load(database: &mut Database, rows: &[(&str, Json)]) {
    let model = database.schema().model.clone();
    let mut loader = Loader::new(database, now()).unwrap();
    for (name, row) in rows {
        let incoming = Incoming::read(&model.conceptual, class(&model, name), row.clone()).unwrap();
        assert_eq!(loader.row(incoming).unwrap(), Fate::Loaded);
        loader.flush("f", &Mark::default()).unwrap();
    }
    loader.finish(&mut |_, _| {}).unwrap();
}

fn found(database: &Database) -> Vec<String> {
    let mut found = Vec::new();
    database.verify(now(), &mut |finding| found.push(finding.to_string())).unwrap();
    found
}

#[test]
fn referrers_may_come_first() {
    let model = parse(MODEL);
    let folder = Folder::new();
    let mut database = folder.open(&model);
    load(&mut database, &[("Player", json!({"name": "zoe", "score": 1}))]);
    let rows = [
        ("Game", json!({"number": 1, "host": "ada", "rounds": [{"k": 1, "winner": "bob"}]})),
        ("Player", json!({"name": "bob", "score": 5, "mentor": "ada"})),
        ("Player", json!({"name": "ada", "score": 7, "mentor": "ada"})),
    ];
    load(&mut database, &rows);
    assert_eq!(found(&database), Vec::<String>::new());
}

/// What is awaited is kept in the store: another load brings it.
#[test]
fn another_load_may_bring_what_is_missing() {
    let model = parse(MODEL);
    let folder = Folder::new();
    let mut database = folder.open(&model);
    load(&mut database, &[("Player", json!({"name": "zoe", "score": 1}))]);
    load(&mut database, &[("Game", json!({"number": 1, "host": "ada"}))]);
    assert_eq!(found(&database), ["breach: Game 1, host, to Player ada in Game"]);
    load(&mut database, &[("Player", json!({"name": "ada", "score": 7}))]);
    assert_eq!(found(&database), Vec::<String>::new());
}

/// Somebody who inserts the target of a breach heals it; the copies follow with a repair.
#[test]
fn a_breach_is_healed_and_repaired() {
    let model = parse(MODEL);
    let folder = Folder::new();
    let mut database = folder.open(&model);
    load(&mut database, &[("Player", json!({"name": "zoe", "score": 1}))]);
    load(&mut database, &[("Game", json!({"number": 1, "host": "ada"}))]);
    let ada = Incoming::read(&model.conceptual, class(&model, "Player"), json!({"name": "ada", "score": 7}));
    database.put(&ada.unwrap().record, askloom_engine::write::Expect::Absent, &inputs(now())).unwrap();
    database.repair(now(), &mut |_| {}).unwrap();
    assert_eq!(found(&database), Vec::<String>::new());
}
