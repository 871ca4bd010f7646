//! Saved designs: read back they are the same, and a design that is not sound is refused with its place.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the code around the tests fails them by panicking, too"
)]

mod clustered;
mod errors;
mod round_trip;

use askloom_design::simple;
use askloom_lang::{Memory, check};
use askloom_model::{Contents, Design, Model, Span};
use std::path::{Path, PathBuf};

const EXAMPLES: [&str; 6] = ["airline", "blog", "game", "inbox", "noam-game", "shop"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn parse(files: &[(&str, &str)]) -> Model {
    let world = files.iter().fold(Memory::default(), |world, (name, text)| world.with(*name, *text));
    let checked = check(&world, Path::new(files[0].0));
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| &d.message).collect();
    assert!(errors.is_empty(), "{errors:?}");
    checked.model
}

fn example(name: &str) -> Model {
    let folder = root().join("examples").join(name);
    let main = format!("{name}.loom");
    let text = std::fs::read_to_string(folder.join(&main)).unwrap();
    let parts = std::fs::read_to_string(folder.join("parts.loom")).unwrap_or_default();
    parse(&[(main.as_str(), text.as_str()), ("parts.loom", parts.as_str())])
}

fn game() -> (Model, Design) {
    let model = example("game");
    let design = simple::design(&model);
    (model, design)
}

/// The design without what is not saved: where in a text its rules stand.
fn without_spans(mut design: Design) -> Design {
    for id in design.collections.ids() {
        if let Contents::Aggregate(rules) = &mut design.collections[id].contents {
            rules.iter_mut().for_each(|rule| rule.span = Span::default());
        }
    }
    design
}
