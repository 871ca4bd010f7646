//! When a nested copy holds what its definition says.

use crate::planner::{conjuncts, is_single};
use askloom_model::{Collection, Conceptual, Condition, KeyField, PositionId};

/// Whether joining the nodes of a nested copy gives back exactly its rows. That is so if what stands at one position
/// depends on what stands above it, and never on a sibling: each term of the condition is about one way down from the
/// root, and each field of the block key has one value a row. Within a block there is no other order than that of the
/// tree.
#[must_use]
pub fn nested_is_exact(conceptual: &Conceptual, collection: &Collection) -> bool {
    let single = |field: &KeyField| is_single(conceptual, &field.path);
    let terms = conjuncts(collection.source.condition.as_ref());
    collection.entry_key.is_empty()
        && collection.block_key.iter().all(single)
        && terms.iter().all(|term| is_one_way_down(collection, term.condition))
}

fn is_one_way_down(collection: &Collection, condition: &Condition) -> bool {
    let paths = condition.paths();
    let mut ways: Vec<Vec<PositionId>> = paths.iter().map(|path| collection.chain(path.position)).collect();
    ways.sort_by_key(Vec::len);
    ways.iter().zip(ways.iter().skip(1)).all(|(shorter, longer)| longer.starts_with(shorter))
}
