//! What whoever runs a batch knows by then and no statement of the model says: versions that were read, the stamp of the
//! change, the id of the write. What is not known is printed as a slot.

use super::{Batch, Term};
use askloom_model::{AccessPath, CollectionId, Value};
use uuid::Uuid;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// Aggregates that were read: the collection, the id and the version; nothing where there is none.
    pub versions: Vec<(CollectionId, Vec<Value>, Option<u64>)>,
    /// The entries of their own that such an aggregate has.
    pub entries: Vec<(CollectionId, Vec<Value>, Vec<AccessPath>)>,
    /// Microseconds since 1970. Of two writers of a row that follows later, the one with the larger stamp wins.
    pub stamp: Option<u64>,
    /// By which the write is known again after a lost answer.
    pub id: Option<Uuid>,
}

/// The version of an aggregate that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Not known yet.
    Slot,
    /// There was no aggregate.
    Absent,
    Read(u64),
}

impl Version {
    /// The one that the write makes, if it is known.
    #[must_use]
    pub fn next(self) -> Option<u64> {
        match self {
            Self::Slot => None,
            Self::Absent => Some(1),
            Self::Read(version) => Some(version + 1),
        }
    }
}

impl Batch {
    /// The version of the aggregate with this key. Terms of other columns do not matter.
    #[must_use]
    pub fn version(&self, table: CollectionId, key: &[Term]) -> Version {
        let found = self.seen.versions.iter().find(|(of, id, _)| *of == table && is_key(key, id));
        match found {
            None => Version::Slot,
            Some((_, _, None)) => Version::Absent,
            Some((_, _, Some(version))) => Version::Read(*version),
        }
    }

    /// The entries of the aggregate with this key, if they are known.
    #[must_use]
    pub fn entries(&self, table: CollectionId, key: &[Term]) -> Option<&[AccessPath]> {
        let found = self.seen.entries.iter().find(|(of, id, _)| *of == table && is_key(key, id));
        found.map(|(_, _, entries)| entries.as_slice())
    }
}

fn is_key(terms: &[Term], id: &[Value]) -> bool {
    id.iter().enumerate().all(|(at, part)| {
        terms.iter().any(|term| term.column == Some(at) && term.value.as_ref() == Some(part))
    })
}
