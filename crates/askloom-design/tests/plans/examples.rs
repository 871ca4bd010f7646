//! The example models, and small ones given as text.

use askloom_lang::{Memory, check};
use askloom_model::{Design, Model, Query, Write};
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn example(name: &str) -> Model {
    let folder = root().join("examples").join(name);
    let mut world = Memory::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "loom") {
            world = world.with(path.file_name().unwrap(), std::fs::read(&path).unwrap());
        }
    }
    let checked = check(&world, Path::new(&format!("{name}.loom")));
    assert_eq!(checked.errors, 0, "{name}");
    checked.model
}

pub(crate) fn model(text: &str) -> Model {
    let checked = check(&Memory::default().with("model.loom", text), Path::new("model.loom"));
    assert_eq!(checked.errors, 0, "{:?}", checked.diagnostics);
    checked.model
}

pub(crate) fn designed(model: Model) -> (Model, Design) {
    let design = askloom_design::simple::design(&model);
    (model, design)
}

pub(crate) fn query<'m>(model: &'m Model, name: &str) -> &'m Query {
    model.workload.queries.iter().find(|query| query.header.name == name).unwrap()
}

pub(crate) fn write<'m>(model: &'m Model, name: &str) -> &'m Write {
    model.workload.writes.iter().find(|write| write.header.name == name).unwrap()
}
