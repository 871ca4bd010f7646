//! redb behind a log: the embedded store itself. One sync of the log makes a group durable; the tree is made
//! durable, with quick repair, each time the log is full.

use crate::candidate::{CACHE, Candidate, Change, Outcome, Snapshot};
use askloom_embedded::store::{self, Batch, Condition, Direction, Options, Store};
use std::path::Path;

impl Candidate for Store {
    const NAME: &'static str = "redb behind a log";
    const GROUPS: bool = true;
    type Snapshot = store::Snapshot;

    fn open(folder: &Path) -> Outcome<Self> {
        Ok(Self::open(folder, &Options::default().cache(CACHE))?)
    }

    fn commit(&self, changes: Vec<Change>) -> Outcome {
        commit(self, Batch::new(), changes)
    }

    fn commit_on(&self, condition: Vec<u8>, changes: Vec<Change>) -> Outcome {
        commit(self, Batch::new().when(Condition::Present { key: condition }), changes)
    }

    fn snapshot(&self) -> Outcome<store::Snapshot> {
        Ok(self.snapshot())
    }
}

fn commit(store: &Store, batch: Batch, changes: Vec<Change>) -> Outcome {
    let batch = changes.into_iter().fold(batch, |batch, (key, value)| match value {
        Some(value) => batch.put(key, value),
        None => batch.delete(key),
    });
    match store.commit(batch)? {
        store::Outcome::Committed { .. } => Ok(()),
        store::Outcome::Conflict(conflict) => Err(format!("{conflict:?}").into()),
    }
}

impl Snapshot for store::Snapshot {
    fn get(&self, key: &[u8]) -> Outcome<Option<usize>> {
        Ok(self.get(key)?.map(|value| value.len()))
    }

    fn range(&self, start: &[u8], limit: usize) -> Outcome<usize> {
        let mut read = 0;
        for entry in self.range(start.., Direction::Ascending)?.take(limit) {
            let entry = entry?;
            read += usize::from(!entry.key.is_empty() && !entry.value.is_empty());
        }
        Ok(read)
    }
}
