//! A copy against the masters: every entry that follows from them is there, and nothing else.

use super::super::fill::root_of;
use super::super::masters::{blocks, start};
use super::{AGGREGATES, Fault, Verifier, text};
use crate::codec::block_prefix;
use crate::keyspace::encode::{row_key, row_value};
use crate::store::{Direction, Snapshot};
use crate::{Keyspace, KeyspaceRecords, Puts};
use askloom_engine::write::entries_of;
use askloom_engine::{Reader, Rows, RunError, Stop};
use askloom_model::CollectionId;
use askloom_plan::ordered_bytes::prefix_end;
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// Keys that are looked at together.
const KEYS: usize = 4096;

/// How many keys are held in memory at once to tell those that belong from those that do not.
const HELD: u64 = 1 << 22;

impl Verifier<'_, '_> {
    pub(super) fn copy(&mut self, id: CollectionId) -> Result<(), RunError> {
        let snapshot = self.snapshot();
        let expected = self.forwards(&snapshot, id)?;
        if self.database.schema().design.stored_in(id) != id {
            // What a block carries and should not has been found with the block.
            self.verified.entries += expected.present;
            return Ok(());
        }
        let prefix = block_prefix(self.database.schema().number(id), &[]);
        // What was missing has been put meanwhile, if it was to be.
        let snapshot = self.snapshot();
        let mut stored = 0_u64;
        for entry in snapshot.prefix(&prefix, Direction::Ascending)? {
            entry?;
            stored += 1;
        }
        self.verified.entries += stored;
        if stored > expected.present {
            self.extras(&snapshot, id, expected.all)?;
        }
        Ok(())
    }

    /// Every entry that should be there.
    fn forwards(&mut self, snapshot: &Snapshot, id: CollectionId) -> Result<Expected, RunError> {
        let name = self.database.schema().design.collections[id].name.clone();
        let mut expected = Expected::default();
        self.each_group(snapshot, id, |verifier, entries| {
            let mut puts = Puts::new();
            for (key, value) in entries {
                expected.all += 1;
                let stored = Keyspace::get(snapshot, &key)?;
                let fault = match &stored {
                    Some(stored) if *stored == value => None,
                    Some(_) => Some(Fault::Wrong),
                    None => Some(Fault::Missing),
                };
                expected.present += u64::from(stored.is_some() || verifier.repairs);
                if let Some(fault) = fault {
                    let place = text::entry(verifier.database.schema(), id, &key);
                    verifier.found(fault, &name, place);
                    puts.insert(key, Some(value));
                }
            }
            verifier.mend(puts)
        })?;
        Ok(expected)
    }

    /// The entries that follow from the masters, those of some aggregates at a time.
    fn each_group(
        &mut self,
        snapshot: &Snapshot,
        id: CollectionId,
        mut look: impl FnMut(&mut Self, BTreeMap<Vec<u8>, Vec<u8>>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let schema = self.database.schema();
        let (root, master) = root_of(schema, id)?;
        let mut from = Some(start(schema, master, None));
        while let Some(key) = from {
            let some = blocks(snapshot, schema, master, &key, AGGREGATES)?;
            let records = KeyspaceRecords { schema, keyspace: snapshot };
            let reader = Reader::new(&records);
            let mut entries = Rows::new();
            for identity in some.identities {
                match entries_of(&reader, id, &(root, identity), &mut entries) {
                    // What cannot be read has been told with its master, and has no rows.
                    Ok(()) | Err(Stop::Failed(RunError::Corrupted(_))) => {}
                    Err(other) => return Err(other.into()),
                }
            }
            let entries = entries.iter();
            let entries =
                entries.map(|(key, content)| (row_key(schema, id, key), row_value(schema, content)));
            look(self, entries.collect())?;
            from = some.next;
        }
        Ok(())
    }

    /// The entries that follow from nothing. The keys that belong are held by their hashes, some at a time: a hash that
    /// meets another by chance, once in thousands of such runs, would hide an entry from this run alone.
    fn extras(&mut self, snapshot: &Snapshot, id: CollectionId, expected: u64) -> Result<(), RunError> {
        let schema = self.database.schema();
        let name = schema.design.collections[id].name.clone();
        let prefix = block_prefix(schema.number(id), &[]);
        let end = prefix_end(&prefix);
        let state = RandomState::new();
        let rounds = expected / HELD + 1;
        for round in 0..rounds {
            let mine = |hash: u64| hash % rounds == round;
            let mut belong: HashSet<u64> = HashSet::new();
            self.each_group(snapshot, id, |_, entries| {
                belong.extend(
                    entries.keys().map(|key| state.hash_one(key.as_slice())).filter(|&hash| mine(hash)),
                );
                Ok(())
            })?;
            let mut from = prefix.clone();
            loop {
                let keys = keys(snapshot, &from, end.as_deref())?;
                let Some(last) = keys.last() else { break };
                from.clone_from(last);
                from.push(0);
                let mut puts = Puts::new();
                for key in keys {
                    let hash = state.hash_one(key.as_slice());
                    if mine(hash) && !belong.contains(&hash) {
                        self.found(Fault::Extra, &name, text::entry(schema, id, &key));
                        puts.insert(key, None);
                    }
                }
                self.mend(puts)?;
            }
        }
        Ok(())
    }
}

/// How many entries follow from the masters, and how many of them are there.
#[derive(Debug, Default)]
struct Expected {
    all: u64,
    present: u64,
}

/// The next keys of a range.
pub(super) fn keys(snapshot: &Snapshot, from: &[u8], to: Option<&[u8]>) -> Result<Vec<Vec<u8>>, RunError> {
    let mut keys = Vec::new();
    snapshot.scan(from, to, false, &mut |key, _| {
        keys.push(key.to_vec());
        Ok(keys.len() < KEYS)
    })?;
    Ok(keys)
}
