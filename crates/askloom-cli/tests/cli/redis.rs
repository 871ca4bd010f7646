//! What `generate` prints for Redis, beside what is expected. `ASKLOOM_BLESS=1` rewrites it.

use crate::generated::{expect, generated as written};
use crate::project::Project;

/// What is printed of an example but for the functions, which are the same for all.
fn generated(example: &str, words: &[&str], params: &str) -> String {
    written(example, words, params, &["README.md", "schema.redis", "sample.redis", "statements.redis"])
}

const GAME: &str = r#"{
  "continueGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680"},
  "joinGame": {"gameId": "2fa740e6-1f12-42f3-9d59-d7aab6ca0680", "player": "}{\"*\\\n$where\u0000 :x", "$version": 3, "$stamp": 1800000000000000}
}"#;

#[test]
fn the_game_on_one_node() {
    expect("game.redis.txt", &generated("game", &["--target", "redis", "--sample"], GAME));
}

#[test]
fn the_game_in_a_cluster() {
    expect(
        "game.redis-cluster.txt",
        &generated("game", &["--target", "redis-cluster", "--prefix", "app:"], GAME),
    );
}

#[test]
fn the_shop_on_one_node() {
    expect("shop.redis.txt", &generated("shop", &["--target", "redis"], "{}"));
}

/// KVMod's collections with their indexes, mended; then as its generator prints them.
#[test]
fn the_airline_with_search() {
    let params = r#"{"Q1_aircraftsCapacityWithin": {"capacity_from": 100, "capacity_to": 200}}"#;
    let words = ["--target", "redis-search", "--method", "kvmod"];
    expect("airline.redis-search.txt", &generated("airline", &words, params));
    let faithful = [words.as_slice(), &["--faithful"]].concat();
    expect("airline.kvmod-paper.txt", &generated("airline", &faithful, "{}"));
}

#[test]
fn the_functions_are_a_file_that_can_be_loaded() {
    let project = Project::new();
    project.run(&["new", ".", "--example", "game"]).exits(0);
    project.run(&["generate", "game.loom", "--target", "redis", "-o", "out"]).exits(0);
    assert!(project.read("out/functions.lua").starts_with("#!lua name=askloom\n"));
    assert!(project.read("out/README.md").contains("`redis-cli -x FUNCTION LOAD REPLACE < functions.lua`"));
}
