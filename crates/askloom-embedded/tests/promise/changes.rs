//! What a change of the keyspace is about.

use askloom_embedded::KeyedSchema;
use askloom_embedded::codec::split_entry;
use askloom_embedded::keyspace::write::Change;
use askloom_model::{Role, Value};
use std::collections::BTreeSet;

pub(crate) struct Seen {
    /// Keys of copies that are put or deleted.
    pub(crate) copies: usize,
    /// A row is under another key now.
    pub(crate) moved: bool,
}

pub(crate) fn look(schema: &KeyedSchema, change: &Change) -> Seen {
    let mut seen = Seen { copies: 0, moved: false };
    for (id, collection) in schema.design.collections.iter().filter(|(_, c)| c.role != Role::Master) {
        let number = schema.number(id).to_be_bytes();
        let mut gone: BTreeSet<Vec<Value>> = BTreeSet::new();
        let mut come: BTreeSet<Vec<Value>> = BTreeSet::new();
        for (key, value) in change.puts.iter().filter(|(key, _)| key.starts_with(&number)) {
            seen.copies += 1;
            let positions = collection.source.positions.len();
            let Ok(parts) = split_entry(key, collection.block_key.len(), &collection.entry_key, positions)
            else {
                continue;
            };
            match value {
                Some(_) => come.insert(parts.row),
                None => gone.insert(parts.row),
            };
        }
        seen.moved |= gone.intersection(&come).next().is_some();
    }
    seen
}
