//! Writes: what changes, and what follows from it in every copy.
//!
//! A write is prepared on one state of the keyspace: the aggregates it touches are changed in an overlay, then every
//! copy that depends on them is brought after. What comes out is a [`Change`]: keys to put and to delete, and the
//! system entries it was based on. A driver applies it as a whole if those are still as they were, or not at all.

mod births;
mod copies;

use crate::execute::Scene;
use crate::instances::{SYSTEM, WHOLE, encode_stored, no_master};
use crate::{Instances, Keyspace, Overlay, Reader, RunError, Schema, Stored, System};
use askloom_model::{ClassId, Identity, Record, Value};
use askloom_target::embedded::master_entry;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a write does to the keyspace, all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// `None` deletes.
    pub puts: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Keys as they were when the change was worked out; it holds only if they still are.
    pub conditions: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Change {
    /// Applies the change to a keyspace in memory if its conditions hold. True if it was applied.
    pub fn apply(&self, keyspace: &mut crate::Memory) -> bool {
        let holds = |(key, seen): (&Vec<u8>, &Option<Vec<u8>>)| keyspace.get(key) == seen.as_ref();
        if !self.conditions.iter().all(holds) {
            return false;
        }
        for (key, value) in &self.puts {
            match value {
                Some(value) => keyspace.insert(key.clone(), value.clone()),
                None => keyspace.remove(key),
            };
        }
        true
    }
}

/// Stores a whole aggregate: a new one, or in place of the one with its id.
pub fn store(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    record: Record,
    now: jiff::Timestamp,
    expect: Expect,
) -> Result<Change, RunError> {
    let reader = Reader::new(schema, keyspace);
    let conceptual = &schema.model.conceptual;
    let (root, _) = schema.master_of(record.class).ok_or_else(|| no_master(schema, record.class))?;
    let identity =
        record.identity(conceptual).ok_or_else(|| RunError::Required { field: "id".to_owned() })?;
    let before = reader.aggregate(root, &identity)?;
    let scene = Scene { instances: &reader, positions: &crate::no_positions(), arguments: &[], now };
    let lives = before.as_ref().is_some_and(|stored| scene.lives(stored));
    if lives && expect == Expect::Absent {
        return Err(RunError::AlreadyExists);
    }
    let mut system = before.as_ref().map(|stored| stored.system.clone()).unwrap_or_default();
    if !lives {
        system.created = now.as_microsecond();
        system.ordinals = BTreeMap::new();
    }
    next_version(&mut system, now);
    count_ordinals(conceptual, &record, "", &mut system);
    system.born = births::births(schema, before.as_deref().filter(|_| lives), &record, now);
    let mut overlay = Overlay::new(&reader);
    overlay.changed.insert((root, identity), Some(Rc::new(Stored { record, system })));
    change(&reader, &overlay)
}

/// Whether an aggregate may be there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Absent,
    Anything,
}

/// Deletes an aggregate. False if there was none.
pub fn delete(
    schema: &Schema,
    keyspace: &dyn Keyspace,
    root: ClassId,
    identity: &Identity,
) -> Result<Option<Change>, RunError> {
    let reader = Reader::new(schema, keyspace);
    if reader.aggregate(root, identity)?.is_none() {
        return Ok(None);
    }
    let mut overlay = Overlay::new(&reader);
    overlay.changed.insert((root, identity.clone()), None);
    change(&reader, &overlay).map(Some)
}

/// The version grows with every write, and across delete and re-insert, by the clock.
fn next_version(system: &mut System, now: jiff::Timestamp) {
    let clock = u64::try_from(now.as_microsecond()).unwrap_or(0);
    system.version = (system.version + 1).max(clock);
}

/// Lists go on counting after the highest ordinal they hold.
fn count_ordinals(conceptual: &askloom_model::Conceptual, record: &Record, path: &str, system: &mut System) {
    for (&member, value) in &record.fields {
        let name = conceptual.member_name(member);
        let here = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if let Value::Record(inner) = value {
            count_ordinals(conceptual, inner, &here, system);
        } else if let Value::List(elements) = value {
            let next = elements.iter().map(|element| element.ordinal + 1).max().unwrap_or(0);
            let counter = system.ordinals.entry(here.clone()).or_default();
            *counter = next.max(*counter);
            for element in elements {
                if let Value::Record(inner) = &element.value {
                    count_ordinals(conceptual, inner, &format!("{here}[{}]", element.ordinal), system);
                }
            }
        }
    }
}

/// Everything that follows from the aggregates that an overlay changes.
fn change(reader: &Reader<'_>, overlay: &Overlay<'_>) -> Result<Change, RunError> {
    let schema = reader.schema();
    let mut change = Change::default();
    for ((root, identity), after) in &overlay.changed {
        let master = schema.design.master(*root).ok_or_else(|| no_master(schema, *root))?;
        let number = schema.number(master);
        let (system_key, whole_key) =
            (master_entry(number, identity, SYSTEM), master_entry(number, identity, WHOLE));
        change.conditions.insert(system_key.clone(), reader.keyspace().get(&system_key)?);
        match after {
            Some(stored) => {
                let (system, whole) = encode_stored(schema, stored);
                change.puts.insert(system_key, Some(system));
                change.puts.insert(whole_key, Some(whole));
            }
            None => {
                change.puts.insert(system_key, None);
                change.puts.insert(whole_key, None);
            }
        }
    }
    copies::bring_after(reader, overlay, &mut change)?;
    Ok(change)
}
