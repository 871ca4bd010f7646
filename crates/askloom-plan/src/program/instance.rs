//! Whether what was done on a store is what a program says, with its slots filled.

use super::{Action, Bounds, Change, ChangeKind, How, Program, Range, Read, Term, ValueFrom};
use askloom_model::CollectionId;

impl Program {
    fn reads(&self) -> impl Iterator<Item = &Read> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Read(read) => Some(read),
            Action::Change(_) => None,
        })
    }

    /// Whether a read that was carried out is one of the program's.
    #[must_use]
    pub fn has_read(&self, done: &Read) -> bool {
        self.reads().any(|read| read.table == done.table && read.how.has_instance(&done.how))
    }

    /// Whether the program reads a table, in whatever way.
    #[must_use]
    pub fn reads_table(&self, table: CollectionId) -> bool {
        self.reads().any(|read| read.table == table)
    }

    /// Whether the program changes aggregates of a table, which it does on the condition that they are as they were.
    #[must_use]
    pub fn changes_aggregates(&self, table: CollectionId) -> bool {
        self.changes()
            .any(|(_, batch)| batch.changes.iter().any(|change| change.table == table && !change.is_row()))
    }

    /// Whether the program puts rows into a copy, or takes rows away.
    #[must_use]
    pub fn changes_rows(&self, table: CollectionId, is_put: bool) -> bool {
        let is_such = |change: &Change| match change.kind {
            ChangeKind::PutRow(_) => is_put,
            ChangeKind::DropRow(_) => !is_put,
            ChangeKind::Create(_)
            | ChangeKind::Replace(_)
            | ChangeKind::Set { .. }
            | ChangeKind::Bury { .. }
            | ChangeKind::PutEntry { .. }
            | ChangeKind::DropEntry { .. } => false,
        };
        self.changes()
            .any(|(_, batch)| batch.changes.iter().any(|change| change.table == table && is_such(change)))
    }

    /// Whether the program gets single records of a table, or all of them.
    #[must_use]
    pub fn gets(&self, table: CollectionId) -> bool {
        self.reads().any(|read| {
            read.table == table
                && match &read.how {
                    How::Block(_) | How::Record(_) | How::All => true,
                    How::Range(_) => false,
                }
        })
    }
}

impl Change {
    fn is_row(&self) -> bool {
        match self.kind {
            ChangeKind::PutRow(_) | ChangeKind::DropRow(_) => true,
            ChangeKind::Create(_)
            | ChangeKind::Replace(_)
            | ChangeKind::Set { .. }
            | ChangeKind::Bury { .. }
            | ChangeKind::PutEntry { .. }
            | ChangeKind::DropEntry { .. } => false,
        }
    }
}

impl How {
    fn has_instance(&self, done: &Self) -> bool {
        match (self, done) {
            (Self::All, Self::All) => true,
            (Self::Block(terms) | Self::Record(terms), Self::Block(done) | Self::Record(done)) => {
                all_are(terms, done)
            }
            (Self::Range(range), Self::Range(done)) => range.has_instance(done),
            (Self::All | Self::Block(_) | Self::Record(_) | Self::Range(_), _) => false,
        }
    }
}

impl Range {
    fn has_instance(&self, done: &Self) -> bool {
        let bounds = match (&self.bounds, &done.bounds) {
            (None, None) => true,
            (Some(bounds), Some(done)) => bounds.has_instance(done),
            (Some(_), None) | (None, Some(_)) => false,
        };
        let limit = match (&self.limit, &done.limit) {
            (None, Some(_)) => false,
            (None | Some(_), None) | (Some(_), Some(_)) => true,
        };
        all_are(&self.block, &done.block)
            && all_are(&self.equal, &done.equal)
            && bounds
            && limit
            && self.backwards == done.backwards
    }
}

impl Bounds {
    fn has_instance(&self, done: &Self) -> bool {
        let side = |own: &Option<(Term, bool)>, done: &Option<(Term, bool)>| match (own, done) {
            // A bound is left out, or rounded and then included, where no value of the column is beyond it.
            (Some(_), None) | (None, None) => true,
            (Some((own, _)), Some((done, _))) => own.is(done),
            (None, Some(_)) => false,
        };
        let prefix = match (&self.prefix, &done.prefix) {
            (None, None) => true,
            (Some(own), Some(done)) => own.is(done),
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.column == done.column && side(&self.low, &done.low) && side(&self.high, &done.high) && prefix
    }
}

fn all_are(terms: &[Term], done: &[Term]) -> bool {
    terms.len() == done.len() && terms.iter().zip(done).all(|(term, done)| term.is(done))
}

impl Term {
    /// Whether a term with its value is this one. What the statement says itself may have become the same value in the
    /// type of the column.
    fn is(&self, done: &Self) -> bool {
        let same = match (self.from, &self.value, &done.value) {
            (ValueFrom::Statement, Some(own), Some(done)) => {
                own == done || std::mem::discriminant(own) != std::mem::discriminant(done)
            }
            (_, _, Some(_)) => true,
            (_, _, None) => false,
        };
        self.column == done.column && same
    }
}
