//! Reading: on the calling thread, from a state that does not change, without waiting for anybody.

use super::Error;
use super::handle::Opened;
use super::tree::Table;
use redb::{AccessGuard, ReadableTable};
use std::fmt;
use std::ops::{Bound, Deref, RangeBounds};
use std::sync::Arc;

/// The keyspace at one position. Cheap to take and to clone. While one is kept, the space of what was
/// replaced since is not used again: keep it for a query, not for a day. The folder is free again when the store
/// is closed and its last snapshot is gone.
#[derive(Clone)]
pub struct Snapshot {
    view: Arc<View>,
    // After the view: redb wants its readers gone before the database.
    opened: Arc<Opened>,
}

pub(super) struct View {
    pub(super) table: Table,
    pub(super) position: u64,
}

/// The way through a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// Bytes of the store, borrowed from its pages: nothing is copied.
pub struct Bytes<'s>(AccessGuard<'s, &'static [u8]>);

#[derive(Debug)]
pub struct Entry<'s> {
    pub key: Bytes<'s>,
    pub value: Bytes<'s>,
}

/// The entries of a range, read as they are asked for: `take(100)` reads a hundred.
pub struct Entries<'s> {
    range: redb::Range<'s, &'static [u8], &'static [u8]>,
    direction: Direction,
}

impl Snapshot {
    pub(super) fn new(opened: Arc<Opened>) -> Self {
        Self { view: opened.view(), opened }
    }

    /// How many batches it holds: those up to this position.
    pub fn position(&self) -> u64 {
        self.view.position
    }

    #[inline]
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes<'_>>, Error> {
        Ok(ReadableTable::get(&self.view.table, key)?.map(Bytes))
    }

    /// The entries within `bounds`. Bounds that exclude each other hold none.
    pub fn range<'k>(
        &self,
        bounds: impl RangeBounds<&'k [u8]>,
        direction: Direction,
    ) -> Result<Entries<'_>, Error> {
        let bounds = (bounds.start_bound().cloned(), bounds.end_bound().cloned());
        Ok(Entries { range: range(&self.view.table, bounds)?, direction })
    }

    /// The entries whose keys begin with `prefix`.
    pub fn prefix(&self, prefix: &[u8], direction: Direction) -> Result<Entries<'_>, Error> {
        let end = after_prefix(prefix);
        let end = end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(end.as_slice()));
        self.range((Bound::Included(prefix), end), direction)
    }

    pub(super) fn is_of(&self, opened: &Arc<Opened>) -> bool {
        Arc::ptr_eq(&self.opened, opened)
    }

    pub(super) fn table(&self) -> &Table {
        &self.view.table
    }
}

pub(super) type Bounds<'k> = (Bound<&'k [u8]>, Bound<&'k [u8]>);

pub(super) fn range<'t>(
    table: &'t impl ReadableTable<&'static [u8], &'static [u8]>,
    bounds: Bounds<'_>,
) -> Result<redb::Range<'t, &'static [u8], &'static [u8]>, Error> {
    Ok(table.range::<&[u8]>(bounds)?)
}

/// The first key after all that begin with `prefix`; `None` if that is the end of the keyspace.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix.get(..=last)?.to_vec();
    *end.last_mut()? += 1;
    Some(end)
}

impl<'s> Iterator for Entries<'s> {
    type Item = Result<Entry<'s>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let entry = match self.direction {
            Direction::Ascending => self.range.next(),
            Direction::Descending => self.range.next_back(),
        };
        match entry {
            Some(Ok((key, value))) => Some(Ok(Entry { key: Bytes(key), value: Bytes(value) })),
            Some(Err(error)) => Some(Err(error.into())),
            None => None,
        }
    }
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.value()
    }
}

impl AsRef<[u8]> for Bytes<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.escape_ascii())
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("position", &self.position()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("direction", &self.direction).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_where_its_last_byte_can_grow() {
        assert_eq!(after_prefix(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(after_prefix(&[1, 0xff, 0xff]), Some(vec![2]));
        assert_eq!(after_prefix(&[0xff]), None);
        assert_eq!(after_prefix(b""), None);
    }
}
