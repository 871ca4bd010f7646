//! The embedded store from outside: what its contract says, on real files and with real kills.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]

mod contract;
mod crash;
mod folder;
mod limits;
mod model;
mod queue;
mod rival;

use askloom_embedded::store::{Batch, Options, Outcome, Store};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of a test's own, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("askloom-store-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self) -> Store {
        Store::open(&self.0, &small()).unwrap()
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A log so short that checkpoints happen all the time.
fn small() -> Options {
    Options::default().cache(8 << 20).log(64 << 10)
}

#[track_caller]
fn committed(store: &Store, batch: Batch) -> u64 {
    match store.commit(batch).unwrap() {
        Outcome::Committed { position } => position,
        Outcome::Conflict(conflict) => panic!("{conflict:?}"),
    }
}

fn found(store: &Store, key: &[u8]) -> Option<Vec<u8>> {
    store.snapshot().get(key).unwrap().map(|value| value.to_vec())
}
