//! Entries of copies as records, and back.

use super::{Column, Field, Holds, Parts, Shape, Table};
use crate::ordered_bytes::{decode, encode};
use crate::program::Term;
use crate::tree::{Tree, tree, value_from_json};
use askloom_model::{Collection, Conceptual, Id, PositionId, Value, ValueError, from_json};
use serde_json::Value as Json;

/// An entry of a copy, as the executor has it.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    Row {
        block: Vec<Value>,
        sort: Vec<Value>,
        /// For each position, what identifies it.
        row: Vec<Value>,
        values: Vec<Value>,
    },
    Node {
        block: Vec<Value>,
        position: PositionId,
        /// From the root to the node.
        chain: Vec<Value>,
        /// Of the paths that start at it.
        values: Vec<Value>,
        whole: Option<Value>,
    },
}

impl Table {
    /// The record of an entry: a value for each column.
    #[must_use]
    pub fn cells(&self, collection: &Collection, entry: &Entry) -> Vec<Value> {
        let mut cells = vec![Value::Null; self.columns.len()];
        match (entry, &self.shape) {
            (Entry::Row { block, sort, row, values }, Shape::Rows(parts)) => {
                self.put(&parts.block, block, &mut cells);
                self.put(&parts.sort, sort, &mut cells);
                self.put(&parts.row, row, &mut cells);
                self.put(&parts.values, values, &mut cells);
            }
            (Entry::Node { block, position, chain, values, whole }, Shape::Nodes(parts)) => {
                self.put(&parts.block, block, &mut cells);
                self.node(collection, parts, *position, (chain, values, whole.as_ref()), &mut cells);
            }
            (Entry::Row { .. } | Entry::Node { .. }, _) => {}
        }
        cells
    }

    /// The terms of a read of one block of a copy.
    #[must_use]
    pub fn block_terms(&self, block: &[Value]) -> Vec<Term> {
        let (Shape::Rows(parts) | Shape::Nodes(parts)) = &self.shape else { return Vec::new() };
        let mut cells = vec![Value::Null; self.columns.len()];
        self.put(&parts.block, block, &mut cells);
        let columns = parts.block.iter().flat_map(|field| &field.columns);
        let cell = |&column: &usize| cells.get(column).cloned().unwrap_or(Value::Null);
        columns.map(|column| Term::known(cell(column), *column)).collect()
    }

    pub(super) fn put(&self, fields: &[Field], values: &[Value], cells: &mut [Value]) {
        for (field, value) in fields.iter().zip(values) {
            let parts = |value: &Value| match value {
                Value::Reference(parts) => parts.clone(),
                single => vec![single.clone()],
            };
            for (&index, part) in field.columns.iter().zip(parts(value)) {
                let (Some(cell), Some(column)) = (cells.get_mut(index), self.columns.get(index)) else {
                    continue;
                };
                *cell = match (&column.holds, part) {
                    (_, Value::Null) => continue,
                    (Holds::Locator, part) => {
                        let mut bytes = Vec::new();
                        encode(&part, &mut bytes);
                        Value::Blob(bytes)
                    }
                    (Holds::Scalar(_) | Holds::Ordinal | Holds::Tree { .. }, part) => part,
                };
            }
        }
    }

    fn node(
        &self,
        collection: &Collection,
        parts: &Parts,
        position: PositionId,
        (chain, values, whole): (&[Value], &[Value], Option<&Value>),
        cells: &mut [Value],
    ) {
        for (&at, identity) in collection.chain(position).iter().zip(chain) {
            if let Some(field) = parts.row.get(at.index()) {
                self.put(std::slice::from_ref(field), std::slice::from_ref(identity), cells);
            }
        }
        let own = collection.fields().iter().zip(&parts.values).filter(|(path, _)| path.position == position);
        for ((_, field), value) in own.zip(values) {
            self.put(std::slice::from_ref(field), std::slice::from_ref(value), cells);
        }
        let held = parts.whole.iter().find(|(at, _)| *at == position);
        if let (Some((_, index)), Some(value)) = (held, whole)
            && let Some(cell) = cells.get_mut(*index)
        {
            *cell = value.clone();
        }
        let key = self.columns.iter().position(|column| column.source == super::Source::Node);
        if let Some(cell) = key.and_then(|index| cells.get_mut(index)) {
            *cell = Value::Text(node_key(position, chain));
        }
    }

    /// The entry of a record.
    pub fn entry(&self, collection: &Collection, cells: &[Value]) -> Result<Entry, ValueError> {
        match &self.shape {
            Shape::Rows(parts) => Ok(Entry::Row {
                block: self.take(&parts.block, cells)?,
                sort: self.take(&parts.sort, cells)?,
                row: self.take(&parts.row, cells)?,
                values: self.take(&parts.values, cells)?,
            }),
            Shape::Nodes(parts) => self.node_entry(collection, parts, cells),
            Shape::Master { .. } => Err(ValueError("a master has blocks, not rows".to_owned())),
        }
    }

    fn node_entry(
        &self,
        collection: &Collection,
        parts: &Parts,
        cells: &[Value],
    ) -> Result<Entry, ValueError> {
        let key = self.columns.iter().position(|column| column.source == super::Source::Node);
        let Some(Value::Text(key)) = key.and_then(|index| cells.get(index)) else {
            return Err(ValueError("a node without its key".to_owned()));
        };
        let number = key.split('/').next().and_then(|number| number.parse().ok());
        let position =
            PositionId::from_index(number.ok_or_else(|| ValueError(format!("`{key}` is no node")))?);
        let rows: Vec<Field> =
            collection.chain(position).iter().filter_map(|at| parts.row.get(at.index())).cloned().collect();
        let own = collection.fields().iter().zip(&parts.values).filter(|(path, _)| path.position == position);
        let values: Vec<Field> = own.map(|(_, field)| field.clone()).collect();
        let whole = parts.whole.iter().find(|(at, _)| *at == position);
        Ok(Entry::Node {
            block: self.take(&parts.block, cells)?,
            position,
            chain: self.take(&rows, cells)?,
            values: self.take(&values, cells)?,
            whole: whole.and_then(|(_, index)| cells.get(*index)).cloned(),
        })
    }

    pub(super) fn take(&self, fields: &[Field], cells: &[Value]) -> Result<Vec<Value>, ValueError> {
        fields.iter().map(|field| self.one(field, cells)).collect()
    }

    fn one(&self, field: &Field, cells: &[Value]) -> Result<Value, ValueError> {
        let mut parts = Vec::with_capacity(field.columns.len());
        for &index in &field.columns {
            let (Some(column), Some(cell)) = (self.columns.get(index), cells.get(index)) else {
                return Err(ValueError("a record with too few values".to_owned()));
            };
            parts.push(match (&column.holds, cell) {
                (Holds::Locator, Value::Blob(bytes)) => {
                    decode(&mut bytes.as_slice()).map_err(|error| ValueError(error.to_string()))?
                }
                (_, cell) => cell.clone(),
            });
        }
        if !field.identity {
            return parts.pop().ok_or_else(|| ValueError("a field without a column".to_owned()));
        }
        if parts.iter().any(Value::is_null) { Ok(Value::Null) } else { Ok(Value::Reference(parts)) }
    }
}

/// What tells a node apart in its block: its position, then the ids above it and its own.
pub(super) fn node_key(position: PositionId, chain: &[Value]) -> String {
    let mut key = position.index().to_string();
    for identity in chain {
        let mut bytes = Vec::new();
        encode(identity, &mut bytes);
        key.push('/');
        key.push_str(&readable(identity, &bytes));
    }
    key
}

/// A plain id of letters and digits as it is; anything else in hexadecimal digits.
fn readable(identity: &Value, bytes: &[u8]) -> String {
    let plain = match identity {
        Value::Reference(parts) => match parts.as_slice() {
            [Value::Text(text)] if !text.is_empty() => Some(format!("'{text}'")),
            [Value::Uuid(id)] => Some(id.to_string()),
            [Value::Int(number)] => Some(number.to_string()),
            _other => None,
        },
        Value::Int(number) => Some(format!("[{number}]")),
        _other => None,
    };
    let safe = |text: &String| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '\'' | '[' | ']' | '_' | '@' | '.'))
            && text.matches('\'').count() != 1
            && text.trim_matches('\'').matches('\'').count() == 0
    };
    plain.filter(safe).unwrap_or_else(|| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("x{digits}")
    })
}

impl Column {
    /// The value of the column as a tree.
    #[must_use]
    pub fn tree(&self, conceptual: &Conceptual, cell: &Value) -> Tree {
        match (&self.holds, cell) {
            (_, Value::Null) => Tree::Nothing,
            (Holds::Tree { of, .. }, cell) => tree(conceptual, of, cell),
            (Holds::Scalar(ty), Value::Reference(parts)) => match parts.as_slice() {
                [only] => Tree::Leaf(only.clone(), ty.clone()),
                _several => Tree::Nothing,
            },
            (Holds::Scalar(ty), cell) => Tree::Leaf(cell.clone(), ty.clone()),
            (Holds::Ordinal, cell) => Tree::Leaf(cell.clone(), askloom_model::Type::Long),
            (Holds::Locator, cell) => Tree::Leaf(cell.clone(), askloom_model::Type::Blob),
        }
    }

    /// The value of the column from the JSON of data files.
    pub fn from_json(&self, conceptual: &Conceptual, json: &Json) -> Result<Value, ValueError> {
        match &self.holds {
            Holds::Tree { of, many } => value_from_json(conceptual, of, *many, json),
            Holds::Scalar(ty) => from_json(json, ty),
            Holds::Ordinal => from_json(json, &askloom_model::Type::Long),
            Holds::Locator => from_json(json, &askloom_model::Type::Blob),
        }
    }
}
