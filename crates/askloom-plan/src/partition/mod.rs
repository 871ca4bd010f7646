//! Aggregates as entries, by NoAM's representation rules.
//!
//! An atom is a basic value, a reference, an element of a list of those, or a reference in a set. Each atom goes to
//! the *first* rule that has a match at or above it, into the entry whose key is the path of that match and whose
//! value is all the atoms that came there, in their nesting. So the rules behind the first are about "the remaining
//! data", as the papers say, and no atom is in two entries.
//!
//! What is no atom is kept like this:
//!
//! - Null, an empty list and an empty set are the same as absent, and nothing is written for them.
//! - A record is there because something in it is. A record without anything in it, one of a subclass, and one with
//!   a surrogate are written themselves, at their own path: by the first rule that matches at or above it, or, where
//!   no rule does (`/C/*/*` matches nothing at the root), in an entry of their own, whose value is the empty record.
//! - An entry into which nothing came is not written.
//!
//! Therefore an aggregate always has an entry, whatever the rules, and [`join`] needs no rules: entries say where
//! they belong. An aggregate can be read while its representation is being changed.

mod diff;
mod legal;
pub mod matching;
mod split;
mod strategy;

pub use askloom_model::{JoinError, join};
pub use diff::diff;
pub use legal::{Problem, legal};
pub use split::{Entries, Untaken, split};
pub use strategy::{Strategy, elements_apart};
