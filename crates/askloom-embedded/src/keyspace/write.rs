//! Writes on a keyspace: what is worked out on records becomes keys to put and to delete, with what was read on the way.

use super::{Keyspace, KeyspaceRecords, Memory, Puts, Reads, Recorded, encode};
use crate::KeyedSchema;
use askloom_engine::execute::Arguments;
use askloom_engine::source::Source;
use askloom_engine::write::{self, Expect, Inputs, Outcome, Phase};
use askloom_engine::{Changes, RunError, Stop};
use askloom_model::{ClassId, Identity, Record, Write};

/// What a write does to the keyspace, all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// `None` deletes.
    pub puts: Puts,
    /// What the change was worked out from; it holds only as long as that is the same.
    pub reads: Reads,
}

impl Change {
    /// Applies the change to a keyspace in memory that nobody else writes to.
    pub fn apply(&self, keyspace: &mut Memory) {
        for (key, value) in &self.puts {
            match value {
                Some(value) => keyspace.insert(key.clone(), value.clone()),
                None => keyspace.remove(key),
            };
        }
    }
}

/// Works a write out on one state of a keyspace.
fn prepared<T>(
    schema: &KeyedSchema,
    keyspace: &dyn Keyspace,
    prepare: impl FnOnce(&dyn Source) -> Result<(Changes, T), Stop>,
) -> Result<(Change, T), RunError> {
    let recorded = Recorded::new(keyspace);
    let records = KeyspaceRecords { schema, keyspace: &recorded };
    let (changes, answer) = prepare(&records)?;
    let puts = encode::puts(&records, &changes)?;
    Ok((Change { puts, reads: recorded.into_reads() }, answer))
}

/// See [`write::statement`].
pub fn statement(
    schema: &KeyedSchema,
    keyspace: &dyn Keyspace,
    write: &Write,
    arguments: &Arguments,
    inputs: &Inputs,
) -> Result<(Change, Outcome), RunError> {
    prepared(schema, keyspace, |source| write::statement(source, write, arguments, inputs))
}

/// See [`write::store`].
pub fn store(
    schema: &KeyedSchema,
    keyspace: &dyn Keyspace,
    record: Record,
    expect: Expect,
    inputs: &Inputs,
) -> Result<(Change, Identity), RunError> {
    prepared(schema, keyspace, |source| write::store(source, record, expect, inputs))
}

/// See [`write::load`].
pub fn load(
    schema: &KeyedSchema,
    keyspace: &dyn Keyspace,
    record: Record,
    phase: Phase,
    inputs: &Inputs,
) -> Result<(Change, Identity), RunError> {
    prepared(schema, keyspace, |source| write::load(source, record, phase, inputs))
}

/// See [`write::delete`].
pub fn delete(
    schema: &KeyedSchema,
    keyspace: &dyn Keyspace,
    class: ClassId,
    identity: &Identity,
    inputs: &Inputs,
) -> Result<(Change, bool), RunError> {
    prepared(schema, keyspace, |source| write::delete(source, class, identity, inputs))
}

/// See [`write::sweep`].
pub fn sweep(
    schema: &KeyedSchema,
    keyspace: &dyn Keyspace,
    root: ClassId,
    identity: &Identity,
    inputs: &Inputs,
) -> Result<(Change, bool), RunError> {
    prepared(schema, keyspace, |source| write::sweep(source, root, identity, inputs))
}
