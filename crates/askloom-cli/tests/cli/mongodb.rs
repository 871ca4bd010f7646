//! What `generate` prints for MongoDB, beside what is expected. `ASKLOOM_BLESS=1` rewrites it.

use crate::project::{Project, expect_file};
use std::path::Path;

fn generated(example: &str, words: &[&str], params: &str) -> String {
    let project = Project::new().with("params.json", params);
    project.run(&["new", "model", "--example", example]).exits(0);
    let file = format!("model/{example}.loom");
    let fixed = ["generate", &file, "--target", "mongodb", "--params", "params.json", "-o", "out"];
    project.run(&[&fixed, words].concat()).exits(0);
    let mut text = String::new();
    for name in ["README.md", "schema.js", "sample.js", "statements.js"] {
        if project.exists(&format!("out/{name}")) {
            text.push_str(&format!("== {name}\n{}\n", project.read(&format!("out/{name}"))));
        }
    }
    text
}

#[track_caller]
fn expect(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    expect_file(&folder.join(name), text);
}

const GAME: &str = r#"{
  "continueGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680"},
  "joinGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680", "player": "'}{\"*\\\n$where\u0000\u2028 :x"}
}"#;

#[test]
fn the_game() {
    expect("game.mongodb.txt", &generated("game", &["--sample"], GAME));
}

#[test]
fn the_shop() {
    expect("shop.mongodb.txt", &generated("shop", &["--prefix", "app."], "{}"));
}

#[test]
fn the_game_of_the_papers() {
    expect("noam-game.mongodb-paper.txt", &generated("noam-game", &["--faithful"], "{}"));
}
