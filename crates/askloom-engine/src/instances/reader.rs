//! Instances read from a source, each once.

use super::{Aggregate, Held, Instances, Stored, Visit};
use crate::source::{Records, Source, every, every_from};
use crate::{Schema, Stop, System};
use askloom_model::{ClassId, Identity, Occurrence, Value};
use askloom_plan::layout::Entry;
use askloom_plan::program::{How, Read};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What has been read already, and what was found not to be there.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    aggregates: HashMap<Aggregate, Option<Arc<Stored>>>,
    /// Roots of which all aggregates have been read.
    scanned: BTreeMap<ClassId, Vec<(Identity, Arc<Stored>)>>,
    /// Who holds a value.
    pub(super) holding: HashMap<(Held, Value), BTreeSet<Aggregate>>,
}

impl Cache {
    pub(crate) fn len(&self) -> usize {
        self.aggregates.len() + self.holding.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

pub struct Reader<'r> {
    source: &'r dyn Source,
    cache: RefCell<Cache>,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl<'r> Reader<'r> {
    #[must_use]
    pub fn new(source: &'r dyn Source) -> Self {
        Self { source, cache: RefCell::default() }
    }

    pub fn source(&self) -> &'r dyn Source {
        self.source
    }

    /// The system entry of a block, also of one that was deleted.
    pub fn system(&self, root: ClassId, id: &Identity) -> Result<Option<System>, Stop> {
        Ok(self.source.block(root, id)?.system().cloned())
    }

    fn indexed(
        &self,
        occurrence: &Occurrence,
        held: Held,
        value: &Value,
        found: &mut BTreeSet<Aggregate>,
    ) -> Result<bool, Stop> {
        let schema = self.source.schema();
        let Some(index) = schema.readable().index(occurrence, held.leaf) else { return Ok(false) };
        let terms = schema.table(index).block_terms(std::slice::from_ref(value));
        every(self.source, &Read::new(index, How::Block(terms)), |records| {
            let Records::Entries(entries) = records else { return Ok(true) };
            for entry in entries.iter() {
                if let Entry::Row { row, .. } = entry
                    && let Some(Value::Reference(identity)) = row.first()
                {
                    found.insert((occurrence.root, identity.clone()));
                }
            }
            Ok(true)
        })?;
        Ok(true)
    }

    fn each_of_all(&self, held: Held, value: &Value, visit: &mut Visit<'_>) -> Result<(), Stop> {
        for aggregate in self.holding(held, value)? {
            if !visit(aggregate)? {
                break;
            }
        }
        Ok(())
    }
}

/// Every aggregate of a root class, read once.
pub(super) fn all(
    source: &dyn Source,
    root: ClassId,
    cache: &RefCell<Cache>,
) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
    if let Some(known) = cache.borrow().scanned.get(&root) {
        return Ok(known.clone());
    }
    let schema = source.schema();
    let master = schema.master(root);
    let mut all = Vec::new();
    every(source, &Read::new(master, How::All), |records| {
        if let Records::Aggregates(found) = records {
            all.extend(Arc::unwrap_or_clone(found));
        }
        Ok(true)
    })?;
    // The key of a master may have another order than its ids.
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut cache = cache.borrow_mut();
    for (identity, stored) in &all {
        cache.aggregates.entry((root, identity.clone())).or_insert_with(|| Some(Arc::clone(stored)));
    }
    cache.scanned.insert(root, all.clone());
    Ok(all)
}

/// An aggregate, read once.
pub(super) fn aggregate(
    source: &dyn Source,
    root: ClassId,
    id: &Identity,
    cache: &RefCell<Cache>,
) -> Result<Option<Arc<Stored>>, Stop> {
    let key = (root, id.clone());
    if let Some(known) = cache.borrow().aggregates.get(&key) {
        return Ok(known.clone());
    }
    let read = source.block(root, id)?.live();
    cache.borrow_mut().aggregates.insert(key, read.clone());
    Ok(read)
}

impl Instances for Reader<'_> {
    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        aggregate(self.source, root, id, &self.cache)
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
        all(self.source, root, &self.cache)
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = &self.source.schema().model.conceptual;
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

    fn each_holding(&self, held: Held, value: &Value, visit: &mut Visit<'_>) -> Result<(), Stop> {
        let schema = self.source.schema();
        let occurrences = held.occurrences(&schema.model.conceptual);
        let (1, Some(occurrence)) = (occurrences.len(), occurrences.first()) else {
            return self.each_of_all(held, value, visit);
        };
        let Some(index) = schema.readable().index(occurrence, held.leaf) else {
            return self.each_of_all(held, value, visit);
        };
        let terms = schema.table(index).block_terms(std::slice::from_ref(value));
        let read = Read::new(index, How::Block(terms));
        every_from(self.source, &read, FEW, |records| {
            let Records::Entries(entries) = records else { return Ok(true) };
            for entry in entries.iter() {
                if let Entry::Row { row, .. } = entry
                    && let Some(Value::Reference(identity)) = row.first()
                    && !visit((occurrence.root, identity.clone()))?
                {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }
}

/// As many records are read first where one may be enough.
const FEW: usize = 4;
