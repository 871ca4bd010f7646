//! A keyspace and a source that count what is read through them, as the `Work` of a plan counts it.

use askloom_embedded::{Block, Keyspace, KeyspaceRecords, Memory, Visit};
use askloom_engine::source::{Ask, BlockState, EntryAt, From, Page, Source};
use askloom_engine::{RunError, Stop};
use askloom_model::{ClassId, CollectionId, Identity};
use askloom_plan::layout::Entry;
use std::cell::Cell;

/// How the keys of system entries end. They say when a block was written, and no plan counts them.
const SYSTEM_END: [u8; 3] = [b'#', 0, 1];

pub(crate) fn is_system(key: &[u8]) -> bool {
    key.ends_with(&SYSTEM_END)
}

/// A keyspace that counts the entries it gives.
pub(crate) struct CountingKeyspace<'k> {
    pub(crate) of: &'k Memory,
    pub(crate) entries: Cell<u64>,
    /// Gets and scans.
    pub(crate) requests: Cell<u64>,
}

impl<'k> CountingKeyspace<'k> {
    pub(crate) fn new(of: &'k Memory) -> Self {
        Self { of, entries: Cell::new(0), requests: Cell::new(0) }
    }

    fn note(&self, key: &[u8]) {
        if !is_system(key) {
            self.entries.set(self.entries.get() + 1);
        }
    }

    fn request(&self) {
        self.requests.set(self.requests.get() + 1);
    }
}

impl Keyspace for CountingKeyspace<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        self.request();
        let found = Keyspace::get(self.of, key)?;
        if found.is_some() {
            self.note(key);
        }
        Ok(found)
    }

    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError> {
        self.request();
        self.of.scan(from, to, backwards, &mut |key, value| {
            self.note(key);
            visit(key, value)
        })
    }

    fn block(&self, block: Block<'_>, visit: &mut Visit<'_>) -> Result<(), RunError> {
        self.scan(block.from, block.to, false, visit)
    }
}

/// A source that counts requests: a block, an entry and a range are one each. The embedded store has no pages, so that
/// the next chunk of a range is the same request.
pub(crate) struct CountingSource<'s> {
    pub(crate) of: KeyspaceRecords<'s>,
    pub(crate) requests: Cell<u64>,
}

impl CountingSource<'_> {
    fn request(&self) {
        self.requests.set(self.requests.get() + 1);
    }
}

impl Source for CountingSource<'_> {
    fn schema(&self) -> &askloom_engine::Schema {
        self.of.schema()
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<BlockState, Stop> {
        self.request();
        self.of.block(root, id)
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        if !matches!(ask.from, From::Cursor(_)) {
            self.request();
        }
        self.of.page(ask)
    }

    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        self.request();
        self.of.time_buckets(master, field)
    }

    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        self.request();
        self.of.entry(at)
    }
}
