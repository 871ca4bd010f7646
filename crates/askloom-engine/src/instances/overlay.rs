//! Instances with some aggregates replaced: the state after a write, before it is written.

use super::{Aggregate, Held, Instances, Stored, Visit};
use crate::{Schema, Stop};
use askloom_model::{ClassId, Identity, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub struct Overlay<'o> {
    base: &'o dyn Instances,
    pub changed: Changed,
}

/// Aggregates as they are afterwards; nothing of those that are gone.
pub type Changed = BTreeMap<Aggregate, Option<Arc<Stored>>>;

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

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        match self.changed.get(&(root, id.clone())) {
            Some(changed) => Ok(changed.clone()),
            None => self.base.aggregate(root, id),
        }
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
        let mut all: BTreeMap<Identity, Arc<Stored>> = self.base.all(root)?.into_iter().collect();
        for ((_, id), changed) in self.changed.iter().filter(|((of, _), _)| *of == root) {
            match changed {
                Some(stored) => all.insert(id.clone(), Arc::clone(stored)),
                None => all.remove(id),
            };
        }
        Ok(all.into_iter().collect())
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = &self.schema().model.conceptual;
        let occurrences = held.occurrences(conceptual);
        let mut found = self.base.holding(held, value)?;
        let here = |root: ClassId| occurrences.iter().any(|occurrence| occurrence.root == root);
        for (aggregate, changed) in self.changed.iter().filter(|((root, _), _)| here(*root)) {
            match changed {
                Some(stored) if held.is_in(conceptual, &stored.record, value) => {
                    found.insert(aggregate.clone())
                }
                Some(_) | None => found.remove(aggregate),
            };
        }
        Ok(found)
    }

    fn each_holding(&self, held: Held, value: &Value, visit: &mut Visit<'_>) -> Result<(), Stop> {
        let conceptual = &self.schema().model.conceptual;
        for (aggregate, changed) in &self.changed {
            let holds = changed.as_ref().is_some_and(|stored| held.is_in(conceptual, &stored.record, value));
            if holds && !visit(aggregate.clone())? {
                return Ok(());
            }
        }
        self.base.each_holding(held, value, &mut |aggregate| {
            if self.changed.contains_key(&aggregate) { Ok(true) } else { visit(aggregate) }
        })
    }
}
