//! From the entries of an aggregate back to the aggregate: they say where they belong, so that it takes no rules.

use crate::{AccessPath, AccessStep, ClassId, Conceptual, Element, Member, Record, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why entries are not those of an aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinError {
    /// There is not a single entry.
    Nothing,
    /// Two entries hold the same.
    Twice(AccessPath),
    /// The path leads through something that is not as the model says.
    Misplaced(AccessPath),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("an aggregate has no entries"),
            Self::Twice(path) => write!(f, "what the entry `{path}` holds is in another entry, too"),
            Self::Misplaced(path) => write!(f, "the model has no place for the entry `{path}`"),
        }
    }
}

impl std::error::Error for JoinError {}

/// The aggregate of these entries, whose collection is that of the class `root`.
///
/// A field that the model does not have is left out: it is not lost in the store, only not seen.
pub fn join(
    conceptual: &Conceptual,
    root: ClassId,
    entries: BTreeMap<AccessPath, Value>,
) -> Result<Record, JoinError> {
    if entries.is_empty() {
        return Err(JoinError::Nothing);
    }
    let mut aggregate = Record::new(root);
    // In the order of their paths: a record that says its own class comes before what is inside it.
    for (path, value) in entries {
        let placed = match path.0.as_slice() {
            [] => whole(conceptual, root, &mut aggregate, value),
            steps => in_record(conceptual, &mut aggregate, steps, value),
        };
        placed.map_err(|wrong| match wrong {
            Wrong::Twice => JoinError::Twice(path),
            Wrong::Misplaced => JoinError::Misplaced(path),
        })?;
    }
    Ok(aggregate)
}

enum Wrong {
    Twice,
    Misplaced,
}

fn whole(conceptual: &Conceptual, root: ClassId, aggregate: &mut Record, value: Value) -> Result<(), Wrong> {
    let Value::Record(piece) = value else { return Err(Wrong::Misplaced) };
    if !conceptual.is_kind_of(piece.class, root) {
        return Err(Wrong::Misplaced);
    }
    *aggregate = *piece;
    Ok(())
}

fn in_record(
    conceptual: &Conceptual,
    record: &mut Record,
    steps: &[AccessStep],
    value: Value,
) -> Result<(), Wrong> {
    let Some((AccessStep::Field(name), later)) = steps.split_first() else { return Err(Wrong::Misplaced) };
    let Some(member) = member(conceptual, record.class, name) else { return Ok(()) };
    let part = match member {
        Member::Attribute(_) => None,
        Member::End(end) => Some(conceptual.ends[end].target),
    };
    in_value(conceptual, part, record.fields.entry(member).or_insert(Value::Null), later, value)
}

fn member(conceptual: &Conceptual, class: ClassId, name: &str) -> Option<Member> {
    let mut current = Some(class);
    while let Some(class) = current {
        let members = &conceptual.classes[class].members;
        if let Some(found) = members.iter().find(|&&member| conceptual.member_name(member) == name) {
            return Some(*found);
        }
        current = conceptual.classes[class].parent;
    }
    None
}

/// Puts a value at the end of the steps from what `slot` holds; null is where nothing has been put yet.
fn in_value(
    conceptual: &Conceptual,
    part: Option<ClassId>,
    slot: &mut Value,
    steps: &[AccessStep],
    value: Value,
) -> Result<(), Wrong> {
    let Some((step, later)) = steps.split_first() else {
        return match slot.is_null() {
            true => {
                *slot = value;
                Ok(())
            }
            false => Err(Wrong::Twice),
        };
    };
    match step {
        AccessStep::Field(_) => {
            let part = part.ok_or(Wrong::Misplaced)?;
            if slot.is_null() {
                *slot = Value::Record(Box::new(Record::new(part)));
            }
            let Value::Record(record) = slot else { return Err(Wrong::Misplaced) };
            in_record(conceptual, record, steps, value)
        }
        AccessStep::Element(ordinal) => {
            if slot.is_null() {
                *slot = Value::List(Vec::new());
            }
            let Value::List(elements) = slot else { return Err(Wrong::Misplaced) };
            let element = element(elements, *ordinal).ok_or(Wrong::Misplaced)?;
            in_value(conceptual, part, element, later, value)
        }
        AccessStep::Link(id) => {
            if slot.is_null() {
                *slot = Value::Set(BTreeSet::new());
            }
            let Value::Set(ids) = slot else { return Err(Wrong::Misplaced) };
            match later.is_empty() && value == Value::Reference(id.clone()) {
                false => Err(Wrong::Misplaced),
                true if ids.insert(id.clone()) => Ok(()),
                true => Err(Wrong::Twice),
            }
        }
    }
}

/// The place of an element in a list that is in the order of its ordinals.
fn element(elements: &mut Vec<Element>, ordinal: u64) -> Option<&mut Value> {
    let index = match elements.binary_search_by_key(&ordinal, |element| element.ordinal) {
        Ok(index) => index,
        Err(index) => {
            elements.insert(index, Element { ordinal, value: Value::Null });
            index
        }
    };
    elements.get_mut(index).map(|element| &mut element.value)
}
