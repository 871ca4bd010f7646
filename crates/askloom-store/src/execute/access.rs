//! The first rows of a plan: aggregates by id, entries of copies by their keys.

use super::keys::{fitted, mapped};
use super::nested::Read;
use super::range::{KeyBounds, Ranges};
use super::row::Held;
use super::{Continuation, Row, Scene, aggregate, compare, count, order_values};
use crate::{Keyspace, Reader, RunError, Stored};
use askloom_model::{
    Collection, Contents, Id, Identity, KeySet, KeyValue, Limit, Path, Plan, PositionId, Query, Reading,
    Value, fault, identity_by_key, identity_types,
};
use askloom_target::embedded::{decode, split_entry};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A query under way.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) keyspace: &'a dyn Keyspace,
    pub(super) query: &'a Query,
    pub(super) plan: &'a Plan,
    pub(super) after: Option<&'a Continuation>,
}

impl Asked<'_> {
    pub(super) fn collection(&self) -> &Collection {
        &self.scene.instances.schema().design.collections[self.plan.access.collection]
    }

    /// The row behind which reading may start. With `LIMIT … PER`, what was on a page before still counts for its group.
    pub(super) fn starts_after(&self) -> Option<&Continuation> {
        self.after.filter(|_| self.query.per_group.is_none())
    }

    /// The rows that the plan's access gives, not yet joined with what it does not hold.
    pub(super) fn access(&self) -> Result<Vec<Row>, RunError> {
        let collection = self.collection();
        match &collection.contents {
            Contents::Aggregate(_) => match self.plan.access.how.innermost() {
                Reading::Scan => self.scan_masters(),
                Reading::Range { .. } => self.partitions(collection),
                Reading::GetBlock { .. } | Reading::Each { .. } => self.masters(collection),
            },
            Contents::Fields(_) => self.entries(collection),
            Contents::Nested(_) => self.nodes(collection),
        }
    }

    /// Every instance of the main class, wherever it lives.
    fn scan_masters(&self) -> Result<Vec<Row>, RunError> {
        let scene = self.scene;
        let Some(class) = self.query.positions[super::main_position()].class else { return Ok(Vec::new()) };
        let roots: BTreeSet<_> = scene.instances.schema().homes(class).iter().map(|home| home.root).collect();
        let mut rows = Vec::new();
        for root in roots {
            for (_, stored) in scene.instances.all(root)? {
                rows.extend(scene.root(stored));
            }
        }
        Ok(rows)
    }

    /// The aggregates of some partitions of a master, or of a part of them.
    fn partitions(&self, collection: &Collection) -> Result<Vec<Row>, RunError> {
        let schema = self.scene.instances.schema();
        let master = self.plan.access.collection;
        let reader = Reader::new(schema, self.keyspace);
        let mut rows = Vec::new();
        for range in (Ranges { asked: self, collection, number: schema.number(master) }).all()? {
            let most = self.most(&range)?;
            // Where nothing is sorted afterwards, the ranges follow each other in the query's order.
            let before = if self.plan.sort.is_none() { 0 } else { rows.len() };
            let (from, to) = (&range.from, range.to.as_deref());
            reader.blocks_between(master, from, to, range.backwards, &mut |_, stored| {
                for row in self.scene.root(stored) {
                    if !range.in_order || self.counts(&row)? {
                        rows.push(row);
                    }
                }
                Ok(rows.len() - before < most)
            })?;
            if self.plan.sort.is_none() && rows.len() >= most {
                break;
            }
        }
        Ok(rows)
    }

    /// Aggregates by their ids.
    fn masters(&self, collection: &Collection) -> Result<Vec<Row>, RunError> {
        let scene = self.scene;
        let mut rows = Vec::new();
        for identity in self.identities(collection)? {
            if let Some(stored) = scene.instances.aggregate(collection.source.root, &identity)? {
                rows.extend(scene.root(stored));
            }
        }
        Ok(rows)
    }

    fn identities(&self, collection: &Collection) -> Result<BTreeSet<Identity>, RunError> {
        let mut found = BTreeSet::new();
        let fields: Vec<Path> = collection.key_fields().map(|field| field.path.clone()).collect();
        let length = identity_types(self.scene.conceptual(), collection.source.root).len();
        let made_of = self.scene.conceptual().master_fields(collection).unwrap_or_default();
        self.each_key(&self.plan.access.how, &fields, &mut Vec::new(), &mut |key| {
            let identity = match key {
                // The id as a whole.
                [Value::Reference(parts)] => Some(parts.clone()),
                fields => identity_by_key(&made_of, fields),
            };
            found.extend(identity.filter(|identity| identity.len() == length));
            Ok(())
        })?;
        Ok(found)
    }

    /// Every combination of values for the key of a block.
    fn each_key(
        &self,
        how: &Reading,
        fields: &[Path],
        chosen: &mut Vec<(usize, Value)>,
        found: &mut dyn FnMut(&[Value]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let ty = |at: usize, of: usize| match fields.get(at) {
            // One operand for a key of several fields is the whole id.
            Some(path) if of == fields.len() => self.scene.key_type(path),
            Some(_) | None => self.scene.identity_type(self.collection().source.root),
        };
        match how {
            Reading::Each { field, set, of } => {
                let KeySet::In(set) = set else { return Ok(()) };
                let length = key_length(of);
                for value in self.scene.choices(set, &ty(*field, length))? {
                    chosen.push((*field, value));
                    self.each_key(of, fields, chosen, found)?;
                    chosen.pop();
                }
                Ok(())
            }
            Reading::GetBlock { key } | Reading::Range { key, .. } => {
                let mut values = Vec::with_capacity(key.len());
                for (at, operand) in key.iter().enumerate() {
                    let value = match (chosen.iter().find(|(field, _)| *field == at), operand) {
                        (Some((_, value)), _) => Some(value.clone()),
                        // The instant itself is in the key too.
                        (None, KeyValue::TimeBucket { .. } | KeyValue::TimeBucketOfField { .. }) => {
                            Some(Value::Null)
                        }
                        (None, KeyValue::Is(_) | KeyValue::Identity(_)) => {
                            fitted(&self.scene.key_value(operand)?, &ty(at, key.len()))
                        }
                    };
                    let Some(value) = value else { return Ok(()) };
                    values.push(value);
                }
                found(&values)
            }
            Reading::Scan => Ok(()),
        }
    }

    /// Rows of a nested copy, of each block that is read.
    fn nodes(&self, collection: &Collection) -> Result<Vec<Row>, RunError> {
        let number = self.scene.instances.schema().number(self.plan.access.collection);
        let reader = EntryReader::new(self, collection);
        let mut rows = Vec::new();
        for range in (Ranges { asked: self, collection, number }).all()? {
            let Some(mut nodes) = Read::new(self.scene.instances.schema(), collection) else { continue };
            self.keyspace.scan(&range.from, range.to.as_deref(), false, &mut |key, value| {
                nodes.read(key, value)?;
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
    fn entries(&self, collection: &Collection) -> Result<Vec<Row>, RunError> {
        let number = self.scene.instances.schema().number(self.plan.access.collection);
        let ranges = Ranges { asked: self, collection, number };
        let reader = EntryReader::new(self, collection);
        let mut rows = Vec::new();
        for range in ranges.all()? {
            self.read(collection, &reader, &range, &mut rows)?;
        }
        if let Reading::Each { .. } = self.plan.access.how {
            // Under several values of a list there can be one row.
            let mut seen: BTreeSet<Vec<Value>> = BTreeSet::new();
            rows.retain(|row: &Row| seen.insert(row.keys.clone()));
        }
        Ok(rows)
    }

    fn read(
        &self,
        collection: &Collection,
        reader: &EntryReader,
        range: &KeyBounds,
        rows: &mut Vec<Row>,
    ) -> Result<(), RunError> {
        let most = self.most(range)?;
        let mut taken = 0;
        let to = range.to.as_deref();
        self.keyspace.scan(&range.from, to, range.backwards, &mut |key, value| {
            let positions = collection.source.positions.len();
            let parts = split_entry(key, collection.block_key.len(), &collection.entry_key, positions)?;
            let mut values = parts.block;
            values.extend(parts.fields);
            let mut rest = value;
            while !rest.is_empty() {
                values.push(decode(&mut rest)?);
            }
            let Some(row) = reader.row(self, parts.row, &values, &[])? else { return Ok(true) };
            if !range.in_order || self.counts(&row)? {
                taken += 1;
                rows.push(row);
            }
            Ok(taken < most)
        })
    }

    /// How many rows of a range that comes in the query's order are needed.
    fn most(&self, range: &KeyBounds) -> Result<usize, RunError> {
        if !range.in_order || aggregate::applies(self.query) || self.query.per_group.is_some() {
            return Ok(usize::MAX);
        }
        match &self.query.limit {
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
            let order = order_values(self.scene, &self.query.order_by, row)?;
            let identity = self.scene.identity(self.query, row)?;
            let behind = compare(&self.query.order_by, &order, &after.order, &identity, &after.identity);
            if behind != Ordering::Greater {
                return Ok(false);
            }
        }
        match &self.plan.filter {
            Some(condition) => Ok(self.scene.truth(condition, row)? == Some(true)),
            None => Ok(true),
        }
    }
}

fn key_length(how: &Reading) -> usize {
    match how {
        Reading::GetBlock { key } | Reading::Range { key, .. } => key.len(),
        Reading::Each { of, .. } => key_length(of),
        Reading::Scan => 0,
    }
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
    fn new(asked: &Asked<'_>, collection: &Collection) -> Self {
        let scene = asked.scene;
        let expires = scene.instances.schema().expires();
        let held = collection.source.positions.iter().zip(&asked.plan.access.positions);
        let mut pairs = held.filter_map(|((_, own), asked_for)| {
            asked_for.map(|position| (own.class, asked.query.positions[position].class))
        });
        let narrower = pairs.any(|(own, asked_for)| own != asked_for);
        let keys = collection.block_key.len() + collection.entry_key.len();
        let mut paths = Vec::new();
        let mut indices = Vec::new();
        for (index, path) in collection.held().enumerate() {
            let Some(path) = mapped(path, &asked.plan.access.positions) else { continue };
            // The key of an entry has one value of several; and values may be of what has expired.
            let whole = index >= keys || !scene.crosses_many(&path);
            if whole && !expires && scene.is_readable(&path) {
                paths.push(path);
                indices.push(index);
            }
        }
        Self { paths: paths.into(), indices, checks: expires || narrower, expires }
    }

    /// The row of these identities, with those of the values that can be read.
    fn row(
        &self,
        asked: &Asked<'_>,
        identity: Vec<Value>,
        values: &[Value],
        whole: &[(PositionId, Rc<Stored>)],
    ) -> Result<Option<Row>, RunError> {
        let take = |&index: &usize| values.get(index).cloned().unwrap_or(Value::Null);
        let held = Held { paths: Rc::clone(&self.paths), values: self.indices.iter().map(take).collect() };
        let mut row = asked.scene.entry(&asked.plan.access.positions, identity, held);
        for (own, stored) in whole.iter().filter(|_| !self.expires) {
            if let Some(&Some(position)) = asked.plan.access.positions.get(own.index()) {
                asked.scene.place(&mut row, position, Rc::clone(stored));
            }
        }
        let there = !self.checks || asked.scene.is_there(&row)?;
        Ok(there.then_some(row))
    }
}
