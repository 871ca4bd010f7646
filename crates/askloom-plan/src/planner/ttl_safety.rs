//! Whether the rows of a copy stay those of its definition while time passes.
//!
//! Nobody writes when an instance expires, so a copy keeps what was there. A row of an inner position is simply gone
//! with it, and a held value is read as nothing. But an outer position may come to have no partner, a key to have
//! another value and a condition another answer: rows that the copy does not have.

use askloom_model::{
    ClassId, Collection, Conceptual, EndId, Hop, Leaf, Member, Occurrence, Path, Position, PositionId,
    RelationshipKind, Table, fault,
};

/// False if expiry can make a row that the copy does not hold, or holds under another key.
pub(super) fn is_ttl_safe(conceptual: &Conceptual, collection: &Collection) -> bool {
    if fault!(UnsteadyCopy) {
        return true;
    }
    let source = &collection.source;
    let outer = source.positions.iter().any(|(_, position)| {
        let across = |hop: Hop| match hop.step {
            Member::End(end) => expires(conceptual, end),
            Member::Attribute(_) => false,
        };
        position.outer && position.from.is_some_and(across)
    });
    let mut paths: Vec<Path> =
        collection.block_key.iter().chain(&collection.entry_key).map(|field| field.path.clone()).collect();
    if let Some(condition) = &source.condition {
        paths.extend(condition.paths().into_iter().cloned());
    }
    let moves =
        |path: &Path| path.hops.iter().any(|&hop| expires(conceptual, hop)) || reads_links(conceptual, path);
    !outer && !paths.iter().any(moves)
}

fn nothing_expires(conceptual: &Conceptual) -> bool {
    conceptual.classes.iter().all(|(_, class)| class.ttl.is_none())
}

/// Whether the value that an entry holds stays that of its path while time passes, as long as the instance at its
/// position lives: nothing on the way can expire.
#[must_use]
pub fn is_lasting(conceptual: &Conceptual, path: &Path) -> bool {
    if nothing_expires(conceptual) {
        return true;
    }
    let goes = |&hop: &EndId| conceptual.can_expire(conceptual.ends[hop].target);
    !path.hops.iter().any(goes) && !reads_links(conceptual, path)
}

/// Whether an aggregate that an entry holds whole stays as it is: neither it nor a part of it can expire.
#[must_use]
pub fn is_lasting_whole(conceptual: &Conceptual, class: ClassId) -> bool {
    if nothing_expires(conceptual) {
        return true;
    }
    let inside = |id: ClassId| {
        conceptual
            .occurrences(id)
            .iter()
            .any(|place| !place.hops.is_empty() && conceptual.is_kind_of(class, place.root))
    };
    let gone = |id: ClassId| conceptual.ttl(id).is_some() && inside(id);
    !conceptual.can_expire(class) && !conceptual.classes.ids().any(gone)
}

/// The positions of a query that the rows of a copy name, and whose instances have to be looked at all the same: they may
/// have expired, or be of another class than is asked for.
#[must_use]
pub fn looked_at(
    conceptual: &Conceptual,
    collection: &Collection,
    query: &Table<PositionId, Position>,
    mapped: &[Option<PositionId>],
) -> Vec<PositionId> {
    let lasting = nothing_expires(conceptual);
    let named = collection.source.positions.iter().zip(mapped);
    let named = named.filter_map(|((_, own), asked)| Some((own.class, (*asked)?)));
    let looked_at = named.filter(|(own, asked)| {
        let class = query[*asked].class;
        *own != class || (!lasting && class.is_some_and(|class| conceptual.can_expire(class)))
    });
    looked_at.map(|(_, asked)| asked).collect()
}

/// Whether what an end leads to can expire before what it leads from: its own time is up, or that of the aggregate it
/// is part of. An owner does not expire before its parts.
fn expires(conceptual: &Conceptual, end: EndId) -> bool {
    let row = &conceptual.ends[end];
    let target = row.target;
    let may = |class: ClassId| {
        conceptual.classes.iter().any(|(id, row)| {
            let related = conceptual.is_kind_of(id, class) || conceptual.is_kind_of(class, id);
            row.ttl.is_some() && related
        })
    };
    match (row.kind, row.stored) {
        (RelationshipKind::Composition, stored) => stored && may(target),
        (RelationshipKind::Association | RelationshipKind::Aggregation, _) => {
            let with_owner = |place: &Occurrence| {
                may(place.root) || place.hops.iter().any(|&hop| may(conceptual.ends[hop].target))
            };
            may(target) || conceptual.occurrences(target).iter().any(with_owner)
        }
    }
}

/// A derived reference shows those that refer and have not expired, a symmetric one those too; a part its own.
fn reads_links(conceptual: &Conceptual, path: &Path) -> bool {
    match path.leaf {
        Leaf::Reference(end) => {
            let row = &conceptual.ends[end];
            let as_stored =
                row.stored && row.inverse != Some(end) && row.kind != RelationshipKind::Composition;
            !as_stored && expires(conceptual, end)
        }
        Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    }
}
