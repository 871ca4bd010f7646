//! Canonical text: what it looks like, and what holds whatever the input.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the code around the tests fails them by panicking, too"
)]

mod corpus;
mod fixtures;
mod mutation;
mod properties;
