//! Values that a client learns only when it runs a write: the versions that it read, the stamp of the change, the id of
//! the write. A value that is not known is printed as a slot.

use super::{Action, Batch, ChangeKind, How, Program, Term};
use crate::layout::{Layout, Shape};
use askloom_model::{AccessPath, CollectionId, Value};
use uuid::Uuid;

/// The values that a batch is conditional on. The store refuses the batch, or ignores a row of it, if they are outdated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preconditions {
    /// The versions of aggregates that the client read, by collection and id. `None` if there was no aggregate.
    pub versions: Vec<(CollectionId, Vec<Value>, Option<u64>)>,
    /// The entries of such an aggregate that are records of their own.
    pub entries: Vec<(CollectionId, Vec<Value>, Vec<AccessPath>)>,
    /// Microseconds since 1970. Of two writers of a row that follows later, the one with the larger stamp wins.
    pub stamp: Option<u64>,
    /// The store recognises the write by this id if the client sends it again after a lost answer.
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
    /// The version that the write makes, if it is known.
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
        let found = self.preconditions.versions.iter().find(|(of, id, _)| *of == table && is_key(key, id));
        match found {
            None => Version::Slot,
            Some((_, _, None)) => Version::Absent,
            Some((_, _, Some(version))) => Version::Read(*version),
        }
    }

    /// The entries of the aggregate with this key, if they are known.
    #[must_use]
    pub fn entries(&self, table: CollectionId, key: &[Term]) -> Option<&[AccessPath]> {
        let found = self.preconditions.entries.iter().find(|(of, id, _)| *of == table && is_key(key, id));
        found.map(|(_, _, entries)| entries.as_slice())
    }
}

/// An aggregate whose version the result of a program depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Versioned {
    pub table: CollectionId,
    pub id: Vec<Value>,
    /// The program creates it: it has a version only if a former one of the same id was deleted or has expired.
    pub new: bool,
}

impl Program {
    /// The aggregates with known ids that the program reads or changes, each once.
    #[must_use]
    pub fn versioned(&self, layout: &Layout) -> Vec<Versioned> {
        let mut all: Vec<Versioned> = Vec::new();
        let mut add = |table, terms: &[Term], new| {
            let Some(id) = id(layout, table, terms) else { return };
            match all.iter_mut().find(|known| known.table == table && known.id == id) {
                Some(known) => known.new |= new,
                None => all.push(Versioned { table, id, new }),
            }
        };
        for step in self.steps.iter().filter(|step| step.each.is_once()) {
            match &step.action {
                Action::Read(read) => {
                    if let How::Block(terms) = &read.how {
                        add(read.table, terms, false);
                    }
                }
                Action::Change(batch) => {
                    for change in batch.changes.iter().filter(|change| change.each.is_once()) {
                        let new = matches!(change.kind, ChangeKind::Create(_));
                        add(change.table, change.kind.terms(), new);
                    }
                }
            }
        }
        all
    }

    /// Adds values that are known by now to every batch.
    pub fn add_preconditions(&mut self, known: &Preconditions) {
        for batch in self.batches() {
            batch.preconditions.versions.extend(known.versions.iter().cloned());
            batch.preconditions.stamp = known.stamp.or(batch.preconditions.stamp);
            batch.preconditions.id = known.id.or(batch.preconditions.id);
        }
    }

    /// Sets the time when aggregates that it creates expire.
    pub fn expire(&mut self, at: jiff::Timestamp) {
        for batch in self.batches() {
            for expires in batch.changes.iter_mut().filter_map(|change| change.expires.as_mut()) {
                expires.at.value = Some(Value::Timestamp(at));
            }
        }
    }

    fn batches(&mut self) -> impl Iterator<Item = &mut Batch> {
        self.steps.iter_mut().filter_map(|step| match &mut step.action {
            Action::Change(batch) => Some(batch),
            Action::Read(_) => None,
        })
    }
}

/// The id of an aggregate. `None` if a part of it is not known, or for a row of a copy.
fn id(layout: &Layout, table: CollectionId, terms: &[Term]) -> Option<Vec<Value>> {
    let table = layout.table(table).filter(|table| matches!(table.shape, Shape::Master { .. }))?;
    let parts = table.columns.iter().take_while(|column| column.is_key()).count();
    (0..parts).map(|at| terms.iter().find(|term| term.column == Some(at))?.value.clone()).collect()
}

pub(super) fn is_key(terms: &[Term], id: &[Value]) -> bool {
    id.iter().enumerate().all(|(at, part)| {
        terms.iter().any(|term| term.column == Some(at) && term.value.as_ref() == Some(part))
    })
}
