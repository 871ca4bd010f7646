//! What keeps the oracle honest: answers written by hand, SQL, and properties that hold whatever happens.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod answers;
mod fixture;
mod generator;
mod json;
mod properties;
mod sql;
mod writes;
