//! The first rows of a query: aggregates by id, entries of copies by their keys.

use super::entries::{EntryPage, EntryReader, RowEntry, mapped};
use super::nested::{Nodes, Whole};
use super::page::{Kept, Placed};
use super::{Continuation, Groups, Row, Scene, aggregate, compare, count, order_values, per_group, sorted};
use crate::source::{Ask, CHUNK, Cursor, From, Page, Records, Source, every};
use crate::stop::{each, each_kept};
use crate::{Stop, Stored};
use askloom_model::{Collection, Contents, KeyField, Leaf, Limit, OrderBy, Path, Query, Value, fault};
use askloom_plan::layout::Entry;
use askloom_plan::program::{Action, Each, Frame, How, Program, Range, Read, Retrieval, ValueLoop};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// More buckets of time than these are not each looked into.
const LISTED_BUCKETS: usize = 100;

/// A query under way.
#[derive(Clone, Copy)]
pub(super) struct QueryExec<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) source: &'a dyn Source,
    pub(super) program: &'a Program,
    pub(super) retrieval: &'a Retrieval,
    /// How the entries of the first reads are read, if those are of a copy.
    pub(super) reader: &'a Arc<EntryReader>,
    pub(super) after: Option<&'a Continuation>,
    pub(super) purpose: Purpose,
}

/// What rows are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The ids that another retrieval goes by.
    Ids,
    /// Themselves.
    Rows,
    /// What the query answers.
    Answer,
}

/// What has been read of the first rows so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    reads: Vec<OpenRead>,
    /// Rows that one of several reads has given already.
    seen: BTreeSet<Vec<Value>>,
    /// Rows that can be in the answer.
    rows: Vec<Placed>,
    /// What is known so far of those that are only counted and summed up.
    groups: Groups,
}

/// How far one read is.
#[derive(Debug)]
struct OpenRead {
    read: Read,
    cursor: Option<Cursor>,
    taken: usize,
    done: bool,
}

/// What of a chunk one read may give.
#[derive(Clone, Copy)]
struct Share {
    /// Rows that count for LIMIT or PAGE already.
    taken: usize,
    /// How many reads share the chunk.
    of: usize,
}

impl Share {
    /// How many records may be read now, if so many rows are left.
    fn at_most(self, left: usize) -> usize {
        left.min((CHUNK / self.of).max(1))
    }
}

/// A page of one read, and what it leaves.
struct ReadPage {
    rows: Vec<Row>,
    cursor: Option<Cursor>,
    done: bool,
}

impl Reading {
    pub(super) fn is_done(&self) -> bool {
        self.reads.iter().all(|read| read.done)
    }

    pub(super) fn take_rows(&mut self) -> Vec<Placed> {
        std::mem::take(&mut self.rows)
    }

    pub(super) fn take_groups(&mut self) -> Groups {
        std::mem::take(&mut self.groups)
    }
}

/// Puts some behind others; the usual first ones need not be moved.
fn append<T>(all: &mut Vec<T>, some: Vec<T>) {
    if all.is_empty() {
        *all = some;
    } else {
        all.extend(some);
    }
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

    pub(super) fn reading(&self) -> Result<Reading, Stop> {
        let open = |read| OpenRead { read, cursor: None, taken: 0, done: false };
        Ok(Reading { reads: self.reads()?.into_iter().map(open).collect(), ..Reading::default() })
    }

    /// Reads a page of each read that is open, joins and filters its rows, and keeps those that can be in the answer. If
    /// something is missing, nothing has changed.
    pub(super) fn chunk(&self, reading: &mut Reading) -> Result<(), Stop> {
        let mut rows = Vec::new();
        let mut fresh: BTreeSet<Vec<Value>> = BTreeSet::new();
        let mut ends = Vec::new();
        for (at, page) in self.pages(reading)? {
            ends.push((at, page.rows.len(), page.cursor, page.done));
            // Under several values of a list there can be one row.
            let is_new = |row: &Row| {
                let keys: Vec<Value> = row.keys().cloned().collect();
                !reading.seen.contains(&keys) && fresh.insert(keys)
            };
            match self.retrieval.access.repeats {
                true => rows.extend(page.rows.into_iter().filter(is_new)),
                false => append(&mut rows, page.rows),
            }
        }
        let joined = self.joined(rows)?;
        let (parts, mut rows) = match self.groups() {
            true => (each(joined, |row| aggregate::part(self.scene, self.query(), &row))?, Vec::new()),
            false => (Vec::new(), each(joined, |row| self.placed(row))?),
        };
        for (at, taken, cursor, done) in ends {
            if let Some(open) = reading.reads.get_mut(at) {
                open.taken += taken;
                open.cursor = cursor;
                open.done = done;
            }
        }
        if self.ranges_follow(reading)
            && reading.reads.iter().map(|read| read.taken).sum::<usize>() >= self.most()?
        {
            reading.reads.iter_mut().for_each(|read| read.done = true);
        }
        if !reading.is_done() {
            rows.iter_mut().for_each(Placed::leave_page);
        }
        reading.seen.extend(fresh);
        reading.groups.add(self.query(), parts)?;
        append(&mut reading.rows, rows);
        self.drop_last(&mut reading.rows)
    }

    /// A page of each read that is open, by its place among all; only of the first one if the next follow it in the
    /// query's order.
    fn pages(&self, reading: &Reading) -> Result<Vec<(usize, ReadPage)>, Stop> {
        let collection = self.collection();
        let follow = self.ranges_follow(reading);
        let open_reads = || {
            let all = reading.reads.iter().enumerate().filter(|(_, read)| !read.done);
            all.take(if follow { 1 } else { usize::MAX })
        };
        let of = open_reads().count().max(1);
        let taken = |read: &OpenRead| match follow {
            true => reading.reads.iter().map(|read| read.taken).sum(),
            false => read.taken,
        };
        each(open_reads(), |(at, read)| {
            let share = Share { taken: taken(read), of };
            let page = match &collection.contents {
                Contents::Aggregate(_) => self.aggregates(read, share),
                Contents::Fields(_) => self.entries(collection, read, share),
                Contents::Nested(_) => self.nodes(collection, read),
            };
            Ok((at, page?))
        })
    }

    /// Whether the rows of one read come before those of the next: ranges that nothing sorts afterwards.
    fn ranges_follow(&self, reading: &Reading) -> bool {
        let ranges = reading.reads.iter().all(|open| matches!(open.read.how, How::Range(_)));
        ranges && self.answers() && !self.retrieval.sorts && !aggregate::applies(self.query())
    }

    /// Whether the rows are those of the query, rather than what ids are found by.
    fn answers(&self) -> bool {
        match self.purpose {
            Purpose::Ids => false,
            Purpose::Rows | Purpose::Answer => true,
        }
    }

    /// Whether groups of rows are answered.
    pub(super) fn groups(&self) -> bool {
        self.purpose == Purpose::Answer && aggregate::applies(self.query())
    }

    /// The rows with all positions, those that pass the filter.
    fn joined(&self, mut rows: Vec<Row>) -> Result<Vec<Row>, Stop> {
        for &position in &self.retrieval.joins {
            let mut joined = Vec::new();
            each(rows, |row| self.scene.expand(row, position, &mut joined))?;
            rows = joined;
        }
        // Rows that come in order were filtered on the way, so that no more were read than needed.
        if !self.retrieval.sorts {
            return Ok(rows);
        }
        each_kept(rows, |row| Ok(self.passes(&row)?.then_some(row)))
    }

    /// Whether a row meets what is left of the condition of the query.
    fn passes(&self, row: &Row) -> Result<bool, Stop> {
        if !self.scene.is_held(row)? {
            return Ok(false);
        }
        match &self.retrieval.filter {
            Some(condition) => Ok(self.scene.truth(condition, row)? == Some(true)),
            None => Ok(true),
        }
    }

    /// What is kept of a row: its columns already, if its entry gives all of them.
    fn placed(&self, row: Row) -> Result<Placed, Stop> {
        let (scene, query) = (self.scene, self.query());
        match self.purpose {
            Purpose::Rows => Ok(Placed::new(Kept::Row(Box::new(row)))),
            Purpose::Ids => {
                let identity = scene.identity(query, &row)?;
                Ok(Placed { identity, ..Placed::new(Kept::Columns(Vec::new())) })
            }
            Purpose::Answer => {
                // Nobody asks where a row is that comes in order and is the start of no page.
                let placing = self.retrieval.sorts || matches!(query.limit, Some(Limit::Page(_)));
                let order = if placing { order_values(scene, &query.order_by, &row)? } else { Vec::new() };
                let identity = if placing { scene.identity(query, &row)? } else { Vec::new() };
                let group = per_group::group(scene, query, &row)?;
                let row = row.columns().map_or_else(|| Kept::Row(Box::new(row)), Kept::Columns);
                Ok(Placed { order, identity, group, row })
            }
        }
    }

    /// Of more rows than LIMIT or PAGE asks for, the last ones cannot be in the answer.
    fn drop_last(&self, rows: &mut Vec<Placed>) -> Result<(), Stop> {
        let query = self.query();
        let answer = self.purpose == Purpose::Answer;
        let bounded = answer && self.retrieval.sorts && query.per_group.is_none();
        let most = match &query.limit {
            Some(Limit::Rows(operand)) => count(self.scene, operand)?,
            Some(Limit::Page(operand)) => count(self.scene, operand)?.saturating_add(1),
            None => return Ok(()),
        };
        if !bounded || aggregate::applies(query) || rows.len() < most.saturating_add(CHUNK) {
            return Ok(());
        }
        if let Some(after) = self.after {
            rows.retain(|row| {
                compare(&query.order_by, &row.order, &after.order, &row.identity, &after.identity)
                    == Ordering::Greater
            });
        }
        *rows = sorted(query, std::mem::take(rows));
        rows.truncate(most);
        Ok(())
    }

    /// The first reads with the arguments in their slots; none of one that nothing can match.
    fn reads(&self) -> Result<Vec<Read>, Stop> {
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
                Each::Values(loops) => {
                    for loops in self.over_time_buckets(read, loops)? {
                        reads.extend(read.for_each(table, &loops, parameters));
                    }
                }
                Each::Rows(_) | Each::Found(_) | Each::RowsOfCopy(_) | Each::FoundOfCopy(_) => {}
            }
        }
        Ok(reads)
    }

    /// Loops over more buckets of time than are worth a look each go by the buckets that there are.
    fn over_time_buckets(&self, read: &Read, loops: &[ValueLoop]) -> Result<Vec<Vec<ValueLoop>>, Stop> {
        let parameters = self.scene.arguments;
        let long = loops.iter().position(|one| one.has_more_buckets(LISTED_BUCKETS, parameters));
        let Some((at, one)) = long.and_then(|at| Some((at, loops.get(at)?))) else {
            return Ok(vec![loops.to_vec()]);
        };
        let there = self.source.time_buckets(read.table, one.field)?;
        let with = |only: ValueLoop| {
            let own =
                |(place, other): (usize, &ValueLoop)| if place == at { only.clone() } else { other.clone() };
            loops.iter().enumerate().map(own).collect()
        };
        Ok(one.one_by_one(&there, parameters).into_iter().map(with).collect())
    }

    /// Aggregates, and the instances of the main class that are in them.
    fn aggregates(&self, open: &OpenRead, share: Share) -> Result<ReadPage, Stop> {
        let scene = self.scene;
        match &open.read.how {
            How::Block(terms) => {
                let schema = self.source.schema();
                let root = schema.design.collections[open.read.table].source.root;
                let stored = match schema.table(open.read.table).identity(terms) {
                    Some(id) => scene.instances.aggregate(root, &id)?,
                    None => None,
                };
                let rows = stored.into_iter().flat_map(|stored| scene.root(stored)).collect();
                Ok(ReadPage { rows, cursor: None, done: true })
            }
            How::Range(_) => self.aggregate_range(open, share),
            How::All | How::Record(_) => {
                let from = open.cursor.as_ref().map_or(From::Start, From::Cursor);
                let (found, cursor) = self.aggregate_page(open, from, share.at_most(usize::MAX))?;
                let rows = found.into_iter().flat_map(|stored| scene.root(stored)).collect();
                Ok(ReadPage { rows, done: cursor.is_none(), cursor })
            }
        }
    }

    fn aggregate_page(
        &self,
        open: &OpenRead,
        from: From<'_>,
        at_most: usize,
    ) -> Result<(Vec<Arc<Stored>>, Option<Cursor>), Stop> {
        let Page { records, next } = self.source.page(&Ask { read: &open.read, from, at_most })?;
        let found = match records {
            Records::Aggregates(found) => found.iter().map(|(_, stored)| Arc::clone(stored)).collect(),
            Records::Entries(_) => Vec::new(),
        };
        Ok((found, next))
    }

    /// Aggregates of a partition, in the order of their keys.
    fn aggregate_range(&self, open: &OpenRead, share: Share) -> Result<ReadPage, Stop> {
        let left = self.most()?.saturating_sub(share.taken);
        let last = self.last_aggregate();
        let from = match (&open.cursor, &last) {
            (Some(cursor), _) => From::Cursor(cursor),
            (None, Some(last)) => From::Row { sort: &[], row: std::slice::from_ref(last) },
            (None, None) => From::Start,
        };
        // The aggregate that the last page ended with is read again, and left out.
        let again = usize::from(open.cursor.is_none() && last.is_some());
        let at_most = share.at_most(left.saturating_add(again));
        let (found, next) = self.aggregate_page(open, from, at_most)?;
        let rows = found.into_iter().flat_map(|stored| self.scene.root(stored));
        let mut rows = each_kept(rows, |row| {
            let counts = !self.retrieval.access.in_order || self.counts(&row)?;
            Ok(counts.then_some(row))
        })?;
        rows.truncate(left);
        let done = next.is_none() || rows.len() >= left;
        Ok(ReadPage { rows, cursor: next, done })
    }

    /// The identity of the aggregate that the page before ended with, if the rows are aggregates in the query's order.
    fn last_aggregate(&self) -> Option<Value> {
        let after = self.starts_after().filter(|_| self.comes_in_order())?;
        let position = self.retrieval.access.positions.first().copied().flatten()?;
        let itself = Path { position, hops: Vec::new(), leaf: Leaf::Itself };
        let at = self.query().row_identity().iter().position(|path| *path == itself)?;
        after.identity.get(at).cloned()
    }

    /// Rows of a nested copy: of all that is read at once, as nodes of one row can be on several pages.
    fn nodes(&self, collection: &Collection, open: &OpenRead) -> Result<ReadPage, Stop> {
        let mut rows = Vec::new();
        if let Some(mut nodes) = Nodes::new(collection) {
            every(self.source, &open.read, |records| {
                nodes.add(records);
                Ok(true)
            })?;
            let (entries, wholes): (Vec<Entry>, Vec<_>) = nodes.rows().into_iter().unzip();
            let page = self.page_of(Arc::new(entries));
            rows = each_kept(wholes.iter().enumerate(), |(at, wholes)| self.row(&page, at, wholes))?;
        }
        Ok(ReadPage { rows, cursor: None, done: true })
    }

    fn page_of(&self, entries: Arc<Vec<Entry>>) -> Arc<EntryPage> {
        Arc::new(EntryPage::new(self.reader, entries))
    }

    /// The row of an entry, if all that it names is there.
    fn row(&self, page: &Arc<EntryPage>, at: usize, wholes: &[Whole]) -> Result<Option<Row>, Stop> {
        let row = Row::of_entry(RowEntry::new(page, at));
        for (own, stored) in wholes {
            if let Some((_, asked)) = self.reader.wholes.iter().find(|(position, _)| position == own) {
                self.scene.place(&row, *asked, Arc::clone(stored));
            }
        }
        Ok(self.scene.is_there(&row, &self.reader.looked_at)?.then_some(row))
    }

    /// Entries of a copy; each gives the identities of its positions and the values it holds.
    fn entries(&self, collection: &Collection, open: &OpenRead, share: Share) -> Result<ReadPage, Stop> {
        let last = self.last_row(collection, &open.read);
        let from = match (&open.cursor, &last) {
            (Some(cursor), _) => From::Cursor(cursor),
            (None, Some((sort, row))) => From::Row { sort, row },
            (None, None) => From::Start,
        };
        // The row that the last page ended with is read again, and left out.
        let again = usize::from(open.cursor.is_none() && last.is_some());
        let left = self.most()?.saturating_sub(share.taken);
        let at_most = share.at_most(left.saturating_add(again));
        let Page { records, next } = self.source.page(&Ask { read: &open.read, from, at_most })?;
        let Records::Entries(entries) = records else {
            return Ok(ReadPage { rows: Vec::new(), cursor: next, done: true });
        };
        let (length, page) = (entries.len(), self.page_of(entries));
        let mut rows = each_kept(0..length, |at| {
            let Some(row) = self.row(&page, at, &[])? else { return Ok(None) };
            let counts = !self.retrieval.access.in_order || self.counts(&row)?;
            Ok(counts.then_some(row))
        })?;
        rows.truncate(left);
        let done = next.is_none() || rows.len() >= left;
        Ok(ReadPage { rows, cursor: next, done })
    }

    /// How many rows of a read that comes in the query's order are needed.
    fn most(&self) -> Result<usize, Stop> {
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
    fn counts(&self, row: &Row) -> Result<bool, Stop> {
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
        self.passes(row)
    }

    /// Whether the rows of all reads together come in the query's order. Of several reads that are sorted afterwards, the
    /// row that a page ended with is a row of one, and its key says nothing about the others.
    fn comes_in_order(&self) -> bool {
        self.retrieval.access.in_order && !self.retrieval.sorts
    }

    /// Where the page before ended, if that can be told from the keys: what the columns that sort hold behind the equal
    /// ones, and the identities of the row.
    fn last_row(&self, collection: &Collection, read: &Read) -> Option<(Vec<Value>, Vec<Value>)> {
        let after = self.starts_after().filter(|_| self.comes_in_order())?;
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
