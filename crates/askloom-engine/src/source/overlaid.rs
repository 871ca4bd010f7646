//! A source with some records changed: what the statements of a compound write see of those before them.

use super::{Ask, BlockState, Cursor, EntryAt, Page, Records, Source, every};
use crate::{BlockAfter, Changes, KeyRange, RecordKey, RowContent, Schema, Stop, Stored};
use askloom_model::{ClassId, Collection, CollectionId, Identity, Role, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::{How, Read};
use std::collections::BTreeMap;
use std::sync::Arc;

pub struct Overlaid<'o> {
    pub base: &'o dyn Source,
    pub changes: &'o Changes,
}

impl std::fmt::Debug for Overlaid<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlaid").field("changes", self.changes).finish_non_exhaustive()
    }
}

impl Source for Overlaid<'_> {
    fn schema(&self) -> &Schema {
        self.base.schema()
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<BlockState, Stop> {
        match self.changes.blocks.get(&(root, id.clone())) {
            Some(BlockAfter::Stored(stored)) => Ok(BlockState::Live(Arc::clone(stored))),
            Some(BlockAfter::Deleted(system)) => Ok(BlockState::Deleted(system.clone())),
            None => self.base.block(root, id),
        }
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        let collection = &self.schema().design.collections[ask.read.table];
        match collection.role {
            Role::Master => self.aggregates(ask, collection),
            Role::Copy | Role::Index | Role::Carried => self.entries(ask, collection),
        }
    }

    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        let mut buckets = self.base.time_buckets(master, field)?;
        let collection = &self.schema().design.collections[master];
        for (identity, stored) in self.changed(collection) {
            let key = self.schema().block_key(master, identity);
            let values = key.block.iter().chain(key.sort.iter().map(|sorted| &sorted.value));
            if let (Some(_), Some(Value::Text(bucket))) = (stored, values.clone().nth(field))
                && !buckets.contains(bucket)
            {
                buckets.push(bucket.clone());
            }
        }
        buckets.sort();
        Ok(buckets)
    }

    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        let Some(changed) = self.changes.rows.get(&at.collection) else { return self.base.entry(at) };
        let collection = &self.schema().design.collections[at.collection];
        let key = at.key();
        if at.is_whole(collection) {
            return match changed.get(&key) {
                Some(content) => Ok(content.as_ref().map(|content| key.entry(collection, content))),
                None => self.base.entry(at),
            };
        }
        // Identities that are left out have no choice: the first entry that has the others is the one.
        let read =
            Read::new(at.collection, How::Block(self.schema().table(at.collection).block_terms(at.block)));
        let mut found = None;
        every(self, &read, |records| {
            let Records::Entries(entries) = records else { return Ok(true) };
            let is_it = |entry: &&Entry| match entry {
                Entry::Row { row, .. } => row.starts_with(at.row),
                Entry::Node { chain, .. } => chain.starts_with(at.row),
            };
            found = entries.iter().find(is_it).cloned();
            Ok(found.is_none())
        })?;
        Ok(found)
    }
}

/// An aggregate that is in the place of a stored one; nothing if it is gone.
type ChangedBlock<'c> = (&'c Identity, Option<&'c Arc<Stored>>);

impl Overlaid<'_> {
    /// The changed aggregates of a master.
    fn changed<'c>(&'c self, master: &Collection) -> impl Iterator<Item = ChangedBlock<'c>> + use<'c> {
        let root = master.source.root;
        let blocks = self.changes.blocks.iter().filter(move |((of, _), _)| *of == root);
        blocks.map(|((_, id), after)| match after {
            BlockAfter::Stored(stored) => (id, Some(stored)),
            BlockAfter::Deleted(_) => (id, None),
        })
    }

    fn entries(&self, ask: &Ask<'_>, collection: &Collection) -> Result<Page, Stop> {
        let Some(changed) = self.changes.rows.get(&ask.read.table) else { return self.base.page(ask) };
        let range = KeyRange::of(self.schema(), ask.read)?;
        let Page { records, next } = self.base.page(ask)?;
        let Records::Entries(entries) = records else { return Ok(Page { records, next }) };
        let entries = Arc::unwrap_or_clone(entries).into_iter();
        let stored = entries.map(|entry| RecordKey::split(collection, entry)).collect();
        let until = match &next {
            Some(Cursor::Entry(key)) => Some(key),
            Some(Cursor::Aggregate(_)) | None => None,
        };
        let changed = changed.iter().filter(|(key, _)| range.contains(key) && range.starts(ask.from, key));
        let changed = changed.filter(|(key, _)| until.is_none_or(|until| range.comes(key, until)));
        let changed = changed.map(|(key, content)| (key.clone(), content.clone())).collect();
        let rows: Vec<(RecordKey, RowContent)> = merged(stored, changed, range.backwards);
        let entries = rows.into_iter().map(|(key, content)| key.entry(collection, &content)).collect();
        Ok(Page { records: Records::Entries(Arc::new(entries)), next })
    }

    fn aggregates(&self, ask: &Ask<'_>, collection: &Collection) -> Result<Page, Stop> {
        if let How::Block(terms) | How::Record(terms) = &ask.read.how {
            let table = self.schema().table(ask.read.table);
            let Some(identity) = table.identity(terms) else { return self.base.page(ask) };
            let found = self.block(collection.source.root, &identity)?.live();
            let found = found.map(|stored| (identity, stored)).into_iter().collect();
            return Ok(Page { records: Records::Aggregates(Arc::new(found)), next: None });
        }
        let key = |identity: &Identity| self.schema().block_key(ask.read.table, identity);
        let range = KeyRange::of(self.schema(), ask.read)?;
        let Page { records, next } = self.base.page(ask)?;
        let Records::Aggregates(aggregates) = records else { return Ok(Page { records, next }) };
        let aggregates = Arc::unwrap_or_clone(aggregates).into_iter();
        let stored = aggregates.map(|(id, stored)| (key(&id), (id, stored))).collect();
        let start = range.start_block(self.schema(), ask);
        let until = match &next {
            Some(Cursor::Aggregate(identity)) => Some(key(identity)),
            Some(Cursor::Entry(_)) | None => None,
        };
        let mut changed = BTreeMap::new();
        for (identity, after) in self.changed(collection) {
            let key = key(identity);
            let starts = start.as_ref().is_none_or(|start| start.has(&key));
            let ends = until.as_ref().is_none_or(|until| range.comes(&key, until));
            if range.contains(&key) && starts && ends {
                changed.insert(key, after.map(|stored| (identity.clone(), Arc::clone(stored))));
            }
        }
        let found = merged(stored, changed, range.backwards).into_iter().map(|(_, found)| found).collect();
        Ok(Page { records: Records::Aggregates(Arc::new(found)), next })
    }
}

/// What is stored, with what has changed in its place.
fn merged<T>(
    stored: Vec<(RecordKey, T)>,
    changed: BTreeMap<RecordKey, Option<T>>,
    backwards: bool,
) -> Vec<(RecordKey, T)> {
    let mut all: BTreeMap<RecordKey, Option<T>> =
        stored.into_iter().map(|(key, record)| (key, Some(record))).collect();
    all.extend(changed);
    let mut all: Vec<(RecordKey, T)> =
        all.into_iter().filter_map(|(key, record)| record.map(|record| (key, record))).collect();
    if backwards {
        all.reverse();
    }
    all
}
