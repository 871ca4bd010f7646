use crate::project::Project;

#[test]
fn a_page_by_its_code_in_any_spelling() {
    let project = Project::new();
    let page = project.run(&["explain", "AL0109"]).exits(0).prints("AL0109").stdout;
    assert_eq!(project.run(&["explain", "al0109"]).exits(0).stdout, page);
    assert_eq!(project.run(&["explain", "109"]).exits(0).stdout, page);
    assert!(!page.contains("```") && !page.contains('\u{1b}'), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 84), "{page}");
}

#[test]
fn every_code_has_a_page() {
    let project = Project::new();
    let list = project.run(&["explain"]).exits(0).stdout;
    assert!(list.lines().count() > 100);
    for line in list.lines() {
        let code = &line[..6];
        project.run(&["explain", code]).exits(0).prints(code);
    }
}

#[test]
fn an_unknown_code_names_those_near_it() {
    let ran = Project::new().run(&["explain", "AL0199"]).exits(2).says("no code `AL0199`").says("AL0109");
    assert_eq!(ran.stdout, "");
}

#[test]
fn what_is_no_code_is_told_so() {
    let project = Project::new();
    project.run(&["explain", "game.txt", "lobby"]).exits(2).says("is no model");
    project.run(&["explain", "inverse"]).exits(2).says("AL0214");
    project.run(&["explain", ""]).exits(2);
}

#[test]
fn a_statement_by_its_plan() {
    let project = crate::apply::game();
    let lobby = project.run(&["explain", "game.loom", "lobby"]).exits(0).stdout;
    for part in ["query lobby on embedded", "snapshot", "read LobbyView by status =", "assumed: "] {
        assert!(lobby.contains(part), "no {part:?} in\n{lobby}");
    }
    let score = project.run(&["explain", "game.loom", "setScore"]).exits(0).stdout;
    assert!(score.contains("update Player in Player"), "{score}");
    let all = project.run(&["explain", "game.loom"]).exits(0).stdout;
    assert!(all.contains(&lobby) && all.contains(&score) && all.contains("write startGame"), "{all}");
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    project.run(&["explain", "game.loom", "loby"]).exits(2).says("did you mean `lobby`?");
    project.run(&["explain", "none.loom"]).exits(1).says("none.loom");
}

#[test]
fn the_store_to_plan_for_comes_from_a_flag_a_variable_or_the_settings() {
    let project = crate::apply::game().with("askloom.toml", "target = \"redis\"\n");
    project.run(&["explain", "game.loom", "lobby"]).exits(0).prints("query lobby on redis");
    let args = ["explain", "game.loom", "lobby"];
    let output = project.command(&args).env("ASKLOOM_TARGET", "dynamodb").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("query lobby on dynamodb"));
    let args = ["explain", "game.loom", "lobby", "--target", "embedded"];
    project.run(&args).exits(0).prints("query lobby on embedded");
    project.run(&["explain", "game.loom", "--target", "oracle"]).exits(2).says("there are embedded, redis");
}

#[test]
fn a_model_without_statements_is_told_so() {
    let project = crate::project::Project::new().with("a.loom", "entity A {\n  id a: int\n}\n");
    let ran = project.run(&["explain", "a.loom"]).exits(0).says("a.loom has no statements");
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_statement_without_a_plan_is_an_error() {
    let model = "entity A {\n  id a: int\n  x: int\n}\nentity B {\n  id b: int\n  x: int\n}\n\n\
                 query fine: SELECT x FROM A WHERE a = :a\n\n\
                 write both {\n  UPDATE A SET x = :x WHERE a = :a\n  UPDATE B SET x = :x WHERE b = :b\n}\n";
    let project = crate::project::Project::new().with("a.loom", model);
    let of =
        |more: &[&str]| project.run(&[&["explain", "a.loom", "--target", "cassandra"][..], more].concat());
    of(&["both"]).exits(1).prints("error[AL0702]");
    of(&[]).exits(1).prints("query fine on cassandra").prints("error[AL0702]");
    of(&["fine"]).exits(0);
    project.run(&["explain", "a.loom", "both"]).exits(0);
}
