//! A driver that speaks through a shell: what the engine asks for is printed as a step of the program is, run by the
//! shell, and decoded. What no step prints cannot be read.

use crate::harness::Shell;
use crate::samples::{entry, table_of};
use askloom_engine::driver::{Batch, Driver, DriverError, Isolation, Reply, Written};
use askloom_engine::source::{
    BlockState, Cursor, EntryKey, Given, Page, PageStart, Records, Wanted, WantedPage,
};
use askloom_engine::{KeyRange, RecordKey, Schema};
use askloom_model::{CollectionId, Identity, Role, Value};
use askloom_plan::layout::{Block, Entry, Layout};
use askloom_plan::program::{Action, Bounds, Frame, How, Program, Range, Read, Step, Term, ValueFrom};
use askloom_target::generate::Sample;
use std::collections::HashMap;
use std::future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One query by the program that is printed of it.
pub(crate) struct Spoken<'s> {
    schema: &'s Schema,
    layout: &'s Layout,
    /// With the values of its parameters.
    program: &'s Program,
    /// Its steps that are repeated for what others find.
    repeated: Program,
    heard: Mutex<Heard<'s>>,
}

struct Heard<'s> {
    shell: &'s mut dyn Shell,
    /// What each read has found that was run: each is run once.
    found: HashMap<Read, Vec<Sample>>,
    /// Aggregates that came with an index which leads to them: whole, or with the members that the query needs.
    brought: HashMap<(CollectionId, Identity), (Block, Whole)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

type Answer<T> = Result<T, String>;

impl<'s> Spoken<'s> {
    /// Runs the steps that are done once; the others wait until the engine asks.
    pub(crate) fn new(
        schema: &'s Schema,
        layout: &'s Layout,
        program: &'s Program,
        shell: &'s mut dyn Shell,
    ) -> Answer<Self> {
        let (once, repeated): (Vec<&Step>, Vec<&Step>) =
            program.steps.iter().partition(|step| step.each.is_once());
        let repeated = repeated.into_iter().cloned().collect();
        let repeated = Program { steps: repeated, retrieval: None, ..program.clone() };
        let mut heard = Heard { shell, found: HashMap::new(), brought: HashMap::new() };
        for read in once.into_iter().filter_map(read_of) {
            heard.run(layout, read)?;
        }
        Ok(Self { schema, layout, program, repeated, heard: Mutex::new(heard) })
    }

    fn heard(&self) -> MutexGuard<'_, Heard<'s>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many statements have been run.
    pub(crate) fn statements(&self) -> usize {
        self.heard().found.len()
    }

    fn given(&self, heard: &mut Heard<'_>, wanted: &Wanted) -> Answer<Given> {
        match wanted {
            Wanted::Block(root, identity) => {
                Ok(Given::Block(self.block(heard, self.schema.master(*root), identity)?))
            }
            Wanted::Page(page) => {
                self.ask(heard, &page.read)?;
                Ok(Given::Page(self.page(heard, page)?))
            }
            Wanted::Entry(key) => Ok(Given::Entry(self.entry(heard, key)?)),
            Wanted::TimeBuckets(master, _) => {
                Err(format!("no step prints the buckets of {}", self.name(*master)))
            }
        }
    }

    fn name(&self, table: CollectionId) -> &str {
        &self.schema.table(table).name
    }

    /// Runs a read that is asked for, unless it has been run.
    fn ask(&self, heard: &mut Heard<'_>, read: &Read) -> Answer<()> {
        if heard.found.contains_key(&said(read)) {
            return Ok(());
        }
        if !self.repeated.has_read(read) {
            return Err(format!("no step prints this read of {}: {:?}", self.name(read.table), read.how));
        }
        heard.run(self.layout, read)
    }

    /// The reads of a table that are repeated, each with what it is repeated for in its slots.
    fn repeated_for(&self, table: CollectionId, identity: &[Value]) -> Vec<Read> {
        let own = self.repeated.steps.iter().filter_map(read_of).filter(|read| read.table == table);
        let frame = Frame { identity, ..Frame::default() };
        own.filter_map(|read| read.filled(self.schema.table(table), &frame)).collect()
    }

    fn block(&self, heard: &mut Heard<'_>, master: CollectionId, identity: &Identity) -> Answer<BlockState> {
        if let Some(block) = heard.block(master, identity) {
            return self.state(master, &block);
        }
        let of_one = |read: &&Read| match &read.how {
            How::Block(terms) => self.schema.table(master).identity(terms).as_ref() == Some(identity),
            How::Record(_) | How::Range(_) | How::All => false,
        };
        let once = self.program.steps.iter().filter(|step| step.each.is_once()).filter_map(read_of);
        let mut once = once.filter(|read| read.table == master);
        if once.any(|read| read.how == How::All || of_one(&read)) {
            return Ok(BlockState::Absent);
        }
        if let Some(read) = self.repeated_for(master, identity).iter().find(of_one) {
            self.ask(heard, read)?;
            let found = heard.block(master, identity);
            return found.map_or(Ok(BlockState::Absent), |block| self.state(master, &block));
        }
        match heard.brought.get(&(master, identity.clone())) {
            Some((block, _)) => self.state(master, block),
            None => Err(format!("no step prints the read of {} at {identity:?}", self.name(master))),
        }
    }

    fn state(&self, master: CollectionId, block: &Block) -> Answer<BlockState> {
        BlockState::of_block(self.schema, master, block).map_err(|why| why.to_string())
    }

    /// What is left of an answer behind the start of the page, as far as it is wanted.
    fn page(&self, heard: &Heard<'_>, page: &WantedPage) -> Answer<Page> {
        let found = &heard.found[&said(&page.read)];
        let table = page.read.table;
        match self.schema.design.collections[table].role {
            Role::Master => {
                let mut live = Vec::new();
                for record in found {
                    let Sample::Block { block, .. } = record else { return Err(format!("{record:?}")) };
                    let stored = self.state(table, block)?.live();
                    live.extend(stored.map(|stored| (block.identity.clone(), stored)));
                }
                let key = |(identity, _): &(Identity, _)| Cursor::Aggregate(identity.clone());
                let (some, next) = cut(live, page, key)?;
                Ok(Page { records: Records::Aggregates(Arc::new(some)), next })
            }
            Role::Carried => Err(format!("{} is read with its master", self.name(table))),
            Role::Copy | Role::Index => {
                let collection = &self.schema.design.collections[table];
                let entries = found.iter().map(|record| self.record(record)).collect::<Answer<Vec<_>>>()?;
                let key = |entry: &Entry| Cursor::Entry(RecordKey::split(collection, entry.clone()).0);
                let (some, next) = cut(entries, page, key)?;
                Ok(Page { records: Records::Entries(Arc::new(some)), next })
            }
        }
    }

    fn record(&self, record: &Sample) -> Answer<Entry> {
        match record {
            Sample::Row { table, cells } => entry(self.schema, *table, cells),
            Sample::Block { .. } => Err(format!("no row: {record:?}")),
        }
    }

    /// The entry of a row: by the step that gets it, or among those that were read.
    fn entry(&self, heard: &mut Heard<'_>, wanted: &EntryKey) -> Answer<Option<Entry>> {
        let EntryKey { collection: id, block, node, row } = wanted;
        let (collection, table) = (&self.schema.design.collections[*id], self.schema.table(*id));
        let (block, row) = (block.clone(), row.clone());
        let at = match node {
            Some(position) => {
                Entry::Node { block, position: *position, chain: row, values: Vec::new(), whole: None }
            }
            None => Entry::Row { block, sort: Vec::new(), row, values: Vec::new() },
        };
        let cells = table.cells(collection, &at);
        let own = table.columns.iter().zip(&cells).filter(|(column, _)| column.is_key());
        let identity: Vec<Value> = own.map(|(_, cell)| cell.clone()).collect();
        let (key, _) = RecordKey::split(collection, at);
        let of_one = |read: &Read| matches!(read.how, How::Record(_));
        let read = match self.repeated_for(*id, &identity).into_iter().find(of_one) {
            Some(read) => read,
            None => self.covering(heard, *id, &key)?,
        };
        self.ask(heard, &read)?;
        for record in &heard.found[&said(&read)] {
            let entry = self.record(record)?;
            let (found, _) = RecordKey::split(collection, entry.clone());
            // Identities that are left out at the end of the key have no choice.
            if found.block == key.block && found.sort == key.sort && found.row.starts_with(&key.row) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// A read that was run and has found a record if it is there.
    fn covering(&self, heard: &Heard<'_>, table: CollectionId, key: &RecordKey) -> Answer<Read> {
        let covers = |read: &&Read| {
            read.table == table && KeyRange::of(self.schema, read).is_ok_and(|range| range.contains(key))
        };
        let read = heard.found.keys().find(covers);
        read.cloned().ok_or_else(|| format!("no step prints the read of {} at {key:?}", self.name(table)))
    }
}

impl Heard<'_> {
    fn run(&mut self, layout: &Layout, read: &Read) -> Answer<()> {
        let (own, others): (Vec<Sample>, Vec<Sample>) =
            self.shell.read(layout, read)?.into_iter().partition(|record| table_of(record) == read.table);
        for record in others {
            let Sample::Block { table, block } = record else {
                return Err(format!("another row: {record:?}"));
            };
            self.bring(read, table, *block);
        }
        // Two steps may search one table for different rows: who asks filters them as well.
        let found = self.found.entry(said(read)).or_default();
        for record in own {
            if !found.contains(&record) {
                found.push(record);
            }
        }
        Ok(())
    }

    /// Some members do not stand for an aggregate that has come as a whole.
    fn bring(&mut self, read: &Read, master: CollectionId, block: Block) {
        let whole = if read.members.is_none() { Whole::Yes } else { Whole::No };
        let key = (master, block.identity.clone());
        let known = self.brought.get(&key);
        if whole == Whole::Yes || known.is_none_or(|(_, known)| *known == Whole::No) {
            self.brought.insert(key, (block, whole));
        }
    }

    /// All records of a table that reads of it have found.
    fn of(&self, table: CollectionId) -> impl Iterator<Item = &Sample> {
        self.found.iter().filter(move |(read, _)| read.table == table).flat_map(|(_, records)| records)
    }

    fn block(&self, master: CollectionId, identity: &Identity) -> Option<Block> {
        self.of(master).find_map(|record| match record {
            Sample::Block { block, .. } if block.identity == *identity => Some((**block).clone()),
            Sample::Block { .. } | Sample::Row { .. } => None,
        })
    }
}

impl Driver for Spoken<'_> {
    fn isolation(&self) -> Isolation {
        Isolation::Blocks
    }

    fn read<'r>(&'r self, _: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        let mut heard = self.heard();
        let given: Answer<_> = wanted.iter().map(|wanted| self.given(&mut heard, wanted)).collect();
        Box::pin(future::ready(given.map_err(DriverError::Refused)))
    }

    fn write<'r>(&'r self, _: &'r Schema, _: &'r Batch) -> Reply<'r, Written> {
        Box::pin(future::ready(Err(DriverError::Refused("a query writes nothing".to_owned()))))
    }
}

fn read_of(step: &Step) -> Option<&Read> {
    match &step.action {
        Action::Read(read) => Some(read),
        Action::Change(_) => None,
    }
}

/// As many records as are wanted, behind the start of the page, and where the next page starts.
fn cut<T>(
    mut all: Vec<T>,
    page: &WantedPage,
    key: impl Fn(&T) -> Cursor,
) -> Answer<(Vec<T>, Option<Cursor>)> {
    let behind = match &page.from {
        PageStart::Start => 0,
        PageStart::Cursor(cursor) => {
            let last = all.iter().position(|record| key(record) == *cursor);
            last.ok_or_else(|| format!("no page ended at {cursor:?}"))? + 1
        }
        PageStart::Row { .. } => return Err("no statement starts at a row".to_owned()),
    };
    all.drain(..behind);
    let more = all.len() > page.at_most;
    all.truncate(page.at_most);
    let next = if more { all.last().map(key) } else { None };
    Ok((all, next))
}

/// A read by what it says alone: of each term the column and the value. What a store may do besides is in no question.
fn said(read: &Read) -> Read {
    let how = match &read.how {
        How::Block(of) => How::Block(terms(of)),
        How::Record(of) => How::Record(terms(of)),
        How::All => How::All,
        How::Range(range) => How::Range(Box::new(Range {
            block: terms(&range.block),
            equal: terms(&range.equal),
            bounds: range.bounds.as_ref().map(bounds),
            backwards: range.backwards,
            limit: range.limit.as_ref().map(term),
        })),
    };
    Read::new(read.table, how)
}

fn bounds(of: &Bounds) -> Bounds {
    let side = |side: &Option<(Term, bool)>| side.as_ref().map(|(own, inclusive)| (term(own), *inclusive));
    Bounds {
        column: of.column,
        low: side(&of.low),
        high: side(&of.high),
        prefix: of.prefix.as_ref().map(term),
    }
}

fn terms(of: &[Term]) -> Vec<Term> {
    of.iter().map(term).collect()
}

fn term(of: &Term) -> Term {
    Term { name: "".into(), from: ValueFrom::Statement, ..of.clone() }
}
