//! A program of a write with all its slots filled: from what the engine says that the write changes, as somebody would
//! who runs it by hand. What differs and has no change in the program is a mistake of the program.

use askloom_engine::driver::MemoryDriver;
use askloom_engine::source::BlockState;
use askloom_engine::{BlockAfter, Changes, RecordKey, RowContent, Schema};
use askloom_model::{AccessPath, AccessStep, CollectionId, Identity, Value};
use askloom_plan::layout::{Block, Layout, Table};
use askloom_plan::program::{
    Action, Batch, Change, ChangeKind, EachChange, EntryPath, How, Preconditions, Program, Read, Step, Term,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Before and after.
type Pair<T> = (Option<T>, Option<T>);

/// What a write changes.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    pub(crate) blocks: BTreeMap<(CollectionId, Identity), Pair<Block>>,
    /// By the cells of their keys.
    pub(crate) rows: BTreeMap<(CollectionId, Vec<Value>), Pair<Vec<Value>>>,
}

impl Difference {
    /// Of the state that the changes were worked out from.
    pub(crate) fn new(schema: &Schema, memory: &MemoryDriver, changes: &Changes) -> Self {
        let mut all = Self::default();
        for ((root, identity), after) in &changes.blocks {
            let master = schema.master(*root);
            let block = |state: &BlockState| state.block(schema, master, identity).unwrap();
            let before = memory.look(schema, |source| source.block(*root, identity)).unwrap();
            let after = match after {
                BlockAfter::Stored(stored) => BlockState::Live(Arc::clone(stored)),
                BlockAfter::Deleted(system) => BlockState::Deleted(system.clone()),
            };
            let pair = (block(&before), block(&after));
            if pair.0 != pair.1 {
                all.blocks.insert((master, identity.clone()), pair);
            }
        }
        for (copy, rows) in &changes.rows {
            let (table, collection) = (schema.table(*copy), &schema.design.collections[*copy]);
            let held: BTreeMap<RecordKey, RowContent> = memory.rows(*copy).into_iter().collect();
            for (at, after) in rows.iter().filter(|(at, after)| held.get(at) != after.as_ref()) {
                let cells = |content| table.cells(collection, &at.entry(collection, content));
                let pair = (held.get(at).map(cells), after.as_ref().map(cells));
                let whole = pair.1.as_ref().or(pair.0.as_ref()).unwrap();
                all.rows.insert((*copy, key(table, whole)), pair);
            }
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.rows.is_empty()
    }
}

fn key(table: &Table, cells: &[Value]) -> Vec<Value> {
    let own = table.columns.iter().zip(cells).filter(|(column, _)| column.is_key());
    own.map(|(_, cell)| cell.clone()).collect()
}

pub(crate) struct Bound<'b> {
    pub(crate) layout: &'b Layout,
    pub(crate) difference: &'b Difference,
    /// Of all aggregates.
    pub(crate) versions: Vec<(CollectionId, Vec<Value>, Option<u64>)>,
}

/// Later than any record was put in, whatever the clock says.
pub(crate) const FIRST_STAMP: u64 = 4_000_000_000_000_000;

/// Nothing goes while it is looked at: milliseconds.
pub(crate) const EXPIRES: i64 = 4_000_000_000_000;

impl Bound<'_> {
    pub(crate) fn program(&mut self, program: &Program, number: u32) -> Result<Program, String> {
        let mut steps = Vec::new();
        for step in &program.steps {
            match &step.action {
                // What is repeated for rows, or is asked with what another read gave, says nothing by itself.
                Action::Read(read) if step.each.is_once() && is_known(read) => {
                    self.note(read);
                    steps.push(step.clone());
                }
                Action::Read(_) => {}
                Action::Change(batch) => {
                    let batch = self.batch(batch, number)?;
                    steps.push(Step { action: Action::Change(batch), ..step.clone() });
                }
            }
        }
        Ok(Program { steps, ..program.clone() })
    }

    /// An aggregate that was looked for and is not there.
    fn note(&mut self, read: &Read) {
        let How::Block(terms) = &read.how else { return };
        let values: Vec<Value> = terms.iter().filter_map(|term| term.value.clone()).collect();
        if self.versions.iter().all(|(table, id, _)| *table != read.table || *id != values) {
            self.versions.push((read.table, values, None));
        }
    }

    fn batch(&mut self, batch: &Batch, number: u32) -> Result<Batch, String> {
        let key =
            |table: CollectionId, identity: &Identity| key_cells(self.layout.table(table).unwrap(), identity);
        for (table, identity) in self.difference.blocks.keys() {
            let key = key(*table, identity);
            if self.versions.iter().all(|(of, known, _)| of != table || *known != key) {
                self.versions.push((*table, key, None));
            }
        }
        let mut changes: Vec<Change> = Vec::new();
        for change in &batch.changes {
            for kind in self.kinds(batch, change)? {
                let mut change = Change { kind, each: EachChange::Once, ..change.clone() };
                if let Some(expires) = &mut change.expires {
                    expires.at.value = Some(Value::Int(EXPIRES));
                }
                if !changes.iter().any(|other| is_same(other, &change)) {
                    changes.push(change);
                }
            }
        }
        self.complete(&changes)?;
        let stamp = FIRST_STAMP + u64::from(number);
        let there = self.difference.blocks.iter().filter_map(|((table, id), (before, _))| {
            Some((*table, key(*table, id), before.as_ref()?.entries.keys().cloned().collect()))
        });
        let entries = there.collect();
        let preconditions =
            Preconditions { versions: self.versions.clone(), entries, stamp: Some(stamp), id: None };
        Ok(Batch { changes, level: batch.level, preconditions })
    }

    fn kinds(&self, batch: &Batch, change: &Change) -> Result<Vec<ChangeKind>, String> {
        let rows = self.difference.rows.iter().filter(|((table, _), _)| *table == change.table);
        let rows = rows.map(|(_, pair)| pair);
        match &change.kind {
            ChangeKind::PutRow(terms) => {
                let after = rows.filter_map(|(_, after)| after.as_ref());
                Ok(after.filter_map(|cells| fitted(terms, cells)).map(ChangeKind::PutRow).collect())
            }
            ChangeKind::DropRow(terms) => {
                let gone =
                    rows.filter(|(_, after)| after.is_none()).filter_map(|(before, _)| before.as_ref());
                Ok(gone.filter_map(|cells| fitted(terms, cells)).map(ChangeKind::DropRow).collect())
            }
            ChangeKind::Create(_)
            | ChangeKind::Replace(_)
            | ChangeKind::Set { .. }
            | ChangeKind::Bury { .. }
            | ChangeKind::PutEntry { .. }
            | ChangeKind::DropEntry { .. } => {
                let table = self.layout.table(change.table).unwrap();
                let blocks = self.difference.blocks.iter().filter(|((table, _), _)| *table == change.table);
                let mut kinds = Vec::new();
                for ((_, identity), (before, after)) in blocks {
                    // What follows in other aggregates is not about those that the write itself is about.
                    if !change.each.is_once() && is_written(batch, change.table, &key_cells(table, identity))
                    {
                        continue;
                    }
                    kinds.extend(self.master(change, identity, before.as_ref(), after.as_ref())?);
                }
                Ok(kinds)
            }
        }
    }

    fn master(
        &self,
        change: &Change,
        identity: &Identity,
        before: Option<&Block>,
        after: Option<&Block>,
    ) -> Result<Vec<ChangeKind>, String> {
        let table = self.layout.table(change.table).unwrap();
        let after = after.ok_or("a block that is gone with its version")?;
        let cells = self.layout.block_cells(table, after);
        let own_key = key_cells(table, identity);
        let key = |terms: &[Term]| fitted(terms, &own_key);
        let wrong = |terms: &[Term]| format!("{}: {terms:?} is to be {cells:?}", table.name);
        Ok(match &change.kind {
            ChangeKind::Create(terms) | ChangeKind::Replace(terms) => {
                let mut parts = identity.iter().zip(table.identity_columns());
                let own = parts.all(|(part, at)| {
                    terms.iter().any(|term| term.column == Some(at) && is_open(term, part))
                });
                if !own {
                    return Ok(Vec::new());
                }
                let new = before.is_none();
                let terms = fitted(terms, &cells).ok_or_else(|| wrong(terms))?;
                match &change.kind {
                    ChangeKind::Create(_) if !new => return Err("created, and was there".to_owned()),
                    ChangeKind::Create(_) => vec![ChangeKind::Create(terms)],
                    _replace => vec![ChangeKind::Replace(terms)],
                }
            }
            ChangeKind::Set { key: of, set } => match key(of).filter(|_| after.fields.root.is_some()) {
                Some(key) => {
                    let bound = fitted(set, &cells).ok_or_else(|| wrong(set))?;
                    vec![ChangeKind::Set { key, set: bound }]
                }
                None => Vec::new(),
            },
            ChangeKind::Bury { key: of } => match (key(of), &after.fields.root) {
                (Some(key), None) => vec![ChangeKind::Bury { key }],
                (_, _) => Vec::new(),
            },
            ChangeKind::PutEntry { key: of, path, value } => {
                let Some(key) = key(of) else { return Ok(Vec::new()) };
                let is_new = |(path, value): &(&AccessPath, &Value)| {
                    before.and_then(|before| before.entries.get(*path)) != Some(value)
                };
                let own = after.entries.iter().filter(is_new).filter(|(at, _)| is_in(path, at));
                own.map(|(at, held)| ChangeKind::PutEntry {
                    key: key.clone(),
                    path: known(path, at),
                    value: Term { value: Some(held.clone()), ..value.clone() },
                })
                .collect()
            }
            ChangeKind::DropEntry { key: of, path } => {
                let Some(key) = key(of) else { return Ok(Vec::new()) };
                let gone = before.into_iter().flat_map(|before| before.entries.keys());
                let gone = gone.filter(|at| !after.entries.contains_key(at) && is_in(path, at));
                gone.map(|at| ChangeKind::DropEntry { key: key.clone(), path: known(path, at) }).collect()
            }
            ChangeKind::PutRow(_) | ChangeKind::DropRow(_) => Vec::new(),
        })
    }

    /// Whether everything that differs is changed.
    fn complete(&self, changes: &[Change]) -> Result<(), String> {
        let name = |table: CollectionId| self.layout.table(table).unwrap().name.as_str();
        for ((id, key), (before, after)) in &self.difference.rows {
            let table = self.layout.table(*id).unwrap();
            let whole = after.as_ref().or(before.as_ref()).unwrap();
            let is_it = |change: &Change| match &change.kind {
                ChangeKind::PutRow(terms) => after.is_some() && fitted(terms, whole).as_ref() == Some(terms),
                ChangeKind::DropRow(terms) => after.is_none() && fitted(terms, whole).as_ref() == Some(terms),
                _master => false,
            };
            if !changes.iter().any(|change| change.table == *id && is_it(change)) {
                return Err(format!("no change of {}: {key:?} from {before:?} to {after:?}", table.name));
            }
        }
        for ((id, identity), (before, after)) in &self.difference.blocks {
            let own_key = key_cells(self.layout.table(*id).unwrap(), identity);
            let own: Vec<&ChangeKind> = changes
                .iter()
                .filter(|change| change.table == *id && fitted(change.kind.terms(), &own_key).is_some())
                .map(|change| &change.kind)
                .collect();
            let whole = own.iter().any(|kind| {
                matches!(kind, ChangeKind::Create(_) | ChangeKind::Replace(_) | ChangeKind::Bury { .. })
            });
            if own.is_empty() {
                return Err(format!("no change of {}: {identity:?} from {before:?} to {after:?}", name(*id)));
            }
            let (Some(before), Some(after)) = (before, after) else { continue };
            if whole {
                continue;
            }
            self.members(*id, &own, before, after)?;
        }
        Ok(())
    }

    fn members(
        &self,
        id: CollectionId,
        own: &[&ChangeKind],
        before: &Block,
        after: &Block,
    ) -> Result<(), String> {
        let table = self.layout.table(id).unwrap();
        let (old, new) = (self.layout.block_cells(table, before), self.layout.block_cells(table, after));
        for (at, (old, new)) in old.iter().zip(&new).enumerate().filter(|(_, (old, new))| old != new) {
            let sets = |kind: &&ChangeKind| matches!(kind, ChangeKind::Set { set, .. } if set.iter().any(|term| term.column == Some(at)));
            if !own.iter().any(sets) {
                let member = &table.columns[at].name;
                return Err(format!("{}: `{member}` is not set from {old:?} to {new:?}", table.name));
            }
        }
        let paths = before.entries.keys().chain(after.entries.keys());
        for path in paths.filter(|path| before.entries.get(path) != after.entries.get(path)) {
            let is = |kind: &&ChangeKind| match kind {
                ChangeKind::PutEntry { path: own, .. } | ChangeKind::DropEntry { path: own, .. } => {
                    own.known.as_ref() == Some(path)
                }
                _other => false,
            };
            if !own.iter().any(is) {
                return Err(format!("{}: `{path}` is neither put nor dropped", table.name));
            }
        }
        Ok(())
    }
}

/// The terms with values of their columns. Nothing if one is known to be another.
fn fitted(terms: &[Term], cells: &[Value]) -> Option<Vec<Term>> {
    let one = |term: &Term| {
        let Some(cell) = term.column.and_then(|at| cells.get(at)) else { return Some(term.clone()) };
        match &term.value {
            Some(value) if same(value, cell) => Some(Term { value: Some(cell.clone()), ..term.clone() }),
            Some(_) => None,
            None => Some(Term { value: Some(cell.clone()), ..term.clone() }),
        }
    };
    terms.iter().map(one).collect()
}

/// The cells of a master's key: the components of the identity may be in another order there.
pub(crate) fn key_cells(table: &Table, identity: &Identity) -> Vec<Value> {
    let columns = table.identity_columns();
    let mut cells = vec![Value::Null; columns.iter().max().map_or(0, |last| last + 1)];
    for (&at, part) in columns.iter().zip(identity) {
        cells[at] = part.clone();
    }
    cells
}

fn is_written(batch: &Batch, table: CollectionId, key: &[Value]) -> bool {
    let own = batch.changes.iter().filter(|change| change.table == table && change.each.is_once());
    let is = |change: &Change| {
        let mut parts = key.iter().enumerate();
        parts.all(|(at, part)| {
            change.kind.terms().iter().any(|term| term.column == Some(at) && is_open(term, part))
        })
    };
    own.into_iter().any(is)
}

fn is_open(term: &Term, part: &Value) -> bool {
    term.value.as_ref().is_none_or(|value| same(value, part))
}

/// Several statements of a write may say the same in other words.
fn is_same(one: &Change, other: &Change) -> bool {
    let values = |change: &Change| -> Vec<(Option<usize>, Option<Value>)> {
        change.kind.terms().iter().map(|term| (term.column, term.value.clone())).collect()
    };
    match (&one.kind, &other.kind) {
        (ChangeKind::PutRow(_), ChangeKind::PutRow(_)) | (ChangeKind::DropRow(_), ChangeKind::DropRow(_)) => {
            one.table == other.table && values(one) == values(other)
        }
        (_, _) => one == other,
    }
}

/// A reference of one part and that part are the same to a column.
fn same(value: &Value, cell: &Value) -> bool {
    match (value, cell) {
        (Value::Reference(parts), single) | (single, Value::Reference(parts)) if parts.len() == 1 => {
            *single == parts[0] || value == cell
        }
        (_, _) => value == cell || (value.is_absent() && cell.is_absent()),
    }
}

fn is_known(read: &Read) -> bool {
    match &read.how {
        How::Block(terms) | How::Record(terms) => terms.iter().all(|term| term.value.is_some()),
        How::Range(_) | How::All => false,
    }
}

fn is_in(path: &EntryPath, at: &AccessPath) -> bool {
    let inside = matches!(at.0.first(), Some(AccessStep::Field(name)) if *name == path.list);
    path.known.as_ref().map_or(inside, |known| known == at)
}

fn known(path: &EntryPath, at: &AccessPath) -> EntryPath {
    EntryPath { known: Some(at.clone()), ..path.clone() }
}
