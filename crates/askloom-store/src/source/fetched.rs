//! What has been fetched of a store that is not here: it answers what it has, and takes note of what it lacks.

use super::{Ask, Cursor, EntryAt, From, Page, Source};
use crate::{Schema, Stop, Stored};
use askloom_model::{ClassId, CollectionId, Identity, PositionId, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::Read;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Something that an evaluation needs.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    Block(ClassId, Identity),
    Page(WantedPage),
    /// The buckets of time in a field of a master's key.
    TimeBuckets(CollectionId, usize),
    Entry(EntryKey),
}

/// A page of a read.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedPage {
    pub read: Read,
    pub from: PageStart,
    pub at_most: usize,
}

/// Where a page starts.
#[derive(Debug, Clone, PartialEq)]
pub enum PageStart {
    Start,
    Cursor(Cursor),
    Row { sort: Vec<Value>, row: Vec<Value> },
}

/// Where an entry is whose key is made of the identities of its row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntryKey {
    pub collection: CollectionId,
    pub block: Vec<Value>,
    pub node: Option<PositionId>,
    pub row: Vec<Value>,
}

impl PageStart {
    fn of(from: From<'_>) -> Self {
        match from {
            From::Start => Self::Start,
            From::Cursor(cursor) => Self::Cursor(cursor.clone()),
            From::Row { sort, row } => Self::Row { sort: sort.to_vec(), row: row.to_vec() },
        }
    }

    fn borrowed(&self) -> From<'_> {
        match self {
            Self::Start => From::Start,
            Self::Cursor(cursor) => From::Cursor(cursor),
            Self::Row { sort, row } => From::Row { sort, row },
        }
    }
}

#[derive(Debug)]
pub struct Fetched<'f> {
    schema: &'f Schema,
    blocks: HashMap<(ClassId, Identity), Option<Arc<Stored>>>,
    pages: Vec<(WantedPage, Page)>,
    time_buckets: HashMap<(CollectionId, usize), Vec<String>>,
    entries: HashMap<EntryKey, Option<Entry>>,
    wanted: RefCell<Vec<Wanted>>,
}

impl<'f> Fetched<'f> {
    #[must_use]
    pub fn new(schema: &'f Schema) -> Self {
        let wanted = RefCell::default();
        Self {
            schema,
            blocks: HashMap::new(),
            pages: Vec::new(),
            time_buckets: HashMap::new(),
            entries: HashMap::new(),
            wanted,
        }
    }

    /// All that was found lacking since this was last asked, each once.
    pub fn take_wanted(&mut self) -> Vec<Wanted> {
        std::mem::take(self.wanted.get_mut())
    }

    /// Fetches something from a source that has it.
    pub fn fetch(&mut self, wanted: Wanted, source: &dyn Source) -> Result<(), Stop> {
        match wanted {
            Wanted::Block(root, id) => {
                let block = source.block(root, &id)?;
                self.blocks.insert((root, id), block);
            }
            Wanted::Page(wanted) => {
                let from = wanted.from.borrowed();
                let page = source.page(&Ask { read: &wanted.read, from, at_most: wanted.at_most })?;
                self.pages.push((wanted, page));
            }
            Wanted::TimeBuckets(master, field) => {
                let buckets = source.time_buckets(master, field)?;
                self.time_buckets.insert((master, field), buckets);
            }
            Wanted::Entry(key) => {
                let (collection, node) = (key.collection, key.node);
                let entry = source.entry(&EntryAt { collection, block: &key.block, node, row: &key.row })?;
                self.entries.insert(key, entry);
            }
        }
        Ok(())
    }

    /// Forgets what a chunk was made of once it is evaluated.
    pub fn forget(&mut self) {
        self.blocks.clear();
        self.pages.clear();
        self.time_buckets.clear();
        self.entries.clear();
    }

    fn lacks<T>(&self, wanted: Wanted) -> Result<T, Stop> {
        let mut all = self.wanted.borrow_mut();
        if !all.contains(&wanted) {
            all.push(wanted);
        }
        Err(Stop::Missing)
    }
}

impl Source for Fetched<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        let key = (root, id.clone());
        match self.blocks.get(&key) {
            Some(block) => Ok(block.clone()),
            None => self.lacks(Wanted::Block(root, key.1)),
        }
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        let wanted =
            WantedPage { read: ask.read.clone(), from: PageStart::of(ask.from), at_most: ask.at_most };
        match self.pages.iter().find(|(known, _)| *known == wanted) {
            Some((_, page)) => Ok(page.clone()),
            None => self.lacks(Wanted::Page(wanted)),
        }
    }

    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        match self.time_buckets.get(&(master, field)) {
            Some(buckets) => Ok(buckets.clone()),
            None => self.lacks(Wanted::TimeBuckets(master, field)),
        }
    }

    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        let (collection, node) = (at.collection, at.node);
        let key = EntryKey { collection, block: at.block.to_vec(), node, row: at.row.to_vec() };
        match self.entries.get(&key) {
            Some(entry) => Ok(entry.clone()),
            None => self.lacks(Wanted::Entry(key)),
        }
    }
}
