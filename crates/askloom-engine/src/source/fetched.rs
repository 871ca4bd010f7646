//! What has been fetched of a store that is not here: it answers what it has, and takes note of what it lacks.

use super::{Ask, BlockState, Cursor, EntryAt, From, Page, Records, Source};
use crate::driver::Check;
use crate::{Schema, Stop, Stored};
use askloom_model::{ClassId, CollectionId, Identity, PositionId, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::Read;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Something that an evaluation needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Wanted {
    Block(ClassId, Identity),
    Page(WantedPage),
    /// The buckets of time in a field of a master's key.
    TimeBuckets(CollectionId, usize),
    Entry(EntryKey),
}

/// What was found where something was wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    Block(BlockState),
    Page(Page),
    TimeBuckets(Vec<String>),
    Entry(Option<Entry>),
}

/// What a source that knows everything has of what is wanted.
pub fn answer(source: &dyn Source, wanted: &Wanted) -> Result<Given, Stop> {
    Ok(match wanted {
        Wanted::Block(root, id) => Given::Block(source.block(*root, id)?),
        Wanted::Page(WantedPage { read, from, at_most }) => {
            Given::Page(source.page(&Ask { read, from: from.borrowed(), at_most: *at_most })?)
        }
        Wanted::TimeBuckets(master, field) => Given::TimeBuckets(source.time_buckets(*master, *field)?),
        Wanted::Entry(EntryKey { collection, block, node, row }) => {
            Given::Entry(source.entry(&EntryAt { collection: *collection, block, node: *node, row })?)
        }
    })
}

/// A page of a read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WantedPage {
    pub read: Read,
    pub from: PageStart,
    pub at_most: usize,
}

/// Where a page starts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

/// What is known of a store that is elsewhere.
#[derive(Debug)]
pub struct Fetched<'f> {
    schema: &'f Schema,
    known: HashMap<Wanted, Given>,
    /// Aggregates that pages have brought whole.
    paged: HashMap<(ClassId, Identity), Arc<Stored>>,
    /// Those of them that somebody asked for.
    asked: RefCell<HashSet<(ClassId, Identity)>>,
    /// What is lacking, in the order in which it was first needed.
    lacking: RefCell<(Vec<Wanted>, HashSet<Wanted>)>,
}

impl<'f> Fetched<'f> {
    #[must_use]
    pub fn new(schema: &'f Schema) -> Self {
        Self {
            schema,
            known: HashMap::new(),
            paged: HashMap::new(),
            asked: RefCell::default(),
            lacking: RefCell::default(),
        }
    }

    /// All that was found lacking since this was last asked, each once.
    pub fn take_wanted(&mut self) -> Vec<Wanted> {
        let (wanted, _) = std::mem::take(self.lacking.get_mut());
        wanted
    }

    /// Takes in what was found.
    pub fn take(&mut self, wanted: Wanted, given: Given) {
        if let (Wanted::Page(page), Given::Page(Page { records: Records::Aggregates(found), .. })) =
            (&wanted, &given)
        {
            let root = self.schema.design.collections[page.read.table].source.root;
            self.paged.extend(found.iter().map(|(id, stored)| ((root, id.clone()), Arc::clone(stored))));
        }
        self.known.insert(wanted, given);
    }

    /// Fetches something from a source that has it.
    pub fn fetch(&mut self, wanted: Wanted, source: &dyn Source) -> Result<(), Stop> {
        let given = answer(source, &wanted)?;
        self.take(wanted, given);
        Ok(())
    }

    /// Forgets what a chunk was made of once it is evaluated.
    pub fn forget(&mut self) {
        self.known.clear();
        self.paged.clear();
        self.asked.get_mut().clear();
    }

    /// All that is known, to be looked at again. What was asked for by its id is a check of its own, wherever it came
    /// from: a store may check records and no ranges.
    #[must_use]
    pub fn into_checks(self) -> Vec<Check> {
        let Self { known, mut paged, asked, .. } = self;
        let of_page = asked.into_inner().into_iter().filter_map(|aggregate| {
            let stored = paged.remove(&aggregate)?;
            let of = Wanted::Block(aggregate.0, aggregate.1);
            Some(Check { of, seen: Given::Block(BlockState::Live(stored)) })
        });
        let of_page: Vec<Check> = of_page.collect();
        known.into_iter().map(|(of, seen)| Check { of, seen }).chain(of_page).collect()
    }

    /// What is known, or else a note of what is lacking.
    fn known(&self, wanted: Wanted) -> Result<&Given, Stop> {
        if let Some(given) = self.known.get(&wanted) {
            return Ok(given);
        }
        let (all, noted) = &mut *self.lacking.borrow_mut();
        if noted.insert(wanted.clone()) {
            all.push(wanted);
        }
        Err(Stop::Missing)
    }
}

#[expect(clippy::panic, reason = "a driver answers what it was asked")]
fn unasked(given: &Given) -> ! {
    panic!("something else was wanted than was given: {given:?}")
}

impl Source for Fetched<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<BlockState, Stop> {
        let wanted = Wanted::Block(root, id.clone());
        if !self.known.contains_key(&wanted) {
            let aggregate = (root, id.clone());
            if let Some(stored) = self.paged.get(&aggregate) {
                let block = BlockState::Live(Arc::clone(stored));
                self.asked.borrow_mut().insert(aggregate);
                return Ok(block);
            }
        }
        match self.known(wanted)? {
            Given::Block(block) => Ok(block.clone()),
            other => unasked(other),
        }
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        let wanted =
            WantedPage { read: ask.read.clone(), from: PageStart::of(ask.from), at_most: ask.at_most };
        match self.known(Wanted::Page(wanted))? {
            Given::Page(page) => Ok(page.clone()),
            other => unasked(other),
        }
    }

    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        match self.known(Wanted::TimeBuckets(master, field))? {
            Given::TimeBuckets(buckets) => Ok(buckets.clone()),
            other => unasked(other),
        }
    }

    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        let (collection, node) = (at.collection, at.node);
        let key = EntryKey { collection, block: at.block.to_vec(), node, row: at.row.to_vec() };
        match self.known(Wanted::Entry(key))? {
            Given::Entry(entry) => Ok(entry.clone()),
            other => unasked(other),
        }
    }
}
