//! What a store takes: a first design, the same again, and what adds to it.

use super::{Scratch, assert_sound, query, text, write};
use askloom_embedded::database::{Applied, OpenError};
use askloom_model::{Identity, Value};

const FIRST: &str = "
entity Player { id name: text, score: int = 0 }
entity Game { id number: int, status: enum(open, over) = open, ref host: Player }
query all: SELECT number FROM Game WHERE number = :n
write addPlayer: INSERT Player
write addGame: INSERT Game
write setScore: UPDATE Player SET score = :score WHERE name = :name
write close: UPDATE Game SET status = 'over' WHERE number = :n
write drop: DELETE FROM Game WHERE number = :n
";

const SECOND: &str = "
entity Country { id code: text }
entity Player { id name: text, score: int = 0, nick: text?, ref country: Country? }
entity Game { id number: int, status: enum(open, over, lost) = open, ref host: Player }
query all: SELECT number FROM Game WHERE number = :n
query open: SELECT number, host.score FROM Game WHERE status = 'open' ORDER BY number
write addPlayer: INSERT Player
write addGame: INSERT Game
write setScore: UPDATE Player SET score = :score WHERE name = :name
write close: UPDATE Game SET status = 'over' WHERE number = :n
write drop: DELETE FROM Game WHERE number = :n
";

fn player(name: &str) -> Value {
    let id: Identity = vec![text(name)];
    Value::Reference(id)
}

fn play(folder: &Scratch, games: i64) {
    let (database, applied) = folder.apply(FIRST).unwrap();
    assert_eq!(applied, Applied::Created);
    write(&database, "addPlayer", &[("name", text("ada"))]).unwrap();
    for number in 0..games {
        write(&database, "addGame", &[("number", Value::Int(number)), ("host", player("ada"))]).unwrap();
    }
}

#[test]
fn the_same_again_is_nothing_to_do() {
    let folder = Scratch::new();
    play(&folder, 3);
    let (database, applied) = folder.apply(FIRST).unwrap();
    assert_eq!(applied, Applied::Unchanged);
    assert_eq!(query(&database, "all", &[("n", Value::Int(2))]).0, [[Value::Int(2)]]);
    assert_sound(&database);
}

#[test]
fn statistics_rates_and_statements_do_not_matter() {
    let folder = Scratch::new();
    play(&folder, 1);
    let other = FIRST
        .replace("entity Player", "@count(7) entity Player")
        .replace("query all", "@rate(9/s) query one");
    assert_eq!(folder.apply(&other).unwrap().1, Applied::Unchanged);
}

#[test]
fn nothing_was_applied() {
    let folder = Scratch::new();
    assert!(matches!(super::open(&folder.0, FIRST), Err(OpenError::NotApplied)));
}

#[test]
fn additions_are_applied_and_copies_filled() {
    let folder = Scratch::new();
    play(&folder, 600);
    let before = {
        let database = folder.open(FIRST);
        let schema = database.schema();
        schema
            .design
            .collections
            .iter()
            .map(|(id, c)| (c.name.clone(), schema.number(id)))
            .collect::<Vec<_>>()
    };
    let (mut database, applied) = folder.apply(SECOND).unwrap();
    let Applied::Extended(differences) = applied else { panic!("{applied:?}") };
    let said: Vec<String> = differences.iter().map(ToString::to_string).collect();
    for part in
        ["`Country` is new", "`Player.nick` is new", "new values at the end", "copy `OpenView` is new"]
    {
        assert!(said.iter().any(|line| line.contains(part)), "no {part} in {said:?}");
    }
    let mut told = 0;
    // The view and the index behind it.
    assert_eq!(database.fill(&mut |_, _| told += 1).unwrap(), 1200);
    assert_eq!(told, 6);
    let (rows, from) = query(&database, "open", &[]);
    assert_eq!((rows.len(), from.as_str()), (600, "OpenView"));
    assert_sound(&database);
    let schema = database.schema();
    for (name, number) in before {
        let (id, _) = schema.design.collections.iter().find(|(_, c)| c.name == name).unwrap();
        assert_eq!(schema.number(id), number, "{name}");
    }
    drop(database);
    assert_eq!(folder.apply(SECOND).unwrap().1, Applied::Unchanged);
}

#[test]
fn what_is_being_filled_is_kept_right_and_not_read() {
    let folder = Scratch::new();
    play(&folder, 600);
    drop(folder.apply(SECOND).unwrap());
    // As after a crash: applied, and nothing filled.
    let database = folder.open(SECOND);
    assert_eq!(database.filling().collect::<Vec<_>>(), ["GameByHost", "OpenView"]);
    let (rows, from) = query(&database, "open", &[]);
    assert_eq!((rows.len(), from.as_str()), (600, "Game"));
    write(&database, "close", &[("n", Value::Int(5))]).unwrap();
    write(&database, "drop", &[("n", Value::Int(6))]).unwrap();
    write(&database, "setScore", &[("name", text("ada")), ("score", Value::Int(9))]).unwrap();
    assert_sound(&database);
    drop(database);
    let mut database = folder.open(SECOND);
    database.fill(&mut |_, _| {}).unwrap();
    let (rows, from) = query(&database, "open", &[]);
    assert_eq!((rows.len(), from.as_str()), (598, "OpenView"));
    assert!(rows.iter().all(|row| row[1] == Value::Int(9)));
    assert_sound(&database);
}

#[test]
fn filling_goes_on_where_it_was_interrupted() {
    let folder = Scratch::new();
    play(&folder, 600);
    let (mut database, _) = folder.apply(SECOND).unwrap();
    let interrupted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        database.fill(&mut |name, _| assert!(name != "OpenView", "killed on purpose"))
    }));
    assert!(interrupted.is_err());
    drop(database);
    let mut database = folder.open(SECOND);
    // The index was complete, and the first 256 games had their rows.
    assert_eq!(database.fill(&mut |_, _| {}).unwrap(), 600 - 256);
    assert_sound(&database);
}

#[test]
fn a_copy_that_changes_is_made_anew_and_one_that_is_not_needed_goes() {
    let folder = Scratch::new();
    play(&folder, 20);
    folder.apply(SECOND).unwrap().0.fill(&mut |_, _| {}).unwrap();
    let changed = SECOND.replace("SELECT number, host.score", "SELECT number, host.name, host.score");
    let (mut database, applied) = folder.apply(&changed).unwrap();
    let Applied::Extended(differences) = applied else { panic!("{applied:?}") };
    assert_eq!(differences[0].to_string(), "copy `OpenView` is made anew");
    assert_eq!(query(&database, "open", &[]).1, "Game");
    database.fill(&mut |_, _| {}).unwrap();
    assert_eq!(query(&database, "open", &[]).1, "OpenView");
    assert_sound(&database);
    let entries = entries(&database);
    drop(database);
    let without: String =
        changed.lines().filter(|line| !line.starts_with("query open")).map(|l| format!("{l}\n")).collect();
    let (mut database, _) = folder.apply(&without).unwrap();
    database.fill(&mut |_, _| {}).unwrap();
    assert_sound(&database);
    // The rows of the view, and those of the index that only it needed.
    assert_eq!(self::entries(&database), entries - 40);
}

fn entries(database: &askloom_embedded::database::Database) -> usize {
    let snapshot = database.store().snapshot();
    snapshot.prefix(&[], askloom_embedded::store::Direction::Ascending).unwrap().count()
}

#[test]
fn what_would_change_stored_data_is_refused_in_words() {
    let folder = Scratch::new();
    play(&folder, 1);
    for (from, to, part) in [
        ("score: int = 0", "score: text?", "`Player.score` was int, and would be text"),
        ("score: int = 0", "points: int = 0", "`Player.score` is gone"),
        ("score: int = 0", "score: int = 0, age: int", "`Player.age` is new and required"),
        ("score: int = 0", "unique score: int = 0", "would be unique"),
        ("enum(open, over)", "enum(over, open)", "new ones can only follow"),
        ("id number: int", "id number: long", "`Game.number` was int, and would be long"),
        ("ref host: Player", "checked ref host: Player on delete refuse", "would be checked"),
        ("ref host: Player", "ref host: Player[*]", "would be many"),
    ] {
        // The statement that names what changes is another one then.
        let other = FIRST.replace(from, to).replace("UPDATE Player SET score = :score", "DELETE FROM Player");
        let Err(OpenError::Different(differences)) = folder.apply(&other) else { panic!("{to} was taken") };
        let said: Vec<String> = differences.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|line| line.contains(part)), "no {part} in {said:?}");
        assert!(matches!(super::open(&folder.0, &other), Err(OpenError::Different(_))));
    }
    // Nothing of it has left a trace.
    assert_eq!(folder.apply(FIRST).unwrap().1, Applied::Unchanged);
}

#[test]
fn a_class_that_is_gone_is_refused() {
    let folder = Scratch::new();
    let (one, other) = ("entity A { id k: int }\n", "entity B { id k: int }\n");
    drop(folder.apply(&format!("{one}{other}")).unwrap());
    let Err(OpenError::Different(differences)) = folder.apply(one) else { panic!("it was taken") };
    assert_eq!(differences.iter().map(ToString::to_string).collect::<Vec<_>>(), ["entity `B` is gone"]);
}
