//! A collection in a few words, for who has only its name.

use askloom_model::{Collection, Conceptual, Keeper, KeyField, Leaf, Role};
use askloom_plan::planner::path_text;

/// `ids by status, in order of startedAt descending`
#[must_use]
pub fn shape(conceptual: &Conceptual, collection: &Collection) -> String {
    let what = match (collection.keeper, collection.role) {
        (Keeper::Store, _) => "an index of the store",
        (Keeper::Ours, Role::Index) => "ids",
        (Keeper::Ours, Role::Copy) => "rows",
        (Keeper::Ours, Role::Carried) => "carried",
        (Keeper::Ours, Role::Master) => "aggregates",
    };
    let field = |field: &KeyField| match field.path.leaf {
        Leaf::Bucket(of) => format!("one of {of} buckets"),
        leaf @ Leaf::TimeBucket(..) => askloom_plan::naming::leaf_name(conceptual, leaf),
        Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself => {
            let descending = if field.descending { " descending" } else { "" };
            format!("{}{descending}", path_text(conceptual, collection, &field.path))
        }
    };
    let keys = |keys: &[KeyField]| keys.iter().map(field).collect::<Vec<_>>().join(", ");
    let mut text = match collection.block_key.as_slice() {
        [] => format!("{what} in one block"),
        block => format!("{what} by {}", keys(block)),
    };
    if !collection.entry_key.is_empty() {
        text.push_str(&format!(", in order of {}", keys(&collection.entry_key)));
    }
    if collection.source.condition.is_some() {
        text.push_str(", of some alone");
    }
    text
}
