//! Entries of the keyspace as records of a store's tables, and back: what is between the executor, which reads an
//! ordered keyspace, and stores that have columns.

use crate::block::{decode_aggregate, encode_aggregate, no_master};
use crate::codec::{BlockEntry, block_prefix, decode_entry, encode_entry};
use crate::keyspace::encode::{row_key, row_value};
use crate::keyspace::{decoded, values};
use crate::{KeyedSchema, Memory};
use askloom_engine::expiry::expires_at;
use askloom_engine::{RecordKey, RowContent, RunError, System};
use askloom_model::{AccessPath, CollectionId, Conceptual, Contents, Identity, Value, ValueError};
use askloom_plan::layout::{Block, Layout};
use askloom_plan::program::Expires;
use askloom_target::generate::Sample;
use std::collections::BTreeMap;

/// Every record of a keyspace, collection by collection.
pub fn from_keyspace(
    schema: &KeyedSchema,
    layout: &Layout,
    keyspace: &Memory,
) -> Result<Vec<Sample>, RunError> {
    let mut records = Vec::new();
    for (id, collection) in schema.design.collections.iter() {
        let prefix = block_prefix(schema.number(id), &[]);
        let entries = keyspace.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
        match &collection.contents {
            Contents::Aggregate(_) => blocks(schema, layout, id, entries, &mut records)?,
            Contents::Fields(_) | Contents::Nested(_) => {
                for (key, value) in entries {
                    records.push(row(schema, layout, id, key, value)?);
                }
            }
        }
    }
    Ok(records)
}

/// What is in a block: the system's part, entries, and what it carries.
#[derive(Default)]
struct Found {
    system: Vec<u8>,
    pieces: BTreeMap<AccessPath, Value>,
    carried: Vec<Value>,
}

fn blocks<'k>(
    schema: &KeyedSchema,
    layout: &Layout,
    id: CollectionId,
    entries: impl Iterator<Item = (&'k Vec<u8>, &'k Vec<u8>)>,
    records: &mut Vec<Sample>,
) -> Result<(), RunError> {
    let conceptual = &schema.model.conceptual;
    let mut found: BTreeMap<Identity, Found> = BTreeMap::new();
    for (key, value) in entries {
        let (identity, entry) = schema.master_key(id).split(key)?;
        let found = found.entry(identity).or_default();
        match BlockEntry::decode(entry)? {
            BlockEntry::System => found.system.clone_from(value),
            BlockEntry::Aggregate(path) => {
                found.pieces.insert(path, decode_entry(conceptual, schema, &mut value.as_slice())?);
            }
            BlockEntry::Carried => found.carried = values(value)?,
        }
    }
    let root = schema.design.collections[id].source.root;
    for (identity, Found { system, pieces, carried }) in found {
        let System { version, created, .. } = System::decode(&system)?;
        let mut block = Block::new(identity, version, system, &layout.conceptual, root, pieces);
        block.carried = carried;
        block.expires = expires(conceptual, &block, created);
        records.push(Sample::Block { table: id, block: Box::new(block) });
    }
    Ok(())
}

/// When an aggregate that is there expires.
fn expires(conceptual: &Conceptual, block: &Block, created: i64) -> Option<Expires> {
    let root = block.fields.root.as_ref()?;
    let ttl = conceptual.ttl(root.class)?;
    let counted = ttl.from.is_none().then_some(ttl.ms);
    Some(Expires::at_ms(expires_at(conceptual, root, created)?, counted))
}

fn row(
    schema: &KeyedSchema,
    layout: &Layout,
    id: CollectionId,
    key: &[u8],
    value: &[u8],
) -> Result<Sample, RunError> {
    let collection = &schema.design.collections[id];
    let entry = decoded(schema, collection, key, value)?;
    let table = layout.table(id).ok_or_else(|| no_master(schema, collection.source.root))?;
    Ok(Sample::Row { table: id, cells: table.cells(collection, &entry) })
}

/// Puts a record into a keyspace, as the executor reads it.
pub fn into_keyspace(
    schema: &KeyedSchema,
    layout: &Layout,
    record: &Sample,
    keyspace: &mut Memory,
) -> Result<(), RunError> {
    match record {
        Sample::Block { table, block } => put_block(schema, *table, block, keyspace),
        Sample::Row { table: id, cells } => {
            let collection = &schema.design.collections[*id];
            let table = layout.table(*id).ok_or_else(|| no_master(schema, collection.source.root))?;
            let entry = table.entry(collection, cells).map_err(wrong)?;
            let (key, content) = RecordKey::split(collection, entry);
            keyspace.insert(row_key(schema, *id, &key), row_value(schema, &content));
            Ok(())
        }
    }
}

fn wrong(error: ValueError) -> RunError {
    RunError::Corrupted(error.0)
}

fn put_block(
    schema: &KeyedSchema,
    id: CollectionId,
    block: &Block,
    keyspace: &mut Memory,
) -> Result<(), RunError> {
    let conceptual = &schema.model.conceptual;
    let (keys, root) = (schema.master_key(id), schema.design.collections[id].source.root);
    keyspace.insert(keys.system(&block.identity), block.system.clone());
    if block.fields.root.is_none() && block.entries.is_empty() {
        return Ok(());
    }
    let mut entries = BTreeMap::new();
    for (path, value) in block.pieces() {
        let mut bytes = Vec::new();
        encode_entry(conceptual, &value, &mut bytes);
        entries.insert(path, bytes);
    }
    let aggregate = decode_aggregate(schema, root, entries)?;
    for (path, bytes) in encode_aggregate(schema, root, &aggregate)? {
        keyspace.insert(keys.entry(&block.identity, &path), bytes);
    }
    if !block.carried.is_empty() {
        let content = RowContent { values: block.carried.clone(), whole: None };
        keyspace.insert(keys.carried(&block.identity), row_value(schema, &content));
    }
    Ok(())
}
