//! Blind puts: writes that neither read the aggregate nor depend on a condition.
//!
//! An immutable aggregate is written once. If nobody else can have its id, or whoever writes the id again writes the
//! same value, then it does not matter what is there: the write puts the aggregate and its rows and is done, in any
//! order with others, as often as it is delivered.

use crate::upkeep::{self, Place};
use askloom_model::{
    ClassId, Collection, Conceptual, Default, Design, Member, Model, RelationshipKind, Role, WriteAction,
    WriteStep,
};

/// Whether a statement only puts: the id is made by `uuid()` or a surrogate, or UPSERT brings the same value under the
/// same id; nothing is `unique`, checked or bounded; and no row of a copy depends on what may change. An INSERT that is
/// given the id which it could make has to see whether there is one of that id, and does not count.
#[must_use]
pub fn is_blind_insert(model: &Model, design: &Design, step: &WriteStep) -> bool {
    let (class, action) = match step {
        WriteStep::Insert { class } => (*class, WriteAction::Insert),
        WriteStep::Upsert { class } => (*class, WriteAction::Upsert),
        WriteStep::Store { .. }
        | WriteStep::Update { .. }
        | WriteStep::UpdateElements { .. }
        | WriteStep::Delete { .. }
        | WriteStep::Add { .. }
        | WriteStep::Remove { .. }
        | WriteStep::Connect { .. }
        | WriteStep::Disconnect { .. } => return false,
    };
    let conceptual = &model.conceptual;
    may_be_blind(conceptual, class, action)
        && design.collections.iter().all(|(_, collection)| !needs_reads(conceptual, collection, class))
}

/// Whether a write of a class is blind if its copies allow it.
pub(super) fn may_be_blind(conceptual: &Conceptual, class: ClassId, action: WriteAction) -> bool {
    let row = &conceptual.classes[class];
    let inside = conceptual.inside(class);
    let made = |default: Option<&Default>| matches!(default, Some(Default::Now | Default::NewUuid));
    let attributes = |class: ClassId| {
        conceptual.all_members(class).filter_map(|member| match member {
            Member::Attribute(id) => Some(&conceptual.attributes[id]),
            Member::End(_) => None,
        })
    };
    let identified = match action {
        WriteAction::Insert => {
            let by_uuid = |member: &Member| match *member {
                Member::Attribute(id) => conceptual.attributes[id].default == Some(Default::NewUuid),
                Member::End(_) => false,
            };
            row.surrogate || row.identifier.iter().any(by_uuid)
        }
        // What is made anew each time is another value under the same id, and the time of creation is one.
        WriteAction::Upsert => {
            let mut all = inside.iter().flat_map(|&class| attributes(class));
            let counted = conceptual.ttl(class).is_none_or(|ttl| ttl.from.is_some());
            counted && !all.any(|attribute| made(attribute.default.as_ref()))
        }
        WriteAction::Store
        | WriteAction::Update
        | WriteAction::UpdateElements(_)
        | WriteAction::Delete
        | WriteAction::Add(_)
        | WriteAction::Remove(_)
        | WriteAction::Connect(_)
        | WriteAction::Disconnect(_) => false,
    };
    let unique = |&class: &ClassId| attributes(class).any(|attribute| attribute.unique);
    // The id of a part is unique over all owners.
    let parts = inside.iter().skip(1).any(|&class| conceptual.classes[class].kind.is_entity());
    let links = inside.iter().flat_map(|&class| conceptual.all_members(class));
    row.immutable
        && identified
        && !parts
        && !inside.iter().any(unique)
        && !links.into_iter().any(|member| concerns_others(conceptual, member))
}

/// Whether a link asks something of others: that the target exists, that no other has it, or that few enough have.
fn concerns_others(conceptual: &Conceptual, member: Member) -> bool {
    let Member::End(id) = member else { return false };
    let end = &conceptual.ends[id];
    let bounded = end.inverse.is_some_and(|inverse| conceptual.ends[inverse].cardinality.max.is_some());
    let reference = end.stored && end.kind != RelationshipKind::Composition;
    reference && (end.unique || end.is_checked() || bounded)
}

/// Whether rows of a collection that hold instances of a class depend on more than it and other immutable instances that
/// are there before: what may change, what may expire before it, and what may come later to refer to it.
pub(super) fn needs_reads(conceptual: &Conceptual, collection: &Collection, class: ClassId) -> bool {
    if collection.role == Role::Master {
        return false;
    }
    let root = conceptual.aggregate_root(class);
    let places = upkeep::places(conceptual, collection);
    let is_own = |class: ClassId| conceptual.homes(class).iter().any(|home| Some(home.root) == root);
    let holds = |place: &Place| place.apart(conceptual).is_some_and(is_own);
    let expires = |class: ClassId| {
        let kin = |id: ClassId| conceptual.is_kind_of(id, class) || conceptual.is_kind_of(class, id);
        conceptual.classes.iter().any(|(id, row)| row.ttl.is_some() && kin(id))
    };
    let may_change = |place: &Place| {
        let backwards = place.steps.iter().any(|step| match *step {
            // What a loose reference names may come later.
            Member::End(id) => {
                let end = &conceptual.ends[id];
                let loose = end.kind != RelationshipKind::Composition && !conceptual.is_relied_on(id);
                !end.stored || end.inverse == Some(id) || loose
            }
            Member::Attribute(_) => false,
        });
        let other = place.apart(conceptual).is_some_and(|class| {
            !conceptual.is_immutable(class) || (!place.steps.is_empty() && expires(class))
        });
        backwards || other
    };
    places.iter().any(holds) && places.iter().any(may_change)
}
