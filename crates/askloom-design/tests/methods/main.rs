//! The published methods: what they make of the papers' own examples, and that what they make answers everything.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod carried;
mod clustered;
mod cost;
mod elements;
mod given;
mod item_collections;
mod kvmod;
mod limits;
mod native;
mod needed;
mod noam;
mod qodm;
mod scans;

use askloom_design::method::{Method, Options, Proposal};
use askloom_lang::Memory;
use askloom_model::Model;
use std::path::Path;

const EXAMPLES: [&str; 6] = ["airline", "blog", "game", "inbox", "noam-game", "shop"];

/// A model of the repository, with the files it includes.
fn example(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut world = Memory::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "loom") {
            world = world.with(path.file_name().unwrap(), std::fs::read(&path).unwrap());
        }
    }
    checked(&world, &format!("{name}.loom"))
}

fn model(text: &str) -> Model {
    checked(&Memory::default().with("m.loom", text), "m.loom")
}

fn checked(world: &Memory, file: &str) -> Model {
    let checked = askloom_lang::check(world, Path::new(file));
    let errors: Vec<_> =
        checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "the model is wrong: {errors:?}");
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    model
}

fn propose(method: Method, model: &Model) -> Proposal {
    askloom_design::method::design(method, model, &askloom_target::embedded::costing(), &Options::default())
}

/// What a method decided about something.
fn decided<'p>(proposal: &'p Proposal, about: &str) -> Vec<&'p str> {
    let about = proposal.decisions.iter().filter(|decision| decision.about == about);
    about.map(|decision| decision.says.as_str()).collect()
}
