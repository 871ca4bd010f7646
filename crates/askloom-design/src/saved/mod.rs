//! A design as text: canonical JSON, meant to be committed and reviewed.
//!
//! ```text
//! { "format": 1, "method": "simple",
//!   "collections": [ {
//!       "name": "LobbyView", "role": "copy",
//!       "source": { "root": "Game", "paths": [ { "path": "rounds", "join": "left", "as": "r" } ],
//!                   "condition": { "text": "status = 'waiting'",
//!                                  "tree": { "compare": [ { "path": "status" }, "=", { "enum": "waiting" } ] } } },
//!       "block_key": [ { "path": "status", "order": "asc" } ], "entry_key": [ … ],
//!       "value": [ "firstPlayer.username", "rounds/moves" ], "reasons": [ "…" ] } ] }
//! ```
//!
//! Names stand for everything, so that a design outlives the numbers of one reading of its model. In a path, `/` ends
//! what is joined, `.` goes on through what is not; `$self` is the instance or list element itself, `Sub::member` a
//! member that only a subclass has, and a name of other than letters and digits is in back-quotes. A master has
//! `rules`, which split its aggregates into entries, in place of `value`; a nested copy has `nodes`. Of a condition the tree is read, and its text
//! must be what the tree says.

mod condition;
mod doubled;
mod locate;
mod path;
mod read;
mod rules;
mod sound;
mod write;

pub use read::from_json;
pub use rules::write as rule_text;
pub use write::{condition_text, fingerprint, to_json};

/// What reads and writes this form; another number is another form.
const FORMAT: u64 = 1;
