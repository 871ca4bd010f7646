//! A store in memory that behaves as the weakest one of its kind: for tests of everything above drivers.

use super::{Batch, Driver, Isolation, Reply, Written};
use crate::source::{Ask, BlockState, Cursor, EntryAt, Given, Page, Records, Source, Wanted, answer};
use crate::{BlockAfter, Changes, KeyRange, RecordKey, RowContent, RunError, Schema, Stop};
use askloom_model::{ClassId, Collection, CollectionId, Identity, Role, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::{How, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, future};

use super::DriverError;

/// What was asked of a store, in the order in which it was.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// A round trip of reads.
    Read(Vec<Wanted>),
    Write(Box<Batch>),
}

impl Operation {
    /// What was done that a program does not say, in words.
    #[must_use]
    pub fn beyond(&self, schema: &Schema, program: &Program) -> Option<String> {
        match self {
            Self::Read(wanted) => {
                let beyond = wanted.iter().find(|wanted| !is_read(schema, program, wanted));
                beyond.map(|wanted| format!("it reads {wanted:?}"))
            }
            Self::Write(batch) => unsaid(schema, program, &batch.changes),
        }
    }
}

fn is_read(schema: &Schema, program: &Program, wanted: &Wanted) -> bool {
    // Whoever writes an aggregate takes away what has expired in it.
    let sweeps = |table| program.retrieval.is_none() && schema.is_read_by_expiry(table);
    match wanted {
        // An aggregate that a program changes is checked by what was read of it.
        Wanted::Block(root, _) => {
            let master = schema.master(*root);
            program.gets(master) || program.changes_aggregates(master) || sweeps(master)
        }
        Wanted::Page(page) => program.has_read(&page.read) || sweeps(page.read.table),
        Wanted::TimeBuckets(master, _) => program.reads_table(*master),
        Wanted::Entry(entry) => match schema.design.stored_in(entry.collection) {
            // What a master carries comes with its records.
            master if master != entry.collection => program.reads_table(master),
            own => program.gets(own),
        },
    }
}

/// A change that a program does not say.
fn unsaid(schema: &Schema, program: &Program, changes: &Changes) -> Option<String> {
    let name = |collection: CollectionId| &schema.design.collections[collection].name;
    let block = |(root, identity): &(ClassId, Identity)| {
        let master = schema.master(*root);
        (!program.changes_aggregates(master)).then(|| format!("it changes {identity:?} of {}", name(master)))
    };
    let row = |copy: CollectionId, (key, content): (&RecordKey, &Option<RowContent>)| {
        let what = if content.is_some() { "puts" } else { "takes away" };
        let said = match schema.design.stored_in(copy) {
            // What a master carries changes with its records.
            master if master != copy => program.changes_aggregates(master),
            own => program.changes_rows(own, content.is_some()) || schema.changes_by_expiry(own),
        };
        let unsaid = !said;
        unsaid.then(|| format!("it {what} {key:?} of {}", name(copy)))
    };
    let rows = changes
        .rows
        .iter()
        .flat_map(|(&copy, rows)| rows.iter().filter_map(move |changed| row(copy, changed)));
    changes.blocks.keys().find_map(block).or_else(|| rows.into_iter().next())
}

/// Records in memory, in the order of their keys.
pub struct MemoryDriver {
    isolation: Isolation,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    tables: Tables,
    log: Vec<Operation>,
}

/// All records of a store.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tables {
    blocks: BTreeMap<CollectionId, BTreeMap<RecordKey, (Identity, BlockState)>>,
    rows: BTreeMap<CollectionId, BTreeMap<RecordKey, RowContent>>,
}

impl fmt::Debug for MemoryDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryDriver").field("isolation", &self.isolation).finish_non_exhaustive()
    }
}

impl MemoryDriver {
    #[must_use]
    pub fn new(isolation: Isolation) -> Self {
        Self { isolation, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked since this was last called.
    pub fn take_log(&self) -> Vec<Operation> {
        std::mem::take(&mut self.held().log)
    }

    /// Gives a source of all that is stored to somebody who looks.
    pub fn look<T>(&self, schema: &Schema, look: impl FnOnce(&dyn Source) -> T) -> T {
        look(&View { schema, tables: &self.held().tables })
    }

    /// Takes changes in without a check: what was worked out by looking, where nobody else writes.
    pub fn apply(&self, schema: &Schema, changes: &Changes) {
        self.held().tables.apply(schema, changes);
    }

    /// Every block of a master, in order: those of the deleted, too.
    #[must_use]
    pub fn blocks(&self, master: CollectionId) -> Vec<(Identity, BlockState)> {
        let held = self.held();
        let blocks = held.tables.blocks.get(&master);
        blocks.into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Every row of a copy, in order.
    #[must_use]
    pub fn rows(&self, copy: CollectionId) -> Vec<(RecordKey, RowContent)> {
        let held = self.held();
        let rows = held.tables.rows.get(&copy);
        rows.into_iter().flatten().map(|(key, content)| (key.clone(), content.clone())).collect()
    }
}

impl Driver for MemoryDriver {
    fn isolation(&self) -> Isolation {
        self.isolation
    }

    fn read<'r>(&'r self, schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        let mut held = self.held();
        held.log.push(Operation::Read(wanted.to_vec()));
        let view = View { schema, tables: &held.tables };
        let given = wanted.iter().map(|wanted| answer(&view, wanted)).collect::<Result<_, _>>();
        Box::pin(future::ready(given.map_err(broken)))
    }

    fn write<'r>(&'r self, schema: &'r Schema, batch: &'r Batch) -> Reply<'r, Written> {
        let mut held = self.held();
        held.log.push(Operation::Write(Box::new(batch.clone())));
        let view = View { schema, tables: &held.tables };
        let stands = batch.checks.iter().filter(|check| self.checks(&check.of, &batch.changes));
        let mut moved = false;
        for check in stands {
            match answer(&view, &check.of) {
                Ok(now) => moved |= now != check.seen,
                Err(stop) => return Box::pin(future::ready(Err(broken(stop)))),
            }
        }
        if !moved {
            held.tables.apply(schema, &batch.changes);
        }
        Box::pin(future::ready(Ok(if moved { Written::Moved } else { Written::Done })))
    }
}

impl MemoryDriver {
    /// Whether a store of this kind looks again at something that was read.
    fn checks(&self, read: &Wanted, changes: &Changes) -> bool {
        match (self.isolation, read) {
            (Isolation::Ranges, _) | (Isolation::Records, Wanted::Block(..) | Wanted::Entry(_)) => true,
            (Isolation::Snapshots | Isolation::Blocks, Wanted::Block(root, id)) => {
                changes.blocks.contains_key(&(*root, id.clone()))
            }
            (Isolation::Records, Wanted::Page(_) | Wanted::TimeBuckets(..))
            | (
                Isolation::Snapshots | Isolation::Blocks,
                Wanted::Page(_) | Wanted::TimeBuckets(..) | Wanted::Entry(_),
            ) => false,
        }
    }
}

fn broken(stop: Stop) -> DriverError {
    DriverError::Drift(RunError::from(stop).to_string())
}

impl Tables {
    fn apply(&mut self, schema: &Schema, changes: &Changes) {
        for ((root, identity), after) in &changes.blocks {
            let master = schema.master(*root);
            let state = match after {
                BlockAfter::Stored(stored) => BlockState::Live(Arc::clone(stored)),
                BlockAfter::Deleted(system) => BlockState::Deleted(system.clone()),
            };
            let key = schema.block_key(master, identity);
            self.blocks.entry(master).or_default().insert(key, (identity.clone(), state));
        }
        for (&collection, rows) in &changes.rows {
            let table = self.rows.entry(collection).or_default();
            for (key, content) in rows {
                match content {
                    Some(content) => table.insert(key.clone(), content.clone()),
                    None => table.remove(key),
                };
            }
        }
    }
}

/// One state of all records.
struct View<'v> {
    schema: &'v Schema,
    tables: &'v Tables,
}

impl Source for View<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<BlockState, Stop> {
        let master = self.schema.master(root);
        let blocks = self.tables.blocks.get(&master);
        let found = blocks.and_then(|blocks| blocks.get(&self.schema.block_key(master, id)));
        Ok(found.map_or(BlockState::Absent, |(_, state)| state.clone()))
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        let collection = &self.schema.design.collections[ask.read.table];
        match collection.role {
            Role::Master => self.aggregates(ask, collection),
            Role::Copy | Role::Index | Role::Carried => self.entries(ask, collection),
        }
    }

    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        let keys = self.tables.blocks.get(&master).into_iter().flat_map(BTreeMap::keys);
        let bucket = |key: &RecordKey| {
            let mut values = key.block.iter().chain(key.sort.iter().map(|sorted| &sorted.value));
            match values.nth(field) {
                Some(Value::Text(bucket)) => Some(bucket.clone()),
                Some(_) | None => None,
            }
        };
        let buckets: BTreeSet<String> = keys.filter_map(bucket).collect();
        Ok(buckets.into_iter().collect())
    }

    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        let collection = &self.schema.design.collections[at.collection];
        let Some(rows) = self.tables.rows.get(&at.collection) else { return Ok(None) };
        let key = at.key();
        let found = rows.range(&key..).next().filter(|(found, _)| {
            found.block == key.block && found.sort == key.sort && found.row.starts_with(&key.row)
        });
        let whole = at.is_whole(collection);
        let found = found.filter(|(found, _)| !whole || **found == key);
        Ok(found.map(|(key, content)| key.entry(collection, content)))
    }
}

impl View<'_> {
    fn entries(&self, ask: &Ask<'_>, collection: &Collection) -> Result<Page, Stop> {
        let range = KeyRange::of(self.schema, ask.read)?;
        let rows = self.tables.rows.get(&ask.read.table).into_iter().flatten();
        let within = rows.filter(|(key, _)| range.contains(key) && range.starts(ask.from, key));
        let mut found: Vec<(&RecordKey, &RowContent)> = within.collect();
        if range.backwards {
            found.reverse();
        }
        found.truncate(ask.at_most);
        let last = found.last().filter(|_| found.len() >= ask.at_most);
        let next = last.map(|(key, _)| Cursor::Entry((*key).clone()));
        let entries = found.into_iter().map(|(key, content)| key.entry(collection, content)).collect();
        Ok(Page { records: Records::Entries(Arc::new(entries)), next })
    }

    fn aggregates(&self, ask: &Ask<'_>, collection: &Collection) -> Result<Page, Stop> {
        if let How::Block(terms) | How::Record(terms) = &ask.read.how {
            let identity = self.schema.table(ask.read.table).identity(terms);
            let identity = identity.ok_or_else(|| {
                RunError::Corrupted(format!("a read of {} has an open slot", collection.name))
            })?;
            let found = self.block(collection.source.root, &identity)?.live();
            let found = found.map(|stored| (identity, stored)).into_iter().collect();
            return Ok(Page { records: Records::Aggregates(Arc::new(found)), next: None });
        }
        let range = KeyRange::of(self.schema, ask.read)?;
        let start = range.start_block(self.schema, ask);
        let blocks = self.tables.blocks.get(&ask.read.table).into_iter().flatten();
        let within =
            blocks.filter(|(key, _)| range.contains(key) && start.as_ref().is_none_or(|s| s.has(key)));
        let live =
            within.filter_map(|(_, (identity, state))| Some((identity.clone(), state.clone().live()?)));
        let mut found: Vec<_> = live.collect();
        if range.backwards {
            found.reverse();
        }
        found.truncate(ask.at_most);
        let last = found.last().filter(|_| found.len() >= ask.at_most);
        let next = last.map(|(identity, _)| Cursor::Aggregate(identity.clone()));
        Ok(Page { records: Records::Aggregates(Arc::new(found)), next })
    }
}
