//! Fills copies that came to a store that holds data already, and empties those that are gone.
//!
//! In batches, each with a mark of how far it has come, so that it goes on where it was interrupted. Indexes come
//! first: the rows of the other copies are found by them.

use super::apply::{put, write};
use super::catalogue::{mark, mark_key, read_mark};
use super::{Database, masters};
use crate::codec::block_prefix;
use crate::keyspace::encode::{row_key, row_value};
use crate::store::{Batch, Direction};
use crate::{KeyedSchema, KeyspaceRecords};
use askloom_engine::write::entries_of;
use askloom_engine::{Reader, Rows, RunError};
use askloom_model::{ClassId, CollectionId, Role};

/// Aggregates whose rows are put together.
const AGGREGATES: usize = 256;

/// Keys that are deleted together.
const KEYS: usize = 4096;

/// Is told the collection that is being filled and how many entries it has got.
pub type Progress<'p> = dyn FnMut(&str, u64) + 'p;

impl Database {
    /// The names of the copies that do not hold all their rows yet.
    pub fn filling(&self) -> impl Iterator<Item = &str> {
        self.catalogue.filling.iter().map(String::as_str)
    }

    /// Fills every copy that is not complete, and removes the entries of those that are gone. How many entries were
    /// put.
    pub fn fill(&mut self, progress: &mut Progress<'_>) -> Result<u64, RunError> {
        let mut total = 0;
        while let Some(next) = self.next_to_fill() {
            total += self.fill_one(next, progress)?;
        }
        while let Some(number) = self.catalogue.dropping.first().copied() {
            self.empty(number)?;
            self.catalogue.dropping.remove(&number);
            write(&self.store, &self.catalogue)?;
        }
        Ok(total)
    }

    fn next_to_fill(&self) -> Option<CollectionId> {
        let collections = self.schema.design.collections.iter();
        let open = collections.filter(|(_, collection)| self.catalogue.filling.contains(&collection.name));
        open.min_by_key(|(_, collection)| collection.role != Role::Index).map(|(id, _)| id)
    }

    fn fill_one(&mut self, id: CollectionId, progress: &mut Progress<'_>) -> Result<u64, RunError> {
        let collection = &self.schema.design.collections[id];
        let name = collection.name.clone();
        let (root, master) = root_of(&self.schema, id)?;
        let mut total = 0;
        loop {
            let snapshot = self.store.snapshot();
            let done = read_mark(&snapshot, self.schema.number(id))?;
            let from = masters::start(&self.schema, master, done.as_ref());
            let blocks = masters::blocks(&snapshot, &self.schema, master, &from, AGGREGATES)?;
            let next = masters::sound(blocks)?.identities;
            let Some(last) = next.last() else { break };
            let records = KeyspaceRecords { schema: &self.schema, keyspace: &snapshot };
            let reader = Reader::new(&records);
            let mut entries = Rows::new();
            for identity in &next {
                entries_of(&reader, id, &(root, identity.clone()), &mut entries)?;
            }
            let mut batch = Batch::new().put(mark_key(self.schema.number(id)), mark(last));
            total += entries.len() as u64;
            for (key, content) in &entries {
                batch = batch.put(row_key(&self.schema, id, key), row_value(&self.schema, content));
            }
            put(&self.store, batch)?;
            progress(&name, total);
        }
        self.filled(id, &name)?;
        Ok(total)
    }

    /// Takes copies that hold nothing out of use until they are filled: whoever puts a lot into the masters can then
    /// leave them aside. Nothing is lost by an end in between, as what is being filled is kept in the store.
    pub(crate) fn put_off(&mut self, names: impl IntoIterator<Item = String>) -> Result<(), RunError> {
        let mut catalogue = self.catalogue.clone();
        catalogue.filling.extend(names);
        if catalogue.filling == self.catalogue.filling {
            return Ok(());
        }
        write(&self.store, &catalogue)?;
        self.catalogue = catalogue;
        self.renumber();
        Ok(())
    }

    /// Whether the store knows what is in it: only then can copies be filled later.
    pub(crate) fn is_catalogued(&self) -> bool {
        !self.catalogue.numbers.is_empty()
    }

    /// Whether filling a copy has begun.
    pub(crate) fn has_mark(&self, id: CollectionId) -> Result<bool, RunError> {
        Ok(read_mark(&self.store.snapshot(), self.schema.number(id))?.is_some())
    }

    fn renumber(&mut self) {
        self.schema = KeyedSchema::numbered(
            self.schema.model.clone(),
            self.schema.design.clone(),
            &self.catalogue.numbers(),
            &self.catalogue.filling,
        );
    }

    /// From now on it can be read.
    fn filled(&mut self, id: CollectionId, name: &str) -> Result<(), RunError> {
        let mut catalogue = self.catalogue.clone();
        catalogue.filling.remove(name);
        let mut batch = Batch::new().delete(mark_key(self.schema.number(id)));
        for (key, value) in catalogue.puts()? {
            batch = batch.put(key, value);
        }
        put(&self.store, batch)?;
        self.catalogue = catalogue;
        self.renumber();
        Ok(())
    }

    /// Removes all entries under a number.
    fn empty(&self, number: u32) -> Result<(), RunError> {
        loop {
            let snapshot = self.store.snapshot();
            let mut batch = Batch::new().delete(mark_key(number));
            let mut found = 0;
            for entry in snapshot.prefix(&block_prefix(number, &[]), Direction::Ascending)?.take(KEYS) {
                batch = batch.delete(entry?.key.to_vec());
                found += 1;
            }
            put(&self.store, batch)?;
            if found < KEYS {
                return Ok(());
            }
        }
    }
}

/// The root class of the aggregates that the rows of a collection start in, and its master.
pub(super) fn root_of(schema: &KeyedSchema, id: CollectionId) -> Result<(ClassId, CollectionId), RunError> {
    let collection = &schema.design.collections[id];
    schema.master_of(collection.source.root).ok_or_else(|| {
        RunError::Corrupted(format!("the design has no master for what {} is made of", collection.name))
    })
}
