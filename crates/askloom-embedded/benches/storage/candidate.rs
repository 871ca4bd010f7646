//! What the comparison asks of an engine. A candidate is one engine with one way to make commits durable.

use std::path::Path;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// One put (`Some`) or delete (`None`).
pub(crate) type Change = (Vec<u8>, Option<Vec<u8>>);

/// The cache that every candidate gets: a twentieth of the full data set.
pub(crate) const CACHE: usize = 256 << 20;

pub(crate) trait Candidate: Sized + Send + Sync + 'static {
    const NAME: &'static str;
    type Snapshot: Snapshot;

    fn open(folder: &Path) -> Outcome<Self>;

    /// All of `changes` or none, on disk when it returns.
    fn commit(&self, changes: Vec<Change>) -> Outcome;

    fn snapshot(&self) -> Outcome<Self::Snapshot>;

    /// Waits for what goes on in the background, so that reads are measured alone.
    fn settle(&self) {}

    /// Whether it merges the commits of several threads by itself.
    const GROUPS: bool = false;

    /// A small commit that builds on what `condition` holds.
    fn commit_on(&self, condition: Vec<u8>, changes: Vec<Change>) -> Outcome {
        self.snapshot()?.get(&condition)?;
        self.commit(changes)
    }
}

pub(crate) trait Snapshot {
    /// The length of the value: it has to be looked at, and need not be copied.
    fn get(&self, key: &[u8]) -> Outcome<Option<usize>>;

    /// How many entries from `start` were read, at most `limit`.
    fn range(&self, start: &[u8], limit: usize) -> Outcome<usize>;
}
