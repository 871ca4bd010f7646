//! Predicted and counted: what plans say that statements read and write, beside what they do read and write.
//!
//! The statistics of each model are measured on the data that is stored, so that what is left is the error of the
//! estimates themselves. `cargo xtask predicted` runs all of it and writes `docs/predicted.md`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod arguments;
mod counting;
mod examples;
mod measured;
mod random_models;
mod run;
mod sample;
mod score;
mod table;

#[path = "../promise/designs.rs"]
#[allow(dead_code, reason = "the promise needs the rest")]
mod designs;
#[path = "../promise/identities.rs"]
mod identities;
#[path = "../promise/paths.rs"]
mod paths;
#[path = "../promise/questions.rs"]
#[allow(dead_code, reason = "the promise needs the rest")]
mod questions;
#[path = "../promise/random.rs"]
mod random;
#[path = "../promise/sketch.rs"]
mod sketch;
#[path = "../promise/statements.rs"]
#[allow(dead_code, reason = "the promise needs the rest")]
mod statements;
#[path = "../promise/values.rs"]
#[allow(dead_code, reason = "the promise needs the rest")]
mod values;
