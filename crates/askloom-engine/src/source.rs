//! What the reads of a program are answered by: typed records, whatever the store's bytes are.

mod block;
mod fetched;
mod once;
mod overlaid;

pub use block::carried_by;
pub use fetched::{EntryKey, Fetched, Given, PageStart, Wanted, WantedPage, answer};
pub use once::Once;
pub use overlaid::Overlaid;

use crate::{RecordKey, Schema, Stop, Stored, System};
use askloom_model::{ClassId, Collection, CollectionId, Identity, PositionId, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::Read;
use std::sync::Arc;

/// One state of a store's records.
pub trait Source {
    fn schema(&self) -> &Schema;

    /// The block of an aggregate of a root class, expired or not.
    fn block(&self, root: ClassId, id: &Identity) -> Result<BlockState, Stop>;

    /// Some of the records that a read gives, in their order.
    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop>;

    /// The buckets of time that any aggregate of a master is in, oldest first: the values of one field of its key.
    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop>;

    /// An entry of a copy by the identities that are its key.
    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop>;
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockState {
    Absent,
    /// The aggregate is gone, and its versions go on from here.
    Deleted(System),
    Live(Arc<Stored>),
}

impl BlockState {
    /// The aggregate, unless it is gone.
    #[must_use]
    pub fn live(self) -> Option<Arc<Stored>> {
        match self {
            Self::Live(stored) => Some(stored),
            Self::Absent | Self::Deleted(_) => None,
        }
    }

    /// What every write of the block is conditional on, also of one that was deleted.
    #[must_use]
    pub fn system(&self) -> Option<&System> {
        match self {
            Self::Live(stored) => Some(&stored.system),
            Self::Deleted(system) => Some(system),
            Self::Absent => None,
        }
    }
}

/// Where an entry is whose key is made of the identities of its row.
#[derive(Debug, Clone, Copy)]
pub struct EntryAt<'e> {
    pub collection: CollectionId,
    pub block: &'e [Value],
    /// Of a nested copy: the position of the node.
    pub node: Option<PositionId>,
    /// The identities of the row, or of those from the root to the node. Those that are left out at its end have no choice.
    pub row: &'e [Value],
}

impl EntryAt<'_> {
    /// The key of the entry, as far as it is known.
    pub fn key(&self) -> RecordKey {
        let (block, row) = (self.block.to_vec(), self.row.to_vec());
        match self.node {
            Some(node) => RecordKey::node(block, node, row),
            None => RecordKey { block, sort: Vec::new(), row },
        }
    }

    /// Whether the key is known as a whole.
    pub fn is_whole(&self, collection: &Collection) -> bool {
        self.node.is_some() || self.row.len() == collection.source.positions.len()
    }
}

/// A read whose slots are filled, and how much of its answer is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub read: &'a Read,
    pub from: From<'a>,
    /// No more records than these are wanted now.
    pub at_most: usize,
}

/// Where a page starts.
#[derive(Debug, Clone, Copy)]
pub enum From<'f> {
    Start,
    /// Behind the page that gave the cursor.
    Cursor(&'f Cursor),
    /// Not before the record of these: what the columns that sort, behind the equal ones, hold, then what identifies the
    /// row. Of a master it is the identity alone.
    Row {
        sort: &'f [Value],
        row: &'f [Value],
    },
}

/// Where a page ended: the last record that was given, or that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cursor {
    Entry(RecordKey),
    Aggregate(Identity),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub records: Records,
    /// Where the next page starts, if there may be more.
    pub next: Option<Cursor>,
}

/// Shared, as whoever fetched a page keeps it until it is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub enum Records {
    /// Of a copy.
    Entries(Arc<Vec<Entry>>),
    /// Of a master: whole aggregates.
    Aggregates(Arc<Vec<(Identity, Arc<Stored>)>>),
}

/// As many records as are read at once when all are wanted.
pub const CHUNK: usize = 1_000;

/// Every record that a read gives, page by page, until `visit` says stop.
pub fn every(
    source: &dyn Source,
    read: &Read,
    visit: impl FnMut(Records) -> Result<bool, Stop>,
) -> Result<(), Stop> {
    every_from(source, read, CHUNK, visit)
}

/// The same, with a first page of so many records: where `visit` is likely to stop soon.
pub fn every_from(
    source: &dyn Source,
    read: &Read,
    first: usize,
    mut visit: impl FnMut(Records) -> Result<bool, Stop>,
) -> Result<(), Stop> {
    let mut cursor: Option<Cursor> = None;
    let mut at_most = first;
    loop {
        let from = cursor.as_ref().map_or(From::Start, From::Cursor);
        let Page { records, next } = source.page(&Ask { read, from, at_most })?;
        if !visit(records)? || next.is_none() {
            return Ok(());
        }
        cursor = next;
        at_most = CHUNK;
    }
}
