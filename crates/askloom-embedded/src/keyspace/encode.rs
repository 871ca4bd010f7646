//! Changes of records as changes of keys.

use super::{KeyspaceRecords, Puts};
use crate::KeyedSchema;
use crate::block::{Entries, encode_aggregate, no_master};
use crate::codec::{encode_entry, entry_key};
use askloom_engine::{BlockAfter, Changes, RecordKey, RowContent, RunError};
use askloom_model::{CollectionId, Value};
use askloom_plan::ordered_bytes::encode;
use askloom_plan::partition;

/// The keys to put and to delete, given the state that the changes were worked out on.
pub(crate) fn puts(before: &KeyspaceRecords<'_>, changes: &Changes) -> Result<Puts, RunError> {
    let schema = before.schema;
    let mut puts = Puts::new();
    for ((root, identity), after) in &changes.blocks {
        let (system, entries) = match after {
            BlockAfter::Stored(stored) => (&stored.system, encode_aggregate(schema, *root, &stored.record)?),
            BlockAfter::Deleted(system) => (system, Entries::new()),
        };
        let master = schema.design.master(*root).ok_or_else(|| no_master(schema, *root))?;
        let keys = schema.master_key(master);
        let stored = before.contents(*root, identity)?.entries;
        puts.insert(keys.system(identity), Some(system.encode()));
        for (path, entry) in partition::diff(&stored, &entries) {
            puts.insert(keys.entry(identity, &path), entry);
        }
    }
    for (&collection, rows) in &changes.rows {
        for (key, content) in rows {
            let value = content.as_ref().map(|content| row_value(schema, content));
            puts.insert(row_key(schema, collection, key), value);
        }
    }
    Ok(puts)
}

/// The key of a record of a copy. What a master carries is in the block of the aggregate.
pub(crate) fn row_key(schema: &KeyedSchema, collection: CollectionId, key: &RecordKey) -> Vec<u8> {
    let master = schema.design.stored_in(collection);
    if let (true, [Value::Reference(identity)]) = (master != collection, key.block.as_slice()) {
        return schema.master_key(master).carried(identity);
    }
    let sort = key.sort.iter().map(|sorted| (&sorted.value, sorted.descending));
    entry_key(schema.number(collection), &key.block, sort, &key.row)
}

/// What is stored under the key of a record of a copy.
pub(crate) fn row_value(schema: &KeyedSchema, content: &RowContent) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in &content.values {
        encode(value, &mut bytes);
    }
    if let Some(whole) = &content.whole {
        encode_entry(&schema.model.conceptual, whole, &mut bytes);
    }
    bytes
}
