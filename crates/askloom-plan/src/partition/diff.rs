//! What a write has to put.

use std::collections::BTreeMap;

/// What turns the old entries into the new: the ones to put, and as `None` the ones to delete. Entries by path or by
/// key, values or bytes.
#[must_use]
pub fn diff<K: Ord + Clone, V: PartialEq + Clone>(
    old: &BTreeMap<K, V>,
    new: &BTreeMap<K, V>,
) -> BTreeMap<K, Option<V>> {
    let deleted = old.keys().filter(|key| !new.contains_key(key)).map(|key| (key.clone(), None));
    let put = new
        .iter()
        .filter(|(key, value)| old.get(key) != Some(value))
        .map(|(key, value)| (key.clone(), Some(value.clone())));
    deleted.chain(put).collect()
}
