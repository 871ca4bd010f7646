//! What a write does to the records of a store, in no store's bytes.

use crate::{Aggregate, Stored, System};
use askloom_model::{Collection, CollectionId, Contents, Id, PositionId, Value};
use askloom_plan::layout::Entry;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All that one write changes. A driver applies it as a whole, or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    pub blocks: BTreeMap<Aggregate, BlockAfter>,
    /// Records of copies as they are afterwards; nothing of those that are gone.
    pub rows: BTreeMap<CollectionId, BTreeMap<RecordKey, Option<RowContent>>>,
}

/// The block of an aggregate after a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockAfter {
    Stored(Arc<Stored>),
    /// Only the system entry stays, so that versions go on from it.
    Deleted(System),
}

/// The rows that follow from some aggregates, by their keys.
pub type Rows = BTreeMap<RecordKey, RowContent>;

/// Where a record of a copy is. Keys compare as the records of their collection are ordered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    pub block: Vec<Value>,
    pub sort: Vec<SortValue>,
    /// What identifies the row: of a node, the identities from the root to it.
    pub row: Vec<Value>,
}

/// A value by which records of a block are ordered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SortValue {
    pub value: Value,
    pub descending: bool,
}

impl SortValue {
    #[must_use]
    pub fn ascending(value: Value) -> Self {
        Self { value, descending: false }
    }
}

impl Ord for SortValue {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.descending { other.value.cmp(&self.value) } else { self.value.cmp(&other.value) }
    }
}

impl PartialOrd for SortValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a record of a copy holds beside its key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowContent {
    pub values: Vec<Value>,
    /// Of a node that holds an aggregate.
    pub whole: Option<Value>,
}

impl RecordKey {
    /// The key of a node: its position comes before the identities from the root to it.
    #[must_use]
    pub fn node(block: Vec<Value>, position: PositionId, chain: Vec<Value>) -> Self {
        Self { block, sort: vec![SortValue::ascending(ordinal(position))], row: chain }
    }

    /// Takes an entry of a copy apart.
    #[must_use]
    pub fn split(collection: &Collection, entry: Entry) -> (Self, RowContent) {
        match entry {
            Entry::Row { block, sort, row, values } => {
                let fields = collection.entry_key.iter().map(|field| field.descending);
                let sort = sort.into_iter().zip(fields);
                let sort = sort.map(|(value, descending)| SortValue { value, descending }).collect();
                (Self { block, sort, row }, RowContent { values, whole: None })
            }
            Entry::Node { block, position, chain, values, whole } => {
                (Self::node(block, position, chain), RowContent { values, whole })
            }
        }
    }

    /// The entry of a copy that has this key and this content.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the key of a node was made with its position")]
    pub fn entry(&self, collection: &Collection, content: &RowContent) -> Entry {
        let RowContent { values, whole } = content.clone();
        let (block, row) = (self.block.clone(), self.row.clone());
        match &collection.contents {
            Contents::Nested(_) => {
                let position = self.position().expect("the key of a node says its position");
                Entry::Node { block, position, chain: row, values, whole }
            }
            Contents::Aggregate(_) | Contents::Fields(_) => {
                let sort = self.sort.iter().map(|sorted| sorted.value.clone()).collect();
                Entry::Row { block, sort, row, values }
            }
        }
    }

    fn position(&self) -> Option<PositionId> {
        let Some(Value::Int(position)) = self.sort.first().map(|sorted| &sorted.value) else { return None };
        usize::try_from(*position).ok().map(PositionId::from_index)
    }
}

fn ordinal(position: PositionId) -> Value {
    Value::Int(i64::try_from(position.index()).unwrap_or(i64::MAX))
}

impl Changes {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.rows.values().all(BTreeMap::is_empty)
    }

    /// Adds what a later statement changes.
    pub fn extend(&mut self, later: Self) {
        self.blocks.extend(later.blocks);
        for (collection, rows) in later.rows {
            self.rows.entry(collection).or_default().extend(rows);
        }
    }
}
