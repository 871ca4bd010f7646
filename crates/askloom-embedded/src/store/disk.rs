//! The two files of a store, as things that are read, written and synced. One trait for both, redb's own, so
//! that a test can put a medium underneath that loses power.

use super::Error;
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub(super) type Medium = Arc<dyn StorageBackend>;

#[derive(Debug, Clone)]
pub(super) struct Disk {
    pub(super) tree: Medium,
    pub(super) log: Medium,
}

impl Disk {
    /// The files exist already: which state of the folder allows to create them is [`super::folder`]'s matter.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self { tree: file(&folder.join(TREE))?, log: file(&folder.join(LOG))? })
    }
}

pub(super) const TREE: &str = "tree.redb";
pub(super) const LOG: &str = "log";

fn file(path: &Path) -> Result<Medium, Error> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // Locks are ours, on the folder: what redb would add per file has nothing left to guard.
    Ok(Arc::new(FileBackend::new(file)?))
}

/// redb wants to own its medium; we want to keep a hand on it.
#[derive(Debug)]
pub(super) struct Shared(pub(super) Medium);

impl StorageBackend for Shared {
    fn len(&self) -> Result<u64, io::Error> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.0.write(offset, data)
    }

    fn close(&self) -> Result<(), io::Error> {
        self.0.close()
    }
}
