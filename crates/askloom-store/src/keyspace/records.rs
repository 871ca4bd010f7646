//! Reads of programs on a keyspace of bytes: which keys they mean, and the records under them.

use super::{Block, Keyspace};
use crate::block::{BlockContents, decode_aggregate, no_master};
use crate::execute::decode_node;
use crate::source::{Ask, Cursor, EntryAt, From, Page, Records, Source};
use crate::{RunError, Schema, Stop, Stored, System};
use askloom_model::{
    ClassId, Collection, CollectionId, Contents, Id, Identity, KeyField, Nodes, PositionId, Value, fault,
};
use askloom_plan::layout::{Entry, Field, Holds, Shape, Table};
use askloom_plan::ordered_bytes::{DecodeError, decode, encode, encode_descending, prefix_end};
use askloom_plan::program::{Bounds, How, Range, Read, Term};
use askloom_target::embedded::{MasterKey, block_prefix, entry_key, split_entry};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A keyspace as a source of records.
#[derive(Clone, Copy)]
pub struct KeyspaceRecords<'k> {
    pub schema: &'k Schema,
    pub keyspace: &'k dyn Keyspace,
}

impl std::fmt::Debug for KeyspaceRecords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyspaceRecords").finish_non_exhaustive()
    }
}

/// The first key and the one after the last; none if there is no end.
struct KeyBounds {
    from: Vec<u8>,
    to: Option<Vec<u8>>,
    backwards: bool,
}

impl KeyBounds {
    fn below(prefix: Vec<u8>) -> Self {
        Self { to: prefix_end(&prefix), from: prefix, backwards: false }
    }

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
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        Ok(stored(self.schema, root, self.contents(root, id)?)?)
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        let collection = &self.schema.design.collections[ask.read.table];
        let table = self.table(ask.read);
        let number = self.schema.number(ask.read.table);
        match &table.shape {
            Shape::Master { block, sort, .. } => {
                Ok(self.aggregates(ask, &RecordKeys { number, collection, table, block, sort })?)
            }
            Shape::Rows(parts) | Shape::Nodes(parts) => {
                let (block, sort) = (&parts.block, &parts.sort);
                Ok(self.entries(ask, &RecordKeys { number, collection, table, block, sort })?)
            }
        }
    }

    /// Looks for the first key behind each partition that it has found, so that it reads one key of each.
    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        let all = KeyBounds::below(block_prefix(self.schema.number(master), &[]));
        let start = all.from.len();
        let mut from = Some(all.from);
        let mut found = BTreeSet::new();
        while let Some(next) = from.take() {
            self.keyspace.scan(&next, all.to.as_deref(), false, &mut |key, _| {
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
        let place = |node: PositionId| Value::Int(i64::try_from(node.index()).unwrap_or(i64::MAX));
        let fields: Vec<(Value, bool)> = at.node.map(|node| (place(node), false)).into_iter().collect();
        let key = entry_key(self.schema.number(at.collection), at.block, &fields, at.row);
        let whole = at.node.is_some() || at.row.len() == collection.source.positions.len();
        if whole {
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
    fn table(&self, read: &Read) -> &Table {
        self.schema.table(read.table)
    }

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

    /// The system entry of a block, also of one that was deleted.
    pub(crate) fn system(&self, root: ClassId, id: &Identity) -> Result<Option<System>, RunError> {
        let key = self.master_key(root)?.system(id);
        self.keyspace.get(&key)?.map(|entry| System::decode(&entry)).transpose()
    }

    fn aggregates(&self, ask: &Ask<'_>, keys: &RecordKeys<'_>) -> Result<Page, RunError> {
        let root = keys.collection.source.root;
        match &ask.read.how {
            How::Block(terms) | How::Record(terms) => {
                let id = keys.table.identity(terms).ok_or_else(|| open_slot(keys.collection))?;
                let found = stored(self.schema, root, self.contents(root, &id)?)?;
                let found = found.into_iter().map(|stored| (id.clone(), stored)).collect();
                Ok(Page { records: Records::Aggregates(found), next: None })
            }
            How::All | How::Range(_) => self.scan_aggregates(ask, keys),
        }
    }

    /// The aggregates of a part of a master, in the order of its key or against it.
    fn scan_aggregates(&self, ask: &Ask<'_>, keys: &RecordKeys<'_>) -> Result<Page, RunError> {
        let root = keys.collection.source.root;
        let mut bounds = keys.bounds(&ask.read.how)?;
        self.start_block(ask, keys, &mut bounds)?;
        let mut found = Vec::new();
        let mut open: Option<OpenBlock> = None;
        let mut next = None;
        self.keyspace.scan(&bounds.from, bounds.to.as_deref(), bounds.backwards, &mut |key, value| {
            if open.as_ref().is_none_or(|open| !key.starts_with(&open.prefix)) {
                if let Some(block) = open.take() {
                    let prefix = block.prefix.clone();
                    found.extend(block.close(self.schema, root)?);
                    if found.len() >= ask.at_most {
                        next = Some(Cursor(prefix));
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
        Ok(Page { records: Records::Aggregates(found), next })
    }

    /// Applies where a page of aggregates starts. A row that is not in the range leaves it as it is.
    fn start_block(
        &self,
        ask: &Ask<'_>,
        keys: &RecordKeys<'_>,
        bounds: &mut KeyBounds,
    ) -> Result<(), RunError> {
        match (ask.from, &ask.read.how) {
            (From::Start, _) => {}
            (From::Cursor(Cursor(last)), _) => bounds.start_behind_block(last),
            (From::Row { row: [Value::Reference(identity)], .. }, How::Range(range)) => {
                let block = self.schema.master_key(ask.read.table).block(identity);
                if block.starts_with(&keys.prefix(range)?.0) {
                    bounds.start_at(block);
                }
            }
            (From::Row { .. }, _) => {}
        }
        Ok(())
    }

    fn entries(&self, ask: &Ask<'_>, keys: &RecordKeys<'_>) -> Result<Page, RunError> {
        let mut bounds = keys.bounds(&ask.read.how)?;
        keys.start(ask, &mut bounds)?;
        let mut found = Vec::new();
        let mut last: Option<Vec<u8>> = None;
        self.keyspace.scan(&bounds.from, bounds.to.as_deref(), bounds.backwards, &mut |key, value| {
            found.push(decoded(self.schema, keys.collection, key, value)?);
            if found.len() >= ask.at_most {
                last = Some(key.to_vec());
            }
            Ok(found.len() < ask.at_most)
        })?;
        Ok(Page { records: Records::Entries(found), next: last.map(Cursor) })
    }
}

/// The entry of a copy under a key.
pub(crate) fn decoded(
    schema: &Schema,
    collection: &Collection,
    key: &[u8],
    value: &[u8],
) -> Result<Entry, RunError> {
    match &collection.contents {
        Contents::Nested(nodes) => node(schema, collection, nodes, key, value),
        Contents::Aggregate(_) | Contents::Fields(_) => row(collection, key, value),
    }
}

/// Takes a node apart: the block, the position, the identities from the root to the node; then the values.
fn node(
    schema: &Schema,
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

/// Takes an entry of rows apart.
fn row(collection: &Collection, key: &[u8], value: &[u8]) -> Result<Entry, RunError> {
    let positions = collection.source.positions.len();
    let parts = split_entry(key, collection.block_key.len(), &collection.entry_key, positions)?;
    let mut values = Vec::with_capacity(collection.fields().len());
    let mut rest = value;
    while !rest.is_empty() {
        values.push(decode(&mut rest)?);
    }
    Ok(Entry::Row { block: parts.block, sort: parts.fields, row: parts.row, values })
}

/// A block that a scan over many is in.
struct OpenBlock {
    identity: Identity,
    prefix: Vec<u8>,
    contents: BlockContents,
}

impl OpenBlock {
    fn new(schema: &Schema, master: CollectionId, key: &[u8]) -> Result<Self, RunError> {
        let (identity, entry) = schema.master_key(master).split(key)?;
        let prefix = key.get(..key.len() - entry.len()).unwrap_or_default().to_vec();
        Ok(Self { identity, prefix, contents: BlockContents::default() })
    }

    fn close(self, schema: &Schema, root: ClassId) -> Result<Option<(Identity, Arc<Stored>)>, RunError> {
        Ok(stored(schema, root, self.contents)?.map(|stored| (self.identity, stored)))
    }
}

/// The aggregate in a block. `None` if only the system entry of a deleted one is left.
fn stored(schema: &Schema, root: ClassId, block: BlockContents) -> Result<Option<Arc<Stored>>, RunError> {
    let Some(system) = block.system else { return Ok(None) };
    let system = System::decode(&system)?;
    if system.deleted.is_some() {
        return Ok(None);
    }
    let record = decode_aggregate(schema, root, block.entries)?;
    Ok(Some(Arc::new(Stored { record, system })))
}

fn open_slot(collection: &Collection) -> RunError {
    RunError::Corrupted(format!("a read of {} has a slot without a value", collection.name))
}

/// The keys of a collection's records.
struct RecordKeys<'r> {
    number: u32,
    collection: &'r Collection,
    table: &'r Table,
    /// The columns of each field of the block key.
    block: &'r [Field],
    /// The columns of each field that sorts.
    sort: &'r [Field],
}

impl RecordKeys<'_> {
    fn bounds(&self, how: &How) -> Result<KeyBounds, RunError> {
        match how {
            How::All => Ok(KeyBounds::below(block_prefix(self.number, &[]))),
            How::Block(terms) => {
                Ok(KeyBounds::below(block_prefix(self.number, &self.fields(self.block, terms)?)))
            }
            How::Record(_) => Err(RunError::Corrupted(format!(
                "a record of {} is asked for by its columns, and not by the identities that are its key",
                self.collection.name
            ))),
            How::Range(range) => self.range(range),
        }
    }

    /// Applies where the page starts.
    fn start(&self, ask: &Ask<'_>, bounds: &mut KeyBounds) -> Result<(), RunError> {
        match (ask.from, &ask.read.how) {
            (From::Start, _) => {}
            (From::Cursor(Cursor(last)), _) => bounds.start_behind(last),
            (From::Row { sort, row }, How::Range(range)) => {
                let (mut key, equal) = self.prefix(range)?;
                for (value, field) in sort.iter().zip(self.collection.entry_key.iter().skip(equal)) {
                    append(value, field.descending, &mut key);
                }
                row.iter().for_each(|part| encode(part, &mut key));
                bounds.start_at(key);
            }
            (From::Row { .. }, How::All | How::Block(_) | How::Record(_)) => {}
        }
        Ok(())
    }

    /// The value of a field from the terms of its columns.
    fn field(&self, field: &Field, terms: &[Term]) -> Result<Value, RunError> {
        let mut values = Vec::with_capacity(field.columns.len());
        for &column in &field.columns {
            let term = terms.iter().find(|term| term.column == Some(column));
            let value =
                term.and_then(|term| term.value.as_ref()).ok_or_else(|| open_slot(self.collection))?;
            let holds = self.table.columns.get(column).map(|column| &column.holds);
            values.push(match (holds, value) {
                (Some(Holds::Locator), Value::Blob(bytes)) => decode(&mut bytes.as_slice())?,
                (_, value) => value.clone(),
            });
        }
        if !field.identity {
            return values.pop().ok_or_else(|| open_slot(self.collection));
        }
        let missing = values.iter().any(Value::is_null);
        Ok(if missing { Value::Null } else { Value::Reference(values) })
    }

    fn fields(&self, fields: &[Field], terms: &[Term]) -> Result<Vec<Value>, RunError> {
        fields.iter().map(|field| self.field(field, terms)).collect()
    }

    /// The bytes that all keys of a range start with, and how many of the columns that sort are in them.
    fn prefix(&self, range: &Range) -> Result<(Vec<u8>, usize), RunError> {
        let terms: Vec<Term> = range.block.iter().chain(&range.equal).cloned().collect();
        let mut prefix = block_prefix(self.number, &self.fields(self.block, &terms)?);
        let equal = self.table.sort_fields(&range.equal);
        for (field, key) in self.sort.iter().zip(&self.collection.entry_key).take(equal) {
            append(&self.field(field, &terms)?, key.descending, &mut prefix);
        }
        Ok((prefix, equal))
    }

    fn range(&self, range: &Range) -> Result<KeyBounds, RunError> {
        let (prefix, equal) = self.prefix(range)?;
        let mut bounds = match &range.bounds {
            None => KeyBounds::below(prefix),
            Some(bounds) => {
                let field = self.collection.entry_key.get(equal);
                self.narrowed(&prefix, bounds, field, self.sort.get(equal))?
            }
        };
        bounds.backwards = range.backwards;
        Ok(bounds)
    }

    /// A range of one field below a prefix. Null is in no range: a comparison with it is never true.
    fn narrowed(
        &self,
        prefix: &[u8],
        bounds: &Bounds,
        field: Option<&KeyField>,
        columns: Option<&Field>,
    ) -> Result<KeyBounds, RunError> {
        let descending = field.is_some_and(|field| field.descending);
        let identity = columns.is_some_and(|columns| columns.identity);
        if let Some(Value::Text(text)) = bounds.prefix.as_ref().and_then(|term| term.value.as_ref()) {
            let (from, to) = text_range(prefix, text, descending);
            return Ok(KeyBounds { from, to, backwards: false });
        }
        // The keys of all values but null.
        let null = key(prefix, &Value::Null, descending);
        let (mut from, mut to) = if descending {
            (prefix.to_vec(), Some(null))
        } else {
            let from =
                if fault!(NullInRange) { prefix.to_vec() } else { prefix_end(&null).unwrap_or_default() };
            (from, prefix_end(prefix))
        };
        for (side, low) in [(&bounds.low, true), (&bounds.high, false)] {
            let Some((term, inclusive)) = side else { continue };
            let value = term.value.clone().ok_or_else(|| open_slot(self.collection))?;
            let value = if identity { Value::Reference(vec![value]) } else { value };
            let key = key(prefix, &value, descending);
            // The end of the keys' range that this side is; a descending field turns them round.
            match (low != descending, inclusive) {
                (true, true) => from = key,
                (true, false) if fault!(BoundIncluded) => from = key,
                (true, false) => from = prefix_end(&key).unwrap_or_default(),
                (false, true) => to = prefix_end(&key),
                (false, false) => to = Some(key),
            }
        }
        Ok(KeyBounds { from, to, backwards: false })
    }
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
