//! Instances read from a keyspace, each once.

use super::{Aggregate, Held, Instances, Stored};
use crate::keyspace::Block;
use crate::{Keyspace, RunError, Schema, System};
use askloom_model::{ClassId, Identity, Occurrence, Value};
use askloom_target::embedded::{
    block_prefix, decode, decode_record, encode_record, master_entry, master_prefix, prefix_end, split_entry,
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

/// The access paths of the two entries of an aggregate that is one entry.
pub(crate) const SYSTEM: &str = "#";
const WHOLE: &str = "";

pub(crate) fn no_master(schema: &Schema, root: ClassId) -> RunError {
    let name = &schema.model.conceptual.classes[root].name;
    RunError::Corrupted(format!("the design has no master for {name}"))
}

/// The entries of an aggregate's block, by access path.
pub(crate) type Entries = std::collections::BTreeMap<String, Vec<u8>>;

/// The aggregate that the entries of a block make up. None if only the entry of a deleted one is left.
fn stored(schema: &Schema, entries: &Entries) -> Result<Option<Stored>, RunError> {
    let Some(system) = entries.get(SYSTEM) else { return Ok(None) };
    let system = System::decode(system)?;
    if system.deleted.is_some() {
        return Ok(None);
    }
    let whole =
        entries.get(WHOLE).ok_or_else(|| RunError::Corrupted("an aggregate is missing".to_owned()))?;
    let record = decode_record(&schema.model.conceptual, schema, &mut whole.as_slice())?;
    Ok(Some(Stored { record, system }))
}

/// The entries that an aggregate is stored as, the system entry aside.
pub(crate) fn encode_stored(schema: &Schema, stored: &Stored) -> Entries {
    let mut value = Vec::new();
    encode_record(&schema.model.conceptual, &stored.record, &mut value);
    Entries::from([(WHOLE.to_owned(), value)])
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

    /// All entries of a block, that of the system included.
    pub(crate) fn entries(&self, root: ClassId, id: &Identity) -> Result<Entries, RunError> {
        let number = self.number(root)?;
        let from = master_prefix(number, id);
        let to = prefix_end(&from);
        let system = master_entry(number, id, SYSTEM);
        let mut entries = Entries::new();
        let block = Block { from: &from, to: to.as_deref(), system: &system };
        self.keyspace.block(block, &mut |key, value| {
            let mut rest = key.get(from.len()..).unwrap_or_default();
            entries.insert(access_path(&mut rest)?, value.to_vec());
            Ok(true)
        })?;
        Ok(entries)
    }

    /// The system entry of a block, also of one that was deleted.
    pub(crate) fn system(&self, root: ClassId, id: &Identity) -> Result<Option<System>, RunError> {
        let key = master_entry(self.number(root)?, id, SYSTEM);
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

fn access_path(rest: &mut &[u8]) -> Result<String, RunError> {
    match decode(rest)? {
        Value::Text(path) if rest.is_empty() => Ok(path),
        _other => Err(RunError::Corrupted("an entry has no access path".to_owned())),
    }
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
        let read = stored(self.schema, &self.entries(root, id)?)?.map(Rc::new);
        self.cache.borrow_mut().insert(key, read.clone());
        Ok(read)
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Rc<Stored>)>, RunError> {
        let mut all = Vec::new();
        let mut open: Option<(Identity, Entries)> = None;
        let mut close = |open: Option<(Identity, Entries)>| -> Result<(), RunError> {
            if let Some((identity, entries)) = open
                && let Some(stored) = stored(self.schema, &entries)?
            {
                all.push((identity, Rc::new(stored)));
            }
            Ok(())
        };
        let prefix = block_prefix(self.number(root)?, &[]);
        let end = prefix_end(&prefix);
        self.keyspace.scan(&prefix, end.as_deref(), false, &mut |key, value| {
            let mut rest = key.get(prefix.len()..).unwrap_or_default();
            let Value::Reference(identity) = decode(&mut rest)? else { return Ok(true) };
            let path = access_path(&mut rest)?;
            match &mut open {
                Some((of, entries)) if *of == identity => {
                    entries.insert(path, value.to_vec());
                }
                Some(_) | None => {
                    close(open.take())?;
                    open = Some((identity, Entries::from([(path, value.to_vec())])));
                }
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
