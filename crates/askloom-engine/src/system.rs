//! The system entry of a master block: what every write of it is conditional on.

use crate::RunError;
use crate::write::Inputs;
use askloom_model::{Identity, Value};
use askloom_plan::ordered_bytes::{decode, encode};
use std::collections::BTreeMap;
use uuid::Uuid;

/// How many write ids a block remembers. An outcome that is asked for later than that is unknown.
const REMEMBERED_WRITES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct System {
    /// Grows with every write of the block, also across delete and re-insert.
    pub version: u64,
    /// Grows when somebody comes to depend on this instance, on stores that cannot check what was read.
    pub epoch: u64,
    /// Microseconds since 1970: when the instance was made.
    pub created: i64,
    /// When it was deleted: the entry stays for a while, so that versions go on from it.
    pub deleted: Option<i64>,
    /// The last writes, newest last: whoever lost an answer finds it here.
    pub writes: Vec<Uuid>,
    /// The next ordinal of each list, by its path in the aggregate.
    pub ordinals: BTreeMap<String, u64>,
    /// Since when part entities that expire are there, by their path in the aggregate.
    pub born: BTreeMap<String, (Identity, i64)>,
}

impl System {
    /// The version grows by the clock too, so that it does where the entry itself was lost.
    pub fn next_version(&mut self, now: jiff::Timestamp) {
        let clock = u64::try_from(now.as_microsecond()).unwrap_or(0);
        self.version = (self.version + 1).max(clock);
    }

    /// Takes note of a write of the block.
    pub fn written(&mut self, inputs: &Inputs) {
        self.next_version(inputs.now);
        if let Some(id) = inputs.id {
            self.remember(id);
        }
    }

    /// What stays of a block when its aggregate is deleted.
    pub fn deleted(self, now: jiff::Timestamp) -> Self {
        let Self { version, epoch, writes, .. } = self;
        Self { version, epoch, writes, deleted: Some(now.as_microsecond()), ..Self::default() }
    }

    pub fn remember(&mut self, write: Uuid) {
        if self.writes.last() != Some(&write) {
            self.writes.push(write);
        }
        let surplus = self.writes.len().saturating_sub(REMEMBERED_WRITES);
        self.writes.drain(..surplus);
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.version.to_be_bytes());
        out.extend(self.epoch.to_be_bytes());
        encode(&Value::Int(self.created), &mut out);
        encode(&self.deleted.map_or(Value::Null, Value::Int), &mut out);
        let writes = self.writes.iter().flat_map(Uuid::as_bytes).copied().collect();
        encode(&Value::Blob(writes), &mut out);
        encode(&Value::Int(i64::try_from(self.ordinals.len()).unwrap_or(i64::MAX)), &mut out);
        for (path, next) in &self.ordinals {
            encode(&Value::Text(path.clone()), &mut out);
            out.extend(next.to_be_bytes());
        }
        for (path, (identity, since)) in &self.born {
            encode(&Value::Text(path.clone()), &mut out);
            encode(&Value::Reference(identity.clone()), &mut out);
            encode(&Value::Int(*since), &mut out);
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, RunError> {
        let mut rest = bytes;
        let (version, epoch) = (number(&mut rest)?, number(&mut rest)?);
        let created = int(&mut rest)?;
        let deleted = match decode(&mut rest)? {
            Value::Null => None,
            Value::Int(at) => Some(at),
            _other => return Err(broken()),
        };
        let Value::Blob(writes) = decode(&mut rest)? else { return Err(broken()) };
        let writes = writes.chunks_exact(16).filter_map(|bytes| Uuid::from_slice(bytes).ok()).collect();
        let mut ordinals = BTreeMap::new();
        for _ in 0..int(&mut rest)? {
            ordinals.insert(text(&mut rest)?, number(&mut rest)?);
        }
        let mut born = BTreeMap::new();
        while !rest.is_empty() {
            let path = text(&mut rest)?;
            let Value::Reference(identity) = decode(&mut rest)? else { return Err(broken()) };
            born.insert(path, (identity, int(&mut rest)?));
        }
        Ok(Self { version, epoch, created, deleted, writes, ordinals, born })
    }
}

fn broken() -> RunError {
    RunError::Corrupted("a system entry is malformed".to_owned())
}

fn number(rest: &mut &[u8]) -> Result<u64, RunError> {
    let (first, left) = rest.split_first_chunk::<8>().ok_or_else(broken)?;
    *rest = left;
    Ok(u64::from_be_bytes(*first))
}

fn int(rest: &mut &[u8]) -> Result<i64, RunError> {
    match decode(rest)? {
        Value::Int(number) => Ok(number),
        _other => Err(broken()),
    }
}

fn text(rest: &mut &[u8]) -> Result<String, RunError> {
    match decode(rest)? {
        Value::Text(text) => Ok(text),
        _other => Err(broken()),
    }
}
