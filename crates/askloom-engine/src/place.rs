//! Where a record is inside its aggregate.

use askloom_model::{Conceptual, Member, Record, Value};
use std::fmt::Write;

/// From a record to a part of it, or to one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub member: Member,
    /// Which element of a list; nothing for a to-one part and for the list itself.
    pub ordinal: Option<u64>,
}

/// The way from the root record to something inside it; empty for the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place(pub Vec<Step>);

impl Place {
    pub fn below(&self, member: Member, ordinal: Option<u64>) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step { member, ordinal });
        Self(steps)
    }

    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The path as it is kept in system entries.
    pub fn text(&self, conceptual: &Conceptual) -> String {
        let mut text = String::new();
        for step in &self.0 {
            if !text.is_empty() {
                text.push('.');
            }
            // A name in back-quotes may have any letters.
            for letter in conceptual.member_name(step.member).chars() {
                if matches!(letter, '.' | '[' | '\\') {
                    text.push('\\');
                }
                text.push(letter);
            }
            if let Some(ordinal) = step.ordinal {
                let _ = write!(text, "[{ordinal}]");
            }
        }
        text
    }

    pub fn find<'r>(&self, record: &'r Record) -> Option<&'r Record> {
        let mut record = record;
        for step in &self.0 {
            let part = match (record.fields.get(&step.member)?, step.ordinal) {
                (Value::List(elements), Some(ordinal)) => {
                    &elements.iter().find(|element| element.ordinal == ordinal)?.value
                }
                (single, _) => single,
            };
            let Value::Record(inner) = part else { return None };
            record = inner;
        }
        Some(record)
    }

    pub fn find_mut<'r>(&self, record: &'r mut Record) -> Option<&'r mut Record> {
        let mut record = record;
        for step in &self.0 {
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

/// Every record of an aggregate with its place, the root first, in the order of members and of lists.
pub fn records(record: &Record) -> Vec<(Place, &Record)> {
    let mut found = Vec::new();
    collect(record, Place::default(), &mut found);
    found
}

fn collect<'r>(record: &'r Record, place: Place, found: &mut Vec<(Place, &'r Record)>) {
    found.push((place.clone(), record));
    for (&member, value) in &record.fields {
        match value {
            Value::Record(part) => collect(part, place.below(member, None), found),
            Value::List(elements) => {
                for element in elements {
                    if let Value::Record(part) = &element.value {
                        collect(part, place.below(member, Some(element.ordinal)), found);
                    }
                }
            }
            _plain => {}
        }
    }
}
