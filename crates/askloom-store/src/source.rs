//! What the reads of a program are answered by: typed records, whatever the store's bytes are.

mod fetched;

pub use fetched::{EntryKey, Fetched, PageStart, Wanted, WantedPage};

use crate::{Schema, Stop, Stored};
use askloom_model::{ClassId, CollectionId, Identity, PositionId, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::Read;
use std::sync::Arc;

/// One state of a store's records.
pub trait Source {
    fn schema(&self) -> &Schema;

    /// The aggregate of a root class, expired or not.
    fn block(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop>;

    /// Some of the records that a read gives, in their order.
    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop>;

    /// The buckets of time that any aggregate of a master is in, oldest first: the values of one field of its key.
    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop>;

    /// An entry of a copy by the identities that are its key.
    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop>;
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

/// Where a page ended, in the store's own terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub(crate) Vec<u8>);

#[derive(Debug, Clone)]
pub struct Page {
    pub records: Records,
    /// Where the next page starts, if there may be more.
    pub next: Option<Cursor>,
}

#[derive(Debug, Clone)]
pub enum Records {
    /// Of a copy.
    Entries(Vec<Entry>),
    /// Of a master: whole aggregates.
    Aggregates(Vec<(Identity, Arc<Stored>)>),
}

/// As many records as are read at once when all are wanted.
pub const CHUNK: usize = 1_000;

/// Every record that a read gives, page by page, until `visit` says stop.
pub fn every(
    source: &dyn Source,
    read: &Read,
    mut visit: impl FnMut(Records) -> Result<bool, Stop>,
) -> Result<(), Stop> {
    let mut cursor: Option<Cursor> = None;
    loop {
        let from = cursor.as_ref().map_or(From::Start, From::Cursor);
        let Page { records, next } = source.page(&Ask { read, from, at_most: CHUNK })?;
        if !visit(records)? || next.is_none() {
            return Ok(());
        }
        cursor = next;
    }
}
