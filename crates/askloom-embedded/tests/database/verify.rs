//! Everything that can be wrong with a store is found, and what follows from the masters is made right.

use super::{Scratch, assert_sound, now, query, text, write};
use askloom_embedded::codec::block_prefix;
use askloom_embedded::database::{Database, Fault, Finding};
use askloom_embedded::store::{Batch, Direction, Outcome};
use askloom_model::{CollectionId, Contents, Nodes, Value};

const MODEL: &str = "
entity Player { id name: text, unique mail: text?, score: int = 0 }
entity Game {
  id number: int
  status: enum(open, over) = open
  ref host: Player
  part rounds: Round[*]
}
value Round { moves: text }
query open: SELECT number, host.score FROM Game WHERE status = 'open' ORDER BY number
write addPlayer: INSERT Player
write addGame: INSERT Game
write setScore: UPDATE Player SET score = :score WHERE name = :name
write addRound: ADD :round TO Game.rounds WHERE number = :n
write dropGame: DELETE FROM Game WHERE number = :n
write dropPlayer: DELETE FROM Player WHERE name = :name
represent Game as rounds { /Game/*/rounds[*] /Game/* }
";

fn filled() -> (Scratch, Database) {
    let folder = Scratch::new();
    let (database, _) = folder.apply(MODEL).unwrap();
    for name in ["ada", "ben"] {
        let mail = text(&format!("{name}@example.org"));
        write(&database, "addPlayer", &[("name", text(name)), ("mail", mail)]).unwrap();
    }
    for number in 0..300 {
        let host = Value::Reference(vec![text("ada")]);
        write(&database, "addGame", &[("number", Value::Int(number)), ("host", host)]).unwrap();
    }
    assert_sound(&database);
    (folder, database)
}

fn collection(database: &Database, name: &str) -> CollectionId {
    database.schema().design.collections.iter().find(|(_, c)| c.name == name).unwrap().0
}

/// The keys and values of a collection.
fn entries(database: &Database, name: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let number = database.schema().number(collection(database, name));
    let snapshot = database.store().snapshot();
    let entries = snapshot.prefix(&block_prefix(number, &[]), Direction::Ascending).unwrap();
    entries.map(|entry| entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec())).unwrap()).collect()
}

fn commit(database: &Database, batch: Batch) {
    assert!(matches!(database.store().commit(batch).unwrap(), Outcome::Committed { .. }));
}

fn found(database: &Database) -> Vec<Finding> {
    let mut found = Vec::new();
    database.verify(now(), &mut |finding| found.push(finding)).unwrap();
    found
}

#[track_caller]
fn one(database: &mut Database, fault: Fault, collection: &str, place: &str) {
    let all = found(database);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].fault, all[0].collection.as_str(), all[0].place.as_str()), (fault, collection, place));
    let mut repaired = Vec::new();
    database.repair(now(), &mut |finding| repaired.push(finding)).unwrap();
    assert!(repaired.len() == 1 && repaired[0].repaired, "{repaired:?}");
    assert_sound(database);
}

#[test]
fn a_missing_entry() {
    let (_folder, mut database) = filled();
    let (key, _) = entries(&database, "OpenView")[7].clone();
    commit(&database, Batch::new().delete(key));
    assert_eq!(query(&database, "open", &[]).0.len(), 299);
    one(&mut database, Fault::Missing, "OpenView", "status open, number 7, Game 7");
    assert_eq!(query(&database, "open", &[]).0.len(), 300);
}

#[test]
fn a_wrong_entry() {
    let (_folder, mut database) = filled();
    let all = entries(&database, "OpenView");
    commit(&database, Batch::new().put(all[7].0.clone(), b"".to_vec()));
    one(&mut database, Fault::Wrong, "OpenView", "status open, number 7, Game 7");
    assert_eq!(entries(&database, "OpenView"), all);
}

#[test]
fn an_extra_entry() {
    let (_folder, mut database) = filled();
    let (key, value) = entries(&database, "OpenView")[7].clone();
    write(&database, "dropGame", &[("n", Value::Int(7))]).unwrap();
    assert_sound(&database);
    commit(&database, Batch::new().put(key, value));
    one(&mut database, Fault::Extra, "OpenView", "status open, number 7, Game 7");
}

#[test]
fn one_missing_and_one_extra_make_the_right_number() {
    let (_folder, mut database) = filled();
    let all = entries(&database, "GameByHost");
    let mut stray = all[3].0.clone();
    *stray.last_mut().unwrap() ^= 0x40;
    commit(&database, Batch::new().delete(all[3].0.clone()).put(stray, b"".to_vec()));
    let faults: Vec<Fault> = found(&database).iter().map(|finding| finding.fault).collect();
    assert_eq!(faults, [Fault::Missing, Fault::Extra]);
    database.repair(now(), &mut |_| {}).unwrap();
    assert_sound(&database);
    assert_eq!(entries(&database, "GameByHost"), all);
}

#[test]
fn an_index_is_repaired_before_what_is_found_by_it() {
    let (_folder, mut database) = filled();
    let batch =
        entries(&database, "GameByHost").into_iter().fold(Batch::new(), |batch, (key, _)| batch.delete(key));
    commit(&database, batch);
    let mut count = 0;
    database.repair(now(), &mut |_| count += 1).unwrap();
    assert_eq!(count, 300);
    assert_sound(&database);
}

#[test]
fn keys_of_no_collection() {
    let (_folder, mut database) = filled();
    commit(&database, Batch::new().put(vec![0, 0, 0, 99, 1], b"x".to_vec()));
    one(&mut database, Fault::Extra, "no collection", "the key 0000006301");
}

#[test]
fn an_aggregate_that_cannot_be_read_is_told_and_left() {
    let (_folder, mut database) = filled();
    let (key, _) = entries(&database, "Game").into_iter().find(|(key, _)| !key.ends_with(b"#")).unwrap();
    commit(&database, Batch::new().put(key, vec![0xfe, 0xfe]));
    let all = found(&database);
    assert!(
        all.iter().any(|finding| finding.fault == Fault::Unreadable && finding.place.starts_with("Game 0")),
        "{all:?}"
    );
    database.repair(now(), &mut |_| {}).unwrap();
    assert!(found(&database).iter().all(|finding| finding.fault == Fault::Unreadable));
}

#[test]
fn a_reference_to_nothing_is_a_breach() {
    let (_folder, database) = filled();
    write(&database, "dropPlayer", &[("name", text("ben"))]).unwrap();
    assert_sound(&database);
    let host = Value::Reference(vec![text("ben")]);
    write(&database, "addGame", &[("number", Value::Int(999)), ("host", host)]).unwrap();
    let all = found(&database);
    assert_eq!(
        all.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["breach: Game 999, host, to Player ben in Game"]
    );
}

#[test]
fn a_unique_value_that_two_have() {
    let (_folder, mut database) = filled();
    // Ben's aggregate under ada's mail, as no write would make it.
    let players = entries(&database, "Player");
    let mut batch = Batch::new();
    for (key, value) in players {
        let text = String::from_utf8_lossy(&value).into_owned();
        if text.contains("ben@example.org") {
            let at = value.windows(15).position(|bytes| bytes == b"ben@example.org").unwrap();
            let mut value = value;
            value[at..at + 3].copy_from_slice(b"ada");
            batch = batch.put(key, value);
        }
    }
    commit(&database, batch);
    database.repair(now(), &mut |_| {}).unwrap();
    let all = found(&database);
    assert_eq!(all.iter().map(|finding| finding.fault).collect::<Vec<_>>(), [Fault::NotUnique]);
    assert_eq!(all[0].place, "mail ada@example.org of Player ada and Player ben");
}

#[test]
fn the_nodes_of_a_nested_copy_are_verified_too() {
    let folder = Scratch::new();
    let model = super::model(MODEL);
    let mut design = askloom_design::simple::design(&model);
    let view = design.collections.iter().find(|(_, c)| c.name == "OpenView").unwrap().0;
    let keys = design.collections[view].entry_key.drain(..).map(|field| field.path).collect::<Vec<_>>();
    let Contents::Fields(fields) = &mut design.collections[view].contents else { panic!("no fields") };
    let fields = keys.into_iter().chain(fields.drain(..)).collect();
    let whole = vec![askloom_model::Id::from_index(0)];
    design.collections[view].contents = Contents::Nested(Nodes { fields, whole });
    let options = super::options();
    drop(Database::apply(&folder.0, &options, model.clone(), design).unwrap());
    // By the design that the store keeps, which is read back from its text.
    let mut database = Database::open_as_applied(&folder.0, &options, model).unwrap();
    write(&database, "addPlayer", &[("name", text("ada"))]).unwrap();
    for number in 0..10 {
        let host = Value::Reference(vec![text("ada")]);
        write(&database, "addGame", &[("number", Value::Int(number)), ("host", host)]).unwrap();
    }
    assert_sound(&database);
    let all = entries(&database, "OpenView");
    commit(&database, Batch::new().delete(all[7].0.clone()));
    one(&mut database, Fault::Missing, "OpenView", "status open, Game 7");
    assert_eq!(entries(&database, "OpenView"), all);
}
