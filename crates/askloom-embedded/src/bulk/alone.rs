//! A state in which one aggregate is all there is: what the rows of copies that join nothing are made from.

use crate::KeyedSchema;
use askloom_engine::{Aggregate, Held, Instances, Stop, Stored};
use askloom_model::{ClassId, Identity, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) struct Alone<'s> {
    pub(super) schema: &'s KeyedSchema,
    pub(super) aggregate: &'s Aggregate,
    pub(super) stored: Arc<Stored>,
}

impl Instances for Alone<'_> {
    fn schema(&self) -> &askloom_engine::Schema {
        self.schema
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        let is_it = root == self.aggregate.0 && *id == self.aggregate.1;
        Ok(is_it.then(|| Arc::clone(&self.stored)))
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
        let is_it = root == self.aggregate.0;
        Ok(is_it.then(|| (self.aggregate.1.clone(), Arc::clone(&self.stored))).into_iter().collect())
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let holds = held.is_in(&self.schema.model.conceptual, &self.stored.record, value);
        Ok(holds.then(|| self.aggregate.clone()).into_iter().collect())
    }
}
