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

/// A model with a text that is asked for and written, and one that is only written.
fn pages(params: &str) -> Project {
    let model = "@count(1000)\nentity Page {\n  id address: text @size(20 B)\n  content: text @size(20 B)\n}\n\n\
                 @rate(1/s)\nquery page: SELECT content FROM Page WHERE address = :address\n\n\
                 @rate(1/s)\nwrite put: INSERT Page\n";
    Project::new().with("pages.loom", model).with("params.json", params)
}

#[track_caller]
fn refused(target: &str, params: &str, said: &str) {
    let project = pages(params);
    let words = ["generate", "pages.loom", "--target", target, "--params", "params.json", "-o", "out"];
    project.run(&words).exits(1).says(said).says("would refuse this");
    assert!(!project.exists("out"), "{target}");
}

fn asking(letters: usize) -> String {
    format!(r#"{{"page": {{"address": "{}"}}}}"#, "x".repeat(letters))
}

fn putting(address: usize, content: usize) -> String {
    format!(r#"{{"put": {{"address": "{}", "content": "{}"}}}}"#, "x".repeat(address), "y".repeat(content))
}

#[test]
fn a_key_that_the_store_does_not_take_is_not_printed() {
    for (target, most, key) in [
        ("dynamodb", 2_048, "`address` has 2049 bytes, and a key of its kind at most 2048"),
        ("cassandra", 65_535, "the key `address` has 65536 bytes, and Cassandra takes 65535 at most"),
    ] {
        refused(target, &asking(most + 1), &format!("page: {key}"));
        refused(target, &putting(most + 1, 1), &format!("put: {key}"));
        let project = pages(&asking(most));
        project.run(&["generate", "pages.loom", "--target", target, "--params", "params.json"]).exits(0);
    }
    refused("hbase", &asking(40_000), "page: a row key of Page has ");
    refused("hbase", &putting(40_000, 1), "put: a row key of Page has ");
}

#[test]
fn a_record_that_the_store_does_not_take_is_not_printed() {
    refused("dynamodb", &putting(1, 410_000), "put: the item has ");
    refused("dynamodb", &putting(1, 410_000), "most of them in `content`");
    let most = 17 << 20;
    refused("mongodb", &putting(1, most), "put: a document of Page, most of it in `content`, has 178");
    refused("cassandra", &putting(1, most), "put: a row of page, most of it in `content`, has 178258");
    refused("hbase", &putting(1, most), "put: the cell `d:content` of Page has 17825792 bytes");
    refused("oracle-nosql", &putting(1, 600_000), "put: a pair has 600");
    refused("oracle-nosql", &putting(1, 600_000), "and Oracle NoSQL takes 524288 at most");
}
