//! What was read on the way to a change: if it is still the same when the change is written, so is the change.

use super::{Block, Keyspace, Visit};
use askloom_engine::RunError;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The keys and ranges that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    pub keys: BTreeSet<Vec<u8>>,
    /// From the first key to before the second one, or to the end.
    pub ranges: BTreeSet<(Vec<u8>, Option<Vec<u8>>)>,
}

/// A keyspace that keeps track of what is read from it.
pub struct Recorded<'r> {
    base: &'r dyn Keyspace,
    reads: RefCell<Reads>,
}

impl<'r> Recorded<'r> {
    #[must_use]
    pub fn new(base: &'r dyn Keyspace) -> Self {
        Self { base, reads: RefCell::default() }
    }

    #[must_use]
    pub fn into_reads(self) -> Reads {
        self.reads.into_inner()
    }

    fn remember(&self, key: &[u8]) {
        let mut reads = self.reads.borrow_mut();
        if !reads.keys.contains(key) {
            reads.keys.insert(key.to_vec());
        }
    }
}

impl std::fmt::Debug for Recorded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorded").field("reads", &self.reads).finish_non_exhaustive()
    }
}

impl Keyspace for Recorded<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        self.remember(key);
        self.base.get(key)
    }

    /// A scan that was stopped has read no further than where it was stopped.
    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError> {
        let mut stopped_at: Option<Vec<u8>> = None;
        self.base.scan(from, to, backwards, &mut |key, value| {
            let goes_on = visit(key, value)?;
            if !goes_on {
                stopped_at = Some(key.to_vec());
            }
            Ok(goes_on)
        })?;
        let range = match (stopped_at, backwards) {
            (None, _) => (from.to_vec(), to.map(<[u8]>::to_vec)),
            (Some(key), true) => (key, to.map(<[u8]>::to_vec)),
            (Some(mut key), false) => {
                // The first key after this one.
                key.push(0);
                (from.to_vec(), Some(key))
            }
        };
        self.reads.borrow_mut().ranges.insert(range);
        Ok(())
    }

    fn block(&self, block: Block<'_>, visit: &mut Visit<'_>) -> Result<(), RunError> {
        self.remember(block.system);
        self.base.block(block, visit)
    }
}
