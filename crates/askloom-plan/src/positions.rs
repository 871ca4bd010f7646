//! Positions of a query or a copy, and what rows of them can hold.

use crate::planner::is_single;
use askloom_model::{
    ClassId, Collection, Conceptual, Contents, Leaf, Member, Path, Position, PositionId, RelationshipKind,
    Table,
};

#[must_use]
pub fn only_main(class: ClassId) -> Table<PositionId, Position> {
    let mut positions = Table::default();
    positions.push(Position { class: Some(class), from: None, outer: false, alias: None });
    positions
}

/// Positions with the classes that their links lead to: a tuple query may ask for less, and then filters.
#[must_use]
pub fn as_linked(
    conceptual: &Conceptual,
    positions: &Table<PositionId, Position>,
) -> Table<PositionId, Position> {
    let mut positions = positions.clone();
    for id in positions.ids() {
        if let Some(Member::End(end)) = positions[id].from.map(|hop| hop.step) {
            positions[id].class = Some(conceptual.ends[end].target);
        }
    }
    positions
}

/// What identifies an instance: the members of its identifier, or what Askloom makes.
#[must_use]
pub fn identity_leaves(conceptual: &Conceptual, class: ClassId) -> Vec<Leaf> {
    let leaf = |&member: &Member| match member {
        Member::Attribute(id) => Leaf::Attribute(id),
        Member::End(id) => Leaf::Reference(id),
    };
    match conceptual.classes[class].identifier.as_slice() {
        [] => vec![Leaf::Itself],
        members => members.iter().map(leaf).collect(),
    }
}

/// What a row can hold of an instance itself: its values, its lists of values, and what it refers to.
#[must_use]
pub fn own_fields(conceptual: &Conceptual, position: PositionId, class: ClassId) -> Vec<Path> {
    let members = conceptual.all_members(class).filter_map(|member| match member {
        Member::Attribute(id) => Some(Leaf::Attribute(id)),
        Member::End(id) if conceptual.ends[id].stored => Some(Leaf::Reference(id)),
        Member::End(_) => None,
    });
    let path = |leaf| Path { position, hops: Vec::new(), leaf };
    members.map(path).filter(|path| is_held(conceptual, path)).collect()
}

/// Whether values of the path have an order, so that they can stand in a key.
#[must_use]
pub fn is_key(conceptual: &Conceptual, path: &Path) -> bool {
    match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].ty.is_ordered(),
        Leaf::Reference(id) => conceptual.ends[id].kind != RelationshipKind::Composition,
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    }
}

/// Whether rows of these positions can hold the path. A value object as a whole is not a plain value.
#[must_use]
pub fn is_held_at(conceptual: &Conceptual, positions: &Table<PositionId, Position>, path: &Path) -> bool {
    let class = positions[path.position].class.filter(|_| path.leaf == Leaf::Itself && path.hops.is_empty());
    let whole_value = class.is_some_and(|class| !conceptual.classes[class].kind.is_entity());
    !whole_value && is_held(conceptual, path)
}

/// Whether a view can hold the path: one value a row, along to-one hops.
#[must_use]
pub fn is_held(conceptual: &Conceptual, path: &Path) -> bool {
    path.hops.iter().all(|&hop| !conceptual.ends[hop].cardinality.is_many())
        && match path.leaf {
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
            Leaf::Reference(id) => {
                !conceptual.ends[id].cardinality.is_many()
                    && conceptual.ends[id].kind != RelationshipKind::Composition
            }
        }
}

/// The field of a block key by which a row has an entry for each value: of an index the only one, of a flat copy of
/// single instances one that has several values inside its aggregate. A row without any value has no entry.
#[must_use]
pub fn each_value(conceptual: &Conceptual, collection: &Collection) -> Option<usize> {
    if collection.indexed().is_some() {
        return Some(0);
    }
    let flat = matches!(collection.contents, Contents::Fields(_)) && collection.role.is_table_of_rows();
    if !flat || collection.source.positions.len() > 1 {
        return None;
    }
    let keys = collection.block_key.iter().map(|field| &field.path).enumerate();
    let mut several = keys.filter(|(_, path)| !is_single(conceptual, path));
    let (at, path) = several.next()?;
    (several.next().is_none() && is_inside(conceptual, path)).then_some(at)
}

/// Whether an aggregate has all values of a path itself.
fn is_inside(conceptual: &Conceptual, path: &Path) -> bool {
    let part = |end: askloom_model::EndId| {
        conceptual.ends[end].stored && conceptual.ends[end].kind == RelationshipKind::Composition
    };
    path.hops.iter().all(|&hop| part(hop))
        && match path.leaf {
            Leaf::Attribute(_) | Leaf::Itself => true,
            Leaf::Reference(end) => {
                let row = &conceptual.ends[end];
                row.stored && row.kind != RelationshipKind::Composition && row.inverse != Some(end)
            }
            Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
}
