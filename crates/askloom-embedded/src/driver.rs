//! The embedded store as a driver: what the engine asks of any store. Whoever has a [`Database`] in the same process goes
//! the short way, on one snapshot and without futures.

use crate::database::Database;
use crate::keyspace::{Puts, encode};
use crate::store::{Batch as StoreBatch, Outcome, Snapshot};
use crate::{KeyspaceRecords, Reads, Recorded};
use askloom_engine::driver::{Batch, Driver, DriverError, Isolation, Reply, Written};
use askloom_engine::source::{Given, Wanted, answer};
use askloom_engine::{RunError, Schema, Stop};
use std::future;
use std::ops::Bound;

impl Driver for Database {
    fn isolation(&self) -> Isolation {
        Isolation::Ranges
    }

    fn read<'r>(&'r self, _schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        let snapshot = self.store().snapshot();
        let records = KeyspaceRecords { schema: self.schema(), keyspace: &snapshot };
        let given = wanted.iter().map(|wanted| answer(&records, wanted)).collect::<Result<_, _>>();
        Box::pin(future::ready(given.map_err(failed)))
    }

    fn write<'r>(&'r self, _schema: &'r Schema, batch: &'r Batch) -> Reply<'r, Written> {
        Box::pin(future::ready(self.checked(batch)))
    }
}

impl Database {
    /// Writes a batch if all that it was worked out from is the same still.
    fn checked(&self, batch: &Batch) -> Result<Written, DriverError> {
        loop {
            let snapshot = self.store().snapshot();
            let recorded = Recorded::new(&snapshot);
            let records = KeyspaceRecords { schema: self.schema(), keyspace: &recorded };
            for check in &batch.checks {
                if answer(&records, &check.of).map_err(failed)? != check.seen {
                    return Ok(Written::Moved);
                }
            }
            let puts = encode::puts(&records, &batch.changes).map_err(|error| failed(error.into()))?;
            let written = store_batch(puts, recorded.into_reads(), &snapshot);
            match self.store().commit(written).map_err(|error| failed(RunError::from(error).into()))? {
                Outcome::Committed { .. } => return Ok(Written::Done),
                // Somebody wrote since the snapshot: it is looked at again whether that matters.
                Outcome::Conflict(_) => {}
            }
        }
    }
}

/// Keys to put and to delete if what was read is still the same.
pub(crate) fn store_batch(puts: Puts, reads: Reads, snapshot: &Snapshot) -> StoreBatch {
    let mut batch = StoreBatch::new();
    let Reads { keys, ranges } = reads;
    for key in keys {
        batch = batch.when_unchanged(key, snapshot);
    }
    for (from, to) in ranges {
        let to = to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        batch = batch.when_range_unchanged((Bound::Included(from.as_slice()), to), snapshot);
    }
    for (key, value) in puts {
        batch = match value {
            Some(value) => batch.put(key, value),
            None => batch.delete(key),
        };
    }
    batch
}

fn failed(stop: Stop) -> DriverError {
    match RunError::from(stop) {
        RunError::TooLarge(what) => DriverError::TooLarge(what),
        RunError::Corrupted(what) => DriverError::Drift(what),
        other => DriverError::Unavailable(other.to_string()),
    }
}
