//! The protocol of level 3 on a store double that does everything a store may do: operations that take effect late,
//! twice, or without a reply, and writers that crash between any two steps.
//!
//! `explore` takes *every* interleaving of a few writers; `walks` takes random ones of more. `faults` shows that both
//! find what is wrong: a protocol with a mistake in it must not pass. `ASKLOOM_WALKS`,
//! `ASKLOOM_CASES` and `ASKLOOM_SEED` choose how many random walks and schemas, and from where; `ASKLOOM_EXPLORE=far`
//! explores what takes minutes and gigabytes. Why, and what came of it: `docs/decisions/level-three.md`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod aggregates;
mod automaton;
mod cost;
mod double;
mod explore;
mod faults;
mod kept;
mod port;
mod random;
mod scenarios;
mod toy;
mod verdict;
mod walks;
