//! Level 3 of keeping copies right: for stores where a write is atomic in one block only.
//!
//! ```text
//!  hint ─► way back ─► swap the master: value, next n, owed ─► refresh each row ─► swap: owed no more ─► hint away
//! ```
//!
//! **Contract.** When no write is in flight and a [sweep](Intents::sweep) has found no hint, every copy holds what its
//! definition says over the masters, and nothing else; whatever crashed, came late, came twice or lost its reply before.
//! A write that was acknowledged is in its master once; one that was refused is not in it.
//!
//! **Non-goals.** A state in between: a row may be old, or under two keys, while a write is on its way.
//!
//! The protocol is written over [`Blocks`], what a store can do with one block, and [`Rows`], what the copies hold, so
//! that a simulator runs the code that ships. Why it is as it is, and what was tried: `docs/decisions/level-three.md`.

mod attempt;
mod block;
mod blocks;
mod delete;
mod fault;
mod finish;
mod follow;
mod recover;
mod refresh;
mod rows;
mod stamped;
mod write;

pub use block::{Anchor, Block, Closing, Hint, Owed, Revision, Terms, WriteId};
pub use blocks::{Blocks, Lost, Swap};
pub use fault::Fault;
pub use rows::{Entries, Found, Known, Need, Rows};
pub use write::{Next, Outcome};

use std::fmt;

/// How rows are brought after their masters. One copy is always refreshed in one way: the stamps of the two are not
/// comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refresh {
    /// Each row has an anchor with a token and its keys. Right for every copy.
    Checked,
    /// Rows are stamped with the sum of their masters' n. Right only where the key of a row hangs on one of its masters
    /// at most, and that one refers to the others.
    Stamped,
}

/// Why a write was not done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Error {
    /// Others were faster, again and again. Nothing was written.
    Conflict,
    /// A checked reference leads to nothing, or to what is being deleted. Nothing was written.
    Missing,
    /// A checked reference still holds what is to be deleted. Nothing was written.
    Refused,
    /// Another has what only one may have: the id of a part, or a unique value. Nothing was written.
    Taken,
    /// The store did not say, and can no longer be asked, whether the write was done.
    Unknown,
    /// What the rows are could not be worked out.
    Rows(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("other writers were faster every time"),
            Self::Missing => f.write_str("a checked reference leads to nothing"),
            Self::Refused => f.write_str("a checked reference still refers to it"),
            Self::Taken => f.write_str("another has an id or a value that only one may have"),
            Self::Unknown => {
                f.write_str("the store did not say whether the write was done; it may have been")
            }
            Self::Rows(why) => write!(f, "the rows of a copy cannot be worked out: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// The protocol over one store.
pub struct Intents<'i, B, R> {
    pub blocks: &'i B,
    pub rows: &'i R,
    /// Microseconds since 1970. It may go backwards: the protocol never depends on it.
    pub clock: &'i (dyn Fn() -> u64 + Sync + 'i),
    pub refresh: Refresh,
    /// What to do wrong, for tests of the tests.
    pub fault: Option<Fault>,
}

impl<B, R> fmt::Debug for Intents<'_, B, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intents").field("refresh", &self.refresh).finish_non_exhaustive()
    }
}

/// How often something is tried before others are said to be faster.
const ATTEMPTS: usize = 32;

impl<B, R> Intents<'_, B, R> {
    fn does(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Grows whatever the clock says.
    fn after(&self, number: u64) -> u64 {
        (number + 1).max((self.clock)())
    }
}

/// Does something that may be done twice until its reply comes.
async fn insist<X, F: Future<Output = Result<X, Lost>>>(mut act: impl FnMut() -> F) -> Result<X, Error> {
    for _ in 0..ATTEMPTS {
        if let Ok(done) = act().await {
            return Ok(done);
        }
    }
    Err(Error::Unknown)
}
