//! States in which nobody is asked who cannot refer.

use super::Phase;
use crate::{Aggregate, Held, Instances, Schema, Stop, Stored, Visit};
use askloom_model::{ClassId, EndId, HomePlace, Identity, Leaf, Value};
use askloom_plan::delta::is_relied_on;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A state in which only aggregates that the write changes refer, by a reference that is relied on, to an instance that the
/// write makes or ends.
pub(super) struct Narrowed<'n> {
    pub(super) state: &'n dyn Instances,
    pub(super) before: &'n dyn Instances,
    pub(super) after: &'n dyn Instances,
    pub(super) changed: &'n [&'n Aggregate],
    pub(super) phase: Phase,
}

impl Narrowed<'_> {
    /// The end, if the value is of an instance that the write makes or ends.
    fn made_or_ended(&self, held: Held, value: &Value) -> Result<Option<EndId>, Stop> {
        let (Leaf::Reference(end), Value::Reference(target)) = (held.leaf, value) else { return Ok(None) };
        let schema = self.schema();
        let conceptual = &schema.model.conceptual;
        let homes = schema.homes(conceptual.ends[end].target);
        // Parts are found by an index that may be asked as well.
        let roots = homes.iter().all(|home| home.place == HomePlace::Root);
        if !roots || self.phase == Phase::Loading || !is_relied_on(conceptual, end) {
            return Ok(None);
        }
        let mut exists = [false, false];
        for (state, exists) in [self.before, self.after].into_iter().zip(&mut exists) {
            for home in homes {
                *exists |= state.aggregate(home.root, target)?.is_some();
            }
        }
        Ok((exists == [true, false] || exists == [false, true]).then_some(end))
    }

    /// Those of the changed aggregates that hold a value.
    fn among_changed(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        let conceptual = &self.schema().model.conceptual;
        let mut found = BTreeSet::new();
        for &aggregate in self.changed {
            let stored = self.state.aggregate(aggregate.0, &aggregate.1)?;
            if stored.is_some_and(|stored| held.is_in(conceptual, &stored.record, value)) {
                found.insert(aggregate.clone());
            }
        }
        Ok(found)
    }
}

impl Instances for Narrowed<'_> {
    fn schema(&self) -> &Schema {
        self.state.schema()
    }

    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop> {
        self.state.aggregate(root, id)
    }

    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop> {
        self.state.all(root)
    }

    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop> {
        match self.made_or_ended(held, value)? {
            Some(_) => self.among_changed(held, value),
            None => self.state.holding(held, value),
        }
    }

    fn each_holding(&self, held: Held, value: &Value, visit: &mut Visit<'_>) -> Result<(), Stop> {
        if self.made_or_ended(held, value)?.is_none() {
            return self.state.each_holding(held, value, visit);
        }
        for aggregate in self.among_changed(held, value)? {
            if !visit(aggregate)? {
                break;
            }
        }
        Ok(())
    }
}
