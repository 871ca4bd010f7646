//! A keyspace that the executor reads through printed statements: whatever it asks for is found by a step of the
//! program, run by the shell. What no step prints cannot be read.

use crate::harness::Shell;
use askloom_embedded::codec::split_entry;
use askloom_embedded::{Block, KeyedSchema, Keyspace, Memory, Visit, records};
use askloom_engine::RunError;
use askloom_model::{CollectionId, Contents, Id, Value};
use askloom_plan::layout::{Block as AggregateBlock, Entry, Layout, Place, Table};
use askloom_plan::ordered_bytes::decode;
use askloom_plan::program::{Action, How, Program, Range, Read, Term, ValueFrom};
use askloom_target::generate::Sample;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Printed<'p> {
    schema: &'p KeyedSchema,
    layout: &'p Layout,
    program: &'p Program,
    shell: RefCell<&'p mut dyn Shell>,
    read: RefCell<Memory>,
    /// Blocks that have been read, by the cells of their keys; of a collection that was read as a whole, none.
    blocks: RefCell<BTreeSet<(usize, Option<Vec<Value>>)>>,
    /// Aggregates of which some members have been read: what no other step reads as a whole.
    parts: RefCell<BTreeSet<(usize, Option<Vec<Value>>)>>,
    pub(crate) statements: Cell<usize>,
}

impl<'p> Printed<'p> {
    /// Runs the steps that are done once; the others wait until the executor asks.
    pub(crate) fn new(
        schema: &'p KeyedSchema,
        layout: &'p Layout,
        program: &'p Program,
        shell: &'p mut dyn Shell,
    ) -> Result<Self, RunError> {
        let printed = Self {
            schema,
            layout,
            program,
            shell: RefCell::new(shell),
            read: RefCell::default(),
            blocks: RefCell::default(),
            parts: RefCell::default(),
            statements: Cell::new(0),
        };
        for step in program.steps.iter().filter(|step| step.each.is_once()) {
            let Action::Read(read) = &step.action else { continue };
            let block = match &read.how {
                How::All => None,
                How::Block(terms) => Some(values(terms)),
                How::Range(range) => Some(values(&range.block)),
                How::Record(terms) => Some(values(terms)),
            };
            printed.run(read)?;
            printed.blocks.borrow_mut().insert((read.table.index(), block));
        }
        Ok(printed)
    }

    fn run(&self, read: &Read) -> Result<(), RunError> {
        self.statements.set(self.statements.get() + 1);
        let found = self.shell.borrow_mut().read(self.layout, read);
        for record in found.map_err(RunError::Store)? {
            if self.is_new(read, &record) {
                records::into_keyspace(self.schema, self.layout, &record, &mut self.read.borrow_mut())?;
            }
        }
        Ok(())
    }

    /// Whether a record is to be kept. An index may give the aggregates that it leads to: all of each, or some members,
    /// which do not stand for one that was read as a whole.
    fn is_new(&self, read: &Read, record: &Sample) -> bool {
        let Sample::Block { table, block } = record else { return true };
        if *table == read.table {
            return true;
        }
        let (all, own) = ((table.index(), None), (table.index(), Some(block.identity.clone())));
        let mut blocks = self.blocks.borrow_mut();
        let known = blocks.contains(&all) || blocks.contains(&own);
        match read.members {
            None => blocks.insert(own),
            Some(_) => !known && self.parts.borrow_mut().insert(own),
        };
        read.members.is_none() || !known
    }

    fn collection(&self, key: &[u8]) -> Option<CollectionId> {
        let number = u32::from_be_bytes(key.get(..4)?.try_into().ok()?);
        self.schema.design.collections.ids().find(|&id| self.schema.number(id) == number)
    }

    /// Makes sure that a block has been read.
    fn need(&self, id: CollectionId, cells: &[Value], whole: Option<&[Value]>) -> Result<(), RunError> {
        let table = self.layout.table(id).unwrap();
        let is_read = |block: Option<Vec<Value>>| self.blocks.borrow().contains(&(id.index(), block));
        let key = block_cells(table, cells);
        if is_read(None) || is_read(Some(key.clone())) {
            return Ok(());
        }
        let steps = self.program.steps.iter().filter(|step| !step.each.is_once());
        for step in steps {
            let Action::Read(read) = &step.action else { continue };
            let (how, known) = match (&read.how, whole) {
                (How::Block(terms), _) if read.table == id => (How::Block(filled(terms, cells)), key.clone()),
                (How::Record(terms), Some(cells)) if read.table == id => {
                    let terms = filled(terms, cells);
                    let key = values(&terms);
                    (How::Record(terms), key)
                }
                (How::Range(range), _) if read.table == id => {
                    let (block, equal) =
                        (slots_filled(&range.block, cells), slots_filled(&range.equal, cells));
                    // What another value of the list leads to is another block.
                    if !terms_agree(&block, cells) {
                        continue;
                    }
                    let known = values(&block).into_iter().chain(values(&equal)).collect();
                    (How::Range(Box::new(Range { block, equal, ..(**range).clone() })), known)
                }
                (_, _) => continue,
            };
            if is_read(Some(known.clone())) {
                return Ok(());
            }
            self.run(&Read { members: read.members.clone(), ..Read::new(id, how) })?;
            self.blocks.borrow_mut().insert((id.index(), Some(known)));
            return Ok(());
        }
        if self.parts.borrow().contains(&(id.index(), Some(key.clone()))) {
            return Ok(());
        }
        if self.is_scanned_instead(id) {
            let columns = table.columns.iter().enumerate().filter(|(_, column)| column.place == Place::Block);
            let terms = columns.map(|(at, column)| Term {
                name: column.name.as_str().into(),
                from: ValueFrom::Statement,
                value: cells.get(at).cloned(),
                column: Some(at),
            });
            self.run(&Read::new(id, How::Block(terms.collect())))?;
            self.blocks.borrow_mut().insert((id.index(), Some(key)));
            return Ok(());
        }
        let name = &table.name;
        Err(RunError::Store(format!("no step prints the read of {name} at {cells:?}")))
    }

    /// Where reading all of a small master is cheaper than an index, the plan does that. The executor, which is the
    /// embedded store's, goes by the index all the same.
    fn is_scanned_instead(&self, id: CollectionId) -> bool {
        let design = &self.schema.design;
        let collection = &design.collections[id];
        let master = design.master(collection.source.root).filter(|_| collection.indexed().is_some());
        master.is_some_and(|master| self.blocks.borrow().contains(&(master.index(), None)))
    }

    /// The cells of the key that some bytes stand for, as far as they go.
    fn cells(&self, id: CollectionId, key: &[u8]) -> Option<Vec<Value>> {
        let collection = &self.schema.design.collections[id];
        let table = self.layout.table(id)?;
        let mut rest = key.get(4..)?;
        if let Contents::Aggregate(_) = collection.contents {
            let (identity, _) = self.schema.master_key(id).split(key).ok()?;
            let block = AggregateBlock::new(
                identity,
                0,
                Vec::new(),
                &self.layout.conceptual,
                collection.source.root,
                BTreeMap::new(),
            );
            return Some(self.layout.block_cells(table, &block));
        }
        let mut block = Vec::new();
        for _ in &collection.block_key {
            block.push(decode(&mut rest).ok()?);
        }
        let entry = match &collection.contents {
            Contents::Nested(_) => {
                let position = match decode(&mut rest) {
                    Ok(Value::Int(number)) => Id::from_index(usize::try_from(number).unwrap()),
                    _none => Id::from_index(0),
                };
                let mut chain = Vec::new();
                while let Ok(part) = decode(&mut rest) {
                    chain.push(part);
                }
                Entry::Node { block, position, chain, values: Vec::new(), whole: None }
            }
            Contents::Aggregate(_) | Contents::Fields(_) => {
                let (length, positions) = (collection.block_key.len(), collection.source.positions.len());
                match split_entry(key, length, &collection.entry_key, positions) {
                    Ok(parts) => Entry::Row { block, sort: parts.fields, row: parts.row, values: Vec::new() },
                    Err(_) => Entry::Row { block, sort: Vec::new(), row: Vec::new(), values: Vec::new() },
                }
            }
        };
        Some(table.cells(collection, &entry))
    }

    fn ensure(&self, key: &[u8], whole: bool) -> Result<(), RunError> {
        let Some(id) = self.collection(key) else { return Ok(()) };
        let all = (id.index(), None);
        if self.blocks.borrow().contains(&all) {
            return Ok(());
        }
        let Some(cells) = self.cells(id, key).filter(|_| key.len() > 4 || self.is_one_block(id)) else {
            let name = &self.layout.table(id).unwrap().name;
            return Err(RunError::Store(format!("no step prints the read of all of {name}")));
        };
        self.need(id, &cells, whole.then_some(cells.as_slice()))
    }

    fn is_one_block(&self, id: CollectionId) -> bool {
        self.schema.design.collections[id].block_key.is_empty()
    }
}

fn values(terms: &[Term]) -> Vec<Value> {
    terms.iter().map(|term| term.value.clone().unwrap_or(Value::Null)).collect()
}

fn block_cells(table: &Table, cells: &[Value]) -> Vec<Value> {
    let block = table.columns.iter().zip(cells);
    block.filter(|(column, _)| column.place == Place::Block).map(|(_, cell)| cell.clone()).collect()
}

/// Those that are slots get the values of their columns.
fn slots_filled(terms: &[Term], cells: &[Value]) -> Vec<Term> {
    let one = |term: &Term| match term.value {
        None => filled(std::slice::from_ref(term), cells).remove(0),
        Some(_) => term.clone(),
    };
    terms.iter().map(one).collect()
}

/// Whether terms have the values that are asked for.
fn terms_agree(terms: &[Term], cells: &[Value]) -> bool {
    terms.iter().all(|term| term.value.as_ref() == term.column.and_then(|at| cells.get(at)))
}

fn filled(terms: &[Term], cells: &[Value]) -> Vec<Term> {
    let one = |term: &Term| Term { value: term.column.and_then(|at| cells.get(at)).cloned(), ..term.clone() };
    terms.iter().map(one).collect()
}

impl Keyspace for Printed<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        self.ensure(key, true)?;
        Ok(self.read.borrow().get(key).cloned())
    }

    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError> {
        self.ensure(from, false)?;
        let read = self.read.borrow().clone();
        read.scan(from, to, backwards, visit)
    }

    fn block(&self, block: Block<'_>, visit: &mut Visit<'_>) -> Result<(), RunError> {
        self.ensure(block.system, false)?;
        let read = self.read.borrow().clone();
        read.scan(block.from, block.to, false, visit)
    }
}

/// The record's collection.
pub(crate) fn table_of(record: &Sample) -> CollectionId {
    let (Sample::Row { table, .. } | Sample::Block { table, .. }) = record;
    *table
}
