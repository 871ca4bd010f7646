//! The examples, by every method.

use crate::sample::Sample;
use crate::score::{Score, Store};
use askloom_design::method::{self, Method, Options};
use askloom_lang::{Memory as Files, check};
use askloom_model::Model;
use std::path::Path;

pub(crate) const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];

fn example(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut world = Files::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "loom") {
            world = world.with(path.file_name().unwrap(), std::fs::read(&path).unwrap());
        }
    }
    let checked = check(&world, Path::new(&format!("{name}.loom")));
    assert_eq!(checked.errors, 0, "{name}");
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    model
}

/// The scores of all examples. Designs are made by what the examples say of themselves, so that they are those of large
/// data; plans by what the data is.
pub(crate) fn scores(names: &[&str], instances: u64, sets: usize) -> Vec<Score> {
    let mut scores = Vec::new();
    for name in names {
        let model = example(name);
        let sample = Sample::of(&model, instances, 1);
        for method in Method::ALL {
            let costing = askloom_target::embedded::costing();
            let made = method::design(method, &model, &costing, &Options::default());
            let (schema, keyspace) = sample.stored(made.design);
            let store = Store { sample: &sample, schema: &schema, keyspace: &keyspace };
            scores.extend(store.scores(name, sets));
        }
    }
    scores
}
