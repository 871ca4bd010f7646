//! Instances with some aggregates replaced: the state after a write, before it is written.

use super::{Aggregate, Changed, Held, Instances, Stored, Visit};
use crate::{Schema, Stop};
use askloom_model::{ClassId, Identity, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub struct Overlay<'o> {
    base: &'o dyn Instances,
    pub changed: Changed,
}

impl std::fmt::Debug for Overlay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlay").field("changed", &self.changed).finish_non_exhaustive()
    }
}

impl<'o> Overlay<'o> {
    #[must_use]
    pub fn new(base: &'o dyn Instances) -> Self {
        Self { base, changed: Changed::default() }
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
        for ((_, id), changed) in self.changed.of_root(root) {
            match changed {
                Some(stored) => all.insert(id.clone(), Arc::clone(stored)),
                None => all.remove(id),
            };
        }
        Ok(all.into_iter().collect())
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = &self.schema().model.conceptual;
        let mut found = self.base.holding(held, value)?;
        found.retain(|aggregate| !self.changed.contains(aggregate));
        found.extend(self.changed.holding(conceptual, held, value));
        Ok(found)
    }

    fn each_holding(&self, held: Held, value: &Value, visit: &mut Visit<'_>) -> Result<(), Stop> {
        let conceptual = &self.schema().model.conceptual;
        for aggregate in self.changed.holding(conceptual, held, value) {
            if !visit(aggregate)? {
                return Ok(());
            }
        }
        self.base.each_holding(held, value, &mut |aggregate| {
            if self.changed.contains(&aggregate) { Ok(true) } else { visit(aggregate) }
        })
    }
}
