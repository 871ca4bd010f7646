use crate::project::Project;

const UGLY: &str = "entity   Player{id username:text\nscore:int=0}\n";
const PRETTY: &str = "entity Player {\n  id username: text\n  score: int = 0\n}\n";

#[test]
fn a_file_is_formatted_in_place() {
    let project = Project::new().with("game.loom", UGLY);
    let ran = project.run(&["fmt", "game.loom"]).exits(0).says("formatted game.loom");
    assert_eq!(ran.stdout, "");
    assert_eq!(project.read("game.loom"), PRETTY);
    assert_eq!(project.names(), ["game.loom"]);
    let again = project.run(&["fmt", "game.loom"]).exits(0);
    assert_eq!(again.stderr, "");
}

#[test]
fn check_lists_what_would_change_and_writes_nothing() {
    let project = Project::new().with("a.loom", UGLY).with("b.loom", PRETTY);
    let ran = project.run(&["fmt", "--check", "a.loom", "b.loom"]).exits(1);
    let ran = ran.prints("a.loom\n").prints("+entity Player {").says("1 file would change");
    assert!(!ran.stdout.contains("b.loom"), "{}", ran.stdout);
    assert_eq!(project.read("a.loom"), UGLY);
    project.run(&["fmt", "--check", "b.loom"]).exits(0);
}

#[test]
fn standard_input_becomes_standard_output() {
    let project = Project::new();
    assert_eq!(project.run_with_input(&["fmt", "-"], UGLY.as_bytes()).exits(0).stdout, PRETTY);
    assert_eq!(project.run_with_input(&["fmt", "-"], b"").exits(0).stdout, "");
    project.run_with_input(&["fmt", "-", "--check"], UGLY.as_bytes()).exits(1).prints("stdin.loom\n");
    project.run_with_input(&["fmt", "-"], b"\xff\xfe").exits(1).says("not UTF-8");
}

#[test]
fn the_name_of_standard_input_says_its_language() {
    let project = Project::new();
    let pidm = b"entity Airport {\n  id codeICAO string\n}\n";
    let ran = project.run_with_input(&["fmt", "-", "--stdin-name", "airline.pidm"], pidm).exits(0);
    assert_eq!(ran.stdout, "entity Airport {\n  id codeICAO: text\n}\n");
    project.run_with_input(&["fmt", "-", "--stdin-name", "a.txt"], b"").exits(1).says("AL0004");
}

#[test]
fn stdout_leaves_the_file_alone() {
    let project = Project::new().with("game.loom", UGLY);
    assert_eq!(project.run(&["fmt", "--stdout", "game.loom"]).exits(0).stdout, PRETTY);
    assert_eq!(project.read("game.loom"), UGLY);
}

#[test]
fn a_dialect_is_converted_beside_itself() {
    let pidm = "entity Airport {\n  id codeICAO string\n}\n";
    let loom = "entity Airport {\n  id codeICAO: text\n}\n";
    let project = Project::new().with("airline.pidm", pidm);
    project.run(&["fmt", "--check", "airline.pidm"]).exits(1).prints("airline.loom (new, from airline.pidm)");
    project.run(&["fmt", "airline.pidm"]).exits(0).says("wrote airline.loom from airline.pidm");
    assert_eq!(project.read("airline.pidm"), pidm);
    assert_eq!(project.read("airline.loom"), loom);
    project.run(&["fmt", "airline.pidm"]).exits(0);
}

#[test]
fn a_conversion_does_not_overwrite_unless_it_is_told_to() {
    let project = Project::new().with("a.gdm", "entity A {\n  id key\n}\n").with("a.loom", "// mine\n");
    project.run(&["fmt", "a.gdm"]).exits(1).says("a.loom exists and differs; --force");
    assert_eq!(project.read("a.loom"), "// mine\n");
    project.run(&["fmt", "--force", "a.gdm"]).exits(0);
    assert_ne!(project.read("a.loom"), "// mine\n");
}

#[test]
fn a_broken_part_stands_as_it_was_and_that_is_said() {
    let project = Project::new().with("game.loom", format!("{UGLY}\nentity ((( \n\n{UGLY}"));
    project.run(&["fmt", "game.loom"]).exits(1).says("cannot be parsed stands as it was");
    assert!(project.read("game.loom").contains("((("));
}

#[test]
fn a_broken_dialect_is_not_converted() {
    let project = Project::new().with("a.pidm", "entity A {\n  id key unique\n");
    project.run(&["fmt", "a.pidm"]).exits(1).says("not converted");
    assert!(!project.exists("a.loom"));
}

#[test]
fn one_bad_file_does_not_keep_the_others() {
    let project = Project::new().with("a.loom", UGLY).with("x.txt", "").with("dir.loom/x", "");
    let args = ["fmt", "missing.loom", "x.txt", "dir.loom", "a.loom"];
    let ran = project.run(&args).exits(1);
    ran.says("missing.loom: no such file").says("x.txt: the extension").says("dir.loom: it is a directory");
    assert_eq!(project.read("a.loom"), PRETTY);
}

#[test]
fn contradictory_flags_are_refused() {
    Project::new().run(&["fmt", "--check", "--stdout", "a.loom"]).exits(2).says("cannot be used with");
}
