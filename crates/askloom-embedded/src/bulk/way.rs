//! How aggregates of a class are loaded: encoded at once after a look at a few keys, or by the write path.

use crate::KeyedSchema;
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Default, Id, Leaf, Member, RelationshipKind, Role,
};
use askloom_plan::upkeep::places;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) enum Way {
    /// Links move others, or are checked: the write path works it out.
    Careful,
    Direct(Direct),
}

#[derive(Debug)]
pub(super) struct Direct {
    pub(super) root: ClassId,
    pub(super) master: CollectionId,
    /// Copies whose rows are made of one aggregate, with what their entries reserve.
    pub(super) own: Vec<(CollectionId, Option<Reserved>)>,
    /// Copies that join several aggregates.
    pub(super) joined: Vec<CollectionId>,
    /// What is there may have expired: what is met then is for the write path to judge.
    pub(super) expires: bool,
    /// A surrogate or `uuid()` may have to be made.
    pub(super) makes_uuids: bool,
    /// Parts have ids or unique values, so that two of one aggregate may collide.
    pub(super) parts_collide: bool,
}

/// A value that no other may have, by its index entry.
#[derive(Debug, Clone)]
pub(super) struct Reserved {
    pub(super) leaf: Leaf,
    /// The member, as a person reads it; nothing for an id.
    pub(super) field: Option<String>,
    /// The indexes of all places where such a value can be.
    pub(super) indexes: Vec<u32>,
}

/// The way of a class of roots.
pub(super) fn way(schema: &KeyedSchema, class: ClassId) -> Way {
    let conceptual = &schema.model.conceptual;
    let top = conceptual.lineage(class).last().copied().unwrap_or(class);
    let Some((root, master)) = schema.master_of(class) else { return Way::Careful };
    let inside = conceptual.inside(class);
    // An entity that can also be a part has its id looked for in two places.
    if root != top || conceptual.occurrences(top).len() != 1 || moves_others(conceptual, &inside) {
        return Way::Careful;
    }
    let (mut own, mut joined) = (Vec::new(), Vec::new());
    for copy in schema.copies() {
        let collection = &schema.design.collections[copy];
        if !touches(conceptual, collection, root) {
            continue;
        }
        if !is_own(conceptual, collection) {
            joined.push(copy);
            continue;
        }
        match reserved(schema, collection) {
            Ok(reserved) => own.push((copy, reserved)),
            Err(NotIndexed) => return Way::Careful,
        }
    }
    if !all_reserved(schema, &inside, &own) {
        return Way::Careful;
    }
    // What is wrong first is said: ids before values, as the write path looks at them.
    own.sort_by_key(|(_, reserved)| match reserved.as_ref().map(|reserved| reserved.leaf) {
        Some(Leaf::Itself) => (0, 0),
        Some(Leaf::Attribute(id)) => (1, id.index()),
        Some(Leaf::Reference(id)) => (2, id.index()),
        Some(Leaf::Bucket(_) | Leaf::TimeBucket(..)) | None => (3, 0),
    });
    let is_unique = |&class: &ClassId| {
        conceptual.all_members(class).any(|member| match member {
            Member::Attribute(id) => conceptual.attributes[id].unique,
            Member::End(id) => conceptual.ends[id].unique,
        })
    };
    let parts = inside.iter().skip(1);
    Way::Direct(Direct {
        root,
        master,
        own,
        joined,
        expires: conceptual.classes.ids().any(|class| conceptual.ttl(class).is_some()),
        makes_uuids: inside.iter().any(|&class| makes_uuids(conceptual, class)),
        parts_collide: parts
            .clone()
            .any(|class| conceptual.classes[*class].kind.is_entity() || is_unique(class)),
    })
}

/// Whether a link of these classes is checked, is at both ends, or competes for a place at the other end.
fn moves_others(conceptual: &Conceptual, classes: &[ClassId]) -> bool {
    let members = classes.iter().flat_map(|&class| conceptual.all_members(class));
    members.into_iter().any(|member| {
        let Member::End(id) = member else { return false };
        let end = &conceptual.ends[id];
        let bounded = end.inverse.is_some_and(|inverse| conceptual.ends[inverse].cardinality.max.is_some());
        end.stored
            && end.kind != RelationshipKind::Composition
            && (end.is_checked() || end.inverse == Some(id) || bounded)
    })
}

fn touches(conceptual: &Conceptual, collection: &Collection, root: ClassId) -> bool {
    let is_held = |class: ClassId| conceptual.homes(class).iter().any(|home| home.root == root);
    places(conceptual, collection).iter().any(|place| place.apart(conceptual).is_some_and(is_held))
        || conceptual.aggregate_root(collection.source.root) == Some(root)
}

/// Whether all that a row depends on is in the aggregate of its root.
pub(super) fn is_own(conceptual: &Conceptual, collection: &Collection) -> bool {
    let inside = |member: &Member| match *member {
        Member::Attribute(_) => true,
        Member::End(id) => {
            let end = &conceptual.ends[id];
            end.stored && end.kind == RelationshipKind::Composition
        }
    };
    let stays = places(conceptual, collection).iter().all(|place| place.steps.iter().all(inside));
    let mut paths: Vec<_> = collection.held().cloned().collect();
    if let Some(condition) = &collection.source.condition {
        paths.extend(condition.paths().into_iter().cloned());
    }
    let stored = |leaf: &Leaf| match leaf {
        Leaf::Reference(id) => conceptual.ends[*id].stored,
        Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    };
    stays && paths.iter().all(|path| stored(&path.leaf))
}

/// A place where a reserved value can be has no index that can be read.
struct NotIndexed;

/// What the entries of an index reserve, if its values are for one holder alone.
fn reserved(schema: &KeyedSchema, collection: &Collection) -> Result<Option<Reserved>, NotIndexed> {
    let conceptual = &schema.model.conceptual;
    let Some(path) = collection.indexed().filter(|_| collection.role == Role::Index) else { return Ok(None) };
    let named = |class: ClassId, name: &str| Some(format!("{}.{name}", conceptual.classes[class].name));
    let (class, field) = match path.leaf {
        Leaf::Attribute(id) if conceptual.attributes[id].unique => {
            let attribute = &conceptual.attributes[id];
            (attribute.class, named(attribute.class, &attribute.name))
        }
        Leaf::Reference(id) if conceptual.ends[id].unique => {
            let end = &conceptual.ends[id];
            (end.class, named(end.class, &end.name))
        }
        Leaf::Itself => {
            let Some(&hop) = path.hops.last() else { return Ok(None) };
            let target = conceptual.ends[hop].target;
            (conceptual.lineage(target).last().copied().unwrap_or(target), None)
        }
        Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => return Ok(None),
    };
    let mut indexes = Vec::new();
    for occurrence in conceptual.occurrences(class) {
        let index = schema.readable().index(&occurrence, path.leaf).ok_or(NotIndexed)?;
        indexes.push(schema.number(index));
    }
    Ok(Some(Reserved { leaf: path.leaf, field, indexes }))
}

/// Whether every unique member and every part entity of the classes has its indexes.
fn all_reserved(schema: &KeyedSchema, inside: &[ClassId], own: &[(CollectionId, Option<Reserved>)]) -> bool {
    let conceptual = &schema.model.conceptual;
    let leaves: Vec<Leaf> =
        own.iter().filter_map(|(_, reserved)| reserved.as_ref()).map(|r| r.leaf).collect();
    let parts_indexed = leaves.contains(&Leaf::Itself);
    let has_parts = inside.iter().skip(1).any(|&class| conceptual.classes[class].kind.is_entity());
    let members: BTreeSet<Member> = inside.iter().flat_map(|&class| conceptual.all_members(class)).collect();
    let indexed = members.into_iter().all(|member| match member {
        Member::Attribute(id) => !conceptual.attributes[id].unique || leaves.contains(&Leaf::Attribute(id)),
        Member::End(id) => {
            let end = &conceptual.ends[id];
            !(end.unique && end.stored) || leaves.contains(&Leaf::Reference(id))
        }
    });
    indexed && (parts_indexed || !has_parts)
}

fn makes_uuids(conceptual: &Conceptual, class: ClassId) -> bool {
    conceptual.classes[class].surrogate
        || conceptual.all_members(class).any(|member| match member {
            Member::Attribute(id) => conceptual.attributes[id].default == Some(Default::NewUuid),
            Member::End(_) => false,
        })
}
