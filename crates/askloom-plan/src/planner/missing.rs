//! Why a query has no plan, and what would give it one.

use super::started;
use crate::cost::Costing;
use askloom_model::{
    Capability, ClassId, Code, CollectionId, Design, Diagnostic, Guarantee, Joining, Model, Plan, Query,
    Reading,
};

/// What a plan would need and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Missing {
    /// No collection of the design is the source of this class.
    Master(ClassId),
    /// Collections there are, but none starts with instances of this class.
    Start(ClassId),
    /// The store cannot read all of a collection, and the query gives no key of it.
    Scan(CollectionId),
    /// The store cannot read a range of a block.
    Range(CollectionId),
    /// The query must be fresh, and this copy may lag.
    Fresh(CollectionId),
}

/// What the store or the query does not allow in a plan.
pub(super) fn lacks(capability: &Capability, query: &Query, plan: &Plan) -> Option<Missing> {
    if let Some(found) = &plan.first
        && let Some(missing) = lacks(capability, &found.query, &found.plan)
    {
        return Some(missing);
    }
    let id = plan.access.collection;
    if !capability.scan.value {
        if plan.access.how == Reading::Scan {
            return Some(Missing::Scan(id));
        }
        if let Some(master) = plan.follows().find_map(Joining::scanned) {
            return Some(Missing::Scan(master));
        }
    }
    if !capability.ordered.value && is_part_of_block(&plan.access.how) {
        return Some(Missing::Range(id));
    }
    let ranged = plan.fetches.iter().find(|fetch| fetch.positions.contains(&None));
    if let Some(fetch) = ranged.filter(|_| !capability.ordered.value) {
        return Some(Missing::Range(fetch.collection));
    }
    (query.fresh && plan.priced.reads == Guarantee::Lagging).then_some(Missing::Fresh(id))
}

fn is_part_of_block(how: &Reading) -> bool {
    match how {
        Reading::Range { equal, range, .. } => !equal.is_empty() || range.is_some(),
        Reading::Each { of, .. } => is_part_of_block(of),
        Reading::GetBlock { .. } | Reading::Scan => false,
    }
}

/// What is missing for a plan of the query; nothing if there is one.
#[must_use]
pub fn missing(costing: &Costing<'_>, model: &Model, design: &Design, query: &Query) -> Vec<Missing> {
    let conceptual = &model.conceptual;
    let plans = started(costing, conceptual, design, query);
    let mut missing: Vec<Missing> = Vec::new();
    for plan in &plans {
        match lacks(costing.capability, query, plan) {
            None => return Vec::new(),
            Some(lack) if missing.contains(&lack) => {}
            Some(lack) => missing.push(lack),
        }
    }
    if missing.is_empty() {
        let classes = query.positions.iter().filter_map(|(_, position)| position.class);
        for root in classes.filter_map(|class| conceptual.aggregate_root(class)) {
            if design.master(root).is_none() && !missing.contains(&Missing::Master(root)) {
                missing.push(Missing::Master(root));
            }
        }
    }
    if missing.is_empty() {
        missing.extend(query.positions[super::main()].class.map(Missing::Start));
    }
    missing
}

/// The cheapest plan, or what to say of the query that has none.
pub fn answer(
    costing: &Costing<'_>,
    model: &Model,
    design: &Design,
    query: &Query,
) -> Result<Plan, Box<Diagnostic>> {
    super::plan(costing, &model.conceptual, design, query).ok_or_else(|| {
        let reasons = missing(costing, model, design, query);
        Box::new(diagnostic(costing, model, design, query, &reasons))
    })
}

fn diagnostic(
    costing: &Costing<'_>,
    model: &Model,
    design: &Design,
    query: &Query,
    reasons: &[Missing],
) -> Diagnostic {
    let message =
        format!("`{}` has no plan on {} with this design", query.header.name, costing.capability.title);
    let hints: Vec<String> = reasons.iter().map(|reason| hint(costing, model, design, *reason)).collect();
    let diagnostic = Diagnostic::new(Code::NoPlan, query.header.span, message);
    if hints.is_empty() { diagnostic } else { diagnostic.hint(hints.join("; ")) }
}

fn hint(costing: &Costing<'_>, model: &Model, design: &Design, reason: Missing) -> String {
    let class = |id: ClassId| &model.conceptual.classes[id].name;
    let collection = |id: CollectionId| &design.collections[id].name;
    let store = costing.capability.title;
    match reason {
        Missing::Master(id) => format!("give `{}` a collection that is its source", class(id)),
        Missing::Start(id) => {
            format!("no collection starts with `{0}`: add one of `{0}`, or ask from its owner", class(id))
        }
        Missing::Scan(id) => {
            format!(
                "{store} cannot read all of `{}`: add a collection whose key the query gives",
                collection(id)
            )
        }
        Missing::Range(id) => {
            format!(
                "{store} cannot read a part of a block of `{}`: put the field into the block key",
                collection(id)
            )
        }
        Missing::Fresh(id) => {
            format!("`{}` may lag on {store}: drop @fresh, or make its master answer", collection(id))
        }
    }
}
