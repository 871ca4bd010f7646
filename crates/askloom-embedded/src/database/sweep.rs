//! Takes away what has expired, and what is left of aggregates that were deleted long ago.

use super::Database;
use super::masters::{blocks, sound, start};
use crate::keyspace::write::{Change, sweep};
use crate::store::Snapshot;
use crate::{KeyspaceRecords, Layered, Puts, Reads};
use askloom_engine::expiry::expired;
use askloom_engine::write::Inputs;
use askloom_engine::{Instances, Reader, RunError};
use askloom_model::{ClassId, CollectionId, Conceptual, Identity};

/// Aggregates that are looked at together, and written together.
const AGGREGATES: usize = 256;

/// How long the system entry of a deleted aggregate stays: as long as somebody may still ask for an outcome.
const TOMBSTONE: jiff::SignedDuration = jiff::SignedDuration::from_hours(10 * 24);

/// What was taken away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Aggregates that had expired.
    pub aggregates: u64,
    /// Aggregates that had parts which had expired.
    pub parts: u64,
    /// What was left of aggregates that were deleted.
    pub tombstones: u64,
}

impl Database {
    /// Sweeps everything, in batches. Others may write meanwhile.
    pub fn sweep(&self, now: jiff::Timestamp) -> Result<Swept, RunError> {
        let mut total = Swept::default();
        for (root, master) in self.schema().masters() {
            let expires = expires(&self.schema().model.conceptual, root);
            let mut from = Some(start(self.schema(), master, None));
            while let Some(key) = from {
                let snapshot = self.store().snapshot();
                let some = sound(blocks(&snapshot, self.schema(), master, &key, AGGREGATES)?)?;
                let swept = self.commit(|snapshot| {
                    self.swept(snapshot, (root, master), &some.identities, expires, now)
                })?;
                total.aggregates += swept.aggregates;
                total.parts += swept.parts;
                total.tombstones += swept.tombstones;
                from = some.next;
            }
        }
        Ok(total)
    }

    /// What sweeping some aggregates changes, one after the other.
    fn swept(
        &self,
        snapshot: &Snapshot,
        (root, master): (ClassId, CollectionId),
        identities: &[Identity],
        expires: bool,
        now: jiff::Timestamp,
    ) -> Result<(Change, Swept), RunError> {
        let schema = self.schema();
        let inputs = Inputs { now, uuids: Vec::new(), id: None };
        let mut puts = Puts::new();
        let mut reads = Reads::default();
        let mut swept = Swept::default();
        let records = KeyspaceRecords { schema, keyspace: snapshot };
        let before = Reader::new(&records);
        for identity in identities {
            if let Some(deleted) = before.system(root, identity)?.and_then(|system| system.deleted) {
                if i128::from(now.as_microsecond()) - i128::from(deleted) >= TOMBSTONE.as_micros() {
                    let key = schema.master_key(master).system(identity);
                    reads.keys.insert(key.clone());
                    puts.insert(key, None);
                    swept.tombstones += 1;
                }
                continue;
            }
            if !expires {
                continue;
            }
            let layered = Layered { base: snapshot, puts: &puts };
            let (change, any) = sweep(schema, &layered, root, identity, &inputs)?;
            if any {
                let whole = before.aggregate(root, identity)?.is_some_and(|stored| {
                    let conceptual = &schema.model.conceptual;
                    expired(conceptual, &stored.record, stored.system.created, now)
                });
                swept.aggregates += u64::from(whole);
                swept.parts += u64::from(!whole);
            }
            puts.extend(change.puts);
            if any {
                reads.keys.extend(change.reads.keys);
                reads.ranges.extend(change.reads.ranges);
            }
        }
        Ok((Change { puts, reads }, swept))
    }
}

/// Whether anything in the aggregates of a root can expire.
fn expires(conceptual: &Conceptual, root: ClassId) -> bool {
    let within = |class: &ClassId| {
        conceptual.is_kind_of(*class, root)
            || conceptual.occurrences(*class).iter().any(|occurrence| occurrence.root == root)
    };
    conceptual.classes.ids().filter(within).any(|class| conceptual.ttl(class).is_some())
}
