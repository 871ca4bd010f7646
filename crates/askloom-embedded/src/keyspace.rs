//! An ordered keyspace as the executor sees it: one consistent state.

pub(crate) mod encode;
mod layered;
mod recorded;
mod records;
mod snapshot;
pub mod write;

pub use layered::{Layered, Puts};
pub use recorded::{Reads, Recorded};
pub use records::KeyspaceRecords;
pub(crate) use records::{decoded, values};

use askloom_engine::RunError;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Is given a key and its value, and says whether to go on.
pub type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<bool, RunError> + 'v;

/// One state of a keyspace. Everything read through one value of this is of the same instant.
pub trait Keyspace {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError>;

    /// Visits the keys from `from` up to but not including `to`, or the other way round, until `visit` says stop.
    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError>;

    /// Visits the entries of one master block. Every write of the block changes its system entry, so whoever keeps
    /// track of reads needs to remember that key alone.
    fn block(&self, block: Block<'_>, visit: &mut Visit<'_>) -> Result<(), RunError> {
        self.scan(block.from, block.to, false, visit)
    }
}

/// The keys of a master block.
#[derive(Debug, Clone, Copy)]
pub struct Block<'b> {
    pub from: &'b [u8],
    pub to: Option<&'b [u8]>,
    pub system: &'b [u8],
}

/// A keyspace in memory, for tests.
pub type Memory = BTreeMap<Vec<u8>, Vec<u8>>;

impl Keyspace for Memory {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        Ok(BTreeMap::get(self, key).cloned())
    }

    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError> {
        if to.is_some_and(|to| to <= from) {
            return Ok(());
        }
        let bounds = (Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded));
        let mut range = self.range::<[u8], _>(bounds);
        while let Some((key, value)) = if backwards { range.next_back() } else { range.next() } {
            if !visit(key, value)? {
                break;
            }
        }
        Ok(())
    }
}
