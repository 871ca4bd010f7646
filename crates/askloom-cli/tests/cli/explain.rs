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
    project.run(&["explain", "game.loom"]).exits(2).says("askloom check game.loom");
    project.run(&["explain", "inverse"]).exits(2).says("AL0214");
    project.run(&["explain", ""]).exits(2);
}
