//! What holds after every step, checked on the whole state. Each rule is one function.

use super::defaults::{is_reference, is_required};
use super::draft::Draft;
use super::error::WriteError;
use crate::address::Address;
use crate::node::Node;
use crate::state::{State, top};
use crate::view::View;
use askloom_model::{Cardinality, ClassId, Conceptual, EndId, Identity, Member, RelationshipKind, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Draft<'_> {
    pub(super) fn check_rules(&self, before: &State) -> Result<(), WriteError> {
        self.immutable_entities_stay(before)?;
        let before = View::new(self.conceptual, before);
        let after = self.view();
        ids_are_unique(&after)?;
        immutable_members_stay(&before, &after)?;
        required_ends_have_links(&before, &after)?;
        upper_bounds_hold(&after)?;
        unique_values_are_unique(&after)
    }
}

impl Draft<'_> {
    /// What an immutable entity had before, it has still.
    fn immutable_entities_stay(&self, before: &State) -> Result<(), WriteError> {
        for (top, identity, old) in before.instances() {
            let class = old.record.class;
            let stays =
                self.state.get(self.conceptual, top, identity).is_some_and(|new| new.record == old.record);
            if self.conceptual.classes[class].immutable && !stays {
                return Err(WriteError::ImmutableEntity { class });
            }
        }
        Ok(())
    }
}

/// In a hierarchy no two entities have the same id, roots and parts alike.
fn ids_are_unique(after: &View<'_>) -> Result<(), WriteError> {
    let mut seen = BTreeSet::new();
    for node in after.all() {
        let (Some(identity), Some(record)) = (node.identity.entity(), node.record()) else { continue };
        if !seen.insert((top(after.conceptual, record.class), identity)) {
            return Err(WriteError::AlreadyExists { class: record.class, identity: identity.clone() });
        }
    }
    Ok(())
}

/// What is still there has the immutable members it had. An entity is known by its id, wherever it is; a value
/// object by its place, and one without an ordinal is replaced as a whole, so it is another one then.
fn immutable_members_stay(before: &View<'_>, after: &View<'_>) -> Result<(), WriteError> {
    let conceptual = after.conceptual;
    let known: BTreeMap<SameThing<'_>, &Node<'_>> =
        before.all().iter().filter_map(|node| Some((SameThing::of(conceptual, node)?, node))).collect();
    for node in after.all() {
        let Some(old) = SameThing::of(conceptual, node).and_then(|thing| known.get(&thing)) else { continue };
        if old.identity != node.identity {
            continue;
        }
        let replaced = node.address.place.last().is_some_and(|step| step.ordinal.is_none())
            && node.identity.entity().is_none();
        let (Some(old), Some(new)) = (old.record(), node.record()) else { continue };
        if replaced || old.class != new.class {
            continue;
        }
        for member in conceptual.all_members(new.class) {
            let immutable = match member {
                Member::Attribute(id) => conceptual.attributes[id].immutable,
                Member::End(id) => conceptual.ends[id].immutable && conceptual.ends[id].stored,
            };
            if immutable && old.get(member) != new.get(member) {
                return Err(WriteError::Immutable { member });
            }
        }
    }
    Ok(())
}

/// What a record before a statement and one after it have in common if they are the same thing.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SameThing<'n> {
    Entity(ClassId, &'n Identity),
    Value(&'n Address),
}

impl<'n> SameThing<'n> {
    fn of(conceptual: &Conceptual, node: &'n Node<'_>) -> Option<Self> {
        Some(match node.identity.entity() {
            Some(identity) => Self::Entity(top(conceptual, node.record()?.class), identity),
            None => Self::Value(&node.address),
        })
    }
}

/// A required to-one reference has a value. A required derived end that had a link keeps one, unless the
/// instance at the other end is gone: what is new has none yet, as INSERT cannot give it one.
fn required_ends_have_links(before: &View<'_>, after: &View<'_>) -> Result<(), WriteError> {
    let conceptual = after.conceptual;
    for (id, end) in conceptual.ends.iter() {
        if is_required(end) && is_reference(end) {
            let empty =
                |node: &Node<'_>| node.record().is_some_and(|record| record.get(Member::End(id)).is_null());
            if after.extent(end.class).any(empty) {
                return Err(WriteError::RequiredEnd { end: id });
            }
        }
        if !end.stored && end.cardinality == Cardinality::ONE {
            for node in after.extent(end.class) {
                let Some(identity) = node.identity.entity() else { continue };
                let Some(old) = before.find(end.class, identity) else { continue };
                let partners = before.ids_at(old, id);
                let survives = |partner: &Identity| after.find(end.target, partner).is_some();
                if partners.iter().any(survives) && after.ids_at(node, id).is_empty() {
                    return Err(WriteError::RequiredEnd { end: id });
                }
            }
        }
    }
    Ok(())
}

/// No end has more links than its cardinality allows. Lower bounds of lists and sets are not enforced, as an
/// instance starts with empty ones.
fn upper_bounds_hold(after: &View<'_>) -> Result<(), WriteError> {
    let conceptual = after.conceptual;
    for (id, end) in conceptual.ends.iter().filter(|(_, end)| end.stored) {
        let mut links: BTreeMap<Identity, usize> = BTreeMap::new();
        for node in after.extent(end.class) {
            let count = match (end.kind, node.record().map(|record| record.get(Member::End(id)))) {
                (RelationshipKind::Composition, Some(Value::List(elements))) => elements.len(),
                _reference_or_single => after.links_of(node, id).len(),
            };
            exceeds(id, end.cardinality, count)?;
            for target in after.links_of(node, id) {
                *links.entry(target).or_default() += 1;
            }
        }
        if let Some(inverse) = end.inverse.filter(|&inverse| inverse != id) {
            let most = links.values().copied().max().unwrap_or(0);
            exceeds(inverse, conceptual.ends[inverse].cardinality, most)?;
        }
    }
    Ok(())
}

fn exceeds(end: EndId, cardinality: Cardinality, count: usize) -> Result<(), WriteError> {
    match cardinality.max {
        Some(max) if count > max as usize => Err(WriteError::UpperBound { end }),
        Some(_) | None => Ok(()),
    }
}

/// No two instances share the value of a unique member; any number of them may have none.
fn unique_values_are_unique(after: &View<'_>) -> Result<(), WriteError> {
    let conceptual = after.conceptual;
    let attributes = conceptual.attributes.iter().filter(|(_, attribute)| attribute.unique);
    let attributes = attributes.map(|(id, attribute)| (Member::Attribute(id), attribute.class));
    let ends = conceptual.ends.iter().filter(|(_, end)| end.unique && end.stored);
    let ends = ends.map(|(id, end)| (Member::End(id), end.class));
    for (member, class) in attributes.chain(ends) {
        let mut seen = BTreeSet::new();
        for record in after.extent(class).filter_map(Node::record) {
            let value = record.get(member);
            if !value.is_null() && !seen.insert(value) {
                return Err(WriteError::NotUnique { member });
            }
        }
    }
    Ok(())
}
