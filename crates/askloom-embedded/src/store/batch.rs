//! What a caller asks for: conditions and changes, and how it is answered. Lengths are checked here, before
//! anything is queued.

use super::{Error, Snapshot};
use std::ops::{Bound, RangeBounds};

/// The longest key, in bytes: what every target with binary keys takes, less room for prefixes.
pub const MAX_KEY: usize = 63 << 10;

/// The longest value, in bytes.
pub const MAX_VALUE: usize = 64 << 20;

/// The most that the keys and values of one batch, conditions included, may have together, in bytes.
pub const MAX_BATCH: usize = 256 << 20;

/// Changes that happen together, if all conditions hold. Changes are applied in the order they are given.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) conditions: Vec<Condition>,
    pub(super) changes: Vec<Change>,
}

/// What must hold of the state that a batch meets.
#[derive(Debug)]
pub enum Condition {
    Absent {
        key: Vec<u8>,
    },
    Present {
        key: Vec<u8>,
    },
    Equals {
        key: Vec<u8>,
        value: Vec<u8>,
    },
    /// The value begins so. A version that leads a value is checked without knowing the rest of it.
    StartsWith {
        key: Vec<u8>,
        start: Vec<u8>,
    },
    /// The key has the value, or is as absent, as in a snapshot: one member of a read set. Values are compared,
    /// not digests of them: exact, cheaper than hashing, and without a copy in the queue.
    Unchanged {
        key: Vec<u8>,
        since: Snapshot,
    },
    /// The range holds the same keys and values as in a snapshot: no phantoms.
    UnchangedRange {
        range: (Bound<Vec<u8>>, Bound<Vec<u8>>),
        since: Snapshot,
    },
}

#[derive(Debug)]
pub(super) enum Change {
    Put { key: Vec<u8>, value: Vec<u8> },
    Delete { key: Vec<u8> },
}

/// How a batch was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a batch may have met a conflict"]
pub enum Outcome {
    /// Written. Positions grow with every batch that changes something, also across restarts; a batch
    /// without changes has the position of the state it was checked against.
    Committed { position: u64 },
    /// Not written, because a condition does not hold.
    Conflict(Conflict),
}

/// The first condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its place among the batch's conditions.
    pub condition: usize,
    /// What its key has instead; of a range, nothing.
    pub found: Option<Vec<u8>>,
}

impl Batch {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn put(mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.changes.push(Change::Put { key: key.into(), value: value.into() });
        self
    }

    /// A key that is absent already may be deleted.
    #[must_use]
    pub fn delete(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.changes.push(Change::Delete { key: key.into() });
        self
    }

    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    #[must_use]
    pub fn when_absent(self, key: impl Into<Vec<u8>>) -> Self {
        self.when(Condition::Absent { key: key.into() })
    }

    #[must_use]
    pub fn when_equal(self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.when(Condition::Equals { key: key.into(), value: value.into() })
    }

    #[must_use]
    pub fn when_starting(self, key: impl Into<Vec<u8>>, start: impl Into<Vec<u8>>) -> Self {
        self.when(Condition::StartsWith { key: key.into(), start: start.into() })
    }

    #[must_use]
    pub fn when_unchanged(self, key: impl Into<Vec<u8>>, since: &Snapshot) -> Self {
        self.when(Condition::Unchanged { key: key.into(), since: since.clone() })
    }

    #[must_use]
    pub fn when_range_unchanged<'k>(self, range: impl RangeBounds<&'k [u8]>, since: &Snapshot) -> Self {
        let own = |bound: Bound<&&[u8]>| bound.map(|key| key.to_vec());
        let range = (own(range.start_bound()), own(range.end_bound()));
        self.when(Condition::UnchangedRange { range, since: since.clone() })
    }

    /// The bytes of all keys and values, if each is within its limit.
    pub(super) fn measure(&self) -> Result<usize, Error> {
        let conditions = self.conditions.iter().map(Condition::measure);
        let changes = self.changes.iter().map(Change::measure);
        let total = conditions.chain(changes).sum::<Result<usize, Error>>()?;
        if total > MAX_BATCH { Err(Error::too_large("a batch", total, MAX_BATCH)) } else { Ok(total) }
    }
}

impl Condition {
    /// The place that is looked at; a range has none.
    pub(super) fn key(&self) -> Option<&[u8]> {
        match self {
            Self::Absent { key }
            | Self::Present { key }
            | Self::Equals { key, .. }
            | Self::StartsWith { key, .. }
            | Self::Unchanged { key, .. } => Some(key),
            Self::UnchangedRange { .. } => None,
        }
    }

    fn measure(&self) -> Result<usize, Error> {
        match self {
            Self::Absent { key } | Self::Present { key } | Self::Unchanged { key, .. } => key_length(key),
            Self::Equals { key, value } | Self::StartsWith { key, start: value } => {
                Ok(key_length(key)? + value_length(value)?)
            }
            // A bound is compared and never stored; it may be empty.
            Self::UnchangedRange { range: (start, end), .. } => Ok(bound_length(start)? + bound_length(end)?),
        }
    }
}

impl Change {
    fn measure(&self) -> Result<usize, Error> {
        match self {
            Self::Put { key, value } => Ok(key_length(key)? + value_length(value)?),
            Self::Delete { key } => key_length(key),
        }
    }
}

fn key_length(key: &[u8]) -> Result<usize, Error> {
    match key.len() {
        0 => Err(Error::empty_key()),
        length if length > MAX_KEY => Err(Error::too_large("a key", length, MAX_KEY)),
        length => Ok(length),
    }
}

fn bound_length(bound: &Bound<Vec<u8>>) -> Result<usize, Error> {
    match bound {
        Bound::Included(key) | Bound::Excluded(key) if !key.is_empty() => key_length(key),
        Bound::Included(_) | Bound::Excluded(_) | Bound::Unbounded => Ok(0),
    }
}

fn value_length(value: &[u8]) -> Result<usize, Error> {
    let length = value.len();
    if length > MAX_VALUE { Err(Error::too_large("a value", length, MAX_VALUE)) } else { Ok(length) }
}
