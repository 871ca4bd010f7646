//! Leaves out what was added to a design and nobody needs.
//!
//! Completing a method adds indexes before it is known which plans will go by them. What no query reads, no write finds
//! its instances by and no upkeep walks along is not worth its writes.

use super::complete::questions;
use askloom_model::{Collection, CollectionId, Design, Id, Keeper, Model, Origin, Role, Table};
use askloom_plan::cost::Costing;
use askloom_plan::planner::write::parts::finds;
use askloom_plan::{planner, upkeep};
use std::collections::BTreeSet;

/// Removes collections that were added and that no declared statement needs.
pub(super) fn prune(model: &Model, costing: &Costing<'_>, design: &mut Design) {
    let needed = needed(model, costing, design);
    if needed.len() == design.collections.len() {
        return;
    }
    let kept = design.collections.iter().filter(|(id, _)| needed.contains(id));
    let mut collections: Table<CollectionId, Collection> = Table::default();
    for (_, collection) in kept {
        collections.push(collection.clone());
    }
    design.collections = collections;
}

/// The collections that a design needs: masters, those of its method, and those that declared statements go by.
pub fn needed(model: &Model, costing: &Costing<'_>, design: &Design) -> BTreeSet<CollectionId> {
    let conceptual = &model.conceptual;
    let own = |collection: &Collection| match collection.role {
        Role::Master | Role::Carried => true,
        Role::Copy | Role::Index => collection.origin == Origin::Method,
    };
    let always = design
        .collections
        .iter()
        .filter(|(_, collection)| own(collection) || upkeep::is_claim(conceptual, collection));
    let mut needed: BTreeSet<CollectionId> = always.map(|(id, _)| id).collect();
    let writes = model.workload.writes.iter().flat_map(|write| finds(model, write));
    for query in questions(model).into_iter().chain(writes) {
        if let Some(plan) = planner::plan(costing, conceptual, design, &query) {
            needed.extend(plan.collections());
        }
    }
    // What the store keeps beside a copy needs that copy.
    let by_store = needed.iter().filter(|&&id| design.collections[id].keeper == Keeper::Store);
    let hosts: Vec<CollectionId> = by_store.filter_map(|&id| design.sibling(id)).collect();
    needed.extend(hosts);
    let kept = needed.iter().map(|&id| &design.collections[id]);
    let walked = upkeep::ends_for_writes(model, kept);
    let ways_back = design
        .collections
        .iter()
        .filter(|(_, collection)| collection.reverses().is_some_and(|end| walked.contains(&end)));
    needed.extend(ways_back.map(|(id, _)| id));
    let by_store = needed.iter().filter(|&&id| design.collections[id].keeper == Keeper::Store);
    let hosts: Vec<CollectionId> = by_store.filter_map(|&id| design.sibling(id)).collect();
    needed.extend(hosts);
    debug_assert!(
        needed.iter().all(|id| id.index() < design.collections.len()),
        "a plan reads what is not there"
    );
    needed
}
