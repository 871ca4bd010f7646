//! Tables that several classes share: a customer and its purchases in one partition, one Query for either.
//!
//! The sort key says first of which class an item is: `#` the customer, `Purchase#000042` a purchase,
//! `Purchase#000042#lines#000001` a line of it that is an item of its own. So the customer precedes what belongs to it and
//! is one GetItem, and the items of one class are a range.

use super::key::{Order, escaped};
use super::read::{Bound, Test};
use super::schema::{Attribute, DynamoTable, Key, KeyKind, descends, joins, turns};
use super::value::Dynamo;
use crate::shared_tables::together;
use askloom_model::{CollectionId, Id};
use askloom_plan::layout::{Column, Layout, Place, Shared, Table};

/// The sort key of a class in a table of several.
pub(super) fn sort_key(
    layout: &Layout,
    table: &Table,
    shared: &Shared,
    columns: &[&Column],
    name: String,
    ends_in_item: bool,
) -> Key {
    let own = columns.iter().enumerate();
    let own = own.filter(|(_, column)| column.is_key() && column.place != Place::Block);
    // All items of a table have a sort key of one type.
    let joined = together(layout, table).into_iter().all(is_joined);
    Key {
        name,
        kind: if joined { KeyKind::Joined } else { KeyKind::Bytes },
        columns: own.map(|(index, _)| index).collect(),
        order: Order::Kept,
        start: format!("{}{}", escaped(&shared.kind, Order::Kept), super::key::JOIN),
        ends_in_item,
    }
}

/// Whether what orders the items of a class can be a part of a text.
fn is_joined(table: &Table) -> bool {
    let turned = turns(table);
    let mut sorted = table.within();
    sorted.all(|column| {
        !column.optional && (turned || !descends(column)) && column.holds.scalar().is_some_and(joins)
    })
}

impl DynamoTable {
    /// The collection whose table it is: its own, or of several that share one the first.
    pub(super) fn home(&self) -> CollectionId {
        self.shared.unwrap_or(self.collection)
    }

    /// What the sort keys of its items start with, where other classes have other items in the same partitions.
    pub(super) fn own_items(&self) -> Option<(String, Test)> {
        let sort = self.sort.as_ref().filter(|_| self.shared.is_some())?;
        let start = match sort.kind {
            KeyKind::Bytes => Dynamo::B(sort.start.clone().into_bytes()),
            KeyKind::Joined | KeyKind::Plain(_) | KeyKind::Constant | KeyKind::Item => {
                Dynamo::S(sort.start.clone())
            }
        };
        Some((sort.name.clone(), Test::Starts(Bound::Value(start))))
    }

    /// Whether a sort key is one of its items.
    pub(super) fn is_own_key(&self, value: &Dynamo) -> bool {
        let start = self.sort.as_ref().filter(|_| self.shared.is_some()).map_or("", |sort| &sort.start);
        match value {
            Dynamo::S(text) => text.starts_with(start),
            Dynamo::B(bytes) => bytes.starts_with(start.as_bytes()),
            Dynamo::N(_)
            | Dynamo::Bool(_)
            | Dynamo::Null
            | Dynamo::L(_)
            | Dynamo::M(_)
            | Dynamo::Ss(_)
            | Dynamo::Ns(_) => start.is_empty(),
        }
    }
}

/// The tables that are one with a table, that table included.
pub(super) fn group(tables: &[DynamoTable], id: CollectionId) -> impl Iterator<Item = &DynamoTable> {
    let home = tables.get(id.index()).map(DynamoTable::home);
    tables.iter().filter(move |table| Some(table.home()) == home)
}

/// A table has one attribute by which items expire: that of any class in it.
pub(super) fn name_expiry(tables: &mut [DynamoTable]) {
    for at in 0..tables.len() {
        let Some(table) = tables.get(at) else { continue };
        let of = |table: &DynamoTable| table.system.as_ref().and_then(|system| system.expires.clone());
        let goes = group(tables, table.collection).find_map(of);
        if let Some(table) = tables.get_mut(at) {
            table.goes = goes;
        }
    }
}

/// Whether the text of an attribute's name is taken in a table by any class.
pub(super) fn has_attribute(tables: &[DynamoTable], id: CollectionId, name: &str) -> bool {
    group(tables, id).any(|table| {
        let system = table.system.iter().flat_map(|system| [&system.version, &system.rest, &system.class]);
        let keys = table.keys().map(|key| &key.name);
        let names = table.attributes.iter().map(|attribute: &Attribute| &attribute.name);
        let mut all = names.chain(system).chain(keys);
        all.any(|own| own == name)
    })
}
