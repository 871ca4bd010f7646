//! Bulk loading makes the keyspace that putting row by row makes; what is exported and loaded again is the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "the code around the tests fails them by panicking, too"
)]

mod csv;
mod equal;
mod exported;
mod models;
mod order;
mod rows;

use askloom_design::simple;
use askloom_embedded::database::Database;
use askloom_embedded::store::{Durability, Options};
use askloom_lang::{Memory, check};
use askloom_model::{ClassId, Model};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) fn now() -> jiff::Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

/// A model in which whole aggregates may be stored and deleted.
pub(crate) fn parse(text: &str) -> Model {
    let text = format!("writes any\n{text}");
    let checked = check(&Memory::default().with("m.loom", text.as_str()), Path::new("m.loom"));
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| &d.message).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    checked.model
}

pub(crate) fn class(model: &Model, name: &str) -> ClassId {
    model.conceptual.classes.iter().find(|(_, class)| class.name == name).map(|(id, _)| id).unwrap()
}

/// A folder that is gone after the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("askloom-bulk-{}-{number}", std::process::id())))
    }

    pub(crate) fn open(&self, model: &Model) -> Database {
        let options = Options::default().durability(Durability::Process).log(1 << 20).cache(8 << 20);
        Database::apply(&self.0, &options, model.clone(), simple::design(model)).unwrap().0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All keys and values but the store's own.
pub(crate) fn keyspace(database: &Database) -> Vec<(Vec<u8>, Vec<u8>)> {
    let snapshot = database.store().snapshot();
    let all = snapshot.range(.., askloom_embedded::store::Direction::Ascending).unwrap();
    let all = all.map(|entry| entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec())).unwrap());
    all.filter(|(key, _)| !key.starts_with(&[0, 0, 0, 0])).collect()
}
