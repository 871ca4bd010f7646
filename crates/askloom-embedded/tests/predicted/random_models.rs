//! Random models of the promise, with data and designs of their own.

use crate::random::Random;
use crate::sample::Sample;
use crate::score::{Score, Store};
use crate::{designs, identities, questions, sketch, statements};
use askloom_lang::{Memory as Files, check};
use askloom_model::{Design, Model};
use askloom_plan::cost::{Sizes, Statistics};
use std::path::Path;

/// Instances of a class.
const INSTANCES: u64 = 30;

/// Rows of a copy.
const MOST_ROWS: f64 = 600.0;

/// The model of a seed; nothing if its declarations are wrong. Statements that are refused are left out.
fn model(seed: u64) -> Option<Model> {
    let random = Random::new(seed);
    let declarations = sketch::sketch(&random.fork("sketch")).text();
    let parsed = |text: String| check(&Files::default().with("m.loom", text), Path::new("m.loom"));
    let checked = parsed(declarations.clone());
    if checked.errors > 0 {
        return None;
    }
    let conceptual = &checked.model.conceptual;
    let mut made = Vec::new();
    for n in 0..3 {
        let name = format!("q{n}");
        made.push(questions::query(conceptual, &name, questions::Where::Any, &random.fork(&name)));
    }
    made.push(questions::query(conceptual, "q5", questions::Where::Anchored, &random.fork("q5")));
    made.extend(identities::query(conceptual, "q7", &random.fork("q7")));
    made.push(questions::ask(conceptual, "ask0", &random.fork("ask")));
    for n in 0..3 {
        made.extend(statements::write(conceptual, &format!("w{n}"), &random.fork(&format!("w{n}"))));
    }
    let mut model = parsed(format!("{declarations}{}", made.join("\n"))).model;
    askloom_plan::ask::name_ways_back(&mut model);
    Some(model)
}

/// Whether a copy has so many rows that each write of the load would take long.
fn is_large(model: &Model, design: &Design) -> bool {
    let statistics = Statistics::new(&model.conceptual);
    let sizes = Sizes { statistics: &statistics, design };
    let rows = |id| sizes.rows_without_condition(&design.collections[id]);
    design.collections.ids().any(|id| rows(id) > MOST_ROWS)
}

/// The scores of the models of some seeds.
pub(crate) fn scores(seeds: std::ops::Range<u64>, sets: usize) -> Vec<Score> {
    let mut scores = Vec::new();
    for seed in seeds {
        let Some(model) = model(seed) else { continue };
        let sample = Sample::of(&model, INSTANCES, seed);
        let design = designs::design(&sample.model, &[], &[], &Random::new(seed).fork("design"));
        if is_large(&sample.model, &design) {
            eprintln!("random {seed} has copies of too many rows to be loaded one aggregate at a time");
            continue;
        }
        let (schema, keyspace) = sample.stored(design);
        let store = Store { sample: &sample, schema: &schema, keyspace: &keyspace };
        scores.extend(store.scores(&format!("random {seed}"), sets));
    }
    scores
}
