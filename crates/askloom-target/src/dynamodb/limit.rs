//! What DynamoDB would refuse, since it is too large.

use super::item::{Item, items, too_large};
use super::read::{Bound, Cells, Request, request};
use super::schema::DynamoTable;
use super::write::{Write, writes};
use crate::generate::{self, Source};
use askloom_plan::program::{Action, Step};

/// What is refused of all statements and records.
pub(super) fn refused(source: &Source<'_>, tables: &[DynamoTable]) -> Vec<String> {
    let layout = source.layout;
    let step = |step: &Step| match &step.action {
        Action::Read(read) => {
            request(layout, tables, read).map_or_else(Vec::new, |one| of_request(tables, &one))
        }
        Action::Change(batch) => {
            let all = writes(layout, tables, batch);
            all.iter().flat_map(|(_, write)| of_write(tables, write)).collect()
        }
    };
    generate::refused(source, step, |record| {
        let all = items(layout, tables, record);
        all.iter().flat_map(|(name, item)| of_item(tables, name, item)).collect()
    })
}

/// By the table itself, and by the indexes that an item has keys for.
fn of_item(tables: &[DynamoTable], name: &str, item: &Item) -> Vec<String> {
    let of = |table: &&DynamoTable| {
        table.name == name || table.index.as_ref().is_some_and(|index| index.table == name)
    };
    let mut found: Vec<String> =
        tables.iter().filter(of).filter_map(|table| too_large(table, item)).collect();
    found.dedup();
    found
}

/// What is known of some attributes.
fn known<'c>(cells: impl IntoIterator<Item = &'c (String, Bound)>) -> Item {
    let one = |(name, bound): &(String, Bound)| match bound {
        Bound::Value(value) => Some((name.clone(), value.clone())),
        Bound::Slot { .. } => None,
    };
    cells.into_iter().filter_map(one).collect()
}

fn of_write(tables: &[DynamoTable], write: &Write) -> Vec<String> {
    match write {
        Write::Put { table, item, .. } => of_item(tables, table, &known(item)),
        Write::Update { table, key, set, .. } => of_item(tables, table, &known(key.iter().chain(set))),
        Write::Delete { table, key, .. } => of_item(tables, table, &known(key)),
        Write::Transaction { writes, .. } => {
            writes.iter().flat_map(|(_, write)| of_write(tables, write)).collect()
        }
        Write::Batch { table, items } => {
            items.iter().flat_map(|item| of_item(tables, table, &known(item))).collect()
        }
    }
}

fn of_request(tables: &[DynamoTable], request: &Request) -> Vec<String> {
    let of = |table: &str, key: &Cells| of_item(tables, table, &known(key));
    match request {
        Request::Get { table, key } => of(table, key),
        Request::BatchGet { table, keys } => keys.iter().flat_map(|key| of(table, key)).collect(),
        Request::Query { table, partition, .. } => of(table, &vec![partition.clone()]),
        Request::Scan { .. } | Request::Nothing { .. } => Vec::new(),
    }
}
