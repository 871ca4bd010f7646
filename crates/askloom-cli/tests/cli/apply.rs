//! A model comes to a store: the first time, again, with additions, and with what a store cannot take.

use crate::project::{Project, repository};
use std::fs;

pub(crate) const PLAYER: &str = "\nwrite addPlayer: INSERT Player\n";

/// The game, with a way to make players.
pub(crate) fn game() -> Project {
    let model = fs::read_to_string(repository().join("examples/game/game.loom")).unwrap();
    Project::new().with("game.loom", model + PLAYER)
}

#[test]
fn the_first_time_and_again() {
    let project = game();
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0).says("is made for this model");
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0).says("nothing to do");
}

#[test]
fn a_dry_run_says_what_and_does_nothing() {
    let project = game();
    let ran = project.run(&["apply", "game.loom", "--store", "file:store", "--dry-run"]).exits(0);
    for part in ["COLLECTION Game\n", "COLLECTION LobbyView (copy)\n", "block     status\n"] {
        assert!(ran.stdout.contains(part), "no {part:?} in\n{}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    ran.says("would be made");
    assert_eq!(project.names(), ["game.loom"]);
}

#[test]
fn additions_are_applied_and_filled() {
    let project = game();
    let id = "019a7c2e-4b00-7000-8000-000000000001";
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    project
        .run(&[
            "run",
            "game.loom",
            "addPlayer",
            "username=ada",
            "firstName=A",
            "lastName=L",
            "--store",
            "file:store",
        ])
        .exits(0);
    let start = [
        "run",
        "game.loom",
        "startGame",
        &format!("gameId={id}"),
        "firstPlayer=ada",
        "--store",
        "file:store",
    ];
    project.run(&start).exits(0);
    let model = project.read("game.loom").replace("lastName: text", "lastName: text\n  nick: text?");
    let model =
        model + "\nquery hostedBy: SELECT gameId, status FROM Game WHERE firstPlayer.lastName = :name\n";
    let project = project.with("game.loom", model);

    let ask = ["run", "game.loom", "hostedBy", "name=L", "--store", "file:store"];
    project
        .run(&ask)
        .exits(3)
        .says("`Player.nick` is new")
        .says("askloom apply game.loom --store file:store");
    let ran = project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    ran.says("`Player.nick` is new").says("copy `PlayerOfHostedBy").says("put into new copies");
    project.run(&ask).exits(0).prints(id);
    project.run(&["verify", "game.loom", "--store", "file:store"]).exits(0).says("nothing is wrong");
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0).says("nothing to do");
}

#[test]
fn a_query_that_is_new_runs_before_its_copy_is_there() {
    let project = game();
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    let model = project.read("game.loom");
    let project =
        project.with("game.loom", model + "\nquery open: SELECT gameId FROM Game WHERE status = 'over'\n");
    project.run(&["run", "game.loom", "open", "--store", "file:store"]).exits(0).says("0 rows");
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0).says("copy `OpenIds` is new");
}

/// Nobody looks for the games of a player until a write that changes what they show of one is declared.
#[test]
fn a_write_that_is_new_brings_the_index_that_it_needs() {
    let model = "entity Team { id name: text, city: text }
entity Player { id no: int, nick: text, ref team: Team }
@rate(100/s) query byNick: SELECT no, team.city FROM Player WHERE nick = :nick
write found: INSERT Team
write signUp: INSERT Player
";
    let run = |project: &Project, args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--store", "file:store"]).collect();
        project.run(&args).exits(0)
    };
    let project = Project::new().with("team.loom", model);
    run(&project, &["apply", "team.loom"]);
    run(&project, &["run", "team.loom", "found", "name=t", "city=Rome"]);
    run(&project, &["run", "team.loom", "signUp", "no=1", "nick=ada", "team=t"]);
    let more = format!("{model}@rate(1/s) write move: UPDATE Team SET city = :city WHERE name = :name\n");
    let project = project.with("team.loom", &more);
    let applied = run(&project, &["apply", "team.loom"]);
    applied.says("copy `PlayerByTeam` is new").says("1 entry put into new copies");
    run(&project, &["run", "team.loom", "move", "name=t", "city=Oslo"]);
    run(&project, &["run", "team.loom", "byNick", "nick=ada"]).prints("Oslo");
    run(&project, &["verify", "team.loom"]).says("nothing is wrong");
}

#[test]
fn a_saved_design_is_the_one_that_is_used() {
    let project = game();
    let apply = ["apply", "game.loom", "--store", "file:store"];
    project
        .run(&["apply", "game.loom", "--store", "file:store", "--save"])
        .exits(0)
        .says("game.embedded.design");
    let saved = project.read("game.embedded.design");
    assert!(saved.starts_with("{\n  \"format\": ") && saved.contains("\"LobbyView\""), "{saved}");
    project.run(&apply).exits(0).says("nothing to do");
    // Somebody renames a copy in the file: it is made anew, and data that lies otherwise is not touched.
    let project = project.with("game.embedded.design", saved.replace("\"LobbyView\"", "\"Lobby\""));
    project.run(&["run", "game.loom", "lobby", "--store", "file:store"]).exits(3).says("copy `Lobby` is new");
    project.run(&apply).exits(0).says("copy `LobbyView` is dropped");
    project.run(&["explain", "game.loom", "lobby"]).exits(0).prints("read Lobby by");
    project.run(&["run", "game.loom", "lobby", "--store", "file:store"]).exits(0);
    let project = project.with("game.embedded.design", saved.replace("\"gameId\"", "\"gamId\""));
    project.run(&apply).exits(1).says("error[AL07").says("game.embedded.design:").says("gamId");
    project.run(&["apply", "game.loom", "--dry-run", "--save"]).exits(2);
}

#[test]
fn what_would_change_data_is_refused_with_the_difference() {
    let project = game();
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    let model = project.read("game.loom").replace("score: int = 0", "score: text = '0'");
    let project = project.with("game.loom", model);
    for args in [
        vec!["apply", "game.loom"],
        vec!["apply", "game.loom", "--dry-run"],
        vec!["run", "game.loom", "lobby"],
    ] {
        let args: Vec<&str> = args.into_iter().chain(["--store", "file:store"]).collect();
        project.run(&args).exits(3).says("`Player.score` was int, and would be text");
    }
}

#[test]
fn a_model_with_errors_is_not_applied() {
    let project = Project::new().with("bad.loom", "entity A { id k: txt }\n");
    let ran = project.run(&["apply", "bad.loom", "--store", "file:store"]).exits(1);
    ran.says("error[AL").says("bad.loom:1:18").says("bad.loom has 1 error");
    assert!(!project.exists("store"));
    project.run(&["apply", "none.loom"]).exits(1).says("none.loom");
}

#[test]
fn a_folder_that_is_something_else_is_left_alone() {
    let project = game().with("data/notes.txt", "mine");
    project.run(&["apply", "game.loom", "--store", "file:data"]).exits(3).says("is not an embedded store");
    assert_eq!(project.read("data/notes.txt"), "mine");
    project.run(&["apply", "game.loom", "--store", "file:game.loom"]).exits(3).says("not a folder");
}

#[test]
fn a_url_that_is_none_or_of_another_store() {
    let project = game();
    project.run(&["apply", "game.loom", "--store", "store"]).exits(2).says("is no URL");
    project.run(&["apply", "game.loom", "--store", "file:x?speed=9"]).exits(2).says("option `speed`");
    let ran = project.run(&["apply", "game.loom", "--store", "redis://me:hush@host/0"]).exits(3);
    assert!(!ran.stderr.contains("hush"), "{}", ran.stderr);
    ran.says("redis://me:***@host/0").says("no driver for redis");
    assert_eq!(project.names(), ["game.loom"]);
}

#[test]
fn the_store_comes_from_a_flag_then_a_variable_then_the_settings() {
    let project = game().with("sub/askloom.toml", "[store]\nurl = \"file:settled\"\n");
    let model = project.read("game.loom");
    let project = project.with("sub/game.loom", model);
    project.run(&["apply", "sub/game.loom"]).exits(0);
    assert!(project.exists("sub/settled/askloom"), "beside the settings");
    let with_variable =
        |args: &[&str]| project.command(args).env("ASKLOOM_STORE", "file:varied").output().unwrap();
    assert!(with_variable(&["apply", "sub/game.loom"]).status.success());
    assert!(project.exists("varied/askloom"));
    assert!(with_variable(&["apply", "sub/game.loom", "--store", "file:flagged"]).status.success());
    assert!(project.exists("flagged/askloom"));
    project.run(&["apply", "game.loom"]).exits(0);
    assert!(project.exists("data/askloom"), "the default");
}

#[test]
fn settings_that_say_nothing_known_are_told() {
    let project = game().with("askloom.toml", "[store]\nurll = \"file:x\"\n");
    project.run(&["apply", "game.loom"]).exits(1).says("askloom.toml").says("urll");
}

#[test]
fn a_store_that_is_open_elsewhere() {
    let project = game();
    project.run(&["apply", "game.loom", "--store", "file:store"]).exits(0);
    let open = askloom_embedded::store::Store::open(project.path("store"), &Default::default()).unwrap();
    project
        .run(&["run", "game.loom", "lobby", "--store", "file:store"])
        .exits(3)
        .says("open in another process");
    drop(open);
    project.run(&["run", "game.loom", "lobby", "--store", "file:store"]).exits(0);
}

#[test]
fn every_example_can_be_explained_applied_loaded_and_verified() {
    let project = Project::new();
    for name in ["airline", "blog", "game", "inbox", "noam-game", "shop"] {
        project.run(&["new", name, "--example", name]).exits(0);
        let model = format!("{name}/{name}.loom");
        project.run(&["explain", &model]).exits(0);
        project.run(&["apply", &model, "--save"]).exits(0);
        let data = format!("{name}/data");
        if project.exists(&data) {
            project.run(&["load", &model, &data]).exits(0).prints("0 rejected");
        }
        project.run(&["verify", &model]).exits(0).says("nothing is wrong");
        // The saved design, read back, is the one that was applied.
        project.run(&["apply", &model]).exits(0).says("nothing to do");
    }
}
