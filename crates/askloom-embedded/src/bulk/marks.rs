//! How far each file has come, and which of its rows wait for others: kept in the store's own collection, in the same
//! batch as the rows, so that a load goes on where it was ended.

use crate::codec::block_prefix;
use crate::{Keyspace, Puts};
use askloom_engine::RunError;
use askloom_model::Value;
use askloom_plan::ordered_bytes::{decode, encode, prefix_end};
use serde::{Deserialize, Serialize};

/// The number of the store's own collection.
const OWN: u32 = 0;

/// How far a file has come. A file is known by its path and by how it begins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mark {
    /// How many bytes of the file's beginning have the checksum `head`.
    pub head_length: u64,
    pub head: u32,
    /// Everything before is done.
    pub offset: u64,
    pub line: u64,
    pub read: u64,
    pub loaded: u64,
    pub rejected: u64,
}

/// A row that waits for what it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    pub file: String,
    pub start: u64,
    pub line: u64,
}

fn mark_key(file: &str) -> Vec<u8> {
    block_prefix(OWN, &[Value::Text("load".to_owned()), Value::Text(file.to_owned())])
}

fn aside_prefix(file: &str) -> Vec<u8> {
    block_prefix(OWN, &[Value::Text("aside".to_owned()), Value::Text(file.to_owned())])
}

fn aside_key(file: &str, start: u64) -> Vec<u8> {
    let mut key = aside_prefix(file);
    encode(&Value::Int(start.cast_signed()), &mut key);
    key
}

fn broken() -> RunError {
    RunError::Corrupted("a mark of a load cannot be read".to_owned())
}

pub(super) fn read(keyspace: &dyn Keyspace, file: &str) -> Result<Option<Mark>, RunError> {
    let bytes = keyspace.get(&mark_key(file))?;
    bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(|_| broken())).transpose()
}

pub(super) fn put(puts: &mut Puts, file: &str, mark: &Mark) -> Result<(), RunError> {
    let bytes = serde_json::to_vec(mark).map_err(|error| RunError::Store(error.to_string()))?;
    puts.insert(mark_key(file), Some(bytes));
    Ok(())
}

pub(super) fn put_aside(puts: &mut Puts, aside: &Aside) {
    let mut line = Vec::new();
    encode(&Value::Int(aside.line.cast_signed()), &mut line);
    puts.insert(aside_key(&aside.file, aside.start), Some(line));
}

pub(super) fn take_back(puts: &mut Puts, aside: &Aside) {
    puts.insert(aside_key(&aside.file, aside.start), None);
}

/// Some rows of a file that wait, those from an offset on.
pub(super) fn aside(
    keyspace: &dyn Keyspace,
    file: &str,
    from: u64,
    most: usize,
) -> Result<Vec<Aside>, RunError> {
    let prefix = aside_prefix(file);
    let end = prefix_end(&prefix);
    let mut found = Vec::new();
    keyspace.scan(&aside_key(file, from), end.as_deref(), false, &mut |key, value| {
        let start = decode(&mut key.get(prefix.len()..).unwrap_or_default())?;
        let (Value::Int(start), Value::Int(line)) = (start, decode(&mut &*value)?) else {
            return Err(broken());
        };
        let (start, line) = (start.cast_unsigned(), line.cast_unsigned());
        found.push(Aside { file: file.to_owned(), start, line });
        Ok(found.len() < most)
    })?;
    Ok(found)
}

/// Forgets how far a file has come.
pub(super) fn forget(keyspace: &dyn Keyspace, puts: &mut Puts, file: &str) -> Result<(), RunError> {
    puts.insert(mark_key(file), None);
    let prefix = aside_prefix(file);
    let end = prefix_end(&prefix);
    keyspace.scan(&prefix, end.as_deref(), false, &mut |key, _| {
        puts.insert(key.to_vec(), None);
        Ok(true)
    })
}
