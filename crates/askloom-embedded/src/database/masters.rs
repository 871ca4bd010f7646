//! All aggregates of a master, a few at a time.

use crate::codec::block_prefix;
use crate::{KeyedSchema, Keyspace};
use askloom_engine::RunError;
use askloom_model::{CollectionId, Identity};
use askloom_plan::ordered_bytes::prefix_end;

/// Some blocks of a master, those of deleted aggregates included.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) identities: Vec<Identity>,
    /// Keys that name no aggregate.
    pub(super) broken: Vec<Vec<u8>>,
    /// Where the next ones start; nothing if there are none.
    pub(super) next: Option<Vec<u8>>,
}

/// The blocks from a key on.
pub(super) fn blocks(
    keyspace: &dyn Keyspace,
    schema: &KeyedSchema,
    master: CollectionId,
    from: &[u8],
    most: usize,
) -> Result<Blocks, RunError> {
    let end = prefix_end(&block_prefix(schema.number(master), &[]));
    let keys = schema.master_key(master);
    let mut blocks = Blocks::default();
    keyspace.scan(from, end.as_deref(), false, &mut |key, _| {
        let Ok((identity, _)) = keys.split(key) else {
            blocks.broken.push(key.to_vec());
            return Ok(true);
        };
        if blocks.identities.last() != Some(&identity) {
            if blocks.identities.len() == most {
                blocks.next = Some(key.to_vec());
                return Ok(false);
            }
            blocks.identities.push(identity);
        }
        Ok(true)
    })?;
    Ok(blocks)
}

/// Where the blocks after that of an aggregate start, or all of them.
pub(super) fn start(schema: &KeyedSchema, master: CollectionId, after: Option<&Identity>) -> Vec<u8> {
    match after {
        Some(identity) => prefix_end(&schema.master_key(master).block(identity)).unwrap_or_default(),
        None => block_prefix(schema.number(master), &[]),
    }
}

/// Refuses to go on over keys that name no aggregate.
pub(super) fn sound(blocks: Blocks) -> Result<Blocks, RunError> {
    if blocks.broken.is_empty() {
        return Ok(blocks);
    }
    Err(RunError::Corrupted("a key of a master names no aggregate; `verify` tells more".to_owned()))
}
