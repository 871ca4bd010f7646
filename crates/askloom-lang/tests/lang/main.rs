//! What the language promises, tested from the outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod dialects;
mod examples;
mod fixes;
mod fixtures;
mod format;
mod fuzz;
mod hostile;
mod pages;
mod project;
mod survive;
