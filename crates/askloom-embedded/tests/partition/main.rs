//! Aggregates in the keyspace, as entries by any legal rules: what is written, and that it is read again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

// Random models, aggregates and rules are those that the rules themselves are tested with.
#[path = "../../../askloom-design/tests/partition/models.rs"]
mod models;
#[path = "../../../askloom-design/tests/partition/records.rs"]
mod records;
#[path = "../../../askloom-design/tests/partition/rules.rs"]
mod rules;

mod rounds;
mod written;

use askloom_design::simple;
use askloom_embedded::codec::BlockEntry;
use askloom_embedded::{KeyedSchema, Memory};
use askloom_lang::{Memory as Files, check};
use askloom_model::{ClassId, Conceptual, Contents, Identity, Model, Rule};
use std::collections::BTreeSet;
use std::path::Path;

fn parse(text: &str) -> Model {
    let checked = check(&Files::default().with("m.loom", text), Path::new("m.loom"));
    assert!(checked.errors == 0, "{:?}\n{text}", checked.diagnostics);
    checked.model
}

fn class(conceptual: &Conceptual, name: &str) -> ClassId {
    conceptual.classes.iter().find(|(_, class)| class.name == name).expect(name).0
}

/// The simple design with these rules for a master.
fn schema(model: &Model, root: ClassId, rules: &[Rule]) -> KeyedSchema {
    let mut design = simple::design(model);
    let master = design.master(root).unwrap();
    design.collections[master].contents = Contents::Aggregate(rules.to_vec());
    KeyedSchema::new(model.clone(), design)
}

/// The entries of a master among some keys.
fn entries<'k>(
    schema: &KeyedSchema,
    root: ClassId,
    keys: impl IntoIterator<Item = &'k Vec<u8>>,
) -> BTreeSet<(Identity, BlockEntry)> {
    let master = schema.design.master(root).unwrap();
    let number = schema.number(master).to_be_bytes();
    let of_master = keys.into_iter().filter(|key| key.starts_with(&number));
    of_master
        .map(|key| {
            let (identity, entry) = schema.master_key(master).split(key).unwrap();
            (identity, BlockEntry::decode(entry).unwrap())
        })
        .collect()
}

fn all_entries(schema: &KeyedSchema, root: ClassId, keyspace: &Memory) -> BTreeSet<(Identity, BlockEntry)> {
    entries(schema, root, keyspace.keys())
}
