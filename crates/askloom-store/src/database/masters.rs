//! All aggregates of a master, a few at a time.

use crate::{Keyspace, RunError};
use askloom_model::{Identity, Value};
use askloom_target::embedded::{block_prefix, decode, master_prefix, prefix_end};

/// The ids of the next blocks of a master, those of deleted aggregates included.
pub(super) fn identities(
    keyspace: &dyn Keyspace,
    number: u32,
    after: Option<&Identity>,
    most: usize,
) -> Result<Vec<Identity>, RunError> {
    let prefix = block_prefix(number, &[]);
    let end = prefix_end(&prefix);
    let from = match after {
        Some(identity) => prefix_end(&master_prefix(number, identity)).unwrap_or_default(),
        None => prefix.clone(),
    };
    let mut found: Vec<Identity> = Vec::new();
    keyspace.scan(&from, end.as_deref(), false, &mut |key, _| {
        let mut rest = key.get(prefix.len()..).unwrap_or_default();
        let Value::Reference(identity) = decode(&mut rest)? else {
            return Err(RunError::Corrupted("a key of a master has no id".to_owned()));
        };
        if found.last() != Some(&identity) {
            if found.len() == most {
                return Ok(false);
            }
            found.push(identity);
        }
        Ok(true)
    })?;
    Ok(found)
}
