//! Which rows of a copy hold an instance, and how their roots are found from it.
//!
//! A row of a copy depends on the instances at its positions, and on those that its paths go through. Each such place
//! is reached from the root by steps. Walked backwards, a step inside an aggregate costs nothing; a derived end is
//! read off the instance itself, which stores the link; a stored reference needs an index from the target back.

use crate::delta::ways_back;
use crate::effects::Effects;
use crate::naming::capitalised;
use askloom_model::{
    ClassId, Collection, Conceptual, Contents, Design, EndId, Id, Keeper, KeyField, Leaf, Member, Model,
    Occurrence, Origin, Path, PositionId, RelationshipKind, Role, Source, fault,
};
use std::collections::BTreeSet;

/// A place in the rows of a collection: the steps from the root to it, and the class of what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub steps: Vec<Member>,
    /// None for the element of a list of plain values.
    pub class: Option<ClassId>,
}

impl Place {
    /// The class of what stands there, if it need not be in the aggregate of the place before: an entity, or a value
    /// object that is reached backwards, from what it refers to.
    #[must_use]
    pub fn apart(&self, conceptual: &Conceptual) -> Option<ClassId> {
        let backwards = match self.steps.last() {
            Some(&Member::End(end)) => !conceptual.ends[end].stored,
            Some(Member::Attribute(_)) | None => false,
        };
        self.class.filter(|&class| backwards || conceptual.classes[class].kind.is_entity())
    }
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
    // The id of what a reference names is where the reference is.
    for path in paths(collection).iter().map(|path| conceptual.nearest(path)) {
        let mut steps = by_position.get(path.position.index()).cloned().unwrap_or_default();
        // The ids at a derived end are of those that refer to it; so may be those of a symmetric one.
        let referring = match path.leaf {
            Leaf::Reference(end) => {
                let row = &conceptual.ends[end];
                (!row.stored || row.inverse == Some(end)).then_some(end)
            }
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        for &hop in path.hops.iter().chain(&referring).filter(|_| !fault!(PathsForgotten)) {
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
        paths.extend(condition.paths().into_iter().cloned());
    }
    paths
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

/// Adds the indexes that keeping data right needs: for every reference that some copy has to be found back along or
/// some write has to look back along, for every unique value, and for the ids of parts.
pub fn add_indexes(model: &Model, design: &mut Design) {
    let conceptual = &model.conceptual;
    let mut wanted: Vec<(Leaf, &str)> = Vec::new();
    wanted.extend(ends_to_walk_back(model, design).into_iter().map(|end| (Leaf::Reference(end), WAY_BACK)));
    for (id, attribute) in conceptual.attributes.iter() {
        if attribute.unique {
            wanted.push((Leaf::Attribute(id), UNIQUE));
        }
    }
    for (id, end) in conceptual.ends.iter() {
        if end.unique && end.stored {
            wanted.push((Leaf::Reference(id), UNIQUE));
        }
    }
    for (leaf, reason) in wanted {
        for occurrence in conceptual.occurrences(leaf_class(conceptual, leaf)) {
            add_index(conceptual, design, &occurrence, leaf, reason);
        }
    }
    for class in conceptual.classes.ids().filter(|&class| conceptual.classes[class].owner.is_some()) {
        for occurrence in conceptual.occurrences(class) {
            add_index(conceptual, design, &occurrence, Leaf::Itself, PART);
        }
    }
}

/// Adds the way back along a stored reference.
pub fn add_way_back(conceptual: &Conceptual, design: &mut Design, end: EndId) {
    let leaf = Leaf::Reference(end);
    for occurrence in conceptual.occurrences(leaf_class(conceptual, leaf)) {
        add_index(conceptual, design, &occurrence, leaf, WAY_BACK);
    }
}

const WAY_BACK: &str = "Keeping data right needs the way back along this reference.";
const UNIQUE: &str = "A unique value is reserved by its entry here.";
const PART: &str = "A part is found by its id, which no other part may have.";

/// References that have to be walked from the target back: by queries over derived ends, and by writes.
fn ends_to_walk_back(model: &Model, design: &Design) -> BTreeSet<EndId> {
    let conceptual = &model.conceptual;
    let collections = design.collections.iter().map(|(_, collection)| collection);
    let mut wanted = ends_for_writes(model, collections);
    for query in &model.workload.queries {
        for (_, position) in query.positions.iter() {
            wanted.extend(position.from.into_iter().flat_map(|hop| derived_ends(conceptual, &[hop.step])));
        }
        for end in query.listed_ends(conceptual) {
            wanted.extend(derived_ends(conceptual, &[Member::End(end)]));
        }
    }
    wanted.extend(model.workload.asks.iter().flat_map(|ask| crate::ask::walked_back(conceptual, ask)));
    wanted.retain(|&end| conceptual.ends[end].kind != RelationshipKind::Composition);
    wanted
}

/// References that declared writes have to walk from the target back: to keep these collections, to check references
/// and bounds, to move links.
pub fn ends_for_writes<'c>(
    model: &Model,
    collections: impl Iterator<Item = &'c Collection>,
) -> BTreeSet<EndId> {
    let conceptual = &model.conceptual;
    let effects = Effects::of(model);
    let mut wanted: BTreeSet<EndId> =
        collections.flat_map(|collection| ways_back(conceptual, &effects, collection)).collect();
    for (id, end) in conceptual.ends.iter() {
        // A bound at the other end is checked, and a partner that may have one link only is taken from its former one.
        let bounded = end.inverse.is_some_and(|inverse| conceptual.ends[inverse].cardinality.max.is_some());
        let asked_back = bounded && effects.sets(conceptual, id)
            || end.is_checked() && effects.ends(conceptual, end.target);
        if end.stored && end.kind != RelationshipKind::Composition && asked_back {
            wanted.insert(id);
        }
    }
    wanted
}

/// Whether entries of a collection reserve values: those that are unique, and the ids of parts.
pub fn is_claim(conceptual: &Conceptual, collection: &Collection) -> bool {
    collection.indexed().is_some_and(|path| match path.leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].unique,
        Leaf::Reference(id) => conceptual.ends[id].unique,
        Leaf::Itself => true,
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    })
}

fn leaf_class(conceptual: &Conceptual, leaf: Leaf) -> ClassId {
    match leaf {
        Leaf::Attribute(id) => conceptual.attributes[id].class,
        Leaf::Reference(id) => conceptual.ends[id].class,
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => ClassId::from_index(0),
    }
}

/// An index of aggregates by what they hold at a place: one entry for each distinct value, whether an instance of a
/// referred id exists or not, as it may be made later and those that refer to it must be found then.
fn add_index(
    conceptual: &Conceptual,
    design: &mut Design,
    occurrence: &Occurrence,
    leaf: Leaf,
    reason: &str,
) {
    if let Some(known) = design.index(occurrence, leaf) {
        let reasons = &mut design.collections[known].reasons;
        if reasons.iter().all(|known| known != reason) {
            reasons.push(reason.to_owned());
        }
        return;
    }
    let member = match leaf {
        Leaf::Attribute(id) => capitalised(&conceptual.attributes[id].name),
        Leaf::Reference(id) => capitalised(&conceptual.ends[id].name),
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => String::new(),
    };
    let way: String = occurrence.hops.iter().map(|&hop| capitalised(&conceptual.ends[hop].name)).collect();
    let name = format!("{}By{way}{member}", conceptual.classes[occurrence.root].name);
    let path = Path { position: PositionId::from_index(0), hops: occurrence.hops.clone(), leaf };
    design.collections.push(Collection {
        name: unused(design, name),
        role: Role::Index,
        origin: Origin::Added,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source {
            root: occurrence.root,
            positions: crate::positions::only_main(occurrence.root),
            condition: None,
        },
        block_key: vec![KeyField { path, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(Vec::new()),
        reasons: vec![reason.to_owned()],
    });
}

/// The name, with a number behind it if another collection has it.
pub fn unused(design: &Design, name: String) -> String {
    let taken = |name: &str| design.collections.iter().any(|(_, collection)| collection.name == name);
    if !taken(&name) {
        return name;
    }
    (2..).map(|number| format!("{name}{number}")).find(|name| !taken(name)).unwrap_or(name)
}
