//! A model and its design on the embedded store, from outside: applied, extended, verified, swept, written by many at
//! once, and killed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by a panic"
)]

mod apply;
mod bank;
mod crash;
mod driven;
mod immutable;
mod race;
mod sweep;
mod symmetric;
mod verify;

use askloom_design::simple;
use askloom_embedded::database::{Applied, Database, OpenError};
use askloom_embedded::store::Options;
use askloom_engine::RunError;
use askloom_engine::execute::Arguments;
use askloom_engine::write::{Inputs, Outcome, uuids_needed};
use askloom_lang::{Memory, check};
use askloom_model::{Model, Value};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use uuid::Uuid;

/// A folder of a test's own, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("askloom-database-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self, text: &str) -> Database {
        open(&self.0, text).unwrap()
    }

    fn apply(&self, text: &str) -> Result<(Database, Applied), OpenError> {
        apply(&self.0, text)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options() -> Options {
    Options::default().cache(16 << 20).log(1 << 20)
}

fn open(folder: &Path, text: &str) -> Result<Database, OpenError> {
    let model = model(text);
    let design = simple::design(&model);
    Database::open(folder, &options(), model, design)
}

fn apply(folder: &Path, text: &str) -> Result<(Database, Applied), OpenError> {
    let model = model(text);
    let design = simple::design(&model);
    Database::apply(folder, &options(), model, design)
}

#[track_caller]
fn model(text: &str) -> Model {
    let checked = check(&Memory::default().with("m.loom", text), Path::new("m.loom"));
    let said: Vec<&str> = checked.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(checked.errors, 0, "{said:?}\n{text}");
    checked.model
}

fn now() -> jiff::Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

fn arguments(given: &[(&str, Value)]) -> Arguments {
    given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn write_at(
    database: &Database,
    name: &str,
    given: &[(&str, Value)],
    now: jiff::Timestamp,
) -> Result<Outcome, RunError> {
    let model = &database.schema().model;
    let write = model.workload.writes.iter().find(|write| write.header.name == name).unwrap();
    let given = arguments(given);
    let uuids = (0..uuids_needed(model, write, &given).unwrap()).map(|_| Uuid::now_v7()).collect();
    database.write(write, &given, &Inputs { now, uuids, id: Some(Uuid::now_v7()) })
}

fn write(database: &Database, name: &str, given: &[(&str, Value)]) -> Result<Outcome, RunError> {
    write_at(database, name, given, now())
}

/// The rows of a query, and the name of the collection that they come from.
fn query(database: &Database, name: &str, given: &[(&str, Value)]) -> (Vec<Vec<Value>>, String) {
    let schema = database.schema();
    let query = schema.model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
    let plan = database.plan(query).unwrap();
    let from = schema.design.collections[plan.access.collection].name.clone();
    (database.query(query, &arguments(given), now(), None).unwrap().rows, from)
}

/// Fails if anything is not as it should be.
#[track_caller]
fn assert_sound(database: &Database) {
    let mut found = Vec::new();
    database.verify(now(), &mut |finding| found.push(finding.to_string())).unwrap();
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}
