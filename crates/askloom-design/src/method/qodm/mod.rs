//! QODM: what is asked together is kept together; what is together already is asked by ids.
//!
//! Every question is a tuple of two sets of classes, those it gives and those it gets. The tuples are gone through from
//! the smallest to the largest: one with a class that is in no entity yet becomes an aggregation entity, which holds
//! everything of its classes; any other becomes an index entity, which holds their ids.

mod schema;
mod tuple;

pub use schema::{Entity, Field, Kind, Schema, Value};

use super::{Decision, Paper, Proposal};
use askloom_model::{
    ClassId, Collection, Conceptual, Contents, Design, Keeper, KeyField, Leaf, Model, Nodes, Origin, Path,
    PositionId, Role, Source, Table,
};
use askloom_plan::{nested_is_exact, upkeep};
use std::collections::BTreeSet;
use tuple::Tuple;

const TUPLES: &str = "QODM, section IV";
const MODEL: &str = "QODM, figure 4";
const ASKLOOM: &str = "askloom";

/// The design.
#[must_use]
pub fn propose(model: &Model) -> Proposal {
    let conceptual = &model.conceptual;
    let mut decisions = Vec::new();
    let mut tuples = tuple::of(model, &mut decisions);
    for tuple in &tuples {
        decisions.push(Decision::new(&tuple.name, tuple.text(conceptual), TUPLES));
    }
    tuples.sort_by_key(|tuple| tuple.classes().len());
    let mut design = Design { method: "qodm".to_owned(), collections: Table::default() };
    let mut schema = Schema { entities: Vec::new() };
    let mut aggregated: BTreeSet<ClassId> = BTreeSet::new();
    let mut done: Vec<&Tuple> = Vec::new();
    for tuple in &tuples {
        if let Some(same) = done.iter().find(|other| other.is_same(tuple)) {
            let says = format!("asks for the same as {}: one entity serves both", same.name);
            decisions.push(Decision::new(&tuple.name, says, MODEL));
            continue;
        }
        done.push(tuple);
        let new: Vec<ClassId> = tuple.classes().into_iter().filter(|c| !aggregated.contains(c)).collect();
        let kind = if new.is_empty() { Kind::Index } else { Kind::Aggregation };
        if kind == Kind::Aggregation {
            aggregated.extend(tuple.held_classes(conceptual));
        }
        decisions.push(Decision::new(&tuple.name, reason(conceptual, tuple, &new), MODEL));
        schema.entities.push(schema::entity(conceptual, tuple, kind));
        let collection = collection(conceptual, tuple, kind, &mut decisions);
        let name = upkeep::unused(&design, collection.name.clone());
        design.collections.push(Collection { name, ..collection });
    }
    Proposal { design, decisions, paper: Paper::Qodm(schema) }
}

fn reason(conceptual: &Conceptual, tuple: &Tuple, new: &[ClassId]) -> String {
    let names = |classes: &[ClassId]| -> String {
        classes.iter().map(|&class| conceptual.classes[class].name.as_str()).collect::<Vec<_>>().join(", ")
    };
    match new {
        [] => format!("an index entity: {} are in other entities already", names(&tuple.classes())),
        new => format!("an aggregation entity of {}: {} is in none yet", names(&tuple.classes()), names(new)),
    }
}

/// The entity of a tuple: in the block of the ids that it gives, what it gets.
fn collection(
    conceptual: &Conceptual,
    tuple: &Tuple,
    kind: Kind,
    decisions: &mut Vec<Decision>,
) -> Collection {
    let itself = |&position: &PositionId| KeyField {
        path: Path { position, hops: Vec::new(), leaf: Leaf::Itself },
        descending: false,
    };
    let (role, contents) = match kind {
        Kind::Aggregation => (Role::Copy, Contents::Nested(nodes(conceptual, tuple))),
        Kind::Index => (Role::Index, Contents::Fields(tuple.ids_beyond(conceptual))),
    };
    let mut collection = Collection {
        name: askloom_plan::naming::capitalised(&tuple.name),
        role,
        origin: Origin::Method,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source {
            root: tuple.root,
            positions: tuple.positions.clone(),
            condition: tuple.condition.clone(),
        },
        block_key: tuple.given.iter().map(itself).collect(),
        entry_key: Vec::new(),
        contents,
        reasons: vec![format!("Answers {}.", tuple.name)],
    };
    if kind == Kind::Aggregation && !nested_is_exact(conceptual, &collection) {
        let says =
            "its classes form a circle: it is kept as rows, as a tree would forget which belong together";
        decisions.push(Decision::new(&tuple.name, says, ASKLOOM));
        let fields = tuple.held.iter().filter_map(|&position| {
            let class = tuple.positions[position].class?;
            Some(askloom_plan::positions::own_fields(conceptual, position, class))
        });
        let fields = fields.flatten().chain(tuple.beyond.iter().cloned()).collect();
        collection.contents = Contents::Fields(fields);
    }
    collection
}

/// Whole aggregates where they stand; of what lies beyond a reference, what is asked for.
fn nodes(conceptual: &Conceptual, tuple: &Tuple) -> Nodes {
    let class = |position: PositionId| tuple.positions[position].class;
    let is_whole = |position: PositionId| class(position).is_some_and(|class| conceptual.is_aggregate(class));
    let (whole, parts): (Vec<PositionId>, Vec<PositionId>) =
        tuple.held.iter().partition(|&&position| is_whole(position));
    let of_parts = parts.into_iter().filter_map(|position| {
        Some(askloom_plan::positions::own_fields(conceptual, position, class(position)?))
    });
    let fields = of_parts.flatten().chain(tuple.beyond.iter().cloned()).collect();
    Nodes { fields, whole }
}
