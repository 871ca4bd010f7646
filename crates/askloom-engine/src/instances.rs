//! Aggregates by id, and who holds what: what rows are made of.

mod changed;
mod overlay;
mod planned;
mod reader;

pub use changed::Changed;
pub use overlay::Overlay;
pub use planned::PlannedInstances;
pub(crate) use reader::Cache;
pub use reader::Reader;

use crate::{Schema, Stop, System};
use askloom_model::{ClassId, Conceptual, EndId, Identity, Leaf, Member, Occurrence, Record, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An aggregate: its root class and its id.
pub type Aggregate = (ClassId, Identity);

/// An aggregate as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stored {
    pub record: Record,
    pub system: System,
}

/// Takes an aggregate, and says whether to go on.
pub type Visit<'v> = dyn FnMut(Aggregate) -> Result<bool, Stop> + 'v;

/// One state of all aggregates.
pub trait Instances {
    fn schema(&self) -> &Schema;

    /// The aggregate of a root class, expired or not.
    fn aggregate(&self, root: ClassId, id: &Identity) -> Result<Option<Arc<Stored>>, Stop>;

    /// All aggregates of a root class, by id.
    fn all(&self, root: ClassId) -> Result<Vec<(Identity, Arc<Stored>)>, Stop>;

    /// The aggregates that hold a value in a member of a class, somewhere in them.
    fn holding(&self, held: Held, value: &Value) -> Result<BTreeSet<Aggregate>, Stop>;

    /// Visits the aggregates that hold a value, each once, until told to stop: a state that reads them page by page need
    /// not read the rest.
    fn each_holding(&self, held: Held, value: &Value, visit: &mut Visit<'_>) -> Result<(), Stop> {
        for aggregate in self.holding(held, value)? {
            if !visit(aggregate)? {
                break;
            }
        }
        Ok(())
    }

    /// Visits those that hold the id in this stored end.
    fn each_referring(&self, end: EndId, id: &Identity, visit: &mut Visit<'_>) -> Result<(), Stop> {
        let class = self.schema().model.conceptual.ends[end].class;
        self.each_holding(Held { class, leaf: Leaf::Reference(end) }, &Value::Reference(id.clone()), visit)
    }

    /// The aggregates that hold the id in this stored end, somewhere in them.
    fn referring(&self, end: EndId, id: &Identity) -> Result<BTreeSet<Aggregate>, Stop> {
        let class = self.schema().model.conceptual.ends[end].class;
        self.holding(Held { class, leaf: Leaf::Reference(end) }, &Value::Reference(id.clone()))
    }

    /// The aggregates that an entity with this id is a part of.
    fn owners(&self, part: ClassId, id: &Identity) -> Result<BTreeSet<Aggregate>, Stop> {
        self.holding(Held { class: part, leaf: Leaf::Itself }, &Value::Reference(id.clone()))
    }
}

/// A member of a class, or its instances themselves, wherever they occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    pub class: ClassId,
    pub leaf: Leaf,
}

impl Held {
    fn occurrences(self, conceptual: &Conceptual) -> Vec<Occurrence> {
        conceptual.occurrences(self.class)
    }

    /// Whether a record has the value, at any depth.
    pub fn is_in(self, conceptual: &Conceptual, record: &Record, value: &Value) -> bool {
        let here = conceptual.is_kind_of(record.class, self.class)
            && match self.leaf {
                Leaf::Attribute(id) => has(record.get(Member::Attribute(id)), value),
                Leaf::Reference(id) => has(record.get(Member::End(id)), value),
                Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
                Leaf::Itself => match value {
                    Value::Reference(id) => record.identity(conceptual).as_ref() == Some(id),
                    _other => false,
                },
            };
        here || inner_records(record).any(|inner| self.is_in(conceptual, inner, value))
    }
}

impl Held {
    /// Every value that a record holds there, at any depth.
    pub fn values_in(self, conceptual: &Conceptual, record: &Record, found: &mut Vec<Value>) {
        if conceptual.is_kind_of(record.class, self.class) {
            match self.leaf {
                Leaf::Attribute(id) => single_values(record.get(Member::Attribute(id)), found),
                Leaf::Reference(id) => single_values(record.get(Member::End(id)), found),
                Leaf::Bucket(_) | Leaf::TimeBucket(..) => {}
                Leaf::Itself => found.extend(record.identity(conceptual).map(Value::Reference)),
            }
        }
        inner_records(record).for_each(|inner| self.values_in(conceptual, inner, found));
    }
}

fn single_values(member: &Value, found: &mut Vec<Value>) {
    match member {
        Value::Set(ids) => found.extend(ids.iter().cloned().map(Value::Reference)),
        Value::List(elements) => found.extend(elements.iter().map(|element| element.value.clone())),
        single => found.push(single.clone()),
    }
}

fn has(member: &Value, value: &Value) -> bool {
    match (member, value) {
        (Value::Set(ids), Value::Reference(id)) => ids.contains(id),
        (Value::List(elements), value) => elements.iter().any(|element| element.value == *value),
        (member, value) => member == value,
    }
}

/// The parts directly in a record.
pub(crate) fn inner_records(record: &Record) -> impl Iterator<Item = &Record> {
    record.fields.values().flat_map(|value| {
        let (one, many) = match value {
            Value::Record(inner) => (Some(&**inner), [].as_slice()),
            Value::List(elements) => (None, elements.as_slice()),
            _plain => (None, [].as_slice()),
        };
        let of_list = many.iter().filter_map(|element| match &element.value {
            Value::Record(inner) => Some(&**inner),
            _plain => None,
        });
        one.into_iter().chain(of_list)
    })
}
