use crate::project::Project;
use std::fs;

const BROKEN: &str = "entity Player {\n  id username: text\n  score int\n}\n";
const FIXED: &str = "entity Player {\n  id username: text\n  score: int\n}\n";

#[test]
fn fixes_are_written_and_what_is_left_is_printed() {
    let project = Project::new().with("game.loom", BROKEN);
    project
        .run(&["check", "--fix", "game.loom"])
        .exits(0)
        .says("1 fix applied in game.loom")
        .prints("game.loom: ok, 1 entity\n");
    assert_eq!(project.read("game.loom"), FIXED);
    assert_eq!(project.names(), ["game.loom"]);
}

#[test]
fn fixes_reach_imported_files() {
    let project = Project::new()
        .with("models/game.loom", "import \"player.loom\"\n")
        .with("models/player.loom", BROKEN);
    project.run(&["check", "--fix", "models/game.loom"]).exits(0);
    assert_eq!(project.read("models/player.loom"), FIXED);
}

#[test]
fn without_fix_nothing_is_written() {
    let project = Project::new().with("game.loom", BROKEN);
    project.run(&["check", "game.loom"]).exits(1).prints("error[AL0102]");
    assert_eq!(project.read("game.loom"), BROKEN);
}

#[test]
fn a_suggestion_needs_a_second_flag() {
    let mixed = "entity A {\n  id key: int\n  a: bool\n  b: bool\n}\n\n@rate(1/s)\n\
                 query q: SELECT * FROM A WHERE key = 1 AND a = true OR b = true\n";
    let project = Project::new().with("a.loom", mixed);
    project.run(&["check", "a.loom"]).exits(0).prints("warning[AL0109]");
    project.run(&["check", "--fix", "--unsafe-fixes", "a.loom"]).exits(0).prints("a.loom: ok, ");
    assert!(project.read("a.loom").contains("(key = 1 AND a = true) OR"), "{}", project.read("a.loom"));
}

#[cfg(unix)]
#[test]
fn permissions_and_links_survive() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new().with("real/game.loom", BROKEN);
    let real = project.path("real/game.loom");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, project.path("game.loom")).unwrap();
    project.run(&["check", "--fix", "game.loom"]).exits(0);
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(project.path("game.loom")).unwrap().is_symlink());
    assert_eq!(project.read("real/game.loom"), FIXED);
}

#[cfg(unix)]
#[test]
fn a_protected_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new().with("game.loom", BROKEN);
    fs::set_permissions(project.path("game.loom"), fs::Permissions::from_mode(0o444)).unwrap();
    project.run(&["check", "--fix", "game.loom"]).exits(1).says("cannot write game.loom: permission denied");
    assert_eq!(project.read("game.loom"), BROKEN);
    assert_eq!(project.names(), ["game.loom"]);
}
