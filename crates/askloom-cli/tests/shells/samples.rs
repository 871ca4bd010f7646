//! The records of a reference as those that statements put into a store, and what was read from one as typed records.

use crate::harness::Versions;
use askloom_engine::driver::{Isolation, MemoryDriver};
use askloom_engine::source::BlockState;
use askloom_engine::{BlockAfter, Changes, RecordKey, RowContent, Schema, Stored, System};
use askloom_model::{CollectionId, Identity, Value};
use askloom_plan::layout::Entry;
use askloom_target::generate::Sample;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Everything that is in memory, collection by collection.
pub(crate) fn samples_of(schema: &Schema, memory: &MemoryDriver) -> Vec<Sample> {
    let mut all = Vec::new();
    for (_, master) in schema.masters() {
        all.extend(memory.blocks(master).iter().map(|(identity, state)| {
            let block = state.block(schema, master, identity).unwrap().unwrap();
            Sample::Block { table: master, block: Box::new(block) }
        }));
    }
    for copy in schema.copies() {
        let rows = memory.rows(copy);
        all.extend(rows.iter().map(|(key, content)| row(schema, copy, key, content)));
    }
    all.sort_by_key(table_of);
    all
}

/// A row of a copy.
pub(crate) fn row(schema: &Schema, copy: CollectionId, key: &RecordKey, content: &RowContent) -> Sample {
    let collection = &schema.design.collections[copy];
    let cells = schema.table(copy).cells(collection, &key.entry(collection, content));
    Sample::Row { table: copy, cells }
}

/// The record's collection.
pub(crate) fn table_of(record: &Sample) -> CollectionId {
    let (Sample::Row { table, .. } | Sample::Block { table, .. }) = record;
    *table
}

/// What tables hold, by their keys. Versions are apart: the first one of a new aggregate is the store's to say.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) blocks: BTreeMap<CollectionId, BTreeMap<Identity, BlockState>>,
    pub(crate) rows: BTreeMap<CollectionId, BTreeMap<RecordKey, RowContent>>,
    pub(crate) versions: Versions,
}

impl Contents {
    /// What was read from a store.
    pub(crate) fn of_samples(schema: &Schema, records: &[Sample]) -> Result<Self, String> {
        let mut contents = Self::default();
        for record in records {
            match record {
                Sample::Block { table, block } => {
                    let state = BlockState::of_block(schema, *table, block).map_err(|why| why.to_string())?;
                    contents.put_block(*table, &block.identity, &state);
                }
                Sample::Row { table, cells } => {
                    let entry = entry(schema, *table, cells)?;
                    let (key, content) = RecordKey::split(&schema.design.collections[*table], entry);
                    contents.put_row(*table, key, content);
                }
            }
        }
        Ok(contents)
    }

    /// What the reference holds.
    pub(crate) fn of_memory(schema: &Schema, memory: &MemoryDriver) -> Self {
        let mut contents = Self::default();
        for (_, master) in schema.masters() {
            for (identity, state) in memory.blocks(master) {
                contents.put_block(master, &identity, &state);
            }
        }
        for copy in schema.copies() {
            for (key, content) in memory.rows(copy) {
                contents.put_row(copy, key, content);
            }
        }
        contents
    }

    fn put_block(&mut self, master: CollectionId, identity: &Identity, state: &BlockState) {
        let mut system = state.system().expect("a block that is there has a system's part").clone();
        self.versions.insert((master, identity.clone()), std::mem::take(&mut system.version));
        let state = with_system(state, system);
        self.blocks.entry(master).or_default().insert(identity.clone(), state);
    }

    /// Of a list in a row of a copy the order counts: elements are found by their ordinals in the aggregate alone, and
    /// Cassandra has lists that know no others than their positions.
    fn put_row(&mut self, copy: CollectionId, key: RecordKey, mut content: RowContent) {
        for value in &mut content.values {
            if let Value::List(elements) = value {
                (0..).zip(elements).for_each(|(ordinal, element)| element.ordinal = ordinal);
            }
        }
        self.rows.entry(copy).or_default().insert(key, content);
    }

    /// What a table holds that another does not, or the other way round.
    pub(crate) fn difference(&self, meant: &Self, table: CollectionId) -> Option<String> {
        let blocks = different(self.blocks.get(&table), meant.blocks.get(&table));
        blocks.or_else(|| different(self.rows.get(&table), meant.rows.get(&table)))
    }
}

fn different<K: Ord + Debug, V: PartialEq + Debug>(
    held: Option<&BTreeMap<K, V>>,
    meant: Option<&BTreeMap<K, V>>,
) -> Option<String> {
    let nothing = BTreeMap::new();
    let (held, meant) = (held.unwrap_or(&nothing), meant.unwrap_or(&nothing));
    let key = held.keys().chain(meant.keys()).find(|key| held.get(key) != meant.get(key))?;
    Some(format!("{key:?} is {:?} and is to be {:?}", held.get(key), meant.get(key)))
}

/// The same aggregate with another system's part.
pub(crate) fn with_system(state: &BlockState, system: System) -> BlockState {
    match state {
        BlockState::Absent => BlockState::Absent,
        BlockState::Deleted(_) => BlockState::Deleted(system),
        BlockState::Live(stored) => {
            BlockState::Live(Arc::new(Stored { record: stored.record.clone(), system }))
        }
    }
}

/// A row of a copy, by its cells.
pub(crate) fn entry(schema: &Schema, copy: CollectionId, cells: &[Value]) -> Result<Entry, String> {
    schema.table(copy).entry(&schema.design.collections[copy], cells).map_err(|error| error.0)
}

/// A reference that holds what was read from a store.
pub(crate) fn memory_of(schema: &Schema, records: &[Sample]) -> MemoryDriver {
    let mut changes = Changes::default();
    for record in records {
        match record {
            Sample::Block { table, block } => {
                let root = schema.design.collections[*table].source.root;
                let after = match BlockState::of_block(schema, *table, block).unwrap() {
                    BlockState::Live(stored) => BlockAfter::Stored(stored),
                    BlockState::Deleted(system) => BlockAfter::Deleted(system),
                    BlockState::Absent => panic!("{block:?} was read"),
                };
                changes.blocks.insert((root, block.identity.clone()), after);
            }
            Sample::Row { table, cells } => {
                let entry = entry(schema, *table, cells).unwrap();
                let (key, content) = RecordKey::split(&schema.design.collections[*table], entry);
                changes.rows.entry(*table).or_default().insert(key, Some(content));
            }
        }
    }
    let memory = MemoryDriver::new(Isolation::Ranges);
    memory.apply(schema, &changes);
    memory
}
