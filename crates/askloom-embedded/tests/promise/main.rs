//! The promise: what a plan returns is what the query means, after every write.
//!
//! Random models, data, designs, queries and writes, each from a seed that a failure prints. `ASKLOOM_PROMISE_CASES` and
//! `ASKLOOM_PROMISE_SEED` choose how many and from where.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod case;
mod changes;
mod clustered;
mod compare;
mod conditions;
mod constructs;
mod coverage;
mod data;
mod designs;
mod driven;
mod examples;
mod identities;
mod immutable;
mod impossible;
mod integrity;
mod keyspace;
mod lighten;
mod paths;
mod piecewise;
mod questions;
mod random;
mod records;
mod refusals;
mod run;
mod shrink;
mod sketch;
mod statements;
mod steps;
mod values;
mod words;
