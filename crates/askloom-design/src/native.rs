//! Copies that a store keeps by itself: its secondary indexes.
//!
//! Such an index has the records of one master under another key. So a copy can be one if its rows are the instances of
//! a root class, each once, and all that they hold and depend on is in the root itself. Writes never go by it: where
//! it lags they would miss something.

use crate::cost::Costing;
use askloom_model::{Collection, Conceptual, Contents, Design, Id, Keeper, Leaf, Model, Origin, Path, Role};
use std::collections::HashMap;

/// Lets the store keep what was added for queries alone, as far as it can.
pub(crate) fn hand_over(model: &Model, costing: &Costing<'_>, design: &mut Design) {
    let Some(indexes) = costing.capability.indexes.filter(|indexes| indexes.value.computed) else { return };
    let mut kept: HashMap<_, u32> = HashMap::new();
    for id in design.collections.ids().collect::<Vec<_>>() {
        let collection = &mut design.collections[id];
        let for_queries = collection.origin == Origin::Added && !is_for_writes(&model.conceptual, collection);
        if !for_queries || !is_of_own_values(&model.conceptual, collection) {
            continue;
        }
        let count = kept.entry(collection.source.root).or_default();
        if *count < indexes.value.most {
            *count += 1;
            collection.keeper = Keeper::Store;
        }
    }
}

/// Whether the rows of a copy are the instances of its root, each once, made of values of the root alone.
pub(crate) fn is_of_own_values(conceptual: &Conceptual, collection: &Collection) -> bool {
    let rows = matches!(collection.contents, Contents::Fields(_)) && collection.role != Role::Master;
    let condition = collection.source.condition.as_ref();
    let condition = condition.map(askloom_model::Condition::paths).unwrap_or_default();
    let main = collection.source.positions.iter().map(|(_, position)| position.class);
    rows && main.eq([Some(collection.source.root)])
        && conceptual.is_aggregate(collection.source.root)
        && collection.held().chain(condition).all(|path| is_own_value(conceptual, path))
}

fn is_own_value(conceptual: &Conceptual, path: &Path) -> bool {
    let single = match path.leaf {
        Leaf::Attribute(id) => !conceptual.attributes[id].list,
        Leaf::Reference(id) => {
            let end = &conceptual.ends[id];
            end.stored && !end.cardinality.is_many() && end.inverse != Some(id)
        }
        Leaf::Itself => true,
    };
    path.hops.is_empty() && path.position.index() == 0 && single
}

/// Whether writes go by it: to those that refer, or to who has a value that no other may have.
fn is_for_writes(conceptual: &Conceptual, collection: &Collection) -> bool {
    collection.indexed().is_some_and(|path| match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].unique,
        Leaf::Reference(_) | Leaf::Itself => true,
    })
}
