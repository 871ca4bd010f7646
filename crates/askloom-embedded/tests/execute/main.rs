//! Every construct of the language by every plan, beside what the oracle says it means.
//!
//! - `answers`: the oracle's own fixtures, each question asked of plans over several designs;
//! - `constructs`: random data under models that are each about one construct;
//! - `pages`: pages while others write;
//! - `batches`: how often a store that is not here is asked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod answers;
mod batches;
mod constructs;
mod data;
mod mirror;
mod pages;
