//! Which values a store's statements of a write take besides the parameters of the write: versions that were read, the
//! stamp of the change, the time of expiry. A store says per table which of them its statements have.

use super::preconditions::is_key;
use super::{Action, Batch, Change, ChangeKind, How, Program, Read, Version, Versioned};
use crate::layout::Layout;
use askloom_model::{CollectionId, CopyLevel, Id};

/// The values that a store's statements have slots for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteInputs {
    /// Whether a write checks the versions of aggregates that it reads and does not change.
    pub checks_reads: bool,
    /// For each table of the layout, in its order.
    pub tables: Vec<TableInputs>,
}

/// The values that statements have slots for which change the records of one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableInputs {
    /// Whether changes of an aggregate are conditional on the version that was read.
    pub version: bool,
    pub stamp: StampUse,
    pub expiry: ExpiryUse,
}

/// Which changes of a table carry the stamp of the write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StampUse {
    #[default]
    Never,
    /// A new aggregate that expires: the store deletes its version with it, so that the first version is a stamp.
    FirstVersion,
    /// Every change of an aggregate: all its versions are stamps.
    EveryVersion,
    /// Every row of a copy.
    Rows,
    /// Rows of a copy that is changed after its aggregate, not together with it.
    LaggingRows,
}

/// Which records of a table carry the time when they expire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExpiryUse {
    #[default]
    Never,
    Aggregates,
    /// Entries are records of their own, which the store deletes by themselves.
    AggregatesAndEntries,
}

/// The values that the statements of a write still lack.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Needs {
    /// Aggregates whose version is not known yet.
    pub versions: Vec<Versioned>,
    pub stamp: bool,
    pub expires: bool,
}

impl WriteInputs {
    fn of(&self, table: CollectionId) -> TableInputs {
        self.tables.get(table.index()).copied().unwrap_or_default()
    }
}

impl TableInputs {
    /// Whether a change checks the version that was read. A new aggregate has none, and an entry changes together with
    /// its aggregate.
    fn takes_version(self, change: &Change) -> bool {
        let checked = match change.kind {
            ChangeKind::Replace(_) | ChangeKind::Set { .. } | ChangeKind::Bury { .. } => true,
            ChangeKind::Create(_)
            | ChangeKind::PutEntry { .. }
            | ChangeKind::DropEntry { .. }
            | ChangeKind::PutRow(_)
            | ChangeKind::DropRow(_) => false,
        };
        self.version && checked
    }

    fn takes_stamp(self, batch: &Batch, change: &Change) -> bool {
        let is_row = matches!(change.kind, ChangeKind::PutRow(_) | ChangeKind::DropRow(_));
        let is_entry = matches!(change.kind, ChangeKind::PutEntry { .. } | ChangeKind::DropEntry { .. });
        match self.stamp {
            StampUse::Never => false,
            StampUse::FirstVersion => {
                let version = batch.version(change.table, change.kind.terms());
                makes_aggregate(change) && change.expires.is_some() && !matches!(version, Version::Read(_))
            }
            StampUse::EveryVersion => !is_row && !is_entry,
            StampUse::Rows => is_row,
            StampUse::LaggingRows => is_row && batch.level == CopyLevel::Intents,
        }
    }

    fn takes_expiry(self, change: &Change) -> bool {
        match self.expiry {
            ExpiryUse::Never => false,
            ExpiryUse::Aggregates => makes_aggregate(change),
            ExpiryUse::AggregatesAndEntries => {
                makes_aggregate(change) || matches!(change.kind, ChangeKind::PutEntry { .. })
            }
        }
    }
}

fn makes_aggregate(change: &Change) -> bool {
    matches!(change.kind, ChangeKind::Create(_) | ChangeKind::Replace(_))
}

impl Program {
    /// The values that a store's statements of this program still lack. Those that the program knows are not among them.
    #[must_use]
    pub fn needs(&self, layout: &Layout, inputs: &WriteInputs) -> Needs {
        let mut needs = Needs::default();
        for (_, batch) in self.changes() {
            for change in &batch.changes {
                let table = inputs.of(change.table);
                needs.stamp |= batch.preconditions.stamp.is_none() && table.takes_stamp(batch, change);
                let open = change.expires.as_ref().is_some_and(|expires| expires.at.value.is_none());
                needs.expires |= open && table.takes_expiry(change);
            }
        }
        let lacks = |of: &Versioned| !of.new && self.lacks_version(inputs, of);
        needs.versions = self.versioned(layout).into_iter().filter(lacks).collect();
        needs
    }

    /// The batches, each with the index of its step.
    pub(super) fn changes(&self) -> impl Iterator<Item = (usize, &Batch)> {
        self.steps.iter().enumerate().filter_map(|(at, step)| match &step.action {
            Action::Change(batch) => Some((at, batch)),
            Action::Read(_) => None,
        })
    }

    /// Whether some batch checks the version of an aggregate and does not know it.
    fn lacks_version(&self, inputs: &WriteInputs, of: &Versioned) -> bool {
        self.changes().any(|(at, batch)| {
            let changed = batch.changes.iter().any(|change| {
                let same = change.table == of.table && is_key(change.kind.terms(), &of.id);
                same && inputs.of(change.table).takes_version(change)
            });
            let read = inputs.checks_reads && inputs.of(of.table).version && self.reads_before(at, of);
            let known =
                batch.preconditions.versions.iter().any(|(table, id, _)| *table == of.table && *id == of.id);
            (changed || read) && !known
        })
    }

    /// Whether a step before this one reads the aggregate by its id.
    fn reads_before(&self, at: usize, of: &Versioned) -> bool {
        self.steps.iter().take(at).filter(|step| step.each.is_once()).any(|step| match &step.action {
            Action::Read(Read { table, how: How::Block(terms), .. }) => {
                *table == of.table && is_key(terms, &of.id)
            }
            Action::Read(_) | Action::Change(_) => false,
        })
    }
}
