//! A keyspace that remembers which entries were seen.

use askloom_embedded::{Keyspace, Memory, Visit};
use askloom_engine::RunError;
use std::cell::RefCell;
use std::collections::BTreeSet;

pub(super) struct Witness<'w> {
    base: &'w Memory,
    seen: RefCell<BTreeSet<Vec<u8>>>,
}

impl<'w> Witness<'w> {
    pub(super) fn new(base: &'w Memory) -> Self {
        Self { base, seen: RefCell::default() }
    }

    /// The keys of what was read, and was there.
    pub(super) fn into_seen(self) -> BTreeSet<Vec<u8>> {
        self.seen.into_inner()
    }
}

impl Keyspace for Witness<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        let found = Keyspace::get(self.base, key)?;
        if found.is_some() {
            self.seen.borrow_mut().insert(key.to_vec());
        }
        Ok(found)
    }

    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError> {
        self.base.scan(from, to, backwards, &mut |key, value| {
            self.seen.borrow_mut().insert(key.to_vec());
            visit(key, value)
        })
    }
}
