//! Changes as operations under one major key, which are one transaction.
//!
//! Every write of an aggregate puts the pair `$` on condition that it has the version that was read: two writers of
//! different pairs would not notice each other otherwise. Pairs of copies are under other major keys, and follow.

use super::key::{Component, Key, SYSTEM, key, minor};
use super::schema::{Pairs, Root};
use super::value::{class_name, json, object, system};
use crate::generate::Sample;
use askloom_model::{Id, Value};
use askloom_plan::layout::{Column, Layout, Place, Table};
use askloom_plan::program::{Batch, Change, ChangeKind, EachChange, EntryPath, Term};
use serde_json::Value as Json;

/// A pair that is put or goes, as data.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Put(Key, Held),
    PutIfAbsent(Key, Held),
    /// If the pair has the version that was read.
    PutIfVersion(Key, Held),
    Delete(Key),
    /// Every pair that was read under a key and is not put.
    DeleteOthers(Key),
}

/// What a pair holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Held {
    Json(Json),
    Slot(String),
    /// An object of which some fields are not known yet.
    Object(Vec<(String, Held)>),
}

/// Operations that are one transaction, with what they are repeated for.
pub type Repeated = (EachChange, Vec<Operation>);

const NEXT: &str = "version+1";

/// The transactions of a batch, in their order: aggregates first.
#[must_use]
pub fn transactions(layout: &Layout, all: &[Pairs], batch: &Batch) -> Vec<Repeated> {
    let mut masters: Vec<(Vec<Component>, Vec<Operation>)> = Vec::new();
    let mut copies: Vec<Repeated> = Vec::new();
    for change in &batch.changes {
        let (Some(own), Some(table)) = (all.get(change.table.index()), layout.table(change.table)) else {
            continue;
        };
        let (major, operations) = changed(layout, own, table, change);
        let copied = matches!(change.kind, ChangeKind::PutRow(_) | ChangeKind::DropRow(_));
        if copied {
            copies.push((change.each, operations));
            continue;
        }
        match masters.iter_mut().find(|(other, _)| *other == major) {
            Some((_, before)) => before.extend(operations),
            None => masters.push((major, operations)),
        }
    }
    masters.into_iter().map(|(_, operations)| (EachChange::Once, operations)).chain(copies).collect()
}

fn changed(layout: &Layout, own: &Pairs, table: &Table, change: &Change) -> (Vec<Component>, Vec<Operation>) {
    let of = |terms: &[Term]| key(&own.name, table, terms);
    let next = |class: Option<Held>| {
        let class = class.map(|class| ("class".to_owned(), class));
        let version = ("n".to_owned(), Held::Slot(NEXT.to_owned()));
        Held::Object(class.into_iter().chain([version]).collect())
    };
    let class = layout.name_of(change.class).to_owned();
    let new = || Some(Held::Json(Json::from(class.as_str())));
    // What was read.
    let same = || Some(Held::Slot("class".to_owned()));
    let operations = match &change.kind {
        ChangeKind::Create(cells) => {
            let key = of(cells);
            let first = Held::Json(system(Json::from(1), Some(&class), &[]));
            let mut all = vec![Operation::PutIfAbsent(system_key(&key), first)];
            all.extend(members(layout, own, table, &key, cells));
            all
        }
        ChangeKind::Replace(cells) => {
            let key = of(cells);
            let mut all = vec![Operation::PutIfVersion(system_key(&key), next(new()))];
            all.extend(members(layout, own, table, &key, cells));
            all.push(Operation::DeleteOthers(key));
            all
        }
        ChangeKind::Set { key, set } => {
            let key = of(key);
            let mut all = vec![Operation::PutIfVersion(system_key(&key), next(same()))];
            if !set.is_empty() {
                all.extend(members(layout, own, table, &key, set));
            }
            all
        }
        ChangeKind::Bury { key } => {
            let key = of(key);
            vec![Operation::PutIfVersion(system_key(&key), next(None)), Operation::DeleteOthers(key)]
        }
        ChangeKind::PutEntry { key, path, value } => {
            let column = value.column.and_then(|index| table.columns.get(index));
            let held = held(layout, column, value);
            vec![Operation::Put(of(key).with(place(path)), held)]
        }
        ChangeKind::DropEntry { key, path } => {
            vec![Operation::Delete(of(key).with(place(path)))]
        }
        ChangeKind::PutRow(cells) => vec![Operation::Put(of(cells), row(layout, table, cells))],
        ChangeKind::DropRow(terms) => vec![Operation::Delete(of(terms))],
    };
    let major = operations.first().map(|operation| operation.key().major.clone()).unwrap_or_default();
    (major, operations)
}

impl Operation {
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Put(key, _)
            | Self::PutIfAbsent(key, _)
            | Self::PutIfVersion(key, _)
            | Self::Delete(key)
            | Self::DeleteOthers(key) => key,
        }
    }
}

fn place(path: &EntryPath) -> Vec<Component> {
    path.known.as_ref().map_or_else(|| vec![Component::Text(path.text())], minor)
}

fn system_key(key: &Key) -> Key {
    key.with([Component::Text(SYSTEM.to_owned())])
}

fn held(layout: &Layout, column: Option<&Column>, term: &Term) -> Held {
    match (&term.value, column) {
        (Some(value), Some(column)) => Held::Json(json(layout, column, value)),
        (_, _) => Held::Slot(term.name.to_string()),
    }
}

fn column_of<'t>(table: &'t Table, term: &Term) -> Option<&'t Column> {
    term.column.and_then(|index| table.columns.get(index)).filter(|column| column.place == Place::Value)
}

/// The members of the root: a pair each, or the one pair that has them all.
fn members(layout: &Layout, own: &Pairs, table: &Table, key: &Key, terms: &[Term]) -> Vec<Operation> {
    let set: Vec<(&Column, &Term)> =
        terms.iter().filter_map(|term| Some((column_of(table, term)?, term))).collect();
    if own.root == Root::Together {
        let known: Option<Vec<(&Column, &Value)>> =
            set.iter().map(|(column, term)| Some((*column, term.value.as_ref()?))).collect();
        let whole = set.len() == table.values().count();
        let held = match known.filter(|_| whole) {
            Some(cells) => Held::Json(object(layout, cells)),
            None => Held::Slot(class_name(layout, own, table, None)),
        };
        return vec![Operation::Put(key.clone(), held)];
    }
    let one = |(column, term): (&Column, &Term)| {
        let key = key.with([Component::Text(column.name.clone())]);
        match &term.value {
            Some(Value::Null) => Operation::Delete(key),
            Some(_) | None => Operation::Put(key, held(layout, Some(column), term)),
        }
    };
    set.into_iter().map(one).collect()
}

fn row(layout: &Layout, table: &Table, terms: &[Term]) -> Held {
    let cells: Vec<(&Column, &Term)> =
        terms.iter().filter_map(|term| Some((column_of(table, term)?, term))).collect();
    let known: Option<Vec<(&Column, &Value)>> =
        cells.iter().map(|(column, term)| Some((*column, term.value.as_ref()?))).collect();
    if let Some(known) = known {
        return Held::Json(object(layout, known));
    }
    let field = |(column, term): &(&Column, &Term)| (column.name.clone(), held(layout, Some(column), term));
    Held::Object(cells.iter().map(field).collect())
}

/// The operations that put a record in as it stands, all under one major key.
#[must_use]
pub fn sample(layout: &Layout, all: &[Pairs], sample: &Sample) -> Vec<Operation> {
    let (Sample::Row { table: id, .. } | Sample::Block { table: id, .. }) = sample;
    let (Some(own), Some(table)) = (all.get(id.index()), layout.table(*id)) else { return Vec::new() };
    let terms = |cells: &[Value]| -> Vec<Term> {
        let keyed = cells.iter().enumerate();
        keyed.map(|(index, value)| Term::known(value.clone(), index)).collect()
    };
    match sample {
        Sample::Row { cells, .. } => {
            let terms = terms(cells);
            vec![Operation::Put(key(&own.name, table, &terms), row(layout, table, &terms))]
        }
        Sample::Block { block, .. } => {
            let terms = terms(&layout.block_cells(table, block));
            let key = key(&own.name, table, &terms);
            let class = block.fields.root.as_ref().map(|_| class_name(layout, own, table, Some(block)));
            let held = system(Json::from(block.version), class.as_deref(), &block.system);
            let mut all = vec![Operation::Put(system_key(&key), Held::Json(held))];
            if class.is_some() {
                let filled: Vec<Term> = match own.root {
                    Root::Together => terms,
                    Root::Apart => terms.into_iter().filter(|term| term.value != Some(Value::Null)).collect(),
                };
                all.extend(members(layout, own, table, &key, &filled));
            }
            for (path, value) in &block.entries {
                let json = layout.entry_tree(table, path, value).to_json();
                all.push(Operation::Put(key.with(minor(path)), Held::Json(json)));
            }
            all
        }
    }
}
