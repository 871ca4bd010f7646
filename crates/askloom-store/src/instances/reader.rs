//! Instances read from a keyspace, each once.

use super::{Aggregate, Held, Instances, Stored};
use crate::block::{BlockContents, decode_aggregate, no_master};
use crate::keyspace::Block;
use crate::{Keyspace, RunError, Schema, System};
use askloom_model::{ClassId, Identity, Occurrence, Value};
use askloom_target::embedded::{
    block_prefix, master_prefix, prefix_end, split_entry, split_master, system_entry,
};
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

    fn number(&self, root: ClassId) -> Result<u32, RunError> {
        let master = self.schema.design.master(root);
        master.map(|id| self.schema.number(id)).ok_or_else(|| no_master(self.schema, root))
    }

    /// All that is in the block of an aggregate.
    pub(crate) fn block(&self, root: ClassId, id: &Identity) -> Result<BlockContents, RunError> {
        let number = self.number(root)?;
        let from = master_prefix(number, id);
        let to = prefix_end(&from);
        let system = system_entry(number, id);
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
        let key = system_entry(self.number(root)?, id);
        self.keyspace.get(&key)?.map(|entry| System::decode(&entry)).transpose()
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
        let mut all = Vec::new();
        let mut open: Option<Open> = None;
        let mut close = |open: Option<Open>| -> Result<(), RunError> {
            let Some(Open { identity, contents, .. }) = open else { return Ok(()) };
            all.extend(stored(self.schema, root, contents)?.map(|stored| (identity, stored)));
            Ok(())
        };
        let prefix = block_prefix(self.number(root)?, &[]);
        let end = prefix_end(&prefix);
        self.keyspace.scan(&prefix, end.as_deref(), false, &mut |key, value| {
            if open.as_ref().is_none_or(|open| !key.starts_with(&open.prefix)) {
                let (identity, entry) = split_master(key)?;
                let prefix = key.get(..key.len() - entry.len()).unwrap_or_default().to_vec();
                close(open.replace(Open { identity, prefix, contents: BlockContents::default() }))?;
            }
            if let Some(open) = &mut open {
                open.contents.take(key.get(open.prefix.len()..).unwrap_or_default(), value)?;
            }
            Ok(true)
        })?;
        close(open)?;
        let mut cache = self.cache.borrow_mut();
        for (identity, stored) in &all {
            cache.entry((root, identity.clone())).or_insert_with(|| Some(Rc::clone(stored)));
        }
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
