//! What is not compared, each with its reason; the cases are counted. The rest of a case is left out when one occurs, as
//! the two sides may go on from different states.
//!
//! Some things are not drawn at all, for SQLite has no means to be a second opinion on them:
//!
//! - Decimals of more than two places or many digits: SQLite has no decimals, so they are whole hundredths there.
//! - Texts and numbers that are read from JSON: `askloom-model` reads them for the oracle, and its tests judge it.
//! - Expiry: a row is deleted by whoever looks at the clock first, which foreign keys would take for a delete.

use super::arguments::Arguments;
use super::blueprint::{Blueprint, Extent};
use super::engine::Engine;
use super::statement::{Assigned, Assignment, Statement};
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value as Json};

/// Why a write is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unsaid {
    /// A statement sets a checked reference to an instance that the same statement ends, as a part that it replaces.
    /// The language does not say which comes first, so nobody can say whether the reference is refused or follows its
    /// `on delete`.
    ReferenceToWhatItEnds,
}

impl Engine<'_> {
    /// The instances that a statement makes checked references to, of those that exist.
    pub(super) fn named_targets(
        &self,
        statement: &Statement,
        arguments: &Arguments,
    ) -> Vec<(Extent, Vec<Sql>)> {
        let mut named = Vec::new();
        match statement {
            Statement::Store(extent) | Statement::Upsert(extent) => {
                self.blueprint.named_in(extent.class, &arguments.json, &mut named);
            }
            Statement::Update { set, .. } | Statement::UpdateElements { set, .. } => {
                set.iter().for_each(|assignment| self.blueprint.named_by(assignment, arguments, &mut named));
            }
            // These end nothing, or set nothing.
            Statement::Insert(_)
            | Statement::Delete { .. }
            | Statement::Add { .. }
            | Statement::Remove { .. }
            | Statement::Connect { .. }
            | Statement::Disconnect { .. } => {}
        }
        named.retain(|(target, key)| self.exists(*target, key));
        named
    }
}

impl Blueprint {
    fn named_by(&self, assignment: &Assignment, arguments: &Arguments, named: &mut Vec<(Extent, Vec<Sql>)>) {
        match &assignment.to {
            Assigned::Link { end, to } => {
                let target = self.other_side(*end);
                named.push((target, self.identity(target.class, arguments.get(to))));
            }
            Assigned::Part { class, parameter, .. } => {
                if let Some(fields) = arguments.get(parameter).as_object() {
                    self.named_in(*class, fields, named);
                }
            }
            Assigned::Column { .. } | Assigned::NewUuid { .. } => {}
        }
    }

    fn named_in(&self, class: usize, fields: &Map<String, Json>, named: &mut Vec<(Extent, Vec<Sql>)>) {
        let row = &self.classes[class];
        for reference in row.references.iter().filter(|reference| reference.integrity.is_checked()) {
            let target = reference.target;
            let mut name = |id: &Json| named.push((target, self.identity(target.class, id)));
            match (fields.get(&reference.name), reference.size.is_many()) {
                (Some(Json::Array(ids)), true) => ids.iter().for_each(name),
                (Some(id), false) => name(id),
                (Some(_) | None, _) => {}
            }
        }
        for part in &row.parts {
            match fields.get(&part.name) {
                Some(Json::Array(parts)) => {
                    parts
                        .iter()
                        .filter_map(Json::as_object)
                        .for_each(|part_fields| self.named_in(part.class, part_fields, named));
                }
                Some(Json::Object(part_fields)) => self.named_in(part.class, part_fields, named),
                Some(_) | None => {}
            }
        }
    }
}
