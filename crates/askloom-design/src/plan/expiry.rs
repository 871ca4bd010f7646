//! Whether a copy can be read where instances expire.
//!
//! A copy holds what has expired until it is deleted, and each reader looks whether what a row names still lives. That
//! is enough where a row goes with an instance. It is not where a row would change: an outer position would become
//! empty, a value that decides where the row is would become null.

use super::paths::condition_paths;
use askloom_model::{ClassId, Collection, Conceptual, EndId, HomePlace, Leaf, Path};

pub(super) fn outlives(conceptual: &Conceptual, collection: &Collection) -> bool {
    if conceptual.classes.iter().all(|(_, class)| class.ttl_ms.is_none()) {
        return true;
    }
    let source = &collection.source;
    let outer = source.positions.iter().filter(|(_, position)| position.outer);
    if outer.filter_map(|(_, position)| position.class).any(|class| expires(conceptual, class)) {
        return false;
    }
    let mut deciding: Vec<Path> =
        collection.block_key.iter().chain(&collection.entry_key).map(|field| field.path.clone()).collect();
    if let Some(condition) = &source.condition {
        condition_paths(condition, &mut deciding);
    }
    deciding.iter().all(|path| stays(conceptual, path))
}

/// Whether the value of a path at an instance that lives stays when others expire.
fn stays(conceptual: &Conceptual, path: &Path) -> bool {
    let target_stays = |&end: &EndId| !expires(conceptual, conceptual.ends[end].target);
    let leaf = match path.leaf {
        Leaf::Reference(end) => {
            let row = &conceptual.ends[end];
            // A stored reference is an id, whether such an instance exists or not.
            let as_stored = row.stored
                && row.inverse != Some(end)
                && row.kind != askloom_model::RelationshipKind::Composition;
            as_stored || target_stays(&end)
        }
        Leaf::Attribute(_) | Leaf::Itself => true,
    };
    leaf && path.hops.iter().all(target_stays)
}

/// Whether an instance of the class can expire, by itself or with what it is a part of.
fn expires(conceptual: &Conceptual, class: ClassId) -> bool {
    let has_ttl = |family: ClassId| {
        let kin = |c: ClassId| conceptual.is_kind_of(c, family) || conceptual.is_kind_of(family, c);
        conceptual.classes.iter().any(|(id, class)| class.ttl_ms.is_some() && kin(id))
    };
    let with_owner = |root: ClassId| has_ttl(root) || conceptual.nested_in(root).into_iter().any(has_ttl);
    has_ttl(class)
        || conceptual.homes(class).iter().any(|home| home.place == HomePlace::Inside && with_owner(home.root))
}
