use crate::project::Project;
use serde_json::Value;
use std::fs;

const GOOD: &str = "entity Player {\n  id username: text\n  score: int = 0\n}\n\n@rate(5/s)\n\
                    query byName: SELECT * FROM Player WHERE username = :username\n";
const MISSPELT: &str = "entity Player {\n  id username: text\n  score: int = 0\n}\n\n@rate(5/s)\n\
                        query best: SELECT scoer FROM Player WHERE username = :username\n";

#[test]
fn a_good_model_says_what_it_holds() {
    let ran = Project::new().with("game.loom", GOOD).run(&["check", "game.loom"]).exits(0);
    assert_eq!(ran.stdout, "game.loom: ok, 1 entity, 1 query\n");
    assert_eq!(ran.stderr, "");
}

#[test]
fn quiet_leaves_out_the_summary() {
    let project = Project::new().with("game.loom", GOOD).with("bad.loom", MISSPELT);
    assert_eq!(project.run(&["check", "--quiet", "game.loom"]).exits(0).stdout, "");
    let ran = project.run(&["check", "-q", "bad.loom"]).exits(1).prints("error[AL0401]");
    assert!(!ran.stdout.contains("bad.loom: 1 error"), "{}", ran.stdout);
}

#[test]
fn an_error_is_shown_with_its_place_and_fix() {
    let project = Project::new().with("game.loom", MISSPELT);
    let ran = project.run(&["check", "game.loom"]).exits(1);
    let ran = ran
        .prints("error[AL0401]: ")
        .prints(" --> game.loom:7:20\n")
        .prints("7 | query best: SELECT scoer FROM Player")
        .prints("help: ")
        .prints("7 + query best: SELECT score FROM Player")
        .prints("\ngame.loom: 1 error (1 can be fixed with --fix)\n");
    assert_eq!(ran.stderr, "");
}

#[test]
fn several_models_are_checked_each_for_itself() {
    let project = Project::new().with("a.loom", GOOD).with("b.loom", MISSPELT).with("c.loom", GOOD);
    project
        .run(&["check", "a.loom", "b.loom", "c.loom"])
        .exits(1)
        .prints("a.loom: ok, ")
        .prints("b.loom: 1 error")
        .prints("c.loom: ok, ");
}

#[test]
fn imports_are_named_from_where_the_user_stands() {
    let project = Project::new()
        .with("models/game.loom", "import \"player.loom\"\n")
        .with("models/player.loom", MISSPELT);
    project.run(&["check", "models/game.loom"]).exits(1).prints(" --> models/player.loom:7:20\n");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let project =
        Project::new().with("secret.loom", GOOD).with("models/game.loom", "import \"player.loom\"\n");
    std::os::unix::fs::symlink(project.path("secret.loom"), project.path("models/player.loom")).unwrap();
    project.run(&["check", "models/game.loom"]).exits(1).prints("error[AL0011]");
}

#[test]
fn what_cannot_be_read_is_said_in_words() {
    let project = Project::new().with("folder.loom/x", "").with("latin.loom", b"entity Z\xfcrich {}\n");
    project.run(&["check", "missing.loom"]).exits(1).prints("error[AL0003]").prints("no such file");
    project.run(&["check", "folder.loom"]).exits(1).prints("error[AL0003]").prints("directory");
    project.run(&["check", "latin.loom"]).exits(1).prints("error[AL0001]");
    project.run(&["check", "Cargo.toml"]).exits(1).prints("error[AL00");
}

#[test]
fn a_file_of_100_mb_is_not_even_read() {
    let project = Project::new();
    let file = fs::File::create(project.path("large.loom")).unwrap();
    file.set_len(100 * 1024 * 1024).unwrap();
    project.run(&["check", "large.loom"]).exits(1).prints("error[AL0002]");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new().with("game.loom", GOOD);
    fs::set_permissions(project.path("game.loom"), fs::Permissions::from_mode(0o000)).unwrap();
    // An administrator may read everything.
    if fs::read(project.path("game.loom")).is_err() {
        project.run(&["check", "game.loom"]).exits(1).prints("error[AL0003]").prints("permission denied");
    }
}

#[test]
fn json_is_one_object_per_run() {
    let project = Project::new().with("a.loom", MISSPELT).with("b.loom", MISSPELT);
    let ran = project.run(&["check", "--format", "json", "a.loom", "b.loom"]).exits(1);
    let run: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(run["askloom"], env!("CARGO_PKG_VERSION"));
    let codes: Vec<&str> =
        run["diagnostics"].as_array().unwrap().iter().map(|item| item["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["AL0401", "AL0401"]);
    assert_eq!(run["diagnostics"][1]["file"], "b.loom");
    assert_eq!(run["diagnostics"][0]["span"]["start"]["line"], 7);
    assert_eq!(run["summary"]["errors"], 2);
    assert_eq!(run["summary"]["models"], 2);
    assert_eq!(ran.stderr, "");
}

#[test]
fn json_of_a_good_model_has_no_diagnostics() {
    let ran = Project::new().with("a.loom", GOOD).run(&["check", "--format=json", "a.loom"]).exits(0);
    let run: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(run["diagnostics"], Value::Array(Vec::new()));
    assert_eq!(run["summary"]["errors"], 0);
}

#[test]
fn github_commands_escape_what_they_must() {
    let project = Project::new().with("a,b.loom", MISSPELT);
    let ran = project.run(&["check", "--format", "github", "a,b.loom"]).exits(1);
    assert!(
        ran.stdout.starts_with("::error file=a%2Cb.loom,line=7,col=20,endLine=7,endColumn=25,title=AL0401::"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn sarif_has_the_shape_that_services_read() {
    let project = Project::new().with("a b.loom", MISSPELT);
    let ran = project.run(&["check", "--format", "sarif", "a b.loom"]).exits(1);
    let log: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "askloom");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["results"][0]["ruleId"], "AL0401");
    let place = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.loom");
    assert_eq!(place["region"]["startColumn"], 20);
}

#[test]
fn a_wrong_call_exits_with_2() {
    let project = Project::new();
    project.run(&["check"]).exits(2).says("FILE");
    project.run(&["check", "--format", "xml", "a.loom"]).exits(2).says("possible values");
    project.run(&["check", "--unsafe-fixes", "a.loom"]).exits(2).says("--fix");
    project.run(&["chekc", "a.loom"]).exits(2).says("check");
}

#[test]
fn a_thousand_diagnostics_are_shown_fast() {
    let members: String = (0..3000).map(|n| format!("  a{n} int\n")).collect();
    let project = Project::new().with("long.loom", format!("entity A {{\n  id key: int\n{members}}}\n"));
    let start = std::time::Instant::now();
    project.run(&["check", "long.loom"]).exits(1).prints("AL0009").prints("3000 errors");
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
