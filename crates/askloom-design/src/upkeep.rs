//! Which rows of a copy hold an instance, and how their roots are found from it.
//!
//! A row of a copy depends on the instances at its positions, and on those that its paths go through. Each such place
//! is reached from the root by steps. Walked backwards, a step inside an aggregate costs nothing; a derived end is
//! read off the instance itself, which stores the link; a stored reference needs an index from the target back.

use crate::plan::condition_paths;
use askloom_model::{
    BackStep, ClassId, Collection, CollectionId, Conceptual, Contents, Design, EndId, Id, KeyField, Leaf,
    Member, Model, Path, PositionId, RelationshipKind, Role, Source, Upkeep,
};

/// A place in the rows of a collection: the steps from the root to it, and the class of what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub steps: Vec<Member>,
    /// None for the element of a list of plain values.
    pub class: Option<ClassId>,
}

/// Every place that a row depends on, the root first.
#[must_use]
pub fn places(conceptual: &Conceptual, collection: &Collection) -> Vec<Place> {
    let source = &collection.source;
    let mut places: Vec<Place> = Vec::new();
    let mut by_position: Vec<Vec<Member>> = Vec::new();
    for (_, position) in source.positions.iter() {
        let steps = match position.from {
            None => Vec::new(),
            Some(hop) => {
                let mut steps = by_position.get(hop.parent.index()).cloned().unwrap_or_default();
                steps.push(hop.step);
                steps
            }
        };
        by_position.push(steps.clone());
        places.push(Place { steps, class: position.class });
    }
    for path in paths(collection) {
        let mut steps = by_position.get(path.position.index()).cloned().unwrap_or_default();
        // The ids at a derived end are of those that refer to it; so may be those of a symmetric one.
        let referring = match path.leaf {
            Leaf::Reference(end) => {
                let row = &conceptual.ends[end];
                (!row.stored || row.inverse == Some(end)).then_some(end)
            }
            Leaf::Attribute(_) | Leaf::Itself => None,
        };
        for &hop in path.hops.iter().chain(&referring) {
            steps.push(Member::End(hop));
            let place = Place { steps: steps.clone(), class: Some(conceptual.ends[hop].target) };
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
}

/// Every path that the rows of a collection are made of.
fn paths(collection: &Collection) -> Vec<Path> {
    let mut paths: Vec<Path> = collection.held().cloned().collect();
    if let Some(condition) = &collection.source.condition {
        condition_paths(condition, &mut paths);
    }
    paths
}

/// The copies that a change of an aggregate of this root touches.
#[must_use]
pub fn upkeep(conceptual: &Conceptual, design: &Design, root: ClassId) -> Vec<Upkeep> {
    let copies = design.collections.iter().filter(|(_, collection)| collection.role != Role::Master);
    copies.filter_map(|(id, collection)| touched(conceptual, design, root, id, collection)).collect()
}

fn touched(
    conceptual: &Conceptual,
    design: &Design,
    root: ClassId,
    id: CollectionId,
    collection: &Collection,
) -> Option<Upkeep> {
    let in_aggregate =
        |place: &Place| place.class.and_then(|class| conceptual.aggregate_root(class)) == Some(root);
    let places: Vec<Place> = places(conceptual, collection).into_iter().filter(in_aggregate).collect();
    if places.is_empty() {
        return None;
    }
    let mut back = Vec::new();
    for place in &places {
        for step in stored_references(conceptual, &place.steps) {
            let step = BackStep { end: step, index: design.reverse_index(step) };
            if !back.contains(&step) {
                back.push(step);
            }
        }
    }
    let positions = collection.source.positions.iter();
    let positions =
        positions.filter(|(_, p)| p.class.and_then(|c| conceptual.aggregate_root(c)) == Some(root));
    Some(Upkeep { collection: id, positions: positions.map(|(id, _)| id).collect(), back })
}

/// The steps of a place that lead from a referring instance to another aggregate: to walk them back, the referring
/// instances must be found from the target.
#[must_use]
pub fn stored_references(conceptual: &Conceptual, steps: &[Member]) -> Vec<EndId> {
    let reference = |member: &Member| match member {
        Member::End(end) => {
            let row = &conceptual.ends[*end];
            (row.stored && row.kind != RelationshipKind::Composition).then_some(*end)
        }
        Member::Attribute(_) => None,
    };
    steps.iter().filter_map(reference).collect()
}

/// Steps that go over a derived end: forwards, the referring instances must be found from the target.
fn derived_ends(conceptual: &Conceptual, steps: &[Member]) -> Vec<EndId> {
    let derived = |member: &Member| match member {
        Member::End(end) if !conceptual.ends[*end].stored => conceptual.ends[*end].inverse,
        Member::End(_) | Member::Attribute(_) => None,
    };
    steps.iter().filter_map(derived).collect()
}

/// Adds an index for every reference that some copy has to be found back along.
pub fn add_indexes(model: &Model, design: &mut Design) {
    let conceptual = &model.conceptual;
    let mut wanted: Vec<EndId> = Vec::new();
    for (_, collection) in design.collections.iter().filter(|(_, collection)| collection.role != Role::Master)
    {
        for place in places(conceptual, collection) {
            wanted.extend(stored_references(conceptual, &place.steps));
            wanted.extend(derived_ends(conceptual, &place.steps));
        }
    }
    for query in &model.workload.queries {
        for (_, position) in query.positions.iter() {
            wanted.extend(position.from.into_iter().flat_map(|hop| derived_ends(conceptual, &[hop.step])));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    for end in wanted {
        if design.reverse_index(end).is_none()
            && let Some(index) = reverse_index(conceptual, end)
        {
            design.collections.push(index);
        }
    }
}

/// The index from the target of a stored end back to those that refer to it. None for a reference inside a value
/// object: its owner is found by scanning.
fn reverse_index(conceptual: &Conceptual, end: EndId) -> Option<Collection> {
    let row = &conceptual.ends[end];
    let class = row.class;
    if !conceptual.classes[class].kind.is_entity() || conceptual.aggregate_root(class) != Some(class) {
        return None;
    }
    let main = PositionId::from_index(0);
    let positions = crate::simple::only_main(class);
    // Of a to-many reference there is one entry for each id in it, whether such an instance exists or not: it may be
    // made later, and then those that refer to it must be found.
    let path = Path { position: main, hops: Vec::new(), leaf: Leaf::Reference(end) };
    Some(Collection {
        name: format!("{}By{}", conceptual.classes[class].name, capital(&row.name)),
        role: Role::Index,
        source: Source { root: class, positions, condition: None },
        block_key: vec![KeyField { path, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(Vec::new()),
        reasons: vec!["Keeping copies right needs the way back along this reference.".to_owned()],
    })
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
