//! Whether a store holds what its design says: every key that follows from the masters, with the right value, and no
//! other key.
//!
//! Masters are read a few at a time, and the entries of each copy are worked out from them anew. A copy with as many
//! entries as it should have, all of them found, has no other; only where the numbers differ, its entries are looked
//! at one by one. Indexes come first, as the rows of other copies are worked out with their help.

mod copies;
mod masters;
mod references;
mod text;
mod unique;

use super::Database;
use super::apply::put;
use crate::Puts;
use crate::codec::block_prefix;
use crate::store::{Batch, Snapshot};
use askloom_engine::RunError;
use askloom_model::Role;
use std::fmt;

/// Aggregates that are looked at together.
const AGGREGATES: usize = 256;

/// What is wrong with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An entry that follows from the masters is not there.
    Missing,
    /// An entry has another value than follows from the masters.
    Wrong,
    /// An entry follows from nothing.
    Extra,
    /// An aggregate cannot be read.
    Unreadable,
    /// A reference that designs rely on leads to nothing.
    Breach,
    /// Two instances have a value that is unique.
    NotUnique,
}

impl Fault {
    /// Whether what is wrong follows from the masters, so that it can be made right.
    #[must_use]
    pub fn is_repairable(self) -> bool {
        match self {
            Self::Missing | Self::Wrong | Self::Extra => true,
            Self::Unreadable | Self::Breach | Self::NotUnique => false,
        }
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Wrong => "wrong",
            Self::Extra => "extra",
            Self::Unreadable => "unreadable",
            Self::Breach => "breach",
            Self::NotUnique => "not unique",
        }
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub fault: Fault,
    pub collection: String,
    /// The key in words.
    pub place: String,
    pub repaired: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} in {}", self.fault.name(), self.place, self.collection)
    }
}

/// What was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    pub aggregates: u64,
    /// Of copies.
    pub entries: u64,
    pub findings: u64,
    pub repaired: u64,
    /// Copies that are still being filled, and were not looked at.
    pub filling: Vec<String>,
}

/// Is told everything that is wrong, as it is found.
pub type Report<'r> = dyn FnMut(Finding) + 'r;

impl Database {
    /// Compares all that is stored with what should be.
    pub fn verify(&self, now: jiff::Timestamp, report: &mut Report<'_>) -> Result<Verified, RunError> {
        Verifier::new(self, now, false, report).run()
    }

    /// The same, and makes right what follows from the masters. Nobody else may write meanwhile, hence the exclusive
    /// borrow.
    pub fn repair(&mut self, now: jiff::Timestamp, report: &mut Report<'_>) -> Result<Verified, RunError> {
        Verifier::new(self, now, true, report).run()
    }
}

struct Verifier<'v, 'r> {
    database: &'v Database,
    now: jiff::Timestamp,
    repairs: bool,
    report: &'v mut Report<'r>,
    verified: Verified,
}

impl<'v, 'r> Verifier<'v, 'r> {
    fn new(database: &'v Database, now: jiff::Timestamp, repairs: bool, report: &'v mut Report<'r>) -> Self {
        let filling = database.filling().map(str::to_owned).collect();
        let verified = Verified { filling, ..Verified::default() };
        Self { database, now, repairs, report, verified }
    }

    fn run(mut self) -> Result<Verified, RunError> {
        let schema = self.database.schema();
        self.unknown()?;
        for (root, master) in schema.masters() {
            self.master(root, master)?;
        }
        let readable = schema.readable();
        for index in [true, false] {
            for id in schema.copies().filter(|id| readable.collections.ids().any(|known| known == *id)) {
                if (schema.design.collections[id].role == Role::Index) == index {
                    self.copy(id)?;
                }
            }
        }
        for (root, master) in schema.masters() {
            self.references(root, master)?;
        }
        self.unique()?;
        Ok(self.verified)
    }

    fn snapshot(&self) -> Snapshot {
        self.database.store().snapshot()
    }

    fn found(&mut self, fault: Fault, collection: &str, place: String) {
        let repaired = self.repairs && fault.is_repairable();
        self.verified.findings += 1;
        self.verified.repaired += u64::from(repaired);
        (self.report)(Finding { fault, collection: collection.to_owned(), place, repaired });
    }

    /// Writes what was found to be right, if that is asked for.
    fn mend(&self, puts: Puts) -> Result<(), RunError> {
        if !self.repairs || puts.is_empty() {
            return Ok(());
        }
        let batch = puts.into_iter().fold(Batch::new(), |batch, (key, value)| match value {
            Some(value) => batch.put(key, value),
            None => batch.delete(key),
        });
        put(self.database.store(), batch)
    }

    /// Keys under numbers that no collection has.
    fn unknown(&mut self) -> Result<(), RunError> {
        let schema = self.database.schema();
        let mut known: Vec<u32> = schema.design.collections.ids().map(|id| schema.number(id)).collect();
        known.push(super::catalogue::OWN);
        known.extend(&self.database.catalogue.dropping);
        known.sort_unstable();
        let mut from = Vec::new();
        for number in known {
            let start = block_prefix(number, &[]);
            self.strangers(&from, Some(&start))?;
            from = askloom_plan::ordered_bytes::prefix_end(&start).unwrap_or(start);
        }
        self.strangers(&from, None)
    }

    fn strangers(&mut self, from: &[u8], to: Option<&[u8]>) -> Result<(), RunError> {
        let snapshot = self.snapshot();
        let mut start = from.to_vec();
        loop {
            let keys = copies::keys(&snapshot, &start, to)?;
            let Some(last) = keys.last() else { return Ok(()) };
            start.clone_from(last);
            start.push(0);
            for key in &keys {
                self.found(Fault::Extra, "no collection", format!("the key {}", text::bytes(key)));
            }
            self.mend(keys.into_iter().map(|key| (key, None)).collect())?;
        }
    }
}
