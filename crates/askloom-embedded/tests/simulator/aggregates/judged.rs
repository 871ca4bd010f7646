//! What a case comes across, and what may be left of what its writers wanted.

use super::data::Living;
use askloom_engine::intents::{Error, WriteId};
use askloom_model::{
    ClassId, Conceptual, Integrity, Member, Model, OnDelete, Record, RelationshipKind, Value,
};

/// What a case has come across.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) steps: usize,
    pub(super) done: usize,
    pub(super) crashed: usize,
    pub(super) missing: usize,
    pub(super) refused: usize,
    pub(super) taken: usize,
    pub(super) conflicts: usize,
    /// Masters that went, or let go, because of a write to another.
    pub(super) followed: usize,
    /// Writes alone, whose end the oracle has foretold.
    pub(super) foretold: usize,
    pub(super) rows: usize,
}

impl Seen {
    pub(super) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.done += other.done;
        self.crashed += other.crashed;
        self.missing += other.missing;
        self.refused += other.refused;
        self.taken += other.taken;
        self.conflicts += other.conflicts;
        self.followed += other.followed;
        self.foretold += other.foretold;
        self.rows += other.rows;
    }

    pub(super) fn count(&mut self, error: &Error) {
        match error {
            Error::Missing => self.missing += 1,
            Error::Refused => self.refused += 1,
            Error::Taken => self.taken += 1,
            Error::Conflict => self.conflicts += 1,
            Error::Unknown | Error::Rows(_) => panic!("{error}"),
        }
    }
}

/// What the writers were told.
#[derive(Default)]
pub(super) struct Told {
    pub(super) done: Vec<WriteId>,
    pub(super) refused: Vec<WriteId>,
}

/// Adds the entities in a record.
pub(super) fn entities(conceptual: &Conceptual, record: &Record, living: &mut Living) {
    if let Some(id) = record.identity(conceptual) {
        living.entry(record.class).or_default().push(id);
    }
    for value in record.fields.values() {
        match value {
            Value::Record(part) => entities(conceptual, part, living),
            Value::List(elements) => {
                for element in elements {
                    if let Value::Record(part) = &element.value {
                        entities(conceptual, part, living);
                    }
                }
            }
            _plain => {}
        }
    }
}

/// Whether two aggregates have the id of a part, or a unique value, in common.
pub(super) fn clash(conceptual: &Conceptual, one: &Record, other: &Record) -> bool {
    let (mut ours, mut theirs) = (Living::new(), Living::new());
    entities(conceptual, one, &mut ours);
    entities(conceptual, other, &mut theirs);
    let is_part = |class: ClassId| conceptual.classes[class].owner.is_some();
    let mut parts = ours.iter().filter(|(class, _)| is_part(**class));
    let (mut own, mut known) = (Vec::new(), Vec::new());
    unique_values(conceptual, one, &mut own);
    unique_values(conceptual, other, &mut known);
    parts.any(|(class, ids)| theirs.get(class).is_some_and(|known| ids.iter().any(|id| known.contains(id))))
        || own.iter().any(|value| known.contains(value))
}

fn unique_values<'r>(conceptual: &Conceptual, record: &'r Record, found: &mut Vec<(Member, &'r Value)>) {
    for (&member, value) in &record.fields {
        match (member, value) {
            (Member::Attribute(id), value) if conceptual.attributes[id].unique => found.push((member, value)),
            (_, Value::Record(part)) => unique_values(conceptual, part, found),
            (_, Value::List(elements)) => {
                for element in elements {
                    if let Value::Record(part) = &element.value {
                        unique_values(conceptual, part, found);
                    }
                }
            }
            (_, _) => {}
        }
    }
    found.retain(|(_, value)| !value.is_null());
}

/// The same model without checks.
pub(super) fn unchecked(model: &Model) -> Model {
    let mut model = model.clone();
    let ends: Vec<_> = model.conceptual.ends.ids().collect();
    for end in ends {
        model.conceptual.ends[end].integrity = Integrity::Loose;
    }
    model
}

/// Whether something is what was wanted, or what deletes of others can have left of it: less in references that are
/// cleared, fewer parts, or nothing.
pub(super) fn is_left_of(conceptual: &Conceptual, wanted: Option<&Record>, held: Option<&Record>) -> bool {
    let has = |action| conceptual.ends.iter().any(|(_, end)| end.on_delete() == Some(action));
    let (Some(wanted), Some(held)) = (wanted, held) else {
        return wanted == held || held.is_none() && has(OnDelete::Cascade);
    };
    let may_lose = |member: Member| match member {
        Member::Attribute(_) => false,
        Member::End(end) => {
            let end = &conceptual.ends[end];
            let is_part = end.kind == RelationshipKind::Composition;
            end.on_delete() == Some(OnDelete::Clear)
                || is_part && (has(OnDelete::Cascade) || has(OnDelete::Clear))
        }
    };
    let mut members = conceptual.all_members(wanted.class);
    wanted.class == held.class
        && members.all(|member| wanted.get(member) == held.get(member) || may_lose(member))
}
