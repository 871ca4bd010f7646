//! The collections that the model declares, as a design of their own.

use super::{Decision, Paper, Proposal};
use crate::simple;
use askloom_model::{
    Collection, Contents, DeclaredCollection, Design, GivenCollection, Id, Keep, Keeper, KeyField, Leaf,
    Model, Nodes, Origin, Path, PositionId, Role, Source, Table,
};
use askloom_plan::nested_is_exact;
use askloom_plan::upkeep::unused;

const SOURCE: &str = "the model";

/// Each declared collection as it is; one that holds the whole aggregates of a class by their ids is its master.
#[must_use]
pub fn propose(model: &Model) -> Proposal {
    let mut design = Design { method: "given".to_owned(), collections: Table::default() };
    let mut decisions = Vec::new();
    let designed =
        |declared: &&DeclaredCollection| crate::why_not_designed(&model.conceptual, declared).is_none();
    for declared in model.declared.iter().filter(designed) {
        for class in declared.classes.iter().map(|one| one.class) {
            let name = unused(&design, crate::declared::name_of(model, declared, class));
            let master = simple::master(model, class, name.clone(), Origin::Method);
            let says = match master.partition_of {
                None => {
                    "holds every instance whole, by its id, which its key splits: it is the source of truth"
                }
                Some(_) => "holds every instance whole, beside what it refers to: it is the source of truth",
            };
            design.collections.push(master);
            decisions.push(Decision::new(&name, says, SOURCE));
            let before = design.collections.len();
            crate::declared::add_carried(model, class, Origin::Method, &mut design);
            for (_, carried) in design.collections.iter().skip(before) {
                let says = format!("is carried in the records of {name}");
                decisions.push(Decision::new(&carried.name, says, SOURCE));
            }
        }
    }
    for given in &model.given {
        if is_master(model, given) && design.master(given.class).is_none() {
            let master = simple::master(model, given.class, given.name.clone(), Origin::Method);
            design.collections.push(Collection { reasons: vec![declared(given)], ..master });
            let says = "holds every instance whole, by its id: it is the source of truth";
            decisions.push(Decision::new(&given.name, says, SOURCE));
        } else {
            let copy = copy(model, given, &mut decisions);
            design.collections.push(copy);
            decisions.push(Decision::new(&given.name, "is kept beside the sources of truth", SOURCE));
        }
    }
    if design.collections.is_empty() {
        let says = "declares no collection: all that there is comes from Askloom";
        decisions.push(Decision::new("the model", says, SOURCE));
    }
    Proposal { design, decisions, paper: Paper::Given }
}

fn declared(given: &GivenCollection) -> String {
    match &given.physical_name {
        Some(name) => format!("The model declares it; in the store it is called {name}."),
        None => "The model declares it.".to_owned(),
    }
}

/// Whether every instance is held, whole, by its id and nothing else.
fn is_master(model: &Model, given: &GivenCollection) -> bool {
    let conceptual = &model.conceptual;
    let identifier: Vec<Leaf> = askloom_plan::positions::identity_leaves(conceptual, given.class);
    let here = |path: &Path| path.hops.is_empty() && path.position == PositionId::from_index(0);
    let key: Vec<Leaf> = given.key.iter().map(|path| path.leaf).collect();
    conceptual.aggregate_root(given.class) == Some(given.class)
        && given.keep == Keep::All
        && given.condition.is_none()
        && given.sort.is_empty()
        && given.positions.len() == 1
        && given.key.iter().all(here)
        && (key == identifier || key == [Leaf::Itself])
}

fn copy(model: &Model, given: &GivenCollection, decisions: &mut Vec<Decision>) -> Collection {
    let conceptual = &model.conceptual;
    let key = |path: &Path, descending: bool| KeyField { path: path.clone(), descending };
    let sort: Vec<KeyField> = given.sort.iter().map(|field| key(&field.path, field.descending)).collect();
    let mut collection = Collection {
        name: given.name.clone(),
        role: Role::Copy,
        origin: Origin::Method,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source {
            root: given.class,
            positions: given.positions.clone(),
            condition: given.condition.clone(),
        },
        block_key: given.key.iter().map(|path| key(path, false)).collect(),
        entry_key: sort,
        contents: Contents::Fields(Vec::new()),
        reasons: vec![declared(given)],
    };
    match &given.keep {
        Keep::Fields(fields) => {
            let (held, left): (Vec<_>, Vec<_>) =
                fields.iter().cloned().partition(|path| askloom_plan::positions::is_held(conceptual, path));
            for path in left {
                let name = askloom_plan::naming::leaf_name(conceptual, path.leaf);
                let says = format!("`{name}` is not one value a row: it is looked up where it is");
                decisions.push(Decision::new(&given.name, says, SOURCE));
            }
            collection.contents = Contents::Fields(held);
        }
        Keep::All => {
            let main = PositionId::from_index(0);
            let whole = Collection {
                contents: Contents::Nested(Nodes { fields: Vec::new(), whole: vec![main] }),
                ..collection.clone()
            };
            // What is sorted within a block is flat, and holds what a row can hold of the aggregate.
            // So is what has an entry for each value of a list.
            let each = askloom_plan::positions::each_value(conceptual, &collection);
            if each.is_none() && conceptual.is_aggregate(given.class) && nested_is_exact(conceptual, &whole) {
                return whole;
            }
            collection.contents =
                Contents::Fields(askloom_plan::positions::own_fields(conceptual, main, given.class));
        }
    }
    collection
}
