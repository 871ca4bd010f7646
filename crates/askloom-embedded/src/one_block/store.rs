//! The blocks of a schema on an ordered keyspace. What a store with larger transactions does at once, this does block
//! by block: it is how level 3 is tried without a server, and what a driver for a store without transactions looks like.

use super::bytes::number;
use super::layout::{Layout, decode_anchor, encode_anchor};
use super::{Aggregates, Origin};
use crate::block::{Entries, encode_aggregate, no_master};
use crate::store::{Batch, Condition, Outcome, Store};
use crate::{KeyedSchema, Keyspace, KeyspaceRecords, Memory, Puts};
use askloom_engine::intents::{Anchor, Block, Blocks, Hint, Lost, Revision, Swap};
use askloom_engine::{Aggregate, Instances, Reader, RunError, Stored, System};
use askloom_model::CollectionId;
use askloom_plan::ordered_bytes::prefix_end;
use askloom_plan::partition;
use std::cell::RefCell;
use std::collections::BTreeSet;
use uuid::Uuid;

/// A keyspace that changes the keys of one block at a time.
pub trait OneBlock {
    /// Looks at one state.
    fn look<X>(&self, look: impl FnOnce(&dyn Keyspace) -> Result<X, RunError>) -> Result<X, RunError>;

    /// Applies changes if a key is as it was seen. False if it is not.
    fn change(&self, key: &[u8], seen: Option<&[u8]>, puts: Puts) -> Result<bool, RunError>;
}

impl OneBlock for RefCell<Memory> {
    fn look<X>(&self, look: impl FnOnce(&dyn Keyspace) -> Result<X, RunError>) -> Result<X, RunError> {
        look(&*self.borrow())
    }

    fn change(&self, key: &[u8], seen: Option<&[u8]>, puts: Puts) -> Result<bool, RunError> {
        let mut memory = self.borrow_mut();
        if memory.get(key).map(Vec::as_slice) != seen {
            return Ok(false);
        }
        for (key, value) in puts {
            match value {
                Some(value) => drop(memory.insert(key, value)),
                None => drop(memory.remove(&key)),
            }
        }
        Ok(true)
    }
}

impl OneBlock for Store {
    fn look<X>(&self, look: impl FnOnce(&dyn Keyspace) -> Result<X, RunError>) -> Result<X, RunError> {
        look(&self.snapshot())
    }

    fn change(&self, key: &[u8], seen: Option<&[u8]>, puts: Puts) -> Result<bool, RunError> {
        let key = key.to_vec();
        let mut batch = Batch::new().when(match seen {
            Some(value) => Condition::Equals { key, value: value.to_vec() },
            None => Condition::Absent { key },
        });
        for (key, value) in puts {
            batch = match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            };
        }
        match self.commit(batch)? {
            Outcome::Committed { .. } => Ok(true),
            Outcome::Conflict(_) => Ok(false),
        }
    }
}

/// The blocks of a schema. Whatever goes wrong in the store is a reply that did not come.
#[derive(Debug)]
pub struct Single<'s, S> {
    pub schema: &'s KeyedSchema,
    pub store: &'s S,
}

const BUCKETS: u16 = 16;

impl<S: OneBlock> Single<'_, S> {
    fn layout(&self) -> Layout<'_> {
        Layout { schema: self.schema }
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        self.store.look(|keyspace| keyspace.get(key))
    }

    fn scan<X>(
        &self,
        prefix: &[u8],
        take: impl Fn(&[u8], &[u8]) -> Result<X, RunError>,
    ) -> Result<Vec<X>, RunError> {
        self.store.look(|keyspace| {
            let mut found = Vec::new();
            let end = prefix_end(prefix);
            keyspace.scan(prefix, end.as_deref(), false, &mut |key, value| {
                found.push(take(key, value)?);
                Ok(true)
            })?;
            Ok(found)
        })
    }

    fn read_block(&self, id: &Aggregate) -> Result<Block<Aggregates>, RunError> {
        self.store.look(|keyspace| {
            let Some(companion) = keyspace.get(&self.layout().companion(id))? else {
                return Ok(Block::default());
            };
            let mut block = self.layout().decode_companion(&companion)?;
            let stored =
                Reader::new(&KeyspaceRecords { schema: self.schema, keyspace }).aggregate(id.0, &id.1)?;
            block.value = stored.map(|stored| {
                let system = System { version: 0, epoch: 0, writes: Vec::new(), ..stored.system.clone() };
                Stored { record: stored.record.clone(), system }
            });
            Ok(block)
        })
    }

    fn swap_block(&self, id: &Aggregate, from: Revision, to: &Block<Aggregates>) -> Result<Swap, RunError> {
        let key = self.layout().companion(id);
        let seen = self.get(&key)?;
        let now = match &seen {
            Some(companion) => self.layout().decode_companion(companion)?.revision,
            None => Revision::default(),
        };
        if now != from {
            return Ok(Swap::Moved);
        }
        let mut puts = self.master_puts(id, to)?;
        puts.insert(key.clone(), Some(self.layout().encode_companion(to)));
        let changed = self.store.change(&key, seen.as_deref(), puts)?;
        Ok(if changed { Swap::Done } else { Swap::Moved })
    }

    /// The entries of the master block that change.
    fn master_puts(&self, id: &Aggregate, to: &Block<Aggregates>) -> Result<Puts, RunError> {
        let master = self.schema.design.master(id.0).ok_or_else(|| no_master(self.schema, id.0))?;
        let keys = self.schema.master_key(master);
        let before = self.store.look(|keyspace| {
            Ok(KeyspaceRecords { schema: self.schema, keyspace }.contents(id.0, &id.1)?.entries)
        })?;
        let (system, entries) = match &to.value {
            Some(stored) => {
                let system = System {
                    version: to.revision.n,
                    epoch: to.revision.e,
                    writes: to.recent.iter().map(|(_, write)| Uuid::from_u128(write.0)).collect(),
                    ..stored.system.clone()
                };
                (Some(system.encode()), encode_aggregate(self.schema, id.0, &stored.record)?)
            }
            None => (None, Entries::new()),
        };
        let mut puts = Puts::new();
        puts.insert(keys.system(&id.1), system);
        for (path, entry) in partition::diff(&before, &entries) {
            puts.insert(keys.entry(&id.1, &path), entry);
        }
        Ok(puts)
    }

    fn swap_anchor_entry(&self, key: &[u8], from: u64, to: &Anchor<Aggregates>) -> Result<Swap, RunError> {
        let seen = self.get(key)?;
        let now = seen.as_deref().map_or(Ok(0), |bytes| decode_anchor(bytes).map(|anchor| anchor.token))?;
        if now != from {
            return Ok(Swap::Moved);
        }
        let puts = Puts::from([(key.to_vec(), Some(encode_anchor(to)))]);
        let changed = self.store.change(key, seen.as_deref(), puts)?;
        Ok(if changed { Swap::Done } else { Swap::Moved })
    }

    /// Writes what belongs to a stamp, unless a higher one is there.
    fn stamped(&self, key: &[u8], stamp: u64, puts: &Puts) -> Result<(), RunError> {
        loop {
            let seen = self.get(key)?;
            let held = seen.as_deref().map_or(Ok(0), |mut bytes| number(&mut bytes))?;
            if held > stamp || self.store.change(key, seen.as_deref(), puts.clone())? {
                return Ok(());
            }
        }
    }
}

fn lost<X>(result: Result<X, RunError>) -> Result<X, Lost> {
    result.map_err(|_| Lost)
}

impl<S: OneBlock> Blocks for Single<'_, S> {
    type Terms = Aggregates;

    async fn read(&self, id: &Aggregate) -> Result<Block<Aggregates>, Lost> {
        lost(self.read_block(id))
    }

    async fn swap(&self, id: &Aggregate, from: Revision, to: Block<Aggregates>) -> Result<Swap, Lost> {
        lost(self.swap_block(id, from, &to))
    }

    async fn read_anchor(&self, row: &(CollectionId, Aggregate)) -> Result<Anchor<Aggregates>, Lost> {
        let found = self.get(&self.layout().anchor(row));
        lost(found.and_then(|found| found.as_deref().map_or(Ok(Anchor::default()), decode_anchor)))
    }

    async fn swap_anchor(
        &self,
        row: &(CollectionId, Aggregate),
        from: u64,
        to: Anchor<Aggregates>,
    ) -> Result<Swap, Lost> {
        lost(self.swap_anchor_entry(&self.layout().anchor(row), from, &to))
    }

    /// The entry and its stamp are one block.
    async fn put(&self, key: &Vec<u8>, stamp: u64, entry: Option<Vec<u8>>) -> Result<(), Lost> {
        let beside = self.layout().stamp(key);
        let puts = Puts::from([(beside.clone(), Some(stamp.to_be_bytes().to_vec())), (key.clone(), entry)]);
        lost(self.stamped(&beside, stamp, &puts))
    }

    async fn put_referrer(
        &self,
        target: &Origin,
        referrer: &Aggregate,
        stamp: u64,
        there: bool,
    ) -> Result<(), Lost> {
        let key = self.layout().referrer(target, referrer);
        let mut value = stamp.to_be_bytes().to_vec();
        value.push(u8::from(there));
        lost(self.stamped(&key, stamp, &Puts::from([(key.clone(), Some(value))])))
    }

    async fn referrers(&self, target: &Origin) -> Result<BTreeSet<Aggregate>, Lost> {
        let prefix = self.layout().referrers(target);
        let found = self.scan(&prefix, |key, value| {
            let mut rest = key.get(prefix.len()..).unwrap_or_default();
            Ok((value.last() == Some(&1)).then_some(self.layout().decode_id(&mut rest)?))
        });
        lost(found.map(|found| found.into_iter().flatten().collect()))
    }

    async fn put_hint(&self, hint: &Hint<Aggregates>) -> Result<(), Lost> {
        let key = self.layout().hint(hint, BUCKETS);
        let puts = Puts::from([(key.clone(), Some(self.layout().encode_hint(hint)))]);
        // Whether it was there or not, it is there then.
        lost(self.store.change(&key, None, puts).map(drop))
    }

    async fn drop_hint(&self, hint: &Hint<Aggregates>) -> Result<(), Lost> {
        let key = self.layout().hint(hint, BUCKETS);
        let puts = Puts::from([(key.clone(), None)]);
        lost(self.store.change(&key, Some(&self.layout().encode_hint(hint)), puts).map(drop))
    }

    async fn hints(&self, bucket: u16) -> Result<Vec<Hint<Aggregates>>, Lost> {
        lost(self.scan(&self.layout().hints(bucket), |_, value| self.layout().decode_hint(value)))
    }

    fn buckets(&self) -> u16 {
        BUCKETS
    }
}
