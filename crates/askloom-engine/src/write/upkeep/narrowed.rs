//! States in which nobody is asked who cannot hold a value.

use super::Phase;
use crate::{Aggregate, Held, Instances, Schema, Stop, Stored, Visit};
use askloom_model::{ClassId, EndId, HomePlace, Identity, Leaf, Value};
use askloom_plan::delta::is_relied_on;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A state in which only aggregates that the write changes refer, by a reference that is relied on, to an instance that the
/// write makes or ends, and in which a part of theirs is looked for nowhere else.
pub(super) struct Narrowed<'n> {
    pub(super) state: &'n dyn Instances,
    pub(super) before: &'n dyn Instances,
    pub(super) after: &'n dyn Instances,
    pub(super) changed: &'n [&'n Aggregate],
    pub(super) phase: Phase,
    /// The changed aggregates by what they hold.
    pub(super) holders: RefCell<HashMap<Held, HashMap<Value, BTreeSet<Aggregate>>>>,
    /// What they hold in either state.
    pub(super) held: RefCell<HashMap<Held, HashSet<Value>>>,
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
        if let Some(known) = self.holders.borrow().get(&held) {
            return Ok(known.get(value).cloned().unwrap_or_default());
        }
        let conceptual = &self.schema().model.conceptual;
        let mut holders: HashMap<Value, BTreeSet<Aggregate>> = HashMap::new();
        let mut values = Vec::new();
        for &aggregate in self.changed {
            if let Some(stored) = self.state.aggregate(aggregate.0, &aggregate.1)? {
                held.values_in(conceptual, &stored.record, &mut values);
            }
            for value in values.drain(..) {
                holders.entry(value).or_default().insert(aggregate.clone());
            }
        }
        let found = holders.get(value).cloned().unwrap_or_default();
        self.holders.borrow_mut().insert(held, holders);
        Ok(found)
    }

    /// Whether one of the changed aggregates holds a value, before the write or after it.
    fn is_in_changed(&self, held: Held, value: &Value) -> Result<bool, Stop> {
        if let Some(known) = self.held.borrow().get(&held) {
            return Ok(known.contains(value));
        }
        let conceptual = &self.schema().model.conceptual;
        let mut values = Vec::new();
        for &aggregate in self.changed {
            for state in [self.before, self.after] {
                if let Some(stored) = state.aggregate(aggregate.0, &aggregate.1)? {
                    held.values_in(conceptual, &stored.record, &mut values);
                }
            }
        }
        let all: HashSet<Value> = values.into_iter().collect();
        let found = all.contains(value);
        self.held.borrow_mut().insert(held, all);
        Ok(found)
    }

    /// Those that hold a value if only changed aggregates can: nobody else refers to what the write makes or ends, and a
    /// part that is in one aggregate is in no other.
    fn known(&self, held: Held, value: &Value) -> Result<Option<BTreeSet<Aggregate>>, Stop> {
        if held.leaf == Leaf::Itself {
            let found = self.among_changed(held, value)?;
            // What changed aggregates have in the other state alone is nowhere in this one.
            let known = !found.is_empty() || self.is_in_changed(held, value)?;
            return Ok(known.then_some(found));
        }
        match self.made_or_ended(held, value)? {
            Some(_) => self.among_changed(held, value).map(Some),
            None => Ok(None),
        }
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
        match self.known(held, value)? {
            Some(known) => Ok(known),
            None => self.state.holding(held, value),
        }
    }

    fn each_holding(&self, held: Held, value: &Value, visit: &mut Visit<'_>) -> Result<(), Stop> {
        let Some(known) = self.known(held, value)? else {
            return self.state.each_holding(held, value, visit);
        };
        for aggregate in known {
            if !visit(aggregate)? {
                break;
            }
        }
        Ok(())
    }
}
