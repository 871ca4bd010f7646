//! Conceptual data: what exists, without any notion of how it is stored.

use crate::address::{Address, Place};
use askloom_model::{ClassId, Conceptual, Identity, Record, Value};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// All instances. A root is kept under the topmost class of its hierarchy, as ids are unique there. Links are
/// only where the model stores them; the other end is found by looking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub(crate) roots: BTreeMap<ClassId, BTreeMap<Identity, Instance>>,
}

/// One aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    pub(crate) record: Record,
    pub(crate) created: Timestamp,
    /// The next ordinal of each list, also of lists inside parts. It never goes back.
    pub(crate) counters: BTreeMap<Place, u64>,
    /// Which part entity is where, and since when.
    pub(crate) born: BTreeMap<Place, (Identity, Timestamp)>,
}

impl Instance {
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.created
    }
}

impl State {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a store holds, as it is: no rule is applied, and nothing follows from anything. For comparing a store
    /// with the definitions of its copies.
    #[must_use]
    pub fn of_stored(
        conceptual: &Conceptual,
        aggregates: impl IntoIterator<Item = (Record, Timestamp)>,
    ) -> Self {
        let mut state = Self::default();
        for (record, created) in aggregates {
            let Some(identity) = record.identity(conceptual) else { continue };
            let top = top(conceptual, record.class);
            let instance = Instance { record, created, counters: BTreeMap::new(), born: BTreeMap::new() };
            state.roots.entry(top).or_default().insert(identity, instance);
        }
        state
    }

    /// Every aggregate, by hierarchy and id, whether its time is up or not.
    pub fn instances(&self) -> impl Iterator<Item = (ClassId, &Identity, &Instance)> {
        self.roots
            .iter()
            .flat_map(|(&top, roots)| roots.iter().map(move |(identity, instance)| (top, identity, instance)))
    }

    /// How many aggregates there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.roots.values().map(BTreeMap::len).sum()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The aggregate of that id in the hierarchy of `class`.
    #[must_use]
    pub fn get(&self, conceptual: &Conceptual, class: ClassId, identity: &Identity) -> Option<&Instance> {
        self.roots.get(&top(conceptual, class))?.get(identity)
    }

    pub(crate) fn instance_mut(&mut self, address: &Address) -> Option<&mut Instance> {
        self.roots.get_mut(&address.top)?.get_mut(&address.root)
    }

    pub(crate) fn record_mut(&mut self, address: &Address) -> Option<&mut Record> {
        let mut record = &mut self.instance_mut(address)?.record;
        for step in &address.place {
            let part = match (record.fields.get_mut(&step.member)?, step.ordinal) {
                (Value::List(elements), Some(ordinal)) => {
                    &mut elements.iter_mut().find(|element| element.ordinal == ordinal)?.value
                }
                (single, _) => single,
            };
            let Value::Record(inner) = part else { return None };
            record = inner;
        }
        Some(record)
    }
}

/// The topmost class of a hierarchy.
pub(crate) fn top(conceptual: &Conceptual, class: ClassId) -> ClassId {
    conceptual.lineage(class).last().copied().unwrap_or(class)
}
