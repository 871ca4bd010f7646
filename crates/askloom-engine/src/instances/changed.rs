//! Aggregates as a write leaves them, and who of them holds what.

use super::{Aggregate, Held, Stored};
use askloom_model::{ClassId, Conceptual, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Aggregates as they are afterwards; `None` for those that are gone. Who holds a value is looked up rather than searched:
/// a statement that changes ten thousand aggregates asks so for each of them.
#[derive(Debug, Default)]
pub struct Changed {
    aggregates: BTreeMap<Aggregate, Option<Arc<Stored>>>,
    /// By what was asked for so far.
    holders: RefCell<HashMap<Held, Holders>>,
    /// Those that were changed since somebody last went through them.
    recent: BTreeSet<Aggregate>,
}

impl Changed {
    #[must_use]
    pub fn get(&self, aggregate: &Aggregate) -> Option<&Option<Arc<Stored>>> {
        self.aggregates.get(aggregate)
    }

    #[must_use]
    pub fn contains(&self, aggregate: &Aggregate) -> bool {
        self.aggregates.contains_key(aggregate)
    }

    pub fn insert(&mut self, aggregate: Aggregate, after: Option<Arc<Stored>>) {
        for holders in self.holders.get_mut().values_mut() {
            holders.stale.insert(aggregate.clone());
        }
        self.recent.insert(aggregate.clone());
        self.aggregates.insert(aggregate, after);
    }

    /// Those that were changed since this was last asked.
    pub(crate) fn take_recent(&mut self) -> BTreeSet<Aggregate> {
        std::mem::take(&mut self.recent)
    }

    /// Lets go of what is about to be changed and inserted again, so that it need not be copied.
    pub(crate) fn release(&mut self, aggregate: &Aggregate) {
        if let Some(after) = self.aggregates.get_mut(aggregate) {
            *after = None;
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = &Aggregate> {
        self.aggregates.keys()
    }

    /// Those of a root class.
    pub(super) fn of_root(&self, root: ClassId) -> impl Iterator<Item = (&Aggregate, &Option<Arc<Stored>>)> {
        let from = (root, Vec::new());
        self.aggregates.range(from..).take_while(move |((of, _), _)| *of == root)
    }

    /// For what the system keeps about them. What they hold must stay.
    pub(crate) fn systems(&mut self) -> impl Iterator<Item = (&Aggregate, &mut Option<Arc<Stored>>)> {
        self.aggregates.iter_mut()
    }

    /// Those that hold a value.
    pub(crate) fn holding(&self, conceptual: &Conceptual, held: Held, value: &Value) -> BTreeSet<Aggregate> {
        let mut all = self.holders.borrow_mut();
        let holders = all.entry(held).or_insert_with(|| Holders {
            stale: self.aggregates.keys().cloned().collect(),
            ..Holders::default()
        });
        for aggregate in std::mem::take(&mut holders.stale) {
            let after = self.aggregates.get(&aggregate).and_then(Option::as_deref);
            holders.renew(conceptual, held, aggregate, after);
        }
        holders.of_value.get(value).cloned().unwrap_or_default()
    }
}

impl Extend<(Aggregate, Option<Arc<Stored>>)> for Changed {
    fn extend<T: IntoIterator<Item = (Aggregate, Option<Arc<Stored>>)>>(&mut self, all: T) {
        all.into_iter().for_each(|(aggregate, after)| self.insert(aggregate, after));
    }
}

impl IntoIterator for Changed {
    type Item = (Aggregate, Option<Arc<Stored>>);
    type IntoIter = std::collections::btree_map::IntoIter<Aggregate, Option<Arc<Stored>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.aggregates.into_iter()
    }
}

/// Who holds which value at one place.
#[derive(Debug, Default)]
struct Holders {
    of_value: HashMap<Value, BTreeSet<Aggregate>>,
    values: HashMap<Aggregate, Vec<Value>>,
    /// Those that have changed since they were looked through.
    stale: BTreeSet<Aggregate>,
}

impl Holders {
    fn renew(&mut self, conceptual: &Conceptual, held: Held, aggregate: Aggregate, after: Option<&Stored>) {
        for value in self.values.remove(&aggregate).unwrap_or_default() {
            if let Some(holders) = self.of_value.get_mut(&value) {
                holders.remove(&aggregate);
            }
        }
        let mut values = Vec::new();
        if let Some(stored) = after {
            held.values_in(conceptual, &stored.record, &mut values);
        }
        for value in &values {
            self.of_value.entry(value.clone()).or_default().insert(aggregate.clone());
        }
        if !values.is_empty() {
            self.values.insert(aggregate, values);
        }
    }
}
