//! Positions of a query or a copy, and what rows of them can hold.

use askloom_model::{ClassId, Conceptual, Leaf, Member, Path, Position, PositionId, RelationshipKind, Table};

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
