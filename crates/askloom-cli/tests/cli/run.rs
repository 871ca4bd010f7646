//! Statements by name, each in a process of its own.

use crate::apply::game;
use crate::project::{Project, Ran};

const ONE: &str = "019a7c2e-4b00-7000-8000-000000000001";
const TWO: &str = "019a7c2e-4b00-7000-8000-000000000002";

fn run(project: &Project, args: &[&str]) -> Ran {
    let all: Vec<&str> = ["run", "game.loom"].iter().chain(args).copied().collect();
    project.command(&all).env("ASKLOOM_STORE", "file:store").output().unwrap().into()
}

fn started() -> Project {
    let project = game();
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    for name in ["ada", "ben"] {
        run(&project, &["addPlayer", &format!("username={name}"), "firstName=X", "lastName=Y"]).exits(0);
    }
    project
}

#[test]
fn the_game_from_its_start_to_its_end() {
    let project = started();
    let at = "--now=2026-11-10T18:00:00Z";
    let ran = run(&project, &["startGame", &format!("gameId={ONE}"), "firstPlayer=ada", at]).exits(0);
    assert_eq!(ran.stdout, format!("startGame: 1 matched\nmade Game {ONE}\n"));
    let at = "--now=2026-11-10T19:00:00Z";
    run(&project, &["startGame", &format!("gameId={TWO}"), "firstPlayer=ben", at]).exits(0);
    run(&project, &["setScore", "username=ada", "score=1200"]).exits(0).prints("setScore: 1 matched");
    let lobby = run(&project, &["lobby"]).exits(0).says("2 rows").stdout;
    let expected = format!(
        "gameId                                startedAt             username  score\n\
         {TWO}  2026-11-10T19:00:00Z  ben           0\n\
         {ONE}  2026-11-10T18:00:00Z  ada        1200\n"
    );
    assert_eq!(lobby, expected);

    run(&project, &["joinGame", &format!("gameId={ONE}"), "player=ben"]).exits(0).prints("1 matched");
    // Whoever comes second finds nobody waiting.
    run(&project, &["joinGame", &format!("gameId={ONE}"), "player=ben"]).exits(0).prints("0 matched");
    let lobby = run(&project, &["lobby", "--format", "csv"]).exits(0).stdout;
    assert_eq!(lobby, format!("gameId,startedAt,username,score\r\n{TWO},2026-11-10T19:00:00Z,ben,0\r\n"));

    let round = "round={\"moves\": \"e4 e5\", \"comments\": null}";
    let ran = run(&project, &["addRound", &format!("gameId={ONE}"), "status=playing", round]).exits(0);
    assert_eq!(ran.stdout, "addRound, statement 1: 1 matched\naddRound, statement 2: 1 matched\n");
    let ran = run(&project, &["continueGame", &format!("gameId={ONE}"), "--format", "json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let game = &json["rows"][0]["Game"];
    assert_eq!(game["rounds"], serde_json::json!([{"moves": "e4 e5"}]));
    assert_eq!((game["status"].as_str(), game["secondPlayer"].as_str()), (Some("playing"), Some("ben")));
    project.run(&["verify", "game.loom", "--store", "file:store"]).exits(0).says("nothing is wrong");
    project.run(&["recover", "game.loom", "--store", "file:store"]).exits(0).says("nothing is owed");
    project.run(&["sweep", "game.loom", "--store", "file:store"]).exits(0).prints("0 aggregates had expired");
}

#[test]
fn a_write_that_breaks_a_rule_is_refused_and_leaves_nothing() {
    let project = started();
    run(&project, &["addPlayer", "username=ada", "firstName=X", "lastName=Y"])
        .exits(1)
        .says("exists already");
    let ran =
        run(&project, &["addRound", &format!("gameId={ONE}"), "status=over", "round={\"moves\": \"x\"}"]);
    ran.exits(1).says("statement 1 matched nothing, so nothing was written");
}

#[test]
fn every_wrong_parameter_is_told_at_once() {
    let project = game();
    let ran = run(&project, &["joinGame", "gameId=12", "playr=ben", "x"]).exits(2);
    for part in [
        "`gameId`: `12` is not of type uuid",
        "no parameter `playr`; did you mean `player`?",
        "`x` is not of the form name=value",
        "`player` is missing: the id of a Player, text",
        "Usage: askloom run FILE joinGame player=… gameId=…",
    ] {
        assert!(ran.stderr.contains(part), "no {part:?} in\n{}", ran.stderr);
    }
    assert!(!project.exists("store"));
    run(&project, &["startGame", "status=lost"]).exits(2).says("`lost` is not one of waiting, playing, over");
    run(&project, &["setScore", "username=a", "username=b", "score=1"])
        .exits(2)
        .says("`username` is given twice");
    run(&project, &["addRound", &format!("gameId={ONE}"), "status=over", "round={\"move\": 1}"])
        .exits(2)
        .says("it takes a Round as JSON");
    run(&project, &["lobby", "x=1"]).exits(2).says("it takes none");
    run(&project, &["loby"]).exits(2).says("did you mean `lobby`?").says("continueGame, lobby");
}

#[test]
fn json_says_everything_exactly() {
    let model = "
entity A { id k: long, d: decimal?, t: text?, at: timestamp(9)?, n: text?, tags: text[*] }
entity B { id x: int, id y: text, ref a: A? }
query all: SELECT k, d, t, at, n FROM A WHERE k = :k
query whole: SELECT * FROM B
write a: INSERT A
write b: INSERT B
write link: UPDATE B SET a = :a WHERE x = :x AND y = :y
";
    let project = Project::new().with("game.loom", model);
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    let text = "t=a=b \"é\"\n漢";
    run(
        &project,
        &[
            "a",
            "k=9223372036854775807",
            "d=0.1000000000000000000000000000000001",
            text,
            "at=2026-01-01T00:00:00.123456789Z",
            "n:=null",
        ],
    )
    .exits(0);
    let ran = run(&project, &["all", "k=9223372036854775807", "--format", "json"]).exits(0);
    let expected = "{\n  \"rows\": [\n    {\"k\": 9223372036854775807, \"d\": 0.1000000000000000000000000000000001, \
                    \"t\": \"a=b \\\"é\\\"\\n漢\", \"at\": \"2026-01-01T00:00:00.123456789Z\", \"n\": null}\n  ]\n}\n";
    assert_eq!(ran.stdout, expected);
    let ran = run(&project, &["b", "x=1", "y=q", "a=9223372036854775807", "--format", "json"]).exits(0);
    assert_eq!(ran.stdout, "{\"made\":[{\"class\":\"B\",\"id\":[1,\"q\"]}],\"matched\":[1]}\n");
    run(&project, &["whole"]).exits(0).prints("\"a\":9223372036854775807");
    run(&project, &["link", "x=1", "y=q", "a:=null"]).exits(0).prints("1 matched");
    let whole = run(&project, &["whole"]).exits(0).stdout;
    assert!(!whole.contains("\"a\":9"), "{whole}");
}

#[test]
fn a_made_id_is_told() {
    let model =
        "entity A { id k: uuid = uuid(), n: int }\nwrite add: INSERT A\nquery all: SELECT k, n FROM A\n";
    let project = Project::new().with("game.loom", model);
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    let ran = run(&project, &["add", "n=1"]).exits(0);
    let (_, id) = ran.stdout.trim_end().split_once("made A ").unwrap();
    run(&project, &["all"]).exits(0).prints(id);
}

#[test]
fn pages_follow_each_other() {
    let model = "entity A { id k: int }\nwrite add: INSERT A\nquery all: SELECT k FROM A ORDER BY k PAGE 2\n";
    let project = Project::new().with("game.loom", model);
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    for number in 0..5 {
        run(&project, &["add", &format!("k={number}")]).exits(0);
    }
    let mut seen = Vec::new();
    let mut page: Option<String> = None;
    loop {
        let given: Vec<String> = page.iter().map(|token| format!("--page={token}")).collect();
        let args: Vec<&str> =
            ["all", "--format", "json"].into_iter().chain(given.iter().map(String::as_str)).collect();
        let json: serde_json::Value = serde_json::from_str(&run(&project, &args).exits(0).stdout).unwrap();
        seen.extend(json["rows"].as_array().unwrap().iter().map(|row| row["k"].as_i64().unwrap()));
        match json["next"].as_str() {
            Some(token) => page = Some(token.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
    run(&project, &["all"]).exits(0).says("there is more: --page ");
    run(&project, &["all", "--page", "nonsense"]).exits(2).says("continuation");
    run(&project, &["add", "k=9", "--page", "nonsense"]).exits(2).says("has no pages");
}

#[test]
fn a_tuple_query_takes_the_ids_of_its_classes() {
    let model = "
entity Box { id name: text }
entity Label { id box: text, id number: int, ref inside: Box }
ask labels: {Box} -> {Label}
write addBox: INSERT Box
write addLabel: INSERT Label
";
    let project = Project::new().with("game.loom", model);
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    run(&project, &["addBox", "name=a"]).exits(0);
    for number in ["2", "1"] {
        run(&project, &["addLabel", "box=q", &format!("number={number}"), "inside=a"]).exits(0);
    }
    let ran = run(&project, &["labels", "Box=a", "--format", "json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let numbers: Vec<i64> =
        json["rows"].as_array().unwrap().iter().map(|row| row["Label"]["number"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 2]);
    run(&project, &["labels"]).exits(2).says("`Box` is missing: the id of a Box, text");
}

#[test]
fn a_store_that_is_only_read_takes_no_writes() {
    let project = started();
    let store = ["--store", "file:store?read_only=true"];
    let args = ["run", "game.loom", "setScore", "username=ada", "score=1", store[0], store[1]];
    project.run(&args).exits(3).says("read_only");
    project.run(&["run", "game.loom", "lobby", store[0], store[1]]).exits(0);
    project.run(&["verify", "game.loom", "--repair", store[0], store[1]]).exits(3).says("read_only");
}

#[test]
fn no_store_yet() {
    let project = game();
    run(&project, &["lobby"])
        .exits(3)
        .says("there is no store at file:store")
        .says("askloom apply game.loom");
    assert!(!project.exists("store"), "looking made a store");
}
