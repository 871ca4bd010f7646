//! A keyspace with some keys changed: what the statements of a compound write see of those before them.

use super::{Block, Keyspace, Visit};
use askloom_engine::RunError;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Keys and their new values; `None` is a key that is gone.
pub type Puts = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

pub struct Layered<'l> {
    pub base: &'l dyn Keyspace,
    pub puts: &'l Puts,
}

impl std::fmt::Debug for Layered<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Layered").field("puts", &self.puts.len()).finish_non_exhaustive()
    }
}

impl Keyspace for Layered<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        match self.puts.get(key) {
            Some(put) => Ok(put.clone()),
            None => self.base.get(key),
        }
    }

    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError> {
        self.merge(from, to, backwards, visit, &mut |visit| self.base.scan(from, to, backwards, visit))
    }

    fn block(&self, block: Block<'_>, visit: &mut Visit<'_>) -> Result<(), RunError> {
        self.merge(block.from, block.to, false, visit, &mut |visit| self.base.block(block, visit))
    }
}

impl Layered<'_> {
    /// Visits what `read` gives of the base, with the changed keys in their places.
    fn merge(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
        read: &mut dyn FnMut(&mut Visit<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        if to.is_some_and(|to| to <= from) {
            return Ok(());
        }
        let bounds = (Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded));
        let mut range = self.puts.range::<[u8], _>(bounds);
        let mut next = || if backwards { range.next_back() } else { range.next() };
        let mut ahead = next();
        let mut goes_on = true;
        read(&mut |key, value| {
            while let Some((put, new)) = ahead
                && if backwards { put.as_slice() > key } else { put.as_slice() < key }
            {
                ahead = next();
                if let Some(new) = new {
                    goes_on = visit(put, new)?;
                    if !goes_on {
                        return Ok(false);
                    }
                }
            }
            goes_on = match ahead {
                Some((put, new)) if put == key => {
                    ahead = next();
                    match new {
                        Some(new) => visit(key, new)?,
                        None => true,
                    }
                }
                Some(_) | None => visit(key, value)?,
            };
            Ok(goes_on)
        })?;
        while goes_on && let Some((put, new)) = ahead {
            ahead = next();
            if let Some(new) = new {
                goes_on = visit(put, new)?;
            }
        }
        Ok(())
    }
}
