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
//! ```
//! use askloom_embedded::store::{Batch, Direction, Error, Options, Outcome, Store};
//! # fn main() -> Result<(), Error> {
//! # let folder = std::env::temp_dir().join(format!("askloom-doc-{}", std::process::id()));
//! let store = Store::open(&folder, &Options::default())?;
//! let first = Batch::new().when_absent("game/1/#").put("game/1/#", "v1").put("game/1/round/1", "…");
//! assert!(matches!(store.commit(first)?, Outcome::Committed { .. }));
//!
//! // Two writers build on version 1; whoever comes second is told what is there now.
//! let build = |text: &str| {
//!     Batch::new().when_starting("game/1/#", "v1").put("game/1/#", "v2").put("game/1/round/2", text)
//! };
//! assert!(matches!(store.commit(build("mine"))?, Outcome::Committed { .. }));
//! let Outcome::Conflict(lost) = store.commit(build("yours"))? else { unreachable!() };
//! assert_eq!(lost.found.as_deref(), Some(&b"v2"[..]));
//!
//! let snapshot = store.snapshot();
//! let latest = snapshot.prefix(b"game/1/round/", Direction::Descending)?.next().transpose()?;
//! assert_eq!(latest.map(|entry| entry.value.to_vec()).as_deref(), Some(&b"mine"[..]));
//! # drop((snapshot, store));
//! # let _ = std::fs::remove_dir_all(folder);
//! # Ok(())
//! # }
//! ```
//!
//! Why it stands on redb behind a log of its own: `docs/decisions/embedded-engine.md`.

mod batch;
mod committer;
mod disk;
mod error;
mod folder;
mod handle;
mod log;
mod snapshot;
mod tree;

#[cfg(test)]
mod power_loss;

pub use batch::{Batch, Condition, Conflict, MAX_BATCH, MAX_KEY, MAX_VALUE, Outcome};
pub use error::Error;
pub use handle::{Durability, Options, Store};
pub use snapshot::{Bytes, Direction, Entries, Entry, Snapshot};
