//! fjall: a log-structured merge tree behind a journal. One sync of the journal makes a batch durable.

use crate::candidate::{CACHE, Candidate, Change, Outcome, Snapshot};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) struct Fjall {
    database: Database,
    keyspace: Keyspace,
}

pub(crate) struct FjallSnapshot {
    snapshot: fjall::Snapshot,
    keyspace: Keyspace,
}

impl Candidate for Fjall {
    const NAME: &'static str = "fjall";
    type Snapshot = FjallSnapshot;

    fn open(folder: &Path) -> Outcome<Self> {
        let database = Database::builder(folder).cache_size(CACHE as u64).open()?;
        let keyspace = database.keyspace("data", KeyspaceCreateOptions::default)?;
        Ok(Self { database, keyspace })
    }

    fn commit(&self, changes: Vec<Change>) -> Outcome {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for (key, value) in changes {
            match value {
                Some(value) => batch.insert(&self.keyspace, key, value),
                None => batch.remove(&self.keyspace, key),
            }
        }
        Ok(batch.commit()?)
    }

    /// Quiet for a second, or after two minutes: merges follow each other.
    fn settle(&self) {
        let (start, mut quiet) = (Instant::now(), Instant::now());
        while quiet.elapsed() < Duration::from_secs(1) && start.elapsed() < Duration::from_secs(120) {
            if self.database.active_compactions() > 0 || self.database.outstanding_flushes() > 0 {
                quiet = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn snapshot(&self) -> Outcome<FjallSnapshot> {
        Ok(FjallSnapshot { snapshot: self.database.snapshot(), keyspace: self.keyspace.clone() })
    }
}

impl Snapshot for FjallSnapshot {
    fn get(&self, key: &[u8]) -> Outcome<Option<usize>> {
        Ok(self.snapshot.get(&self.keyspace, key)?.map(|value| value.len()))
    }

    fn range(&self, start: &[u8], limit: usize) -> Outcome<usize> {
        let mut read = 0;
        for entry in self.snapshot.range(&self.keyspace, start..).take(limit) {
            let (key, value) = entry.into_inner()?;
            read += usize::from(!key.is_empty() && !value.is_empty());
        }
        Ok(read)
    }
}
