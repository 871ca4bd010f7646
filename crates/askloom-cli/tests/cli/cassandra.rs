//! What is printed for Cassandra, beside what is expected: `tests/generated`.

use crate::generated::{expect, generated};

const FILES: [&str; 4] = ["schema.cql", "sample.cql", "statements.cql", "README.md"];

#[test]
fn the_game_with_ugly_values() {
    let params = r#"{"continueGame": {"gameId": "01890a5d-ac96-774b-bcce-b302099a8057"},
        "setScore": {"username": "it's \"}{*$where;--/*\n$$", "score": 7, "$version": 3}}"#;
    expect("game.cassandra.txt", &generated("game", &["--target", "cassandra", "--sample"], params, &FILES));
}

#[test]
fn the_shop_with_slots() {
    let files = ["schema.cql", "statements.cql"];
    expect("shop.cassandra.txt", &generated("shop", &["--target", "cassandra"], "{}", &files));
}
