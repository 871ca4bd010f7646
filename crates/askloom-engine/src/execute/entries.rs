//! What the rows of a query know from the entries of a copy: worked out once for the query, and read where it is.

use super::path::{crosses_many, is_readable};
use crate::Schema;
use askloom_model::{
    Collection, ColumnValue, Conceptual, Derivation, Id, IdentityPart, Leaf, OrderBy, Path, PositionId,
    Query, Value,
};
use askloom_plan::layout::Entry;
use askloom_plan::planner;
use askloom_plan::program::Retrieval;
use std::borrow::Cow;
use std::sync::Arc;

/// How a query reads the entries of the copy that its first rows come from.
#[derive(Debug)]
pub(super) struct EntryReader {
    /// By the positions of the query: which of an entry's identities stands there.
    keys: Vec<Option<usize>>,
    /// The paths whose values an entry gives.
    given: Vec<(Path, Place)>,
    /// Where the value of each column is in `given`, if an entry gives all of them.
    columns: Option<Vec<usize>>,
    /// Entries outlive what has expired, and may be of more classes than are asked for: the masters tell.
    pub(super) looked_at: Vec<PositionId>,
    /// The positions whose aggregates entries hold whole, and whose parts do not expire: the collection's, and the query's.
    pub(super) wholes: Vec<(PositionId, PositionId)>,
}

/// Where a value is in an entry.
#[derive(Debug, Clone)]
enum Place {
    Block(usize),
    Sort(usize),
    Content(usize),
    /// The identity of a position.
    Key(usize),
    /// Components of it.
    Part(usize, IdentityPart),
    /// What follows from the values at some places.
    Derived(Derivation, Vec<Place>),
}

impl Place {
    /// Nothing where an identity would be, but none stands.
    fn value<'e>(&self, entry: &'e Entry) -> Option<Cow<'e, Value>> {
        let of = |values: &'e [Value], index: usize| values.get(index).unwrap_or(&Value::Null);
        let (block, sort, row, values) = parts(entry);
        match self {
            Self::Block(index) => Some(Cow::Borrowed(of(block, *index))),
            Self::Sort(index) => Some(Cow::Borrowed(of(sort, *index))),
            Self::Content(index) => Some(Cow::Borrowed(of(values, *index))),
            Self::Key(index) => Some(of(row, *index)).filter(|key| is_identity(key)).map(Cow::Borrowed),
            Self::Part(index, part) => {
                let key = Some(of(row, *index)).filter(|key| is_identity(key))?;
                Some(Cow::Owned(part.of_value(key)))
            }
            Self::Derived(derivation, places) => {
                let values = places.iter().map(|place| place.value(entry).map(Cow::into_owned));
                Some(Cow::Owned(derivation.value(values.collect::<Option<_>>()?)))
            }
        }
    }
}

fn is_identity(key: &Value) -> bool {
    matches!(key, Value::Reference(_))
}

/// The block, what sorts, the identities of the row, and the values.
fn parts(entry: &Entry) -> (&[Value], &[Value], &[Value], &[Value]) {
    match entry {
        Entry::Row { block, sort, row, values } => (block, sort, row, values),
        Entry::Node { block, chain, values, .. } => (block, &[], chain, values),
    }
}

impl EntryReader {
    pub(super) fn new(schema: &Schema, retrieval: &Retrieval) -> Self {
        let conceptual = &schema.model.conceptual;
        let (access, query) = (&retrieval.access, &retrieval.query);
        let collection = &schema.design.collections[access.collection];
        let own = |asked: PositionId| access.positions.iter().position(|mapped| *mapped == Some(asked));
        let wholes = collection.whole().iter().filter_map(|&own| {
            let class = collection.source.positions[own].class;
            let lasting = class.is_none_or(|class| planner::is_lasting_whole(conceptual, class));
            let asked = access.positions.get(own.index()).copied()??;
            lasting.then_some((own, asked))
        });
        let mut reader = Self {
            keys: query.positions.ids().map(own).collect(),
            given: held(conceptual, collection, retrieval),
            columns: None,
            looked_at: planner::looked_at(conceptual, collection, &query.positions, &access.positions),
            wholes: wholes.collect(),
        };
        for path in paths(retrieval) {
            if reader.at(path).is_none()
                && let Some(place) = reader.follows(conceptual, query, path)
            {
                reader.given.push((path.clone(), place));
            }
        }
        let column = |value: &ColumnValue| match value {
            ColumnValue::Path(path) => reader.at(path),
            ColumnValue::Whole(_) | ColumnValue::Aggregate(_) => None,
        };
        reader.columns = query.columns.iter().map(|row| column(&row.value)).collect();
        reader
    }

    fn at(&self, path: &Path) -> Option<usize> {
        self.given.iter().position(|(given, _)| given == path)
    }

    /// Where the value of a path is that an entry does not hold as it is: it follows from identities.
    fn follows(&self, conceptual: &Conceptual, query: &Query, path: &Path) -> Option<Place> {
        if crosses_many(conceptual, path) {
            return None;
        }
        let at_hand = |path: &Path| match self.at(path) {
            Some(at) => self.given.get(at).map(|(_, place)| place.clone()),
            None => self.component(conceptual, query, path),
        };
        let derived = conceptual.derivations(path).into_iter().find_map(|derivation| {
            let places = derivation.paths().iter().map(at_hand).collect::<Option<Vec<_>>>()?;
            Some(Place::Derived(derivation, places))
        });
        derived.or_else(|| self.component(conceptual, query, path))
    }

    /// An entity's id or a part of it.
    fn component(&self, conceptual: &Conceptual, query: &Query, path: &Path) -> Option<Place> {
        let key = self.keys.get(path.position.index()).copied()?.filter(|_| path.hops.is_empty())?;
        if path.leaf == Leaf::Itself {
            return Some(Place::Key(key));
        }
        let class = query.positions[path.position].class?;
        Some(Place::Part(key, conceptual.known_part(class, path)?))
    }
}

/// What entries hold as it is, of the paths that the query's positions have.
fn held(conceptual: &Conceptual, collection: &Collection, retrieval: &Retrieval) -> Vec<(Path, Place)> {
    let sorts = collection.block_key.len();
    let keys = sorts + collection.entry_key.len();
    let mut found = Vec::new();
    for (index, path) in collection.held().enumerate() {
        let Some(path) = mapped(path, &retrieval.access.positions) else { continue };
        // The key of an entry has one value of several; and values may be of what has expired.
        let whole = index >= keys || !crosses_many(conceptual, &path);
        let readable = is_readable(conceptual, &retrieval.query.positions, &path);
        if whole && readable && planner::is_lasting(conceptual, &path) {
            let place = match index {
                _ if index < sorts => Place::Block(index),
                _ if index < keys => Place::Sort(index - sorts),
                _ => Place::Content(index - keys),
            };
            found.push((path, place));
        }
    }
    found
}

/// Every path that the rows of a query are asked for.
fn paths(retrieval: &Retrieval) -> Vec<&Path> {
    let query = &retrieval.query;
    let mut paths: Vec<&Path> = query.group_by.iter().chain(&query.identity).collect();
    for column in &query.columns {
        match &column.value {
            ColumnValue::Path(path) => paths.push(path),
            ColumnValue::Aggregate(aggregate) => paths.extend(&aggregate.of),
            ColumnValue::Whole(_) => {}
        }
    }
    for term in &query.order_by {
        match &term.by {
            OrderBy::Path(path) => paths.push(path),
            OrderBy::Aggregate(aggregate) => paths.extend(&aggregate.of),
        }
    }
    paths.extend(query.per_group_paths());
    paths.extend(retrieval.filter.iter().flat_map(|filter| filter.paths()));
    paths
}

/// A path of a collection as one of the query; nothing if the query does not have its position.
pub(super) fn mapped(path: &Path, positions: &[Option<PositionId>]) -> Option<Path> {
    let position = positions.get(path.position.index()).copied()??;
    Some(Path { position, ..path.clone() })
}

/// Entries that were read at once, and how they are read.
#[derive(Debug)]
pub(super) struct EntryPage {
    reader: Arc<EntryReader>,
    entries: Arc<Vec<Entry>>,
}

impl EntryPage {
    pub(super) fn new(reader: &Arc<EntryReader>, entries: Arc<Vec<Entry>>) -> Self {
        Self { reader: Arc::clone(reader), entries }
    }
}

/// The entry that a row comes from, where it is among those of its page.
#[derive(Debug, Clone)]
pub(super) struct RowEntry {
    page: Arc<EntryPage>,
    at: usize,
}

impl RowEntry {
    pub(super) fn new(page: &Arc<EntryPage>, at: usize) -> Self {
        Self { page: Arc::clone(page), at }
    }

    fn entry(&self) -> Option<&Entry> {
        self.page.entries.get(self.at)
    }

    /// The number of the query's positions.
    pub(super) fn width(&self) -> usize {
        self.page.reader.keys.len()
    }

    /// What stands at a position; null where the entry knows of nothing.
    pub(super) fn key(&self, position: PositionId) -> &Value {
        let own = self.page.reader.keys.get(position.index()).copied().flatten();
        let key = own.and_then(|own| parts(self.entry()?).2.get(own));
        key.unwrap_or(&Value::Null)
    }

    pub(super) fn value(&self, path: &Path) -> Option<Cow<'_, Value>> {
        let reader = &self.page.reader;
        reader.given.get(reader.at(path)?)?.1.value(self.entry()?)
    }

    /// The columns of the query, if the entry gives all of them.
    pub(super) fn columns(&self) -> Option<Vec<Value>> {
        let (reader, entry) = (&self.page.reader, self.entry()?);
        let columns = reader.columns.as_ref()?;
        let mut values = Vec::with_capacity(columns.len());
        for &at in columns {
            values.push(reader.given.get(at)?.1.value(entry)?.into_owned());
        }
        Some(values)
    }

    /// Keeps its own entry, and no longer the page.
    pub(super) fn leave_page(&mut self) {
        if self.page.entries.len() > 1 {
            let own = self.entry().cloned().into_iter().collect();
            self.page = Arc::new(EntryPage::new(&self.page.reader, Arc::new(own)));
            self.at = 0;
        }
    }
}
