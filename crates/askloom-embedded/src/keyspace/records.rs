//! Reads of programs on a keyspace of bytes: which keys they mean, and the records under them.

use super::encode::row_key;
use super::{Block, Keyspace};
use crate::KeyedSchema;
use crate::block::{BlockContents, decode_aggregate, no_master};
use crate::codec::{MasterKey, block_prefix, decode_entry, split_entry};
use askloom_engine::source::{Ask, BlockState, Cursor, EntryAt, From, Page, Records, Source};
use askloom_engine::{FieldBounds, KeyRange, RecordKey, RunError, Stop, Stored, System};
use askloom_model::{
    ClassId, Collection, CollectionId, Contents, Id, Identity, Nodes, PositionId, Role, Value, fault,
};
use askloom_plan::layout::Entry;
use askloom_plan::ordered_bytes::{DecodeError, decode, encode, encode_descending, prefix_end};
use askloom_plan::program::How;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A keyspace as a source of records.
#[derive(Clone, Copy)]
pub struct KeyspaceRecords<'k> {
    pub schema: &'k KeyedSchema,
    pub keyspace: &'k dyn Keyspace,
}

impl std::fmt::Debug for KeyspaceRecords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyspaceRecords").finish_non_exhaustive()
    }
}

/// The first key and the one after the last; none if there is no end.
struct KeyBounds {
    /// What all keys of the range start with.
    prefix: Vec<u8>,
    /// How many of the fields that sort are in it.
    equal: usize,
    from: Vec<u8>,
    to: Option<Vec<u8>>,
    backwards: bool,
}

impl KeyBounds {
    /// Leaves out what a page before has given.
    fn start_behind(&mut self, last: &[u8]) {
        if self.backwards {
            self.to = Some(last.to_vec());
        } else {
            self.from = last.to_vec();
            self.from.push(0);
        }
    }

    /// Leaves out what pages before have given of blocks, the last of which has this prefix.
    fn start_behind_block(&mut self, prefix: &[u8]) {
        if self.backwards {
            self.to = Some(prefix.to_vec());
        } else {
            self.from = prefix_end(prefix).unwrap_or_else(|| prefix.to_vec());
        }
    }

    /// Leaves out what is before a key.
    fn start_at(&mut self, key: Vec<u8>) {
        if self.backwards {
            if self.to.as_ref().is_none_or(|to| key < *to) {
                self.to = Some(key);
            }
        } else if key >= self.from {
            self.from = key;
        }
    }
}

impl Source for KeyspaceRecords<'_> {
    fn schema(&self) -> &askloom_engine::Schema {
        self.schema
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<BlockState, Stop> {
        Ok(block_state(self.schema, root, self.contents(root, id)?)?)
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        let collection = &self.schema.design.collections[ask.read.table];
        match collection.role {
            Role::Master => Ok(self.aggregates(ask, collection)?),
            Role::Copy | Role::Index | Role::Carried => Ok(self.entries(ask, collection)?),
        }
    }

    /// Looks for the first key behind each partition that it has found, so that it reads one key of each.
    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        let prefix = block_prefix(self.schema.number(master), &[]);
        let (start, end) = (prefix.len(), prefix_end(&prefix));
        let mut from = Some(prefix);
        let mut found = BTreeSet::new();
        while let Some(next) = from.take() {
            self.keyspace.scan(&next, end.as_deref(), false, &mut |key, _| {
                let mut rest = key.get(start..).ok_or(DecodeError)?;
                for _ in 0..field {
                    decode(&mut rest)?;
                }
                if let Value::Text(bucket) = decode(&mut rest)? {
                    found.insert(bucket);
                }
                from = key.get(..key.len() - rest.len()).and_then(prefix_end);
                Ok(false)
            })?;
        }
        Ok(found.into_iter().collect())
    }

    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        let collection = &self.schema.design.collections[at.collection];
        let key = row_key(self.schema, at.collection, &at.key());
        if at.is_whole(collection) {
            let value = self.keyspace.get(&key)?;
            let entry = value.map(|value| decoded(self.schema, collection, &key, &value));
            return Ok(entry.transpose()?);
        }
        let mut found = None;
        self.keyspace.scan(&key, prefix_end(&key).as_deref(), false, &mut |key, value| {
            found = Some(decoded(self.schema, collection, key, value)?);
            Ok(false)
        })?;
        Ok(found)
    }
}

impl KeyspaceRecords<'_> {
    fn master_key(&self, root: ClassId) -> Result<&MasterKey, RunError> {
        let master = self.schema.design.master(root);
        master.map(|id| self.schema.master_key(id)).ok_or_else(|| no_master(self.schema, root))
    }

    /// All that is in the block of an aggregate.
    pub(crate) fn contents(&self, root: ClassId, id: &Identity) -> Result<BlockContents, RunError> {
        let keys = self.master_key(root)?;
        let from = keys.block(id);
        let to = prefix_end(&from);
        let system = keys.system(id);
        let mut contents = BlockContents::default();
        let block = Block { from: &from, to: to.as_deref(), system: &system };
        self.keyspace.block(block, &mut |key, value| {
            contents.take(key.get(from.len()..).unwrap_or_default(), value)?;
            Ok(true)
        })?;
        Ok(contents)
    }

    fn aggregates(&self, ask: &Ask<'_>, collection: &Collection) -> Result<Page, RunError> {
        let root = collection.source.root;
        match &ask.read.how {
            How::Block(terms) | How::Record(terms) => {
                let table = self.schema.table(ask.read.table);
                let id = table.identity(terms).ok_or_else(|| open_slot(collection))?;
                let found = block_state(self.schema, root, self.contents(root, &id)?)?.live();
                let found = found.into_iter().map(|stored| (id.clone(), stored)).collect();
                Ok(Page { records: Records::Aggregates(Arc::new(found)), next: None })
            }
            How::All | How::Range(_) => self.scan_aggregates(ask, root),
        }
    }

    /// The aggregates of a part of a master, in the order of its key or against it.
    fn scan_aggregates(&self, ask: &Ask<'_>, root: ClassId) -> Result<Page, RunError> {
        let mut bounds = self.bounds(ask)?;
        self.start_block(ask, &mut bounds);
        let mut found = Vec::new();
        let mut open: Option<OpenBlock> = None;
        let mut next = None;
        self.keyspace.scan(&bounds.from, bounds.to.as_deref(), bounds.backwards, &mut |key, value| {
            if open.as_ref().is_none_or(|open| !key.starts_with(&open.prefix)) {
                if let Some(block) = open.take() {
                    let identity = block.identity.clone();
                    found.extend(block.close(self.schema, root)?);
                    if found.len() >= ask.at_most {
                        next = Some(Cursor::Aggregate(identity));
                        return Ok(false);
                    }
                }
                open = Some(OpenBlock::new(self.schema, ask.read.table, key)?);
            }
            if let Some(open) = &mut open {
                open.contents.take(key.get(open.prefix.len()..).unwrap_or_default(), value)?;
            }
            Ok(true)
        })?;
        if let Some(block) = open {
            found.extend(block.close(self.schema, root)?);
        }
        Ok(Page { records: Records::Aggregates(Arc::new(found)), next })
    }

    /// Applies where a page of aggregates starts. A row that is not in the range leaves it as it is.
    fn start_block(&self, ask: &Ask<'_>, bounds: &mut KeyBounds) {
        let keys = self.schema.master_key(ask.read.table);
        match (ask.from, &ask.read.how) {
            (From::Cursor(Cursor::Aggregate(last)), _) => bounds.start_behind_block(&keys.block(last)),
            (From::Row { row: [Value::Reference(identity)], .. }, How::Range(_)) => {
                let block = keys.block(identity);
                if block.starts_with(&bounds.prefix) {
                    bounds.start_at(block);
                }
            }
            (From::Start | From::Cursor(Cursor::Entry(_)) | From::Row { .. }, _) => {}
        }
    }

    fn entries(&self, ask: &Ask<'_>, collection: &Collection) -> Result<Page, RunError> {
        let mut bounds = self.bounds(ask)?;
        self.start(ask, collection, &mut bounds);
        let mut found = Vec::new();
        let mut last: Option<Vec<u8>> = None;
        self.keyspace.scan(&bounds.from, bounds.to.as_deref(), bounds.backwards, &mut |key, value| {
            found.push(decoded(self.schema, collection, key, value)?);
            if found.len() >= ask.at_most {
                last = Some(key.to_vec());
            }
            Ok(found.len() < ask.at_most)
        })?;
        let next = last.and_then(|_| found.last().cloned());
        let next = next.map(|entry| Cursor::Entry(RecordKey::split(collection, entry).0));
        Ok(Page { records: Records::Entries(Arc::new(found)), next })
    }

    /// Applies where a page of entries starts.
    fn start(&self, ask: &Ask<'_>, collection: &Collection, bounds: &mut KeyBounds) {
        match (ask.from, &ask.read.how) {
            (From::Cursor(Cursor::Entry(last)), _) => {
                bounds.start_behind(&row_key(self.schema, ask.read.table, last));
            }
            (From::Row { sort, row }, How::Range(_)) => {
                let mut key = bounds.prefix.clone();
                for (value, field) in sort.iter().zip(collection.entry_key.iter().skip(bounds.equal)) {
                    append(value, field.descending, &mut key);
                }
                row.iter().for_each(|part| encode(part, &mut key));
                bounds.start_at(key);
            }
            (From::Start | From::Cursor(Cursor::Aggregate(_)) | From::Row { .. }, _) => {}
        }
    }

    /// The keys of the records that a read means.
    fn bounds(&self, ask: &Ask<'_>) -> Result<KeyBounds, RunError> {
        let range = KeyRange::of(self.schema, ask.read)?;
        let mut prefix = block_prefix(self.schema.number(ask.read.table), &range.block);
        for sorted in &range.equal {
            append(&sorted.value, sorted.descending, &mut prefix);
        }
        let (from, to) = match &range.bounds {
            None => (prefix.clone(), prefix_end(&prefix)),
            Some(bounds) => narrowed(&prefix, bounds),
        };
        Ok(KeyBounds { prefix, equal: range.equal.len(), from, to, backwards: range.backwards })
    }
}

/// The entry of a copy under a key.
fn decoded(
    schema: &KeyedSchema,
    collection: &Collection,
    key: &[u8],
    value: &[u8],
) -> Result<Entry, RunError> {
    match &collection.contents {
        Contents::Nested(nodes) => node(schema, collection, nodes, key, value),
        Contents::Aggregate(_) | Contents::Fields(_) => match collection.role {
            Role::Carried => carried(schema, collection, key, value),
            Role::Master | Role::Copy | Role::Index => row(collection, key, value),
        },
    }
}

/// Takes what a block carries apart: the row is that of the aggregate.
fn carried(
    schema: &KeyedSchema,
    collection: &Collection,
    key: &[u8],
    value: &[u8],
) -> Result<Entry, RunError> {
    let (identity, _) = schema.master_key(schema.master(collection.source.root)).split(key)?;
    let itself = vec![Value::Reference(identity)];
    Ok(Entry::Row { block: itself.clone(), sort: Vec::new(), row: itself, values: values(value)? })
}

/// Takes a node apart: the block, the position, the identities from the root to the node; then the values.
fn node(
    schema: &KeyedSchema,
    collection: &Collection,
    nodes: &Nodes,
    key: &[u8],
    value: &[u8],
) -> Result<Entry, RunError> {
    let mut rest = key.get(4..).ok_or(DecodeError)?;
    let mut block = Vec::with_capacity(collection.block_key.len());
    for _ in &collection.block_key {
        block.push(decode(&mut rest)?);
    }
    let Value::Int(position) = decode(&mut rest)? else { return Err(DecodeError.into()) };
    let position = PositionId::from_index(usize::try_from(position).map_err(|_| DecodeError)?);
    let mut chain = Vec::new();
    while !rest.is_empty() {
        chain.push(decode(&mut rest)?);
    }
    let (values, whole) = decode_node(schema, nodes, position, value)?;
    Ok(Entry::Node { block, position, chain, values, whole })
}

/// What the value of a node holds: the values of the paths that start there, then the aggregate if that is held.
fn decode_node(
    schema: &KeyedSchema,
    nodes: &Nodes,
    position: PositionId,
    bytes: &[u8],
) -> Result<(Vec<Value>, Option<Value>), RunError> {
    let mut rest = bytes;
    let mut values = Vec::new();
    for _ in nodes.fields.iter().filter(|path| path.position == position) {
        values.push(decode(&mut rest)?);
    }
    if !nodes.whole.contains(&position) {
        return if rest.is_empty() { Ok((values, None)) } else { Err(DecodeError.into()) };
    }
    let whole = decode_entry(&schema.model.conceptual, schema, &mut rest)?;
    Ok((values, Some(whole)))
}

/// Takes an entry of rows apart.
fn row(collection: &Collection, key: &[u8], value: &[u8]) -> Result<Entry, RunError> {
    let positions = collection.source.positions.len();
    let parts = split_entry(key, collection.block_key.len(), &collection.entry_key, positions)?;
    Ok(Entry::Row { block: parts.block, sort: parts.fields, row: parts.row, values: values(value)? })
}

/// Values one behind the other, to the end.
pub(crate) fn values(mut bytes: &[u8]) -> Result<Vec<Value>, RunError> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        values.push(decode(&mut bytes)?);
    }
    Ok(values)
}

/// A block that a scan over many is in.
struct OpenBlock {
    identity: Identity,
    prefix: Vec<u8>,
    contents: BlockContents,
}

impl OpenBlock {
    fn new(schema: &KeyedSchema, master: CollectionId, key: &[u8]) -> Result<Self, RunError> {
        let (identity, entry) = schema.master_key(master).split(key)?;
        let prefix = key.get(..key.len() - entry.len()).unwrap_or_default().to_vec();
        Ok(Self { identity, prefix, contents: BlockContents::default() })
    }

    fn close(self, schema: &KeyedSchema, root: ClassId) -> Result<Option<(Identity, Arc<Stored>)>, RunError> {
        Ok(block_state(schema, root, self.contents)?.live().map(|stored| (self.identity, stored)))
    }
}

/// What a block holds.
fn block_state(schema: &KeyedSchema, root: ClassId, block: BlockContents) -> Result<BlockState, RunError> {
    let Some(system) = block.system else { return Ok(BlockState::Absent) };
    let system = System::decode(&system)?;
    if system.deleted.is_some() {
        return Ok(BlockState::Deleted(system));
    }
    let record = decode_aggregate(schema, root, block.entries)?;
    Ok(BlockState::Live(Arc::new(Stored { record, system })))
}

fn open_slot(collection: &Collection) -> RunError {
    RunError::Corrupted(format!("a read of {} has a slot without a value", collection.name))
}

/// A range of one field below a prefix. Null is in no range: a comparison with it is never true.
fn narrowed(prefix: &[u8], bounds: &FieldBounds) -> (Vec<u8>, Option<Vec<u8>>) {
    let descending = bounds.descending;
    if let Some(text) = &bounds.prefix {
        return text_range(prefix, text, descending);
    }
    // The keys of all values but null.
    let null = key(prefix, &Value::Null, descending);
    let (mut from, mut to) = if descending {
        (prefix.to_vec(), Some(null))
    } else {
        let from = if fault!(NullInRange) { prefix.to_vec() } else { prefix_end(&null).unwrap_or_default() };
        (from, prefix_end(prefix))
    };
    for (side, low) in [(&bounds.low, true), (&bounds.high, false)] {
        let Some((value, inclusive)) = side else { continue };
        let key = key(prefix, value, descending);
        // The end of the keys' range that this side is; a descending field turns them round.
        match (low != descending, inclusive) {
            (true, true) => from = key,
            (true, false) if fault!(BoundIncluded) => from = key,
            (true, false) => from = prefix_end(&key).unwrap_or_default(),
            (false, true) => to = prefix_end(&key),
            (false, false) => to = Some(key),
        }
    }
    (from, to)
}

fn append(value: &Value, descending: bool, out: &mut Vec<u8>) {
    if descending {
        encode_descending(value, out);
    } else {
        encode(value, out);
    }
}

fn key(prefix: &[u8], value: &Value, descending: bool) -> Vec<u8> {
    let mut key = prefix.to_vec();
    append(value, descending, &mut key);
    key
}

/// The keys of the texts that start with a text: those between it and what follows it, its end mark left off.
fn text_range(prefix: &[u8], text: &str, descending: bool) -> (Vec<u8>, Option<Vec<u8>>) {
    const END_MARK: usize = 2;
    let mut from = key(prefix, &Value::Text(text.to_owned()), descending);
    from.truncate(from.len().saturating_sub(END_MARK));
    let to = prefix_end(&from);
    (from, to)
}
