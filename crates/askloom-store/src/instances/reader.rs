//! Instances read from a keyspace, each once.

use super::{Aggregate, Held, Instances, Stored};
use crate::block::{BlockContents, decode_aggregate, no_master};
use crate::keyspace::Block;
use crate::{Keyspace, RunError, Schema, System};
use askloom_model::{ClassId, CollectionId, Identity, Occurrence, Value};
use askloom_target::embedded::{block_prefix, prefix_end, split_entry};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What has been read already, and what was found not to be there.
type Cache = HashMap<Aggregate, Option<Rc<Stored>>>;

pub struct Reader<'r> {
    schema: &'r Schema,
    keyspace: &'r dyn Keyspace,
    cache: RefCell<Cache>,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// The aggregate in a block. None if only the system entry of a deleted one is left.
fn stored(schema: &Schema, root: ClassId, block: BlockContents) -> Result<Option<Rc<Stored>>, RunError> {
    let Some(system) = block.system else { return Ok(None) };
    let system = System::decode(&system)?;
    if system.deleted.is_some() {
        return Ok(None);
    }
    let record = decode_aggregate(schema, root, block.entries)?;
    Ok(Some(Rc::new(Stored { record, system })))
}

impl<'r> Reader<'r> {
    #[must_use]
    pub fn new(schema: &'r Schema, keyspace: &'r dyn Keyspace) -> Self {
        Self { schema, keyspace, cache: RefCell::default() }
    }

    pub fn keyspace(&self) -> &'r dyn Keyspace {
        self.keyspace
    }

    fn master(&self, root: ClassId) -> Result<CollectionId, RunError> {
        self.schema.design.master(root).ok_or_else(|| no_master(self.schema, root))
    }

    /// All that is in the block of an aggregate.
    pub(crate) fn block(&self, root: ClassId, id: &Identity) -> Result<BlockContents, RunError> {
        let keys = self.schema.master_key(self.master(root)?);
        let from = keys.block(id);
        let to = prefix_end(&from);
        let system = keys.system(id);
        let mut contents = BlockContents::default();
        let block = Block { from: &from, to: to.as_deref(), system: &system };
        self.keyspace.block(block, &mut |key, value| {
            contents.take(key.get(from.len()..).unwrap_or_default(), value)?;
            Ok(true)
        })?;
        Ok(contents)
    }

    /// The system entry of a block, also of one that was deleted.
    pub(crate) fn system(&self, root: ClassId, id: &Identity) -> Result<Option<System>, RunError> {
        let key = self.schema.master_key(self.master(root)?).system(id);
        self.keyspace.get(&key)?.map(|entry| System::decode(&entry)).transpose()
    }

    /// The aggregates of a master whose blocks are between two keys, in the order of its key or against it, until the
    /// visitor has had enough.
    pub(crate) fn blocks_between(
        &self,
        master: CollectionId,
        from: &[u8],
        to: Option<&[u8]>,
        backwards: bool,
        visit: &mut dyn FnMut(Identity, Rc<Stored>) -> Result<bool, RunError>,
    ) -> Result<(), RunError> {
        let root = self.schema.design.collections[master].source.root;
        let keys = self.schema.master_key(master);
        let mut open: Option<Open> = None;
        let mut close = |open: Option<Open>| -> Result<bool, RunError> {
            let Some(Open { identity, contents, .. }) = open else { return Ok(true) };
            let Some(stored) = stored(self.schema, root, contents)? else { return Ok(true) };
            let mut cache = self.cache.borrow_mut();
            cache.entry((root, identity.clone())).or_insert_with(|| Some(Rc::clone(&stored)));
            drop(cache);
            visit(identity, stored)
        };
        let mut more = true;
        self.keyspace.scan(from, to, backwards, &mut |key, value| {
            if open.as_ref().is_none_or(|open| !key.starts_with(&open.prefix)) {
                let (identity, entry) = keys.split(key)?;
                let prefix = key.get(..key.len() - entry.len()).unwrap_or_default().to_vec();
                more = close(open.replace(Open { identity, prefix, contents: BlockContents::default() }))?;
            }
            if let Some(open) = open.as_mut().filter(|_| more) {
                open.contents.take(key.get(open.prefix.len()..).unwrap_or_default(), value)?;
            }
            Ok(more)
        })?;
        if more {
            close(open)?;
        }
        Ok(())
    }

    fn indexed(
        &self,
        occurrence: &Occurrence,
        held: Held,
        value: &Value,
        found: &mut BTreeSet<Aggregate>,
    ) -> Result<bool, RunError> {
        let Some(index) = self.schema.readable().index(occurrence, held.leaf) else { return Ok(false) };
        let collection = &self.schema.design.collections[index];
        let prefix = block_prefix(self.schema.number(index), std::slice::from_ref(value));
        let end = prefix_end(&prefix);
        self.keyspace.scan(&prefix, end.as_deref(), false, &mut |key, _| {
            let parts = split_entry(key, 1, &collection.entry_key, 1)?;
            if let Some(Value::Reference(identity)) = parts.row.into_iter().next() {
                found.insert((occurrence.root, identity));
            }
            Ok(true)
        })?;
        Ok(true)
    }
}

/// A block that a scan over many is in.
struct Open {
    identity: Identity,
    prefix: Vec<u8>,
    contents: BlockContents,
}

impl Instances for Reader<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Rc<Stored>>, RunError> {
        let key = (root, id.clone());
        if let Some(known) = self.cache.borrow().get(&key) {
            return Ok(known.clone());
        }
        let read = stored(self.schema, root, self.block(root, id)?)?;
        self.cache.borrow_mut().insert(key, read.clone());
        Ok(read)
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Rc<Stored>)>, RunError> {
        let master = self.master(root)?;
        let prefix = block_prefix(self.schema.number(master), &[]);
        let to = prefix_end(&prefix);
        let mut all = Vec::new();
        self.blocks_between(master, &prefix, to.as_deref(), false, &mut |identity, stored| {
            all.push((identity, stored));
            Ok(true)
        })?;
        // The key of a master may have another order than its ids.
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(all)
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, RunError> {
        let conceptual = &self.schema.model.conceptual;
        let mut found = BTreeSet::new();
        let mut scanned = BTreeSet::new();
        for occurrence in held.occurrences(conceptual) {
            if self.indexed(&occurrence, held, value, &mut found)? || !scanned.insert(occurrence.root) {
                continue;
            }
            for (owner, stored) in self.all(occurrence.root)? {
                if held.is_in(conceptual, &stored.record, value) {
                    found.insert((occurrence.root, owner));
                }
            }
        }
        Ok(found)
    }
}
