//! The embedded store, byte level: one ordered keyspace of bytes in a folder, for data sets larger than memory.
//!
//! ```text
//!  threads ──Batch──► bounded queue ──► committer: validate, merge, log, sync once ──► answers
//!     ▲                                     │
//!     └────── Snapshot (no queue, no lock) ◄┴─ publishes the new state
//! ```
//!
//! **Contract.** A batch is applied completely or not at all. When it is answered with
//! [`Outcome::Committed`], it survives what [`Durability`] names. Batches have one order; each is validated
//! against the state that all before it have left. A snapshot never changes and sees every batch that was
//! answered before it was taken. A folder belongs to one [`Store`] at a time.
//!
//! **Non-goals.** Collections, blocks, entries, versions: this level knows keys and values. No transactions that
//! stay open: a reader collects what it read as [`Condition`]s of its batch. No access from several processes.
//!
//! Why it stands on redb behind a log of its own: `docs/decisions/embedded-engine.md`.

mod batch;
mod committer;
mod disk;
mod error;
mod folder;
mod log;
mod snapshot;
mod store;
mod tree;

#[cfg(test)]
mod power_loss;

pub use batch::{Batch, Condition, Conflict, MAX_BATCH, MAX_KEY, MAX_VALUE, Outcome};
pub use error::Error;
pub use snapshot::{Bytes, Direction, Entries, Entry, Snapshot};
pub use store::{Durability, Options, Store};
