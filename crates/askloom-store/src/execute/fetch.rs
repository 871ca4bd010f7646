//! Entries of copies by the identities of rows.

use super::nested::node;
use super::node::{Inner, Node};
use super::path::is_readable;
use super::{Row, Scene};
use crate::{Keyspace, RunError, Schema, Stored};
use askloom_model::{
    Collection, Conceptual, Contents, Fetch, Id, Path, Plan, Position, PositionId, Table, Value,
};
use askloom_target::embedded::{decode, entry_key, prefix_end};
use std::rc::Rc;

/// The copies of a plan in which a row is found by its own identity.
pub struct Fetcher<'f> {
    schema: &'f Schema,
    keyspace: &'f dyn Keyspace,
    copies: Vec<Fetched<'f>>,
}

impl std::fmt::Debug for Fetcher<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("copies", &self.copies).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Fetched<'f> {
    collection: &'f Collection,
    number: u32,
    /// The query's position for each of the collection's.
    positions: &'f [Option<PositionId>],
    /// The paths of the query that entries give, by their place in them.
    paths: Vec<(Path, usize)>,
}

/// What an entry holds.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    values: Rc<[Value]>,
    whole: Option<Rc<Stored>>,
}

impl<'f> Fetcher<'f> {
    /// Nothing is fetched where instances expire: what a copy has of them may be gone.
    #[must_use]
    pub fn new(
        schema: &'f Schema,
        keyspace: &'f dyn Keyspace,
        positions: &Table<PositionId, Position>,
        plan: &'f Plan,
    ) -> Self {
        let conceptual = &schema.model.conceptual;
        let fetches = plan.fetches.iter().filter(|_| !schema.expires());
        let copies = fetches.map(|fetch| Fetched::new(schema, conceptual, positions, fetch)).collect();
        Self { schema, keyspace, copies }
    }

    /// The entry of a row in a copy; in a nested one, that at a position.
    fn entry(&self, copy: &Fetched<'_>, at: PositionId, row: &Row) -> Result<Option<Entry>, RunError> {
        let Some(key) = copy.key(at, row) else { return Ok(None) };
        if let Some(known) = row.fetched.borrow().get(&key) {
            return Ok(known.clone());
        }
        let mut bytes: Option<Vec<u8>> = None;
        if copy.knows_all() {
            bytes = self.keyspace.get(&key)?;
        } else {
            self.keyspace.scan(&key, prefix_end(&key).as_deref(), false, &mut |_, value| {
                bytes = Some(value.to_vec());
                Ok(false)
            })?;
        }
        let found = match bytes {
            Some(bytes) => Some(copy.decode(self.schema, at, &bytes)?),
            None => None,
        };
        row.fetched.borrow_mut().insert(key, found.clone());
        Ok(found)
    }
}

impl<'f> Fetched<'f> {
    fn new(
        schema: &'f Schema,
        conceptual: &Conceptual,
        asked: &Table<PositionId, Position>,
        fetch: &'f Fetch,
    ) -> Self {
        let collection = &schema.design.collections[fetch.collection];
        let mut copy = Self {
            collection,
            number: schema.number(fetch.collection),
            positions: &fetch.positions,
            paths: Vec::new(),
        };
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

    /// Whether the identity of a row is the whole key of its entry. What is missing at its end has no choice.
    fn knows_all(&self) -> bool {
        matches!(self.collection.contents, Contents::Nested(_)) || self.positions.iter().all(Option::is_some)
    }

    /// The collection's own position for one of the query's.
    fn own(&self, asked: PositionId) -> Option<PositionId> {
        let mut pairs = self.positions.iter().zip(self.collection.source.positions.ids());
        pairs.find(|(position, _)| **position == Some(asked)).map(|(_, own)| own)
    }

    fn key(&self, at: PositionId, row: &Row) -> Option<Vec<u8>> {
        let identity = |own: PositionId| {
            let asked = self.positions.get(own.index()).copied()??;
            row.keys.get(asked.index()).cloned()
        };
        let block: Vec<Value> = self
            .collection
            .block_key
            .iter()
            .map(|field| identity(field.path.position))
            .collect::<Option<_>>()?;
        let own = self.own(at)?;
        let (fields, chain) = match self.collection.contents {
            Contents::Nested(_) => {
                let place = Value::Int(i64::try_from(own.index()).unwrap_or(i64::MAX));
                (vec![(place, false)], self.collection.chain(own))
            }
            Contents::Aggregate(_) | Contents::Fields(_) => {
                (Vec::new(), self.collection.source.positions.ids().collect())
            }
        };
        let chain: Vec<Value> = chain.into_iter().map_while(identity).collect();
        Some(entry_key(self.number, &block, &fields, &chain))
    }

    fn decode(&self, schema: &Schema, at: PositionId, bytes: &[u8]) -> Result<Entry, RunError> {
        let own = self.own(at).unwrap_or(at);
        match &self.collection.contents {
            Contents::Nested(nodes) => {
                let (values, whole) = node(schema, nodes, own, bytes)?;
                Ok(Entry { values: values.into(), whole })
            }
            Contents::Aggregate(_) | Contents::Fields(_) => {
                let mut values = Vec::new();
                let mut rest = bytes;
                while !rest.is_empty() {
                    values.push(decode(&mut rest)?);
                }
                Ok(Entry { values: values.into(), whole: None })
            }
        }
    }
}

impl Scene<'_> {
    /// The value of a path from an entry with the identity of the row. Nothing if no copy has one.
    pub(super) fn fetched(&self, path: &Path, row: &Row) -> Result<Option<Value>, RunError> {
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
    pub(super) fn fetched_whole(&self, position: PositionId, row: &Row) -> Result<Option<Node>, RunError> {
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
