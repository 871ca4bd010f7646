//! Rows of HBase as records, and back from what a request gives.

use super::key::split;
use super::schema::{CLASS, HTable, SYSTEM, VERSION};
use super::value::value;
use crate::generate::Sample;
use askloom_model::{AccessPath, Value, ValueError};
use askloom_plan::layout::{Block, Fields, Layout, Table};
use std::collections::BTreeMap;

/// A row as a request gives it: its key, and its cells by column with the family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    pub key: Vec<u8>,
    pub cells: BTreeMap<String, Vec<u8>>,
}

/// The record of a row.
pub fn record(layout: &Layout, own: &HTable, row: &Row) -> Result<Sample, ValueError> {
    let table = layout.table(own.collection).ok_or_else(|| ValueError("no such table".to_owned()))?;
    let mut key = split(table, &row.key)?.into_iter();
    let mut cells = Vec::with_capacity(own.columns.len());
    for column in &own.columns {
        let held = row.cells.get(&column.name);
        cells.push(match held {
            _ if column.of.is_key() => key.next().unwrap_or(Value::Null),
            Some(bytes) => value(layout, &column.of, bytes)?,
            None => Value::Null,
        });
    }
    if own.master {
        return block(layout, own, table, row, &cells)
            .map(|block| Sample::Block { table: own.collection, block: Box::new(block) });
    }
    Ok(Sample::Row { table: own.collection, cells })
}

fn block(
    layout: &Layout,
    own: &HTable,
    table: &Table,
    row: &Row,
    cells: &[Value],
) -> Result<Block, ValueError> {
    let text =
        |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|error| ValueError(error.to_string()));
    let class = row.cells.get(CLASS).map(|bytes| text(bytes)).transpose()?;
    let (identity, root) = layout.root(table, cells, class.as_deref())?;
    let version = row.cells.get(VERSION).and_then(|bytes| <[u8; 8]>::try_from(bytes.as_slice()).ok());
    let mut entries = BTreeMap::new();
    for (name, bytes) in &row.cells {
        let is_member = own.columns.iter().any(|column| column.name == *name);
        let Some(path) = name.strip_prefix("d:").filter(|_| !is_member) else { continue };
        let path: AccessPath = path.parse().map_err(|error| ValueError(format!("{error}")))?;
        let json = serde_json::from_slice(bytes).map_err(|error| ValueError(error.to_string()))?;
        let value = layout.entry_value(table, &path, &json)?;
        entries.insert(path, value);
    }
    let fields = Fields { root: class.map(|_| root) };
    let carried = layout.carried(table, cells, &fields)?;
    Ok(Block {
        identity,
        version: version.map(u64::from_be_bytes).unwrap_or_default(),
        system: row.cells.get(SYSTEM).cloned().unwrap_or_default(),
        fields,
        entries,
        carried,
        expires: None,
    })
}
