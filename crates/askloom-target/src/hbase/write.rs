//! Changes as mutations of rows.
//!
//! An aggregate is one row: all of it changes in one checkAndMutate, under the condition that its version is the one that
//! was read. Rows of copies follow, each at once, with the stamp of the change as the timestamp of its cells.
//!
//! What goes, goes up to the timestamp before the one of what comes: a delete hides puts of its own timestamp whichever
//! came first, so that a row that is dropped and put again in one write would be lost.

use super::key::Key;
use super::read::key;
use super::schema::{CLASS, DATA, HColumn, HTable, MARKER, SYSTEM, VERSION};
use super::value::{Cell, Packing, cell, packing};
use crate::generate::Sample;
use askloom_model::{Id, Value};
use askloom_plan::layout::{Layout, Table};
use askloom_plan::program::{Batch, Change, ChangeKind, EachChange, Expires, Term, Version};

/// A change of one row, at once, as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    pub table: String,
    pub row: Key,
    pub check: Check,
    /// The timestamp of what is put. What is deleted goes up to the one before.
    pub at: Bound,
    /// By column, with its family.
    pub put: Vec<(String, Bound)>,
    /// Columns, or whole families.
    pub delete: Vec<String>,
    /// How long the server keeps what is put, but for the version, in milliseconds from now.
    pub ttl_ms: Option<u64>,
}

/// What must be so before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Nothing,
    /// There is no version.
    Absent,
    /// The version is the one that was read.
    Version(Option<u64>),
}

/// A value, or a slot until it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    Slot(String, Packing),
    Cell(Cell),
}

/// A mutation with what it is repeated for.
pub type Repeated = (EachChange, Mutation);

const STAMP: &str = "stamp";
const NEXT: &str = "version+1";

/// The mutations of a batch, in their order: aggregates first.
#[must_use]
pub fn mutations(layout: &Layout, tables: &[HTable], batch: &Batch) -> Vec<Repeated> {
    let mut masters: Vec<Repeated> = Vec::new();
    let mut copies: Vec<Repeated> = Vec::new();
    for change in &batch.changes {
        let (Some(own), Some(table)) = (tables.get(change.table.index()), layout.table(change.table)) else {
            continue;
        };
        if !own.master {
            copies.extend(copy(layout, own, table, batch, change).map(|mutation| (change.each, mutation)));
            continue;
        }
        let Some(mut mutation) = master(layout, own, table, batch, change) else { continue };
        mutation.ttl_ms = ttl_ms(layout, table, change);
        let same = |(each, other): &&mut Repeated| {
            *each == change.each && other.table == mutation.table && other.row == mutation.row
        };
        match masters.iter_mut().find(same) {
            Some((_, other)) => other.join(mutation),
            None => masters.push((change.each, mutation)),
        }
    }
    masters.into_iter().chain(copies).collect()
}

/// How long the server keeps what a change puts into an aggregate that expires.
fn ttl_ms(layout: &Layout, table: &Table, change: &Change) -> Option<u64> {
    match &change.expires {
        Some(expires) => expires.kept_ms(),
        None => layout.kept_ms(table),
    }
}

impl Mutation {
    fn new(own: &HTable, row: Key, at: Bound) -> Self {
        let table = own.name.clone();
        Self { table, row, check: Check::Nothing, at, put: Vec::new(), delete: Vec::new(), ttl_ms: None }
    }

    /// Another change of the same row.
    pub(super) fn join(&mut self, other: Self) {
        if self.check == Check::Nothing {
            self.check = other.check;
            self.at = other.at;
        }
        self.ttl_ms = self.ttl_ms.max(other.ttl_ms);
        for (column, bound) in other.put {
            self.delete.retain(|gone| *gone != column);
            match self.put.iter_mut().find(|(name, _)| *name == column) {
                Some((_, before)) => *before = bound,
                None => self.put.push((column, bound)),
            }
        }
        for column in other.delete {
            let there = self.put.iter().any(|(name, _)| *name == column) || self.delete.contains(&column);
            if !there {
                self.delete.push(column);
            }
        }
    }

    /// A cell, or no cell where the value is null.
    fn set(&mut self, layout: &Layout, column: &HColumn, term: &Term) {
        match &term.value {
            None => {
                self.put.push((column.name.clone(), Bound::Slot(term.name.to_string(), packing(&column.of))))
            }
            Some(value) => match cell(layout, &column.of, value) {
                Some(cell) => self.put.push((column.name.clone(), Bound::Cell(cell))),
                None => self.delete.push(column.name.clone()),
            },
        }
    }

    fn set_all(&mut self, layout: &Layout, own: &HTable, terms: &[Term]) {
        for term in terms {
            let column = term.column.and_then(|index| own.columns.get(index));
            if let Some(column) = column.filter(|column| !column.of.is_key()) {
                self.set(layout, column, term);
            }
        }
    }

    fn version(&mut self, bound: Bound) {
        self.put.insert(0, (VERSION.to_owned(), bound));
    }
}

fn long(name: &str) -> Bound {
    Bound::Slot(name.to_owned(), Packing::Long)
}

fn known(number: u64) -> Bound {
    Bound::Cell(Cell::Long(i64::try_from(number).unwrap_or(i64::MAX)))
}

/// A version or a stamp, or its slot.
fn counted(number: Option<u64>, name: &str) -> Bound {
    number.map_or_else(|| long(name), known)
}

fn master(layout: &Layout, own: &HTable, table: &Table, batch: &Batch, change: &Change) -> Option<Mutation> {
    let version = batch.version(change.table, change.kind.terms());
    let next = || counted(version.next(), NEXT);
    let read = match version {
        Version::Slot => Check::Version(None),
        Version::Absent => Check::Absent,
        Version::Read(version) => Check::Version(Some(version)),
    };
    let of = |terms: &[Term], at| Mutation::new(own, key(table, terms), at);
    let class = || (CLASS.to_owned(), Bound::Cell(Cell::text(layout.name_of(change.class))));
    match &change.kind {
        ChangeKind::Create(cells) => {
            // One that was deleted, or has expired, left its version: what is made now goes on from there.
            if let Version::Read(_) = version {
                let mut mutation = of(cells, next());
                mutation.check = read;
                mutation.put.push(class());
                mutation.set_all(layout, own, cells);
                mutation.version(next());
                return Some(mutation);
            }
            let mut mutation = of(cells, known(1));
            mutation.check = Check::Absent;
            mutation.put.push(class());
            mutation.set_all(layout, own, cells);
            // There is nothing that could go.
            mutation.delete.clear();
            mutation.version(known(1));
            Some(mutation)
        }
        ChangeKind::Replace(cells) => {
            let mut mutation = of(cells, next());
            mutation.check = read;
            mutation.put.push(class());
            mutation.set_all(layout, own, cells);
            mutation.version(next());
            Some(mutation)
        }
        ChangeKind::Set { key, set } => {
            let mut mutation = of(key, next());
            mutation.check = read;
            mutation.set_all(layout, own, set);
            mutation.version(next());
            Some(mutation)
        }
        ChangeKind::Bury { key } => {
            let mut mutation = of(key, next());
            mutation.check = read;
            mutation.delete = vec![DATA.to_owned(), CLASS.to_owned()];
            mutation.version(next());
            Some(mutation)
        }
        ChangeKind::PutEntry { key, path, value } => {
            let mut mutation = of(key, next());
            mutation.put.push((format!("{DATA}:{}", path.text()), element(layout, table, value)));
            Some(mutation)
        }
        ChangeKind::DropEntry { key, path } => {
            let mut mutation = of(key, next());
            mutation.delete.push(format!("{DATA}:{}", path.text()));
            Some(mutation)
        }
        ChangeKind::PutRow(_) | ChangeKind::DropRow(_) => None,
    }
}

fn element(layout: &Layout, table: &Table, value: &Term) -> Bound {
    let column = value.column.and_then(|index| table.columns.get(index));
    match (&value.value, column) {
        (Some(known), Some(column)) => {
            let json = column.tree(&layout.conceptual, known).to_json().to_string();
            Bound::Cell(Cell::text(&json))
        }
        (_, _) => Bound::Slot(value.name.to_string(), Packing::Bytes),
    }
}

fn class_name(layout: &Layout, table: &Table) -> String {
    let root = layout.design.collections[table.collection].source.root;
    layout.conceptual.classes[root].name.clone()
}

fn copy(layout: &Layout, own: &HTable, table: &Table, batch: &Batch, change: &Change) -> Option<Mutation> {
    let stamp = counted(batch.preconditions.stamp, STAMP);
    match &change.kind {
        ChangeKind::PutRow(cells) => {
            let mut mutation = Mutation::new(own, key(table, cells), stamp);
            if own.marked {
                mutation.put.push((MARKER.to_owned(), Bound::Cell(Cell::Bytes(Vec::new()))));
            }
            mutation.set_all(layout, own, cells);
            Some(mutation)
        }
        ChangeKind::DropRow(terms) => {
            let mut mutation = Mutation::new(own, key(table, terms), stamp);
            mutation.delete.push(DATA.to_owned());
            Some(mutation)
        }
        ChangeKind::Create(_)
        | ChangeKind::Replace(_)
        | ChangeKind::Set { .. }
        | ChangeKind::Bury { .. }
        | ChangeKind::PutEntry { .. }
        | ChangeKind::DropEntry { .. } => None,
    }
}

/// The mutation that puts a record in as it stands.
#[must_use]
pub(super) fn sample(layout: &Layout, tables: &[HTable], sample: &Sample) -> Option<Mutation> {
    match sample {
        Sample::Row { table: id, cells } => {
            let (own, table) = (tables.get(id.index())?, layout.table(*id)?);
            let mut mutation = Mutation::new(own, Key::of(super::key::row_key(table, cells)), known(1));
            if own.marked {
                mutation.put.push((MARKER.to_owned(), Bound::Cell(Cell::Bytes(Vec::new()))));
            }
            mutation.put.extend(filled(layout, own, cells));
            Some(mutation)
        }
        Sample::Block { table: id, block } => {
            let (own, table) = (tables.get(id.index())?, layout.table(*id)?);
            let cells = layout.block_cells(table, block);
            let row = Key::of(super::key::row_key(table, &cells));
            let mut mutation = Mutation::new(own, row, known(block.version));
            mutation.ttl_ms = block.expires.as_ref().and_then(Expires::kept_ms);
            mutation.version(known(block.version));
            if !block.system.is_empty() {
                mutation.put.push((SYSTEM.to_owned(), Bound::Cell(Cell::Bytes(block.system.clone()))));
            }
            if block.fields.root.is_some() {
                let name =
                    layout.class_name(table, block).map_or_else(|| class_name(layout, table), str::to_owned);
                mutation.put.push((CLASS.to_owned(), Bound::Cell(Cell::text(&name))));
            }
            mutation.put.extend(filled(layout, own, &cells));
            for (path, value) in &block.entries {
                let json = layout.entry_tree(table, path, value).to_json().to_string();
                mutation.put.push((format!("{DATA}:{path}"), Bound::Cell(Cell::text(&json))));
            }
            Some(mutation)
        }
    }
}

fn filled<'c>(
    layout: &'c Layout,
    own: &'c HTable,
    cells: &'c [Value],
) -> impl Iterator<Item = (String, Bound)> + 'c {
    let pairs = own.columns.iter().zip(cells).filter(|(column, _)| !column.of.is_key());
    pairs.filter_map(|(column, value)| {
        cell(layout, &column.of, value).map(|cell| (column.name.clone(), Bound::Cell(cell)))
    })
}
