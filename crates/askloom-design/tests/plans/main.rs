//! Plans of the examples: what they say, what they cost, and why there is none.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod conditions;
mod data;
mod examples;
mod identity;
mod immutable;
mod levels;
mod missing;
mod pricing;
mod printed;
mod properties;
mod reparsed;
mod repriced;
mod split;
mod stated;
mod writes;
