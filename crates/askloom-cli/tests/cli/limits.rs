//! What a store cannot hold is told before anything is made for it.

use crate::project::Project;

fn game(rounds: &str) -> Project {
    let model = format!(
        "@count(1000)\nentity Game {{\n  id gameId: uuid\n  part rounds: Round[*] {rounds}\n}}\n\n\
         value Round {{ moves: text @size(500 B) }}\n\n\
         @rate(1/s)\nquery game: SELECT * FROM Game WHERE gameId = :gameId\n"
    );
    Project::new().with("game.loom", &model)
}

#[test]
fn a_design_that_does_not_fit_is_not_printed() {
    let project = game("@avg(12) @max(40_000)");
    let of = |words: &[&str]| project.run(&[words, &["game.loom", "--target", "mongodb"]].concat());
    let said = "a record has 19.1 MB with lists as long as @max";
    let ran = of(&["generate"]).exits(1).says("error[AL0705]: `Game`").says(said).says("`rounds`");
    assert_eq!(ran.stdout, "");
    of(&["generate", "-o", "out"]).exits(1);
    assert!(!project.exists("out"));
    of(&["explain"]).exits(1).says(said).prints("query game on mongodb");
    let fold = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = fold(of(&["design"]).exits(0).stdout);
    assert!(shown.contains(&format!("WATCH Game: does not fit: {said}")), "{shown}");
    let compared = fold(of(&["compare"]).exits(0).stdout);
    assert!(compared.contains(said), "{compared}");
    project.run(&["generate", "game.loom", "--target", "redis"]).exits(0);
}

#[test]
fn averages_only_warn() {
    let project = game("@avg(40_000)");
    let ran = project.run(&["generate", "game.loom", "--target", "mongodb"]).exits(0);
    assert!(ran.stderr.contains("warning[AL0705]: `Game`") && ran.stdout.contains("createCollection"));
}
