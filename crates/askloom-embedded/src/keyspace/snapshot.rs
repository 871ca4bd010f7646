//! A snapshot of the embedded store as a keyspace.

use super::{Keyspace, Visit};
use crate::store::{Direction, Snapshot};
use askloom_engine::RunError;
use std::ops::Bound;

impl Keyspace for Snapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RunError> {
        Ok(Self::get(self, key)?.map(|value| value.to_vec()))
    }

    fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> Result<(), RunError> {
        let direction = if backwards { Direction::Descending } else { Direction::Ascending };
        let bounds = (Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded));
        for entry in self.range(bounds, direction)? {
            let entry = entry?;
            if !visit(&entry.key, &entry.value)? {
                break;
            }
        }
        Ok(())
    }
}
