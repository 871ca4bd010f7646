//! What can stand at a position: a record inside a stored aggregate, or an element of a list of plain values.

use crate::Stored;
use crate::place::{self, Place};
use askloom_model::{Conceptual, Identity, Member, Record, Value};
use std::sync::Arc;

/// What stands at a position.
#[derive(Debug, Clone)]
pub enum Node {
    /// An outer join found nothing.
    Nothing,
    /// An entity or a value object.
    Record(Inner),
    /// An element of a list of plain values.
    Element(Value),
}

impl Node {
    pub fn record(&self) -> Option<&Record> {
        match self {
            Self::Record(inner) => inner.record(),
            Self::Nothing | Self::Element(_) => None,
        }
    }
}

/// A record of an aggregate, by the way to it: the aggregate is shared, not copied.
#[derive(Debug, Clone)]
pub struct Inner {
    stored: Arc<Stored>,
    /// Nothing for the root.
    last: Option<Arc<Step>>,
}

#[derive(Debug)]
struct Step {
    above: Option<Arc<Step>>,
    member: Member,
    element: Option<Element>,
}

/// Which element of a list: where it is now, and what it is called.
#[derive(Debug, Clone, Copy)]
pub struct Element {
    pub index: usize,
    pub ordinal: u64,
}

impl Inner {
    pub fn root(stored: Arc<Stored>) -> Self {
        Self { stored, last: None }
    }

    /// The aggregate that the record is in.
    pub fn aggregate(&self) -> &Stored {
        &self.stored
    }

    /// A part of this record.
    pub fn below(&self, member: Member, element: Option<Element>) -> Self {
        let step = Step { above: self.last.clone(), member, element };
        Self { stored: Arc::clone(&self.stored), last: Some(Arc::new(step)) }
    }

    /// The record that this is a part of, and by which member.
    pub fn above(&self) -> Option<(Self, Member)> {
        let step = self.last.as_ref()?;
        Some((Self { stored: Arc::clone(&self.stored), last: step.above.clone() }, step.member))
    }

    /// Which element of its list it is; nothing for the root and for a to-one part.
    pub fn ordinal(&self) -> Option<u64> {
        self.last.as_ref()?.element.map(|element| element.ordinal)
    }

    /// Where it is in its aggregate.
    pub fn place(&self) -> Place {
        let mut steps = Vec::new();
        let mut step = self.last.as_deref();
        while let Some(Step { above, member, element }) = step {
            steps.push(place::Step { member: *member, ordinal: element.map(|element| element.ordinal) });
            step = above.as_deref();
        }
        steps.reverse();
        Place(steps)
    }

    pub fn record(&self) -> Option<&Record> {
        resolve(&self.stored.record, self.last.as_deref())
    }

    /// The parts of this record at each member, in order.
    pub fn parts(&self) -> Vec<Self> {
        let Some(record) = self.record() else { return Vec::new() };
        record.fields.keys().flat_map(|&member| self.parts_at(member)).collect()
    }

    pub fn parts_at(&self, member: Member) -> Vec<Self> {
        let Some(record) = self.record() else { return Vec::new() };
        match record.get(member) {
            Value::Record(_) => vec![self.below(member, None)],
            Value::List(elements) => {
                let parts = elements.iter().enumerate().filter(|(_, e)| matches!(e.value, Value::Record(_)));
                let below = |(index, element): (usize, &askloom_model::Element)| {
                    self.below(member, Some(Element { index, ordinal: element.ordinal }))
                };
                parts.map(below).collect()
            }
            _plain => Vec::new(),
        }
    }

    pub fn identity(&self, conceptual: &Conceptual) -> Option<Identity> {
        self.record()?.identity(conceptual)
    }
}

fn resolve<'r>(root: &'r Record, last: Option<&Step>) -> Option<&'r Record> {
    let Some(step) = last else { return Some(root) };
    let above = resolve(root, step.above.as_deref())?;
    let value = match (above.get(step.member), step.element) {
        (Value::List(elements), Some(element)) => &elements.get(element.index)?.value,
        (single, _) => single,
    };
    if let Value::Record(record) = value { Some(record) } else { None }
}
