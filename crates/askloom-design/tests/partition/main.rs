//! Aggregates as entries: the figures of the papers, and random aggregates under random rules, each from a seed that
//! a failure prints.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod figures;
mod language;
mod models;
mod records;
mod reference;
mod round_trip;
mod rules;

use askloom_lang::{Checked, Memory, check};
use askloom_model::{ClassId, Conceptual};
use std::path::Path;

fn checked(text: &str) -> Checked {
    check(&Memory::default().with("m.loom", text), Path::new("m.loom"))
}

fn class(conceptual: &Conceptual, name: &str) -> ClassId {
    conceptual.classes.iter().find(|(_, class)| class.name == name).expect(name).0
}
