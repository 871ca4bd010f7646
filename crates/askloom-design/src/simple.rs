//! A design by two rules: one aggregate collection for each root class, and one view for each query that those
//! cannot answer by key. What keeping the views right needs besides, the indexes from a referred instance back to
//! those that refer to it, is added.

use crate::declared;
use askloom_model::{
    ClassId, Collection, Conceptual, Condition, Contents, Design, Id, Joining, Keeper, KeyField, Leaf, Model,
    OrderBy, Origin, Path, PositionId, Query, Reading, Representation, Role, Rule, Source, Table,
};
use askloom_plan::conditions::{all_of, equality, has_parameter, is_about_tree, range};
use askloom_plan::naming::capitalised;
use askloom_plan::planner::{self, conjuncts, is_single, needed_paths};
use askloom_plan::positions::{as_linked, identity_leaves, is_held, is_held_at, is_key, only_main};
use askloom_plan::upkeep::unused;
use askloom_plan::{partition, upkeep};
use askloom_target::embedded;

/// The design.
#[must_use]
pub fn design(model: &Model) -> Design {
    let mut design = Design { method: "simple".to_owned(), collections: Table::default() };
    masters(model, Origin::Method, &mut design);
    for query in &model.workload.queries {
        let by_key = planner::plan(&embedded::costing(), &model.conceptual, &design, query)
            .is_some_and(|plan| is_by_key(&plan));
        if !by_key {
            design.collections.push(view(model, query));
        }
    }
    upkeep::add_indexes(model, &mut design);
    design
}

fn is_by_key(plan: &askloom_model::Plan) -> bool {
    plan.all().all(|plan| {
        let access = match plan.access.how {
            Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Each { .. } => true,
            Reading::Scan => false,
        };
        let joins = plan.joins.iter().all(|join| match join.how {
            // The index of part ids is added below, whatever the queries are.
            Joining::Inside
            | Joining::LookUp { .. }
            | Joining::PartByIndex { .. }
            | Joining::PartByScan { .. } => true,
            Joining::Back { .. } | Joining::BackByScan { .. } => false,
        });
        access && joins
    })
}

/// One collection of whole aggregates for each root class that has none yet.
pub fn masters(model: &Model, origin: Origin, design: &mut Design) {
    let conceptual = &model.conceptual;
    for class in conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)) {
        if design.master(class).is_none() {
            let declared = declared::master_of(model, class);
            let name = declared.map_or_else(
                || conceptual.classes[class].name.clone(),
                |one| declared::name_of(model, one, class),
            );
            let name = unused(design, name);
            design.collections.push(master(model, class, name, origin));
        }
        declared::add_carried(model, class, origin, design);
    }
}

/// The source of truth for a root class, with the key that the model declares for it, split by the representation that
/// the model gives.
pub(crate) fn master(model: &Model, class: ClassId, name: String, origin: Origin) -> Collection {
    let main = PositionId::from_index(0);
    let key = |leaf| KeyField { path: Path { position: main, hops: Vec::new(), leaf }, descending: false };
    let rules =
        in_force(model, class).unwrap_or_else(|| vec![partition::Strategy::PerAggregate.rule(Some(class))]);
    let master = Collection {
        name: name.clone(),
        role: Role::Master,
        origin,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source { root: class, positions: only_main(class), condition: None },
        block_key: identity_leaves(&model.conceptual, class).into_iter().map(key).collect(),
        entry_key: Vec::new(),
        contents: Contents::Aggregate(rules),
        reasons: vec!["Every root class has one collection that is the source of truth.".to_owned()],
    };
    match declared::master_of(model, class) {
        Some(declared) => declared::keyed(declared, name, master),
        None => master,
    }
}

/// The representation of a class if the model has exactly one.
fn in_force(model: &Model, class: ClassId) -> Option<Vec<Rule>> {
    match representations(model, class).as_slice() {
        [only] => only.rules.clone(),
        [] | [_, ..] => None,
    }
}

/// A representation that the model gives for a class.
pub(crate) struct Represented<'m> {
    pub(crate) name: &'m str,
    /// Rules that would lose something are no representation; the check of the model says so.
    pub(crate) rules: Option<Vec<Rule>>,
}

/// The representations of a class: its own, or, if it has none of its own, those for every class.
pub(crate) fn representations(model: &Model, class: ClassId) -> Vec<Represented<'_>> {
    let conceptual = &model.conceptual;
    let is_about = |rule: &Rule| rule.class.is_none_or(|of| conceptual.is_kind_of(of, class));
    let (own, general): (Vec<_>, Vec<_>) = model
        .representations
        .iter()
        .filter(|representation| representation.class.is_none_or(|of| of == class))
        .filter(|representation| representation.rules.iter().any(is_about))
        .partition(|representation| representation.class.is_some());
    let given = |representation: &'_ Representation| {
        let rules: Vec<Rule> = representation.rules.iter().filter(|rule| is_about(rule)).cloned().collect();
        partition::legal(conceptual, class, &rules).is_ok().then_some(rules)
    };
    let candidates = if own.is_empty() { general } else { own };
    candidates.into_iter().map(|found| Represented { name: &found.name, rules: given(found) }).collect()
}

/// The view that answers a query with one request: equality fields make the block, then order or range fields,
/// then the identity.
#[must_use]
pub fn view(model: &Model, query: &Query) -> Collection {
    let conceptual = &model.conceptual;
    let main = PositionId::from_index(0);
    let reduced = planner::reduced(conceptual, query);
    let query = reduced.as_ref().unwrap_or(query);
    let Given { block_key, range, fixed } = given(conceptual, query);
    let entry_key = entry_key(conceptual, query, &block_key, range);
    let taken: Vec<Path> = block_key.iter().chain(&entry_key).map(|field| field.path.clone()).collect();
    let fields = view_fields(conceptual, query, &taken);
    Collection {
        name: format!("{}View", capitalised(&query.header.name)),
        role: Role::Copy,
        origin: Origin::Method,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source {
            root: query.positions[main].class.unwrap_or_else(|| ClassId::from_index(0)),
            positions: as_linked(conceptual, &query.positions),
            condition: all_of(fixed),
        },
        block_key,
        entry_key,
        contents: Contents::Fields(fields),
        reasons: vec![format!("The query {} cannot be answered by the key of a master.", query.header.name)],
    }
}

/// What a view holds beside its key: all that the query needs and that does not follow from the rest.
fn view_fields(conceptual: &Conceptual, query: &Query, taken: &[Path]) -> Vec<Path> {
    let itself = |path: &Path| path.leaf == Leaf::Itself && path.hops.is_empty();
    let identity = query.identity.iter().filter(|path| !itself(path)).cloned();
    let mut fields: Vec<Path> = needed_paths(query)
        .into_iter()
        .filter(|path| is_held_at(conceptual, &query.positions, path))
        .collect();
    for path in identity.filter(|path| is_held(conceptual, path)) {
        let components = conceptual.identity_components(&path).unwrap_or_default();
        let follows = !components.is_empty() && components.iter().all(|part| fields.contains(part));
        if !follows && !fields.contains(&path) {
            fields.push(path);
        }
    }
    fields.retain(|path| {
        let parts = conceptual.identity_parts(path);
        !taken.contains(path) && !parts.iter().any(|part| taken.contains(&part.of))
    });
    fields
}

/// What the condition of a query gives a view.
#[derive(Default)]
struct Given {
    /// What has one value.
    block_key: Vec<KeyField>,
    /// The first of what is within bounds.
    range: Option<Path>,
    /// What is the same whatever the parameters are: other rows need not be there.
    fixed: Vec<Condition>,
}

fn given(conceptual: &Conceptual, query: &Query) -> Given {
    let mut given = Given::default();
    let is_single_key = |path: &&Path| is_key(conceptual, path) && is_single(conceptual, path);
    for conjunct in conjuncts(query.condition.as_ref()) {
        let condition = conjunct.condition;
        if let Some(path) = equality(condition).filter(is_single_key) {
            push_key(&mut given.block_key, &conceptual.same_identity(path), false);
        }
        given.range = given.range.or_else(|| range(condition).filter(is_single_key).cloned());
        if is_fixed(conceptual, condition) {
            given.fixed.push(condition.clone());
        }
    }
    given
}

/// Whether a view can keep to the rows of a condition.
fn is_fixed(conceptual: &Conceptual, condition: &Condition) -> bool {
    let held = |path: &Path| is_single(conceptual, path) && is_held(conceptual, path);
    !has_parameter(condition) && !is_about_tree(condition) && condition.paths().into_iter().all(held)
}

/// What is within bounds, then what the query is ordered by.
fn entry_key(
    conceptual: &Conceptual,
    query: &Query,
    block_key: &[KeyField],
    range: Option<Path>,
) -> Vec<KeyField> {
    let mut key: Vec<KeyField> = Vec::new();
    if let Some(path) = range {
        let by = OrderBy::Path(path.clone());
        let descending = query.order_by.iter().any(|term| term.descending && term.by == by);
        push_key(&mut key, &path, descending);
    }
    for term in &query.order_by {
        if let OrderBy::Path(path) = &term.by
            && is_key(conceptual, path)
        {
            let path = conceptual.same_identity(path);
            if block_key.iter().all(|field| field.path != path) {
                push_key(&mut key, &path, false);
            }
        }
    }
    key
}

fn push_key(key: &mut Vec<KeyField>, path: &Path, descending: bool) {
    if key.iter().all(|field| field.path != *path) {
        key.push(KeyField { path: path.clone(), descending });
    }
}
