//! Aggregates by id, and who refers to whom: what rows are made of.

use crate::{Keyspace, RunError, Schema};
use askloom_model::{ClassId, Conceptual, EndId, Identity, Member, Record, RelationshipKind, Value};
use askloom_target::embedded::{
    block_prefix, decode, decode_record, encode, encode_record, master_entry, prefix_end, split_entry,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The system entry of a block: what every write of it is conditional on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct System {
    /// Grows with every write of the block, also across delete and re-insert.
    pub version: u64,
    /// Grows when somebody comes to depend on this instance.
    pub epoch: u64,
    /// Microseconds since 1970: when the instance was made.
    pub created: i64,
    /// The next ordinal of each list, by its path in the aggregate.
    pub ordinals: BTreeMap<String, u64>,
    /// Microseconds since 1970: when each part was made that has a time to live, by its path in the aggregate.
    pub born: BTreeMap<String, i64>,
}

/// An aggregate as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub record: Record,
    pub system: System,
}

/// One state of all aggregates.
pub trait Instances {
    fn schema(&self) -> &Schema;

    /// The aggregate of a root class, expired or not.
    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Rc<Stored>>, RunError>;

    /// All aggregates of a root class, by id.
    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Rc<Stored>)>, RunError>;

    /// The aggregates that hold the id in this stored end, somewhere in them.
    fn referring(&self, end: EndId, id: &Identity) -> Result<BTreeSet<(ClassId, Identity)>, RunError>;
}

/// What has been read already, and what was found not to be there.
type Cache = HashMap<(ClassId, Identity), Option<Rc<Stored>>>;

/// Instances read from a keyspace, each once.
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

    fn read(&self, root: ClassId, id: &Identity) -> Result<Option<Rc<Stored>>, RunError> {
        let number = self.number(root)?;
        let Some(system) = self.keyspace.get(&master_entry(number, id, SYSTEM))? else { return Ok(None) };
        let Some(value) = self.keyspace.get(&master_entry(number, id, WHOLE))? else { return Ok(None) };
        Ok(Some(Rc::new(stored(self.schema, &system, &value)?)))
    }
}

/// The access paths of the two entries of an aggregate that is one entry.
pub(crate) const SYSTEM: &str = "#";
pub(crate) const WHOLE: &str = "";

pub(crate) fn no_master(schema: &Schema, root: ClassId) -> RunError {
    let name = &schema.model.conceptual.classes[root].name;
    RunError::Corrupted(format!("the design has no master for {name}"))
}

fn stored(schema: &Schema, system: &[u8], value: &[u8]) -> Result<Stored, RunError> {
    let record = decode_record(&schema.model.conceptual, schema, &mut &*value)?;
    Ok(Stored { record, system: decode_system(system)? })
}

pub(crate) fn encode_stored(schema: &Schema, stored: &Stored) -> (Vec<u8>, Vec<u8>) {
    let mut value = Vec::new();
    encode_record(&schema.model.conceptual, &stored.record, &mut value);
    (encode_system(&stored.system), value)
}

pub(crate) fn encode_system(system: &System) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(system.version.to_be_bytes());
    out.extend(system.epoch.to_be_bytes());
    encode(&Value::Int(system.created), &mut out);
    for (path, next) in &system.ordinals {
        encode(&Value::Text(path.clone()), &mut out);
        out.extend(next.to_be_bytes());
    }
    if !system.born.is_empty() {
        encode(&Value::Null, &mut out);
    }
    for (path, made) in &system.born {
        encode(&Value::Text(path.clone()), &mut out);
        encode(&Value::Int(*made), &mut out);
    }
    out
}

pub(crate) fn decode_system(bytes: &[u8]) -> Result<System, RunError> {
    let broken = || RunError::Corrupted("a system entry is malformed".to_owned());
    let mut rest = bytes;
    let number = |rest: &mut &[u8]| {
        let (first, left) = rest.split_first_chunk::<8>().ok_or_else(broken)?;
        *rest = left;
        Ok::<u64, RunError>(u64::from_be_bytes(*first))
    };
    let (version, epoch) = (number(&mut rest)?, number(&mut rest)?);
    let Value::Int(created) = decode(&mut rest)? else { return Err(broken()) };
    let (mut ordinals, mut born) = (BTreeMap::new(), BTreeMap::new());
    while !rest.is_empty() {
        match decode(&mut rest)? {
            Value::Text(path) => ordinals.insert(path, number(&mut rest)?),
            Value::Null => break,
            _other => return Err(broken()),
        };
    }
    while !rest.is_empty() {
        let (Value::Text(path), Value::Int(made)) = (decode(&mut rest)?, decode(&mut rest)?) else {
            return Err(broken());
        };
        born.insert(path, made);
    }
    Ok(System { version, epoch, created, ordinals, born })
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
        let read = self.read(root, id)?;
        self.cache.borrow_mut().insert(key, read.clone());
        Ok(read)
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Rc<Stored>)>, RunError> {
        let prefix = block_prefix(self.number(root)?, &[]);
        let end = prefix_end(&prefix);
        let mut ids: BTreeSet<Identity> = BTreeSet::new();
        self.keyspace.scan(&prefix, end.as_deref(), false, &mut |key, _| {
            let mut rest = key.get(4..).unwrap_or_default();
            if let Value::Reference(identity) = decode(&mut rest)? {
                ids.insert(identity);
            }
            Ok(true)
        })?;
        let mut all = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(stored) = self.aggregate(root, &id)? {
                all.push((id, stored));
            }
        }
        Ok(all)
    }

    fn referring(&self, end: EndId, id: &Identity) -> Result<BTreeSet<(ClassId, Identity)>, RunError> {
        let Some(index) = self.schema.design.reverse_index(end) else { return by_scan(self, end, id) };
        let collection = &self.schema.design.collections[index];
        let prefix = block_prefix(self.schema.number(index), &[Value::Reference(id.clone())]);
        let end = prefix_end(&prefix);
        let root = collection.source.root;
        let mut found = BTreeSet::new();
        self.keyspace.scan(&prefix, end.as_deref(), false, &mut |key, _| {
            let parts = split_entry(key, 1, &collection.entry_key, 1)?;
            if let Some(Value::Reference(identity)) = parts.row.into_iter().next() {
                found.insert((root, identity));
            }
            Ok(true)
        })?;
        Ok(found)
    }
}

/// Looks through all aggregates that can hold the end.
fn by_scan(
    instances: &dyn Instances,
    end: EndId,
    id: &Identity,
) -> Result<BTreeSet<(ClassId, Identity)>, RunError> {
    let mut found = BTreeSet::new();
    for root in roots_with(&instances.schema().model.conceptual, end) {
        for (owner, stored) in instances.all(root)? {
            if refers(&stored.record, end, id) {
                found.insert((root, owner));
            }
        }
    }
    Ok(found)
}

/// The roots of the aggregates in which an end can occur: a value object may occur in many.
pub(crate) fn roots_with(conceptual: &Conceptual, end: EndId) -> Vec<ClassId> {
    let class = conceptual.ends[end].class;
    if let Some(root) = conceptual.aggregate_root(class) {
        return vec![root];
    }
    let holds = |root: &ClassId| nested_classes(conceptual, *root).contains(&class);
    let roots = conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class));
    roots.filter(holds).collect()
}

/// Every class whose instances can be inside an aggregate of this root.
pub(crate) fn nested_classes(conceptual: &Conceptual, root: ClassId) -> BTreeSet<ClassId> {
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(class) = open.pop() {
        let family = conceptual
            .classes
            .ids()
            .filter(|&c| conceptual.is_kind_of(c, class) || conceptual.is_kind_of(class, c));
        for class in family {
            if !found.insert(class) {
                continue;
            }
            for &member in &conceptual.classes[class].members {
                if let Member::End(end) = member
                    && conceptual.ends[end].kind == RelationshipKind::Composition
                {
                    open.push(conceptual.ends[end].target);
                }
            }
        }
    }
    found
}

/// Whether a record holds the id in the end, at any depth.
pub(crate) fn refers(record: &Record, end: EndId, id: &Identity) -> bool {
    record.fields.iter().any(|(&member, value)| match value {
        Value::Reference(held) => member == Member::End(end) && held == id,
        Value::Set(held) => member == Member::End(end) && held.contains(id),
        Value::Record(inner) => refers(inner, end, id),
        Value::List(elements) => elements.iter().any(|element| match &element.value {
            Value::Record(inner) => refers(inner, end, id),
            _plain => false,
        }),
        _plain => false,
    })
}

/// Instances with some aggregates replaced: the state after a write, before it is written.
pub struct Overlay<'o> {
    base: &'o dyn Instances,
    pub changed: BTreeMap<(ClassId, Identity), Option<Rc<Stored>>>,
}

impl std::fmt::Debug for Overlay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlay").field("changed", &self.changed).finish_non_exhaustive()
    }
}

impl<'o> Overlay<'o> {
    #[must_use]
    pub fn new(base: &'o dyn Instances) -> Self {
        Self { base, changed: BTreeMap::new() }
    }
}

impl Instances for Overlay<'_> {
    fn schema(&self) -> &Schema {
        self.base.schema()
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Rc<Stored>>, RunError> {
        match self.changed.get(&(root, id.clone())) {
            Some(changed) => Ok(changed.clone()),
            None => self.base.aggregate(root, id),
        }
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Rc<Stored>)>, RunError> {
        let mut all: BTreeMap<Identity, Rc<Stored>> = self.base.all(root)?.into_iter().collect();
        for ((_, id), changed) in self.changed.iter().filter(|((of, _), _)| *of == root) {
            match changed {
                Some(stored) => all.insert(id.clone(), Rc::clone(stored)),
                None => all.remove(id),
            };
        }
        Ok(all.into_iter().collect())
    }

    fn referring(&self, end: EndId, id: &Identity) -> Result<BTreeSet<(ClassId, Identity)>, RunError> {
        let roots = roots_with(&self.schema().model.conceptual, end);
        let mut found = self.base.referring(end, id)?;
        for (owner, changed) in self.changed.iter().filter(|((root, _), _)| roots.contains(root)) {
            match changed {
                Some(stored) if refers(&stored.record, end, id) => found.insert(owner.clone()),
                Some(_) | None => found.remove(owner),
            };
        }
        Ok(found)
    }
}
