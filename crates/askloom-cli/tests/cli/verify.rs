//! A store that was tampered with: found, told, repaired.

use crate::apply::game;
use crate::project::Project;
use askloom_embedded::store::{Batch, Direction, Outcome, Store};

const ONE: &str = "019a7c2e-4b00-7000-8000-000000000001";

fn played() -> Project {
    let project = game();
    let run = |args: &[&str]| project.command(args).env("ASKLOOM_STORE", "file:store").output().unwrap();
    assert!(run(&["design", "game.loom", "--method", "kvmod", "--save"]).status.success());
    assert!(run(&["apply", "game.loom"]).status.success());
    assert!(
        run(&["run", "game.loom", "addPlayer", "username=ada", "firstName=A", "lastName=L"]).status.success()
    );
    assert!(
        run(&["run", "game.loom", "startGame", &format!("gameId={ONE}"), "firstPlayer=ada"]).status.success()
    );
    project
}

/// Changes the entries of a collection behind the back of its keeper.
fn tamper(project: &Project, collection: &str, change: impl FnOnce(Vec<(Vec<u8>, Vec<u8>)>) -> Batch) {
    let store = Store::open(project.path("store"), &Default::default()).unwrap();
    let snapshot = store.snapshot();
    let design: serde_json::Value = serde_json::from_str(&project.read("game.embedded.design")).unwrap();
    let names = design["collections"].as_array().unwrap().iter();
    let mut names: Vec<&str> = names.map(|collection| collection["name"].as_str().unwrap()).collect();
    // A new store numbers them by name, from 1: 0 is its own.
    names.sort_unstable();
    let number = u32::try_from(names.iter().position(|name| *name == collection).unwrap() + 1).unwrap();
    let entries = snapshot.prefix(&number.to_be_bytes(), Direction::Ascending).unwrap();
    let entries = entries.map(|entry| entry.map(|e| (e.key.to_vec(), e.value.to_vec())).unwrap()).collect();
    assert!(matches!(store.commit(change(entries)).unwrap(), Outcome::Committed { .. }));
}

#[test]
fn a_missing_entry_is_found_and_put_back() {
    let project = played();
    project.run(&["verify", "game.loom", "--store", "file:store"]).exits(0).says("nothing is wrong");
    tamper(&project, "LobbyIndex", |entries| {
        entries.into_iter().fold(Batch::new(), |batch, (key, _)| batch.delete(key))
    });
    let lobby = ["run", "game.loom", "lobby", "--store", "file:store"];
    project.run(&lobby).exits(0).says("0 rows");
    let ran = project.run(&["verify", "game.loom", "--store", "file:store"]).exits(1);
    ran.prints("missing: status waiting, startedAt 20").prints(&format!("Game {ONE} in LobbyIndex\n"));
    let ran = project.run(&["verify", "game.loom", "--store", "file:store", "--repair"]).exits(1);
    ran.prints("in LobbyIndex, repaired").says("1 wrong, 1 repaired");
    project.run(&["verify", "game.loom", "--store", "file:store"]).exits(0).says("nothing is wrong");
    project.run(&lobby).exits(0).says("1 row");
}

#[test]
fn wrong_and_extra_entries_as_json() {
    let project = played();
    tamper(&project, "lobby", |entries| {
        let (key, value) = entries[0].clone();
        let mut extra = key.clone();
        *extra.last_mut().unwrap() ^= 0x40;
        Batch::new().put(key, b"".to_vec()).put(extra, value)
    });
    let ran = project.run(&["verify", "game.loom", "--store", "file:store", "--format", "json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let faults: Vec<&str> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["fault"].as_str().unwrap())
        .collect();
    assert_eq!(faults, ["wrong", "extra"]);
    assert_eq!((json["aggregates"].as_u64(), json["entries"].as_u64()), (Some(2), Some(5)));
    project.run(&["verify", "game.loom", "--store", "file:store", "--repair"]).exits(1);
    project.run(&["verify", "game.loom", "--store", "file:store"]).exits(0);
}

#[test]
fn a_reference_to_nobody_is_a_breach() {
    let project = played();
    let two = ONE.replace('1', "2");
    let start = [
        "run",
        "game.loom",
        "startGame",
        &format!("gameId={two}"),
        "firstPlayer=nobody",
        "--store",
        "file:store",
    ];
    project.run(&start).exits(0);
    let ran = project.run(&["verify", "game.loom", "--store", "file:store"]).exits(1);
    ran.prints(&format!("breach: Game {two}, firstPlayer, to Player nobody in Game\n"));
}
