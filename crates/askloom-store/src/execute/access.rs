//! The first rows of a query: aggregates by id, entries of copies by their keys.

use super::nested::Nodes;
use super::row::Held;
use super::{Continuation, Row, Scene, aggregate, compare, count, order_values};
use crate::source::{Ask, CHUNK, Cursor, From, Page, Records, Source};
use crate::{RunError, Stored};
use askloom_model::{
    Collection, Contents, Id, KeyField, Leaf, Limit, OrderBy, Path, PositionId, Query, Value, fault,
};
use askloom_target::layout::Entry;
use askloom_target::program::{Action, Each, Frame, How, Program, Range, Read, Retrieval};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A query under way.
#[derive(Clone, Copy)]
pub(super) struct QueryExec<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) source: &'a dyn Source,
    pub(super) program: &'a Program,
    pub(super) retrieval: &'a Retrieval,
    pub(super) after: Option<&'a Continuation>,
}

impl QueryExec<'_> {
    pub(super) fn query(&self) -> &Query {
        &self.retrieval.query
    }

    fn collection(&self) -> &Collection {
        &self.source.schema().design.collections[self.retrieval.access.collection]
    }

    /// The row behind which reading may start. With `LIMIT … PER`, what was on a page before still counts for its group.
    pub(super) fn starts_after(&self) -> Option<&Continuation> {
        self.after.filter(|_| self.query().per_group.is_none())
    }

    /// The rows that the first reads give, not yet joined with what they do not hold.
    pub(super) fn first_rows(&self) -> Result<Vec<Row>, RunError> {
        let reads = self.reads();
        match &self.collection().contents {
            Contents::Aggregate(_) => self.aggregates(&reads),
            Contents::Fields(_) => self.entries(&reads),
            Contents::Nested(_) => self.nodes(&reads),
        }
    }

    /// The first reads with the arguments in their slots; none of one that nothing can match.
    fn reads(&self) -> Vec<Read> {
        let schema = self.source.schema();
        let mut reads = Vec::new();
        for step in self.retrieval.access.steps.iter().filter_map(|&step| self.program.steps.get(step)) {
            let Action::Read(read) = &step.action else { continue };
            let table = schema.table(read.table);
            let parameters = self.scene.arguments;
            match &step.each {
                Each::Once => {
                    reads.extend(read.filled(table, &Frame { parameters, ..Frame::default() }));
                }
                Each::Values(loops) => reads.extend(read.for_each(table, loops, parameters)),
                Each::Rows(_) | Each::Found(_) | Each::RowsOfCopy(_) | Each::FoundOfCopy(_) => {}
            }
        }
        reads
    }

    /// Aggregates, and the instances of the main class that are in them.
    fn aggregates(&self, reads: &[Read]) -> Result<Vec<Row>, RunError> {
        let scene = self.scene;
        let mut rows = Vec::new();
        let mut seen = BTreeSet::new();
        for read in reads {
            let root = self.source.schema().design.collections[read.table].source.root;
            match &read.how {
                How::Block(terms) => {
                    let id: Option<Vec<Value>> = terms.iter().map(|term| term.value.clone()).collect();
                    let Some(id) = id.filter(|id| seen.insert(id.clone())) else { continue };
                    if let Some(stored) = scene.instances.aggregate(root, &id)? {
                        rows.extend(scene.root(stored));
                    }
                }
                How::All => {
                    for (_, stored) in scene.instances.all(root)? {
                        rows.extend(scene.root(stored));
                    }
                }
                How::Range(_) | How::Record(_) => {}
            }
        }
        Ok(rows)
    }

    /// Rows of a nested copy, of each block that is read.
    fn nodes(&self, reads: &[Read]) -> Result<Vec<Row>, RunError> {
        let collection = self.collection();
        let reader = EntryReader::new(self, collection);
        let mut rows = Vec::new();
        for read in reads {
            let Some(mut nodes) = Nodes::new(collection) else { continue };
            crate::source::every(self.source, read, |records| {
                nodes.add(records);
                Ok(true)
            })?;
            for found in nodes.rows() {
                let values = found.values();
                rows.extend(reader.row(self, found.identity, &values, &found.whole)?);
            }
        }
        Ok(rows)
    }

    /// Entries of a copy; each gives the identities of its positions and the values it holds.
    fn entries(&self, reads: &[Read]) -> Result<Vec<Row>, RunError> {
        let collection = self.collection();
        let reader = EntryReader::new(self, collection);
        let mut rows = Vec::new();
        for read in reads {
            self.read(collection, &reader, read, &mut rows)?;
        }
        if self.retrieval.access.repeats {
            // Under several values of a list there can be one row.
            let mut seen: BTreeSet<Vec<Value>> = BTreeSet::new();
            rows.retain(|row: &Row| seen.insert(row.keys.clone()));
        }
        Ok(rows)
    }

    /// The rows of one read, page by page, until there are enough.
    fn read(
        &self,
        collection: &Collection,
        reader: &EntryReader,
        read: &Read,
        rows: &mut Vec<Row>,
    ) -> Result<(), RunError> {
        let most = self.most()?;
        let last = self.last_row(collection, read);
        let mut cursor: Option<Cursor> = None;
        let mut taken = 0;
        loop {
            let from = match (&cursor, &last) {
                (Some(cursor), _) => From::Cursor(cursor),
                (None, Some((sort, row))) => From::Row { sort, row },
                (None, None) => From::Start,
            };
            // The row that the last page ended with is read again, and left out.
            let again = usize::from(cursor.is_none() && last.is_some());
            let at_most = (most - taken).saturating_add(again).min(CHUNK);
            let Page { records, next } = self.source.page(&Ask { read, from, at_most })?;
            if let Records::Entries(entries) = records {
                for entry in entries {
                    let Some(row) = reader.entry(self, entry)? else { continue };
                    if taken < most && (!self.retrieval.access.in_order || self.counts(&row)?) {
                        taken += 1;
                        rows.push(row);
                    }
                }
            }
            if taken >= most || next.is_none() {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// How many rows of a read that comes in the query's order are needed.
    fn most(&self) -> Result<usize, RunError> {
        let query = self.query();
        if !self.retrieval.access.in_order || aggregate::applies(query) || query.per_group.is_some() {
            return Ok(usize::MAX);
        }
        match &query.limit {
            None => Ok(usize::MAX),
            Some(Limit::Rows(operand)) => count(self.scene, operand),
            // One more says that there is a next page.
            Some(Limit::Page(operand)) => Ok(count(self.scene, operand)?.saturating_add(1)),
        }
    }

    /// Whether a row passes the filter and is on the page.
    fn counts(&self, row: &Row) -> Result<bool, RunError> {
        if fault!(LimitBeforeFilter) {
            return Ok(true);
        }
        if let Some(after) = self.starts_after() {
            let order_by = &self.query().order_by;
            let order = order_values(self.scene, order_by, row)?;
            let identity = self.scene.identity(self.query(), row)?;
            let behind = compare(order_by, &order, &after.order, &identity, &after.identity);
            if behind != Ordering::Greater {
                return Ok(false);
            }
        }
        match &self.retrieval.filter {
            Some(condition) => Ok(self.scene.truth(condition, row)? == Some(true)),
            None => Ok(true),
        }
    }

    /// Where the page before ended, if that can be told from the keys: what the columns that sort hold behind the equal
    /// ones, and the identities of the row.
    fn last_row(&self, collection: &Collection, read: &Read) -> Option<(Vec<Value>, Vec<Value>)> {
        let after = self.starts_after().filter(|_| self.retrieval.access.in_order)?;
        let How::Range(range) = &read.how else { return None };
        let positions = &self.retrieval.access.positions;
        let mut sort = Vec::new();
        for field in collection.entry_key.iter().skip(self.equal_fields(read, range)) {
            sort.push(self.order_value(field, after)?.clone());
        }
        let identity = self.query().row_identity();
        let mut row = Vec::with_capacity(positions.len());
        // Entries of positions that the query does not have are not where its identities say.
        for position in positions {
            let itself = Path { position: (*position)?, hops: Vec::new(), leaf: Leaf::Itself };
            let at = identity.iter().position(|path| *path == itself)?;
            row.push(after.identity.get(at)?.clone());
        }
        Some((sort, row))
    }

    /// How many of the fields that sort are equal to something.
    fn equal_fields(&self, read: &Read, range: &Range) -> usize {
        self.source.schema().table(read.table).sort_fields(&range.equal)
    }

    /// What a continuation says of a field that sorts, if the query orders by it.
    fn order_value<'c>(&self, field: &KeyField, after: &'c Continuation) -> Option<&'c Value> {
        let path = mapped(&field.path, &self.retrieval.access.positions)?;
        let same = |by: &OrderBy| matches!(by, OrderBy::Path(ordered) if *ordered == path);
        let term = self.query().order_by.iter().position(|term| same(&term.by))?;
        after.order.get(term)
    }
}

/// A path of a collection as one of the query; nothing if the query does not have its position.
fn mapped(path: &Path, positions: &[Option<PositionId>]) -> Option<Path> {
    let position = positions.get(path.position.index()).copied()??;
    Some(Path { position, ..path.clone() })
}

/// How the entries of a copy are read: which values they hold, and whether what they name may be gone.
struct EntryReader {
    paths: Rc<[Path]>,
    /// Which of the values of an entry those are.
    indices: Vec<usize>,
    /// Entries outlive what has expired, and may be of more classes than are asked for.
    checks: bool,
    /// What has expired is told from what lives by the masters alone.
    expires: bool,
}

impl EntryReader {
    fn new(exec: &QueryExec<'_>, collection: &Collection) -> Self {
        let scene = exec.scene;
        let expires = exec.source.schema().expires();
        let access = &exec.retrieval.access;
        let held = collection.source.positions.iter().zip(&access.positions);
        let mut pairs = held.filter_map(|((_, own), asked_for)| {
            asked_for.map(|position| (own.class, exec.query().positions[position].class))
        });
        let narrower = pairs.any(|(own, asked_for)| own != asked_for);
        let keys = collection.block_key.len() + collection.entry_key.len();
        let mut paths = Vec::new();
        let mut indices = Vec::new();
        for (index, path) in collection.held().enumerate() {
            let Some(path) = mapped(path, &access.positions) else { continue };
            // The key of an entry has one value of several; and values may be of what has expired.
            let whole = index >= keys || !scene.crosses_many(&path);
            if whole && !expires && scene.is_readable(&path) {
                paths.push(path);
                indices.push(index);
            }
        }
        Self { paths: paths.into(), indices, checks: expires || narrower, expires }
    }

    /// The row of an entry, if all that it names is there.
    fn entry(&self, exec: &QueryExec<'_>, entry: Entry) -> Result<Option<Row>, RunError> {
        match entry {
            Entry::Row { mut block, sort, row, values } => {
                block.extend(sort);
                block.extend(values);
                self.row(exec, row, &block, &[])
            }
            Entry::Node { .. } => Ok(None),
        }
    }

    /// The row of these identities, with those of the values that can be read.
    fn row(
        &self,
        exec: &QueryExec<'_>,
        identity: Vec<Value>,
        values: &[Value],
        whole: &[(PositionId, Rc<Stored>)],
    ) -> Result<Option<Row>, RunError> {
        let positions = &exec.retrieval.access.positions;
        let take = |&index: &usize| values.get(index).cloned().unwrap_or(Value::Null);
        let held = Held { paths: Rc::clone(&self.paths), values: self.indices.iter().map(take).collect() };
        let mut row = exec.scene.entry(positions, identity, held);
        for (own, stored) in whole.iter().filter(|_| !self.expires) {
            if let Some(&Some(position)) = positions.get(own.index()) {
                exec.scene.place(&mut row, position, Rc::clone(stored));
            }
        }
        let there = !self.checks || exec.scene.is_there(&row)?;
        Ok(there.then_some(row))
    }
}
