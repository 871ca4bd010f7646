//! Tables that several classes share: a customer and its purchases in one partition.

use super::Table;
use askloom_model::{CollectionId, Conceptual, Design};

/// Which part of a shared table the records of one class are. The columns of their block are those of the first class, in
/// its order: each store gives them its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// The master of the class whose instances the partitions are: its name is the name of the table.
    pub first: CollectionId,
    /// What tells the records of the class apart, before all that orders them. It is empty for the first class, whose one
    /// record so precedes the others and can be read without them.
    pub kind: String,
}

/// What a design says of sharing about one of its collections.
pub(super) fn shared(conceptual: &Conceptual, design: &Design, id: CollectionId) -> Option<Shared> {
    if let Some(first) = design.partition_of(id) {
        let kind = conceptual.classes[design.collections[id].source.root].name.clone();
        return Some(Shared { first, kind });
    }
    let others = design.collections.ids().any(|other| design.partition_of(other) == Some(id));
    others.then(|| Shared { first: id, kind: String::new() })
}

impl Table {
    /// The collection whose name the table has: of one that is shared the first.
    #[must_use]
    pub fn named_by(&self) -> CollectionId {
        self.shared.as_ref().map_or(self.collection, |shared| shared.first)
    }
}
