//! What `generate` prints for MongoDB, beside what is expected. `ASKLOOM_BLESS=1` rewrites it.

use crate::generated::{expect, generated as written};

fn generated(example: &str, words: &[&str], params: &str) -> String {
    let words = [&["--target", "mongodb"], words].concat();
    written(example, &words, params, &["README.md", "schema.js", "sample.js", "statements.js"])
}

const GAME: &str = r#"{
  "continueGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680"},
  "joinGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680", "player": "'}{\"*\\\n$where\u0000\u2028 :x", "$version": 3}
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
