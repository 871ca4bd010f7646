//! Entries of copies by the identities of rows.

use super::nested::whole;
use super::node::{Inner, Node};
use super::path::is_readable;
use super::{Row, Scene};
use crate::source::{EntryAt, Source};
use crate::stop::each;
use crate::{Schema, Stop, Stored};
use askloom_model::{
    Collection, CollectionId, Conceptual, Contents, Id, Path, Position, PositionId, Table, Value,
};
use askloom_plan::layout;
use askloom_plan::program::{FetchedRows, Retrieval};
use std::sync::Arc;

/// The copies of a plan in which a row is found by its own identity.
pub struct Fetcher<'f> {
    source: &'f dyn Source,
    copies: Vec<Fetched<'f>>,
}

impl std::fmt::Debug for Fetcher<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("copies", &self.copies).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Fetched<'f> {
    id: CollectionId,
    collection: &'f Collection,
    /// The query's position for each of the collection's.
    positions: &'f [Option<PositionId>],
    /// The paths of the query that entries give, by their place in them.
    paths: Vec<(Path, usize)>,
}

/// What an entry holds.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    values: Arc<[Value]>,
    whole: Option<Arc<Stored>>,
}

impl<'f> Fetcher<'f> {
    /// Nothing is fetched where instances expire: what a copy has of them may be gone.
    #[must_use]
    pub fn new(source: &'f dyn Source, retrieval: &'f Retrieval) -> Self {
        let schema = source.schema();
        let positions = &retrieval.query.positions;
        let fetches = retrieval.fetches.iter().filter(|_| !schema.expires());
        let copies = fetches.map(|fetch| Fetched::new(schema, positions, fetch)).collect();
        Self { source, copies }
    }

    /// The entry of a row in a copy; in a nested one, that at a position.
    fn entry(&self, copy: &Fetched<'_>, at: PositionId, row: &Row) -> Result<Option<Entry>, Stop> {
        let Some(key) = copy.key(at, row) else { return Ok(None) };
        if let Some((_, known)) = row.fetched.borrow().iter().find(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let place = EntryAt { collection: key.collection, block: &key.block, node: key.node, row: &key.row };
        let found = self.source.entry(&place)?.map(|entry| match entry {
            layout::Entry::Row { values, .. } => Entry { values: values.into(), whole: None },
            layout::Entry::Node { values, whole: held, .. } => {
                Entry { values: values.into(), whole: whole(held) }
            }
        });
        row.fetched.borrow_mut().push((key, found.clone()));
        Ok(found)
    }
}

/// Where the entry of a row is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryPlace {
    collection: CollectionId,
    block: Vec<Value>,
    node: Option<PositionId>,
    row: Vec<Value>,
}

impl<'f> Fetched<'f> {
    fn new(schema: &'f Schema, asked: &Table<PositionId, Position>, fetch: &'f FetchedRows) -> Self {
        let conceptual: &Conceptual = &schema.model.conceptual;
        let collection = &schema.design.collections[fetch.collection];
        let mut copy =
            Self { id: fetch.collection, collection, positions: &fetch.positions, paths: Vec::new() };
        let fields = collection.fields();
        let nested = matches!(collection.contents, Contents::Nested(_));
        for (index, field) in fields.iter().enumerate() {
            let before = fields.iter().take(index).filter(|other| other.position == field.position);
            let at = if nested { before.count() } else { index };
            let Some(&Some(position)) = copy.positions.get(field.position.index()) else { continue };
            let path = Path { position, ..field.clone() };
            if is_readable(conceptual, asked, &path) {
                copy.paths.push((path, at));
            }
        }
        copy
    }

    /// The collection's own position for one of the query's.
    fn own(&self, asked: PositionId) -> Option<PositionId> {
        let mut pairs = self.positions.iter().zip(self.collection.source.positions.ids());
        pairs.find(|(position, _)| **position == Some(asked)).map(|(_, own)| own)
    }

    fn key(&self, at: PositionId, row: &Row) -> Option<EntryPlace> {
        let identity = |own: PositionId| {
            let asked = self.positions.get(own.index()).copied()??;
            Some(row.key(asked).clone())
        };
        let block = self.collection.block_key.iter().map(|field| identity(field.path.position));
        let block: Vec<Value> = block.collect::<Option<_>>()?;
        let own = self.own(at)?;
        let (node, chain) = match self.collection.contents {
            Contents::Nested(_) => (Some(own), self.collection.chain(own)),
            Contents::Aggregate(_) | Contents::Fields(_) => {
                (None, self.collection.source.positions.ids().collect())
            }
        };
        let row = chain.into_iter().map_while(identity).collect();
        Some(EntryPlace { collection: self.id, block, node, row })
    }
}

impl Scene<'_> {
    /// Whether each copy that is looked into and holds only some rows holds this one. The condition of the query is
    /// no wider than those of such copies, so a row without an entry there is not in the answer.
    pub(super) fn is_held(&self, row: &Row) -> Result<bool, Stop> {
        let Some(fetcher) = self.fetcher.filter(|fetcher| !fetcher.copies.is_empty()) else {
            return Ok(true);
        };
        let narrow = fetcher.copies.iter().filter(|copy| copy.collection.source.condition.is_some());
        let held = each(narrow, |copy| {
            let asked = copy.positions.iter().copied().flatten();
            let there = asked.filter(|&position| !row.key(position).is_null());
            let found = each(there, |position| Ok(fetcher.entry(copy, position, row)?.is_some()))?;
            Ok(!found.contains(&false))
        })?;
        Ok(!held.contains(&false))
    }

    /// The value of a path from an entry with the identity of the row. Nothing if no copy has one.
    pub(super) fn fetched(&self, path: &Path, row: &Row) -> Result<Option<Value>, Stop> {
        let Some(fetcher) = self.fetcher else { return Ok(None) };
        for copy in &fetcher.copies {
            let Some((_, at)) = copy.paths.iter().find(|(given, _)| given == path) else { continue };
            if let Some(entry) = fetcher.entry(copy, path.position, row)? {
                return Ok(entry.values.get(*at).cloned());
            }
        }
        Ok(None)
    }

    /// The whole aggregate at a position, likewise.
    pub(super) fn fetched_whole(&self, position: PositionId, row: &Row) -> Result<Option<Node>, Stop> {
        let Some(fetcher) = self.fetcher else { return Ok(None) };
        for copy in &fetcher.copies {
            let held = copy.own(position).filter(|own| copy.collection.whole().contains(own));
            if held.is_none() {
                continue;
            }
            let Some(stored) = fetcher.entry(copy, position, row)?.and_then(|entry| entry.whole) else {
                continue;
            };
            let inner = Inner::root(stored);
            if self.positions[position].class.is_some_and(|class| self.is_a(&inner, class)) {
                return Ok(Some(Node::Record(inner)));
            }
        }
        Ok(None)
    }
}
