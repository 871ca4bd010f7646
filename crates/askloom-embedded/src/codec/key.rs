//! Where things are in the keyspace.
//!
//! A key is the number of its collection, the block key, the entry key, and for a copy the identity of the row. Numbers
//! are given when a design is applied and kept in the store. The entries of a master's blocks are in `block`.

use askloom_model::{KeyField, Value};
use askloom_plan::ordered_bytes::{DecodeError, decode, decode_descending, encode, encode_descending};

/// All keys of a collection start with this.
pub(super) fn collection_prefix(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

/// A block of a copy, or with no values the whole collection.
#[must_use]
pub fn block_prefix(number: u32, values: &[Value]) -> Vec<u8> {
    let mut key = collection_prefix(number);
    for value in values {
        encode(value, &mut key);
    }
    key
}

/// An entry of a copy: its block, its sorted fields, its row.
#[must_use]
pub fn entry_key<'v>(
    number: u32,
    block: &[Value],
    sort: impl IntoIterator<Item = (&'v Value, bool)>,
    row: &[Value],
) -> Vec<u8> {
    let mut key = block_prefix(number, block);
    for (value, descending) in sort {
        if descending {
            encode_descending(value, &mut key);
        } else {
            encode(value, &mut key);
        }
    }
    for part in row {
        encode(part, &mut key);
    }
    key
}

/// The values that make up the key of an entry of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryKey {
    pub block: Vec<Value>,
    pub fields: Vec<Value>,
    pub row: Vec<Value>,
}

/// Takes the key of an entry apart.
pub fn split_entry(
    key: &[u8],
    block: usize,
    fields: &[KeyField],
    positions: usize,
) -> Result<EntryKey, DecodeError> {
    let mut rest = key.get(4..).ok_or(DecodeError)?;
    let block = (0..block).map(|_| decode(&mut rest)).collect::<Result<Vec<_>, _>>()?;
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        values.push(match field.descending {
            true => decode_descending(&mut rest)?,
            false => decode(&mut rest)?,
        });
    }
    let row = (0..positions).map(|_| decode(&mut rest)).collect::<Result<Vec<_>, _>>()?;
    if rest.is_empty() { Ok(EntryKey { block, fields: values, row }) } else { Err(DecodeError) }
}
