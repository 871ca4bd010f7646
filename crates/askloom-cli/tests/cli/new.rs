use crate::project::Project;

#[test]
fn the_default_is_the_game() {
    let project = Project::new();
    let ran = project.run(&["new", "mine"]).exits(0).prints("game.loom").prints("askloom.toml");
    assert!(ran.stderr.contains("askloom check"), "{}", ran.stderr);
    let settings = project.read("mine/askloom.toml");
    assert!(settings.contains("model = \"game.loom\"\n") && settings.contains("target = \"embedded\"\n"));
    project.run(&["check", "mine/game.loom"]).exits(0).prints("mine/game.loom: ok, ");
}

#[test]
fn every_example_is_a_model_without_errors() {
    let project = Project::new();
    let ran = project.run(&["new", "x", "--example", "?"]).exits(2);
    let (_, names) = ran.stderr.split_once("possible values: ").unwrap();
    let names = names.split(']').next().unwrap();
    for name in names.split(", ") {
        project.run(&["new", name, "--example", name, "--target", "dynamodb"]).exits(0);
        let settings = project.read(&format!("{name}/askloom.toml"));
        assert!(settings.contains("target = \"dynamodb\"\n"));
        let model =
            settings.lines().find_map(|line| line.strip_prefix("model = \"")?.strip_suffix('"')).unwrap();
        project.run(&["check", &format!("{name}/{model}")]).exits(0);
    }
}

#[test]
fn an_empty_folder_will_do() {
    let project = Project::new();
    std::fs::create_dir(project.path("mine")).unwrap();
    project.run(&["new", "mine"]).exits(0);
    assert!(project.exists("mine/game.loom"));
}

#[test]
fn nothing_is_overwritten() {
    let project = Project::new().with("mine/notes.txt", "").with("file", "");
    project.run(&["new", "mine"]).exits(2).says("mine is not empty");
    project.run(&["new", "file"]).exits(2).says("file is a file");
    assert!(!project.exists("mine/game.loom"));
}

#[test]
fn an_unknown_store_is_refused_before_anything_is_made() {
    let project = Project::new();
    project.run(&["new", "mine", "--target", "oracle"]).exits(2).says("dynamodb");
    assert!(!project.exists("mine"));
}
