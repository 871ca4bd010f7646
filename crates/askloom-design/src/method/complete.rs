//! What a method's collections lack: the sources of truth, ways to find what a query asks for, ways back.

use super::prune::prune;
use super::{Decision, Proposal};
use crate::simple;
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Contents, Design, EndId, Id, Joining, Keeper, KeyField,
    Leaf, Model, Origin, Path, Plan, PositionId, Query, Reading, RelationshipKind, Role, Source,
};
use askloom_plan::cost::Costing;
use askloom_plan::{ask, planner, upkeep};

const SOURCE: &str = "askloom";

/// Adds what is needed so that every query has a plan that does not go through everything, where a key can help, and
/// every write can be done.
pub(super) fn complete(model: &Model, costing: &Costing<'_>, proposal: &mut Proposal) {
    let before = proposal.design.collections.len();
    simple::masters(model, Origin::Added, &mut proposal.design);
    for (_, master) in proposal.design.collections.iter().skip(before) {
        let says =
            "the method has no place that every write of it goes to first: its source of truth is added";
        proposal.decisions.push(Decision::new(&master.name, says, SOURCE));
    }
    upkeep::add_indexes(model, &mut proposal.design);
    for query in &questions(model) {
        find(model, costing, proposal, query);
    }
    upkeep::add_indexes(model, &mut proposal.design);
    prune(model, costing, &mut proposal.design);
}

/// Every query, and every tuple query as one.
#[must_use]
pub fn questions(model: &Model) -> Vec<Query> {
    let asks = model.workload.asks.iter().filter_map(|ask| ask::query(&model.conceptual, ask));
    model.workload.queries.iter().cloned().chain(asks).collect()
}

/// Adds an index for a query that would go through everything, if that is cheaper, and says so.
fn find(model: &Model, costing: &Costing<'_>, proposal: &mut Proposal, query: &Query) {
    let name = &query.header.name;
    let decision = match add_index(model, costing, &mut proposal.design, query) {
        Found::Key => return,
        Found::Index(id) => {
            let says =
                format!("{name} gives no key of the method's collections: it would go through everything");
            Decision::new(&proposal.design.collections[id].name, says, SOURCE)
        }
        Found::Scan => Decision::new(name, "goes through everything: no key would make it cheaper", SOURCE),
    };
    proposal.decisions.push(decision);
}

/// How the rows of a query are found.
pub(super) enum Found {
    /// By what is there.
    Key,
    /// By an index that was added for it.
    Index(CollectionId),
    Scan,
}

/// Adds an index for a query that would go through everything, if that is cheaper.
pub(super) fn add_index(model: &Model, costing: &Costing<'_>, design: &mut Design, query: &Query) -> Found {
    let cheapest = |design: &Design| planner::plan(costing, &model.conceptual, design, query);
    let now = cheapest(design);
    if now.as_ref().is_some_and(|plan| !scans(plan)) {
        return Found::Key;
    }
    let reduced = planner::reduced(&model.conceptual, query);
    let of = reduced.as_ref().unwrap_or(query);
    let candidates = index(model, query).into_iter().chain(indexes_of_lists(model, of));
    for index in candidates {
        let name = upkeep::unused(design, index.name.clone());
        let id = design.collections.push(Collection { name, ..index });
        let then = cheapest(design);
        let better = match (&now, &then) {
            (Some(now), Some(then)) => !scans(then) && then.estimate.cost < now.estimate.cost,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if better {
            return Found::Index(id);
        }
        design.collections.truncate(id.index());
    }
    Found::Scan
}

/// Whether a plan reads all of some collection where a key could lead. Owners that are all read for their parts do not
/// count: every design has an index of part ids, and a plan leaves it only where that is cheaper.
#[must_use]
pub fn scans(plan: &Plan) -> bool {
    plan.all().any(|plan| {
        let mut follows = plan.follows();
        let first = plan.access.how == Reading::Scan && plan.searched.is_empty();
        first || follows.any(|how| matches!(how, Joining::BackByScan { .. }))
    })
}

/// The identities of a query's rows by what it gives and in its order.
fn index(model: &Model, query: &Query) -> Option<Collection> {
    let view = simple::view(model, query);
    let has_key = !view.block_key.is_empty() || !view.entry_key.is_empty();
    let index = Collection {
        name: format!("{}Index", askloom_plan::naming::capitalised(&query.header.name)),
        role: Role::Index,
        origin: Origin::Added,
        partition_of: None,
        contents: Contents::Fields(Vec::new()),
        reasons: vec![format!("{} gives what is no key of a collection.", query.header.name)],
        ..view
    };
    has_key.then(|| as_index(model, index))
}

/// What leads back from one path leads back from what is in the aggregate; beyond a reference it is a copy. And an index of
/// references has to lead back to all who refer, or it is taken for one that does.
pub(super) fn as_index(model: &Model, index: Collection) -> Collection {
    let root = index.source.root;
    let is_way_back =
        |path: &Path| is_inside(&model.conceptual, path) && is_only_place(&model.conceptual, root, path);
    let leads = index.indexed().is_none_or(is_way_back);
    Collection { role: if leads { Role::Index } else { Role::Copy }, ..index }
}

/// Whether an aggregate itself holds what is at the end of a path, all of it.
fn is_inside(conceptual: &Conceptual, path: &Path) -> bool {
    let part = |&hop: &EndId| {
        let end = &conceptual.ends[hop];
        end.stored && end.kind == RelationshipKind::Composition
    };
    let leaf = match path.leaf {
        Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
        // Of a symmetric relationship the other side may hold the link.
        Leaf::Reference(id) => {
            let end = &conceptual.ends[id];
            end.stored && end.inverse != Some(id)
        }
    };
    leaf && path.hops.iter().all(part)
}

/// Whether a reference at the end of a path from this class is everywhere where there are such references.
fn is_only_place(conceptual: &Conceptual, root: ClassId, path: &Path) -> bool {
    match path.leaf {
        Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
        Leaf::Reference(id) => match conceptual.occurrences(conceptual.ends[id].class).as_slice() {
            [only] => only.root == root && only.hops == path.hops,
            _several => false,
        },
    }
}

/// Aggregates by the values of a list in them, for each list of which the query gives a value.
pub(super) fn indexes_of_lists(model: &Model, query: &Query) -> Vec<Collection> {
    let conceptual = &model.conceptual;
    let main = PositionId::from_index(0);
    let Some(root) = query.positions[main].class.filter(|&class| conceptual.is_aggregate(class)) else {
        return Vec::new();
    };
    let inside = |path: &Path| {
        path.position == main
            && is_inside(conceptual, path)
            && is_only_place(conceptual, root, path)
            && !planner::is_single(conceptual, path)
    };
    let conjuncts = planner::conjuncts(query.condition.as_ref());
    let given = conjuncts.iter().filter_map(|conjunct| {
        let path = askloom_plan::conditions::equality(conjunct.condition)
            .or_else(|| askloom_plan::conditions::membership(conjunct.condition))?;
        Some(conceptual.same_identity(path))
    });
    let index = |path: Path| Collection {
        name: format!("{}Index", askloom_plan::naming::capitalised(&query.header.name)),
        role: Role::Index,
        origin: Origin::Added,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source { root, positions: askloom_plan::positions::only_main(root), condition: None },
        block_key: vec![KeyField { path, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(Vec::new()),
        reasons: vec![format!("{} gives a value of a list.", query.header.name)],
    };
    given
        .filter(|path| inside(path) && askloom_plan::positions::is_key(conceptual, path))
        .map(index)
        .collect()
}
