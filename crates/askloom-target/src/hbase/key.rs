//! Row keys: the values of the key's columns one behind the other, as bytes that sort as the values do. A column that
//! descends has every byte inverted.

use askloom_model::{Value, ValueError};
use askloom_plan::layout::{Place, Table};
use askloom_plan::ordered_bytes::{decode, encode, encode_descending, prefix_end};
use askloom_plan::program::Term;

/// Of a row key, in bytes.
pub const LONGEST: usize = 32_767;

/// A row key, or the first part of one. Values may still be slots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Key {
    pub parts: Vec<Part>,
    /// Stands for the first key behind all that start with it.
    pub after: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Bytes(Vec<u8>),
    Slot(Slot),
}

/// The bytes of a value that is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    pub name: String,
    pub descending: bool,
    /// Without the mark of the end: all texts that start so have these bytes.
    pub prefix: bool,
}

impl Key {
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { parts: vec![Part::Bytes(bytes)], after: false }
    }

    /// The bytes, if every value is known.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(&[]),
            [Part::Bytes(bytes)] if !self.after => Some(bytes),
            _several => None,
        }
    }

    pub(super) fn push(&mut self, column: usize, table: &Table, term: &Term) {
        let descending = table.columns.get(column).is_some_and(|own| is_descending(own.place));
        match &term.value {
            Some(value) => self.extend(&value_bytes(value, descending)),
            None => {
                let slot = Slot { name: term.name.to_string(), descending, prefix: false };
                self.parts.push(Part::Slot(slot));
            }
        }
    }

    /// The texts that start with one.
    pub(super) fn push_prefix(&mut self, descending: bool, term: &Term) {
        const END_MARK: usize = 2;
        match &term.value {
            Some(text) => {
                let mut bytes = value_bytes(text, descending);
                bytes.truncate(bytes.len().saturating_sub(END_MARK));
                self.extend(&bytes);
            }
            None => {
                self.parts.push(Part::Slot(Slot { name: term.name.to_string(), descending, prefix: true }));
            }
        }
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        match self.parts.last_mut() {
            Some(Part::Bytes(last)) => last.extend(bytes),
            Some(Part::Slot(_)) | None => self.parts.push(Part::Bytes(bytes.to_vec())),
        }
    }

    /// The first key behind all that start with this one. Nothing if there is none.
    pub(super) fn end(self) -> Option<Self> {
        match self.bytes() {
            Some(bytes) => prefix_end(bytes).map(Self::of),
            None => Some(Self { after: true, ..self }),
        }
    }
}

pub(super) fn is_descending(place: Place) -> bool {
    match place {
        Place::Sort { descending } => descending,
        Place::Block | Place::Row | Place::Value => false,
    }
}

pub(super) fn value_bytes(value: &Value, descending: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    // An id of one part is that part.
    let value = match value {
        Value::Reference(parts) if parts.len() == 1 => parts.first().unwrap_or(value),
        _other => value,
    };
    if descending {
        encode_descending(value, &mut bytes);
    } else {
        encode(value, &mut bytes);
    }
    bytes
}

/// The key of a record: its cells are a value for each column of the table.
#[must_use]
pub fn row_key(table: &Table, cells: &[Value]) -> Vec<u8> {
    let own = table.columns.iter().zip(cells).filter(|(column, _)| column.is_key());
    own.flat_map(|(column, value)| value_bytes(value, is_descending(column.place))).collect()
}

/// The values of a row key, in the order of the key's columns.
pub fn split(table: &Table, key: &[u8]) -> Result<Vec<Value>, ValueError> {
    let wrong = || ValueError(format!("this is no row key of {}", table.name));
    let mut rest = key;
    let mut values = Vec::new();
    for column in table.columns.iter().filter(|column| column.is_key()) {
        if is_descending(column.place) {
            let inverted: Vec<u8> = rest.iter().map(|byte| !byte).collect();
            let mut left = inverted.as_slice();
            values.push(decode(&mut left).map_err(|_| wrong())?);
            rest = rest.get(rest.len().saturating_sub(left.len())..).unwrap_or_default();
        } else {
            values.push(decode(&mut rest).map_err(|_| wrong())?);
        }
    }
    if rest.is_empty() { Ok(values) } else { Err(wrong()) }
}
