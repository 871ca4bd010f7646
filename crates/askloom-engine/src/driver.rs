//! The seam of a store: what the engine asks of it, and what it promises.
//!
//! A driver answers reads in batches and applies the changes of a write. It decides nothing: which records are read and
//! written follows from programs, and how a write is made atomic from the driver's [`Isolation`].

mod engine;
mod faulty;
mod memory;

pub use engine::{Clock, Engine, NoClock};
pub use faulty::{Faulty, Misfortune};
pub use memory::{MemoryDriver, Operation};

use crate::source::{Given, Wanted};
use crate::{Changes, Schema};
use std::fmt;
use std::pin::Pin;
use std::time::Duration;
use uuid::Uuid;

/// An answer that comes later.
pub type Reply<'r, T> = Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send + 'r>>;

/// A store as the engine sees it.
///
/// For whoever implements the next one:
/// - `read` answers everything that is wanted, in the same order, from states that are not older than the last write
///   that this driver has answered. One call is one round trip where the store can do that.
/// - `write` applies all changes or none, as far as [`Isolation`] says, and only if its checks hold.
/// - `Err(DriverError::Lost)` means that nobody knows whether a write was done. A write that was surely not done is
///   any other error.
/// - Nothing is retried inside, unless the store makes sure that a write is done once.
pub trait Driver: Send + Sync {
    /// What a transaction of the store checks.
    fn isolation(&self) -> Isolation;

    /// Answers a batch of reads.
    fn read<'r>(&'r self, schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>>;

    /// Applies the changes of a write.
    fn write<'r>(&'r self, schema: &'r Schema, batch: &'r Batch) -> Reply<'r, Written>;
}

/// What a store checks before it applies a batch: what the protocols of writes rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Everything that was read, ranges included.
    Ranges,
    /// Single records that were read. Ranges are read as they were committed, and not checked.
    Records,
    /// Records that are written. A transaction reads one snapshot, and what it only reads is not checked.
    Snapshots,
    /// One block at a time. Changes beside it may be seen, or lost, without the others.
    Blocks,
}

/// The changes of one attempt of a write, and what they were worked out from.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// By which the write is known again after its answer was lost.
    pub write: Uuid,
    pub attempt: u32,
    pub checks: Vec<Check>,
    pub changes: Changes,
}

/// Something that was read, and has to be the same still.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub of: Wanted,
    pub seen: Given,
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    Done,
    /// Nothing was written: something that was read has changed.
    Moved,
}

/// Why a driver has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverError {
    /// The answer was lost, and the write may have been done.
    Lost,
    /// Nothing was done, and it may work later.
    Unavailable(String),
    /// Nothing was done: the store asks for a pause.
    Throttled(Option<Duration>),
    /// Nothing was done: a key, a value or the whole is larger than the store takes.
    TooLarge(String),
    /// The store does not hold what the design says.
    Drift(String),
    /// The store never does this.
    Refused(String),
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("the answer of the store was lost"),
            Self::Unavailable(why) => write!(f, "the store cannot be reached: {why}"),
            Self::Throttled(_) => f.write_str("the store asks for a pause"),
            Self::TooLarge(what) => f.write_str(what),
            Self::Drift(what) => write!(f, "the store does not hold what the design says: {what}"),
            Self::Refused(why) => write!(f, "the store refuses: {why}"),
        }
    }
}

impl std::error::Error for DriverError {}
