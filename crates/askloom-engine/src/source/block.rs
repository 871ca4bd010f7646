//! A block as the records of its master's table, and back.

use super::{BlockState, EntryAt, Source};
use crate::expiry::expires_at;
use crate::{RunError, Schema, Stop, Stored, System};
use askloom_model::{CollectionId, Contents, Identity, Value};
use askloom_plan::layout::{Block, Entry};
use askloom_plan::partition::{self, Entries};
use askloom_plan::program::Expires;
use std::sync::Arc;

impl BlockState {
    /// The records of the block, by the rules of its master. Nothing if there is no block.
    pub fn block(
        &self,
        schema: &Schema,
        master: CollectionId,
        identity: &Identity,
    ) -> Result<Option<Block>, RunError> {
        let Some(system) = self.system() else { return Ok(None) };
        let conceptual = &schema.model.conceptual;
        let root = schema.design.collections[master].source.root;
        let (pieces, expires) = match self {
            Self::Live(stored) => (split(schema, master, stored)?, expires(schema, stored)),
            Self::Absent | Self::Deleted(_) => (Entries::new(), None),
        };
        let (version, rest) = (system.version, system.encode());
        let block = Block::new(identity.clone(), version, rest, conceptual, root, pieces);
        Ok(Some(Block { expires, ..block }))
    }

    /// What the records of a block say.
    pub fn of_block(schema: &Schema, master: CollectionId, block: &Block) -> Result<Self, RunError> {
        let system = system(block)?;
        if block.fields.root.is_none() && block.entries.is_empty() {
            return Ok(Self::Deleted(system));
        }
        let root = schema.design.collections[master].source.root;
        let record = partition::join(&schema.model.conceptual, root, block.pieces())
            .map_err(|error| RunError::Corrupted(error.to_string()))?;
        Ok(Self::Live(Arc::new(Stored { record, system })))
    }
}

/// What the record of an aggregate carries of others.
pub fn carried_by(
    source: &dyn Source,
    master: CollectionId,
    identity: &Identity,
) -> Result<Vec<Value>, Stop> {
    let design = &source.schema().design;
    let Some(collection) = design.carried(design.collections[master].source.root) else {
        return Ok(Vec::new());
    };
    let itself = [Value::Reference(identity.clone())];
    let found = source.entry(&EntryAt { collection, block: &itself, node: None, row: &itself })?;
    Ok(match found {
        Some(Entry::Row { values, .. }) => values,
        Some(Entry::Node { .. }) | None => Vec::new(),
    })
}

/// Statements that a store runs by themselves make versions, and nothing else of the system's part. The version is
/// a column of its own, and the rest has it as it was when that was written.
fn system(block: &Block) -> Result<System, RunError> {
    let rest = match block.system.as_slice() {
        [] => System::default(),
        bytes => System::decode(bytes)?,
    };
    Ok(System { version: block.version, ..rest })
}

fn split(schema: &Schema, master: CollectionId, stored: &Stored) -> Result<Entries, RunError> {
    let collection = &schema.design.collections[master];
    let rules = match &collection.contents {
        Contents::Aggregate(rules) => rules,
        Contents::Fields(_) | Contents::Nested(_) => {
            return Err(RunError::Corrupted(format!("{} holds no aggregates", collection.name)));
        }
    };
    partition::split(&schema.model.conceptual, rules, &stored.record)
        .map_err(|untaken| RunError::Corrupted(format!("the design cannot hold this: {untaken}")))
}

/// When an aggregate expires, if it does.
fn expires(schema: &Schema, stored: &Stored) -> Option<Expires> {
    let conceptual = &schema.model.conceptual;
    let ttl = conceptual.ttl(stored.record.class)?;
    let counted = ttl.from.is_none().then_some(ttl.ms);
    Some(Expires::at_ms(expires_at(conceptual, &stored.record, stored.system.created)?, counted))
}
