//! The designs of every method on every example: made-up data and writes, each answer compared with what it means.

use crate::case::Case;
use crate::coverage::Coverage;
use crate::random::Random;
use askloom_design::cost::Costing;
use askloom_design::method::{self, Method, Options};
use askloom_lang::{Memory, check};
use askloom_model::Model;
use std::path::Path;

const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];

/// Loads, stores, deletes and statements for each.
const STEPS: usize = 10;

fn example(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut world = Memory::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "loom") {
            world = world.with(path.file_name().unwrap(), std::fs::read(&path).unwrap());
        }
    }
    let checked = check(&world, Path::new(&format!("{name}.loom")));
    assert_eq!(checked.errors, 0, "{name}");
    let mut model = checked.model;
    askloom_design::ask::name_ways_back(&mut model);
    model
}

#[test]
fn every_method_on_every_example() {
    for name in EXAMPLES {
        let model = example(name);
        for method in Method::ALL {
            let made = method::design(method, &model, &Costing::default(), &Options::default()).unwrap();
            for seed in 0..10 {
                let case = Case::of(model.clone(), made.design.clone());
                let steps: Vec<usize> = (0..STEPS).collect();
                let random = Random::new(seed).fork(name);
                if let Err(failure) = case.run(&steps, &random, &mut Coverage::default()) {
                    panic!("{name} by {}, seed {seed}: {}: {}", method.name(), failure.kind, failure.text);
                }
            }
        }
    }
}
