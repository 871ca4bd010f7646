//! Hashes as the records that they are.

use super::schema::{CLASS, EXPIRES, GONE, RedisTable, SYSTEM, VERSION};
use super::value::value;
use crate::generate::Sample;
use askloom_model::{AccessPath, Value, ValueError};
use askloom_plan::layout::{Block, Fields, Layout};
use std::collections::{BTreeMap, HashSet};

/// A hash: its fields and what they hold.
pub type Hash = BTreeMap<Vec<u8>, Vec<u8>>;

impl RedisTable {
    /// The record that a hash is. Nothing for a hash without fields, which is none, and for what is left of a deleted row.
    pub fn record(&self, layout: &Layout, hash: &Hash) -> Result<Option<Sample>, ValueError> {
        if hash.is_empty() || (self.stamped && hash.contains_key(GONE.as_bytes())) {
            return Ok(None);
        }
        let cells = self.cells(layout, hash)?;
        if !self.kind.is_of_aggregates() {
            return Ok(Some(Sample::Row { table: self.collection, cells }));
        }
        self.block(layout, hash, &cells)
            .map(|block| Some(Sample::Block { table: self.collection, block: Box::new(block) }))
    }

    fn cells(&self, layout: &Layout, hash: &Hash) -> Result<Vec<Value>, ValueError> {
        let cells = self.columns.iter().map(|column| match hash.get(column.field.as_bytes()) {
            Some(bytes) => value(layout, &column.of, bytes),
            None => Ok(Value::Null),
        });
        cells.collect()
    }

    fn block(&self, layout: &Layout, hash: &Hash, cells: &[Value]) -> Result<Block, ValueError> {
        let table = layout.table(self.collection).ok_or_else(|| ValueError("no such table".to_owned()))?;
        let class = hash.get(CLASS.as_bytes()).map(|name| text(name)).transpose()?;
        let (identity, root) = layout.root(table, cells, class)?;
        let version = hash.get(VERSION.as_bytes()).map(|digits| text(digits)).transpose()?;
        let version = version.and_then(|digits| digits.parse().ok());
        let fields = Fields { root: class.map(|_| root) };
        let carried = layout.carried(table, cells, &fields)?;
        let mut block = Block {
            identity,
            version: version.ok_or_else(|| ValueError("an aggregate without its version".to_owned()))?,
            system: hash.get(SYSTEM.as_bytes()).cloned().unwrap_or_default(),
            fields,
            entries: BTreeMap::new(),
            carried,
            expires: None,
        };
        let own =
            self.columns.iter().map(|column| column.field.as_str()).chain([VERSION, SYSTEM, CLASS, EXPIRES]);
        let own: HashSet<&[u8]> = own.map(str::as_bytes).collect();
        for (name, held) in hash.iter().filter(|(name, _)| !own.contains(name.as_slice())) {
            let path: AccessPath = text(name)?.parse().map_err(|error| ValueError(format!("{error}")))?;
            let json = serde_json::from_str(text(held)?).map_err(|error| ValueError(error.to_string()))?;
            let value = layout.entry_value(table, &path, &json)?;
            block.entries.insert(path, value);
        }
        Ok(block)
    }
}

fn text(bytes: &[u8]) -> Result<&str, ValueError> {
    std::str::from_utf8(bytes).map_err(|error| ValueError(error.to_string()))
}
