//! The block of an aggregate: its system entry, and the aggregate as entries by the rules of its master.

use crate::KeyedSchema;
use crate::codec::{BlockEntry, decode_entry, encode_entry};
use askloom_engine::RunError;
use askloom_model::{AccessPath, ClassId, Contents, Record};
use askloom_plan::partition;
use std::collections::BTreeMap;

/// The entries of an aggregate, in bytes.
pub(crate) type Entries = BTreeMap<AccessPath, Vec<u8>>;

/// What is in a block.
#[derive(Debug, Default)]
pub(crate) struct BlockContents {
    pub(crate) system: Option<Vec<u8>>,
    pub(crate) entries: Entries,
    /// Whether there are values of others in it. They are read by themselves.
    pub(crate) carries: bool,
}

impl BlockContents {
    /// Takes in what a scan finds: the bytes of a key behind the block's prefix, and the value.
    pub(crate) fn take(&mut self, entry: &[u8], value: &[u8]) -> Result<(), RunError> {
        match BlockEntry::decode(entry)? {
            BlockEntry::System => self.system = Some(value.to_vec()),
            BlockEntry::Aggregate(path) => {
                self.entries.insert(path, value.to_vec());
            }
            BlockEntry::Carried => self.carries = true,
        }
        Ok(())
    }
}

/// The aggregate that its entries make up. Whatever rules they were made by: entries say where they belong.
pub(crate) fn decode_aggregate(
    schema: &KeyedSchema,
    root: ClassId,
    entries: Entries,
) -> Result<Record, RunError> {
    let conceptual = &schema.model.conceptual;
    let mut pieces = partition::Entries::new();
    for (path, bytes) in entries {
        let mut rest = bytes.as_slice();
        let value = decode_entry(conceptual, schema, &mut rest)?;
        if !rest.is_empty() {
            return Err(RunError::Corrupted(format!("the entry `{path}` does not end")));
        }
        pieces.insert(path, value);
    }
    partition::join(conceptual, root, pieces).map_err(|error| RunError::Corrupted(error.to_string()))
}

/// The entries of an aggregate by the rules that its master has.
pub(crate) fn encode_aggregate(
    schema: &KeyedSchema,
    root: ClassId,
    aggregate: &Record,
) -> Result<Entries, RunError> {
    let conceptual = &schema.model.conceptual;
    let master = schema.design.master(root).ok_or_else(|| no_master(schema, root))?;
    let rules = match &schema.design.collections[master].contents {
        Contents::Aggregate(rules) => rules,
        Contents::Fields(_) | Contents::Nested(_) => return Err(no_master(schema, root)),
    };
    let pieces = partition::split(conceptual, rules, aggregate)
        .map_err(|untaken| RunError::Corrupted(format!("the design cannot hold this: {untaken}")))?;
    let entries = pieces.into_iter().map(|(path, value)| {
        let mut bytes = Vec::new();
        encode_entry(conceptual, &value, &mut bytes);
        (path, bytes)
    });
    Ok(entries.collect())
}

pub(crate) fn no_master(schema: &KeyedSchema, root: ClassId) -> RunError {
    let name = &schema.model.conceptual.classes[root].name;
    RunError::Corrupted(format!("the design has no master for {name}"))
}
