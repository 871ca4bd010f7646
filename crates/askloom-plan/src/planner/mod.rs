//! All sensible plans of a query over a set of collections; the cheapest is taken.
//!
//! A collection can start a plan if its rows are those of a part of the query's tree of positions: same root, each
//! of its positions one of the query's, nothing left out by an inner join or a condition that the query does not
//! have too. What it does not hold is joined or looked up afterwards, and what it does not guarantee is filtered on
//! the client. A scan of the master can always start a plan, so every query has one.

mod conjuncts;
mod count;
mod cover;
mod fetch;
mod guarantee;
mod join_strategy;
mod key;
mod lookup;
mod missing;
mod order;
mod outline;
mod paths;
mod print;
mod reduce;
mod same;
mod search;
mod split;
mod steps;
mod table;
mod terms;
mod text;
mod ttl_safety;
pub mod write;

pub use conjuncts::{Conjunct, conjuncts, is_single};
pub use count::{StepWork, count};
pub use lookup::is_behind;
pub use missing::{Missing, answer, missing};
pub use outline::{Line, outline, outline_write};
pub use paths::{needed_paths, needs_whole};
pub use print::{assumptions, print, print_assumed, print_given, references, relied_on};
pub use reduce::forms;
pub use reduce::reduced;
pub use split::{Split, splits};
pub use text::condition_text;
pub use text::path_text;
pub use ttl_safety::{is_lasting, is_lasting_whole, looked_at};

use crate::cost::{Costing, Sizes, Statistics, price_all};
use askloom_model::{
    Access, Collection, CollectionId, Conceptual, Condition, Contents, Design, EndId, Estimate, Fetch, Found,
    Home, Id, JoinStep, Joining, Mapped, Member, Plan, PlanStep, PositionId, Priced, Query, Reading,
    RelationshipKind, Role, fault,
};
use cover::embed;
use same::Same;
use std::cmp::Ordering;
use std::collections::HashSet;

/// The cheapest plan. Of two that cost the same, the one with fewer requests, then with fewer bytes.
#[must_use]
pub fn plan(costing: &Costing<'_>, conceptual: &Conceptual, design: &Design, query: &Query) -> Option<Plan> {
    plan_from(costing, conceptual, design, query, &design.collections.ids().collect::<Vec<_>>())
}

/// The cheapest plan that one of these collections starts.
pub fn plan_from(
    costing: &Costing<'_>,
    conceptual: &Conceptual,
    design: &Design,
    query: &Query,
    from: &[CollectionId],
) -> Option<Plan> {
    let mut best: Option<Plan> = None;
    for form in forms(conceptual, query) {
        let planner = Planner::new(costing, conceptual, design, &form);
        let plan = planner.cheapest(from);
        if let Some(plan) = plan.filter(|plan| best.as_ref().is_none_or(|best| planner.is_better(plan, best)))
        {
            best = Some(plan);
        }
    }
    best
}

/// The collections that can start a plan which does not cost more than this, as far as can be told by how they are read.
pub fn starts_within(
    costing: &Costing<'_>,
    conceptual: &Conceptual,
    design: &Design,
    query: &Query,
    most: f64,
) -> Vec<CollectionId> {
    let mut starts = Vec::new();
    for form in forms(conceptual, query) {
        let planner = Planner::new(costing, conceptual, design, &form);
        starts.extend(planner.starts_within(most));
        for split in splits(conceptual, &form) {
            if let Some(found) = planner.first(&split, most) {
                starts.extend(planner.then(&split, &found).starts_within(most));
            }
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Every plan that a collection of the design can start, that the store can do, and that is as fresh as the query asks.
#[must_use]
pub fn plans(costing: &Costing<'_>, conceptual: &Conceptual, design: &Design, query: &Query) -> Vec<Plan> {
    let possible = |plan: &Plan| missing::lacks(costing.capability, query, plan).is_none();
    started(costing, conceptual, design, query).into_iter().filter(possible).collect()
}

/// Every plan that finds nothing first, of a query as it stands.
pub fn direct_plans(
    costing: &Costing<'_>,
    conceptual: &Conceptual,
    design: &Design,
    query: &Query,
) -> Vec<Plan> {
    Planner::new(costing, conceptual, design, query).possible()
}

/// Every plan of the rest after what is found first. What the rest costs does not depend on the plan by which that is
/// found, so any does here: one over masters if there is one.
pub fn plans_after(
    costing: &Costing<'_>,
    conceptual: &Conceptual,
    design: &Design,
    split: &Split,
) -> Vec<Plan> {
    let masters = design.collections.iter().filter(|(_, one)| one.role == Role::Master);
    let masters: Vec<CollectionId> = masters.map(|(id, _)| id).collect();
    let planner = Planner::new(costing, conceptual, design, &split.first);
    let first = planner.cheapest_by_itself(&masters);
    let first = first.or_else(|| plan(costing, conceptual, design, &split.first));
    let Some(found) = first.map(|first| split.found(first)) else { return Vec::new() };
    planner.then(split, &found).possible()
}

/// Every plan that a collection of the design can start, whether the store can do it or not.
fn started(costing: &Costing<'_>, conceptual: &Conceptual, design: &Design, query: &Query) -> Vec<Plan> {
    let mut found = Vec::new();
    for form in forms(conceptual, query) {
        let planner = Planner::new(costing, conceptual, design, &form);
        found.extend(planner.all());
        for split in splits(conceptual, &form) {
            let first = plans(costing, conceptual, design, &split.first);
            for plan in split::undominated(first) {
                let ids = split.found(plan);
                found.extend(planner.then(&split, &ids).all());
            }
        }
    }
    found
}

struct Planner<'p> {
    costing: &'p Costing<'p>,
    conceptual: &'p Conceptual,
    design: &'p Design,
    query: &'p Query,
    conjuncts: Vec<Conjunct<'p>>,
    /// Where the instances of the main class are.
    homes: Vec<Home>,
    /// Whether any class has a time to live.
    expires: bool,
    /// What has been found first: keys have to go by it.
    found: Option<&'p Found>,
    /// What its plans rely on.
    relies_on: Vec<EndId>,
}

/// A collection that can be read first, and how.
struct Start<'s> {
    id: CollectionId,
    collection: &'s Collection,
    positions: Mapped,
    /// The conjuncts that its own condition guarantees.
    implied: HashSet<usize>,
    /// The ways to read it, each with the conjuncts that it guarantees.
    readings: Vec<(Reading, HashSet<usize>)>,
}

impl Start<'_> {
    fn is_by_key(&self) -> bool {
        self.readings.iter().any(|(how, _)| *how != Reading::Scan)
    }
}

impl<'p> Planner<'p> {
    fn new(
        costing: &'p Costing<'p>,
        conceptual: &'p Conceptual,
        design: &'p Design,
        query: &'p Query,
    ) -> Self {
        let conjuncts = conjuncts(query.condition.as_ref());
        let homes = query.positions[main()].class.map(|class| conceptual.homes(class)).unwrap_or_default();
        let expires = conceptual.classes.iter().any(|(_, class)| class.ttl.is_some());
        let relies_on = reduce::relies_on(conceptual, query);
        Self { costing, conceptual, design, query, conjuncts, homes, expires, found: None, relies_on }
    }

    fn same(&self) -> Same<'p> {
        Same { conceptual: self.conceptual, positions: &self.query.positions }
    }

    /// All plans that go by what has been found.
    fn all(&self) -> Vec<Plan> {
        let starts = self.design.collections.ids().filter_map(|id| self.begin(id));
        starts.flat_map(|start| self.plans(&start, fetch::Of::All)).collect()
    }

    /// Those of them that the store can do and that are as fresh as the query asks.
    fn possible(&self) -> Vec<Plan> {
        let mut plans = self.all();
        plans.retain(|plan| missing::lacks(self.costing.capability, self.query, plan).is_none());
        plans
    }

    fn starts_within(&self, most: f64) -> Vec<CollectionId> {
        let starts = self.design.collections.ids().filter_map(|id| self.begin(id));
        starts.filter(|start| self.least(start) <= most).map(|start| start.id).collect()
    }

    /// What a split finds first, if that costs less than this.
    fn first(&self, split: &Split, less_than: f64) -> Option<Found> {
        let Self { costing, conceptual, design, .. } = *self;
        let plan = plan(costing, conceptual, design, &split.first)?;
        (plan.estimate.cost < less_than).then(|| split.found(plan))
    }

    /// The planner of the rest.
    fn then<'t>(&self, split: &'t Split, found: &'t Found) -> Planner<'t>
    where
        'p: 't,
    {
        let then = Planner::new(self.costing, self.conceptual, self.design, &split.then);
        Planner { found: Some(found), ..then }
    }

    /// The cheapest plan that one of these collections starts, by itself or after what its rows lead to has been found.
    fn cheapest(&self, from: &[CollectionId]) -> Option<Plan> {
        let mut best = self.cheapest_by_itself(from);
        for split in splits(self.conceptual, self.query) {
            let known = best.as_ref().filter(|best| !self.is_slow(best));
            let most = known.map_or(f64::INFINITY, |best| best.estimate.cost);
            let Some(found) = self.first(&split, most) else { continue };
            let plan = self.then(&split, &found).cheapest_by_itself(from);
            if let Some(plan) =
                plan.filter(|plan| best.as_ref().is_none_or(|best| self.is_better(plan, best)))
            {
                best = Some(plan);
            }
        }
        best
    }

    /// The cheapest plan that one of these collections starts, of several the first. Where many collections could only be
    /// read as a whole, most of them are dearer by that alone than a plan that is known already.
    fn cheapest_by_itself(&self, from: &[CollectionId]) -> Option<Plan> {
        let starts = from.iter().filter_map(|&id| self.begin(id));
        let mut starts: Vec<(f64, Start<'_>)> = starts.map(|start| (self.least(&start), start)).collect();
        starts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut best: Option<Plan> = None;
        for (least, start) in starts {
            if best.as_ref().is_some_and(|best| least > best.estimate.cost && !self.is_slow(best)) {
                break;
            }
            for plan in self.plans(&start, fetch::Of::Cheapest) {
                let possible = missing::lacks(self.costing.capability, self.query, &plan).is_none();
                if possible && best.as_ref().is_none_or(|best| self.is_better(&plan, best)) {
                    best = Some(plan);
                }
            }
        }
        best
    }

    /// Whether it takes longer than the query may.
    fn is_slow(&self, plan: &Plan) -> bool {
        let takes = self.query.latency_ms.zip(self.costing.milliseconds(&plan.estimate));
        takes.is_some_and(|(most, takes)| takes > most)
    }

    /// Whether a plan is to be taken for another one, which does the same.
    fn is_better(&self, plan: &Plan, than: &Plan) -> bool {
        let order = |plan: &Plan| [plan.estimate.cost, plan.estimate.requests, plan.estimate.bytes];
        let by = order(plan).into_iter().zip(order(than)).map(|(a, b)| a.total_cmp(&b));
        let slow = self.is_slow(plan).cmp(&self.is_slow(than));
        let by = by.fold(slow, Ordering::then);
        by.then(plan.access.collection.cmp(&than.access.collection)) == Ordering::Less
    }

    /// What every plan that this collection starts costs at least.
    fn least(&self, start: &Start<'_>) -> f64 {
        let searched = search::is_searchable(self.costing, start.collection);
        if start.is_by_key() || start.collection.role == Role::Master || searched {
            return 0.0;
        }
        let statistics = self.costing.statistics(self.conceptual);
        let sizes = Sizes { statistics: &statistics, design: self.design };
        self.costing.price(&lookup::scan(self.costing, &sizes, start.id)).cost
    }

    /// How this collection can be read first, if its rows are those of a part of the query.
    fn begin(&self, id: CollectionId) -> Option<Start<'p>> {
        let collection = &self.design.collections[id];
        // It is read with the records of its master.
        if collection.role == Role::Carried {
            return None;
        }
        let positions = embed(self.conceptual, collection, self.query, &self.homes)?;
        if collection.role != Role::Master && !self.is_kept(collection) {
            return None;
        }
        if self.is_found_by_id(collection, &positions) {
            return None;
        }
        let implied = self.implied(collection, &positions)?;
        let mut readings = self.readings(collection, &positions);
        if let Some(found) = self.found {
            readings.retain(|(how, _)| split::goes_by(how, found.index()));
        }
        (!readings.is_empty()).then_some(Start { id, collection, positions, implied, readings })
    }

    /// The plans that read this collection first.
    fn plans(&self, start: &Start<'_>, of: fetch::Of) -> Vec<Plan> {
        let Start { id, collection, positions, implied, readings } = start;
        let id = *id;
        let Some(joins) = self.joins(collection, positions) else { return Vec::new() };
        // Who reads all of a collection would do better to read all of the one that holds more.
        let looks = start.is_by_key() || collection.role == Role::Master;
        let ways = if looks { self.fetches(id, positions, of) } else { vec![Vec::new()] };
        let plan = |(how, bound): &(Reading, HashSet<usize>), fetches: &Vec<Fetch>| {
            let used = implied.union(bound).copied().collect();
            self.settled(Plan {
                first: self.found.cloned().map(Box::new),
                reduced: (!self.query.identity.is_empty()).then(|| Box::new(self.query.clone())),
                relies_on: self.relies_on.clone(),
                access: Access { collection: id, how: how.clone(), positions: positions.clone() },
                joins: joins.clone(),
                fetches: fetches.clone(),
                searched: Vec::new(),
                filter: self.rest(&used, collection, positions),
                group_by: self.query.group_by.clone(),
                sort: Some(self.query.order_by.clone()),
                per_group: self.query.per_group.clone(),
                limit: self.query.limit.clone(),
                columns: self.query.columns.clone(),
                steps: Vec::new(),
                estimate: Estimate::default(),
                priced: Priced::default(),
            })
        };
        readings.iter().flat_map(|reading| ways.iter().filter_map(|way| plan(reading, way))).collect()
    }

    /// Settles what is left of a plan that says what is read and joined: its order, what the store searches for, its steps
    /// and how these follow links. Then it is counted and priced. `None` if a class that it needs has no master.
    fn settled(&self, mut plan: Plan) -> Option<Plan> {
        let Self { costing, conceptual, design, query, .. } = *self;
        let collection = &design.collections[plan.access.collection];
        self.settle_order(collection, &mut plan);
        plan.searched = search::searched(costing, conceptual, collection, query, &plan);
        let steps = steps::steps(costing.capability, conceptual, design, query, &plan)?;
        plan.steps = steps.into_iter().map(PlanStep::uncounted).collect();
        let statistics = costing.statistics(conceptual);
        let plan = join_strategy::settle(costing, &statistics, design, query, plan);
        let counted = count::count(costing, &statistics, design, query, &plan);
        Some(self.priced(&statistics, plan, counted))
    }

    /// The plan with what its steps are expected to do and to cost.
    fn priced(&self, statistics: &Statistics<'_>, mut plan: Plan, counted: Vec<StepWork>) -> Plan {
        let Self { costing, design, .. } = *self;
        for (step, StepWork { work, out }) in plan.steps.iter_mut().zip(counted) {
            *step = PlanStep { of: step.of.clone(), work, out, estimate: costing.price(&work) };
        }
        plan.estimate = price_all(costing.model, plan.work());
        let mut assumed = statistics.assumed();
        for before in plan.first.iter().flat_map(|found| &found.plan.priced.assumed) {
            if !assumed.contains(before) {
                assumed.push(*before);
            }
        }
        plan.priced = Priced {
            target: costing.capability.target,
            unit: costing.model.unit(),
            reads: guarantee::guarantee(costing.capability, statistics, design, &plan),
            assumed,
            index_keys: costing.capability.indexes.map(|indexes| indexes.value.keys),
        };
        plan
    }

    /// Whether a copy has the rows of its definition, now and while time passes.
    fn is_kept(&self, collection: &Collection) -> bool {
        let exact = match collection.contents {
            Contents::Nested(_) => crate::nested_is_exact(self.conceptual, collection),
            Contents::Aggregate(_) | Contents::Fields(_) => true,
        };
        exact && (!self.expires || ttl_safety::is_ttl_safe(self.conceptual, collection))
    }

    /// The conjuncts of the query that the collection's own condition guarantees. `None` if the collection leaves
    /// out rows that the query may want.
    fn implied(&self, collection: &Collection, positions: &[Option<PositionId>]) -> Option<HashSet<usize>> {
        let mut used = HashSet::new();
        for own in conjuncts(collection.source.condition.as_ref()) {
            let mapped = cover::map_condition(own.condition, positions)?;
            let same = self.conjuncts.iter().position(|conjunct| *conjunct.condition == mapped);
            if same.is_none() && fault!(ConditionAssumed) {
                continue;
            }
            used.insert(same?);
        }
        Some(used)
    }

    /// What has to be filtered still: conjuncts that nothing guarantees, and the presence of positions that the
    /// query joins inner and the collection outer.
    fn rest(
        &self,
        used: &HashSet<usize>,
        collection: &Collection,
        positions: &[Option<PositionId>],
    ) -> Option<Condition> {
        let left = self.conjuncts.iter().enumerate().filter(|(index, _)| !used.contains(index));
        // Nothing else is asked of a row that lacks a position: copies that join inner know nothing of it.
        let mut rest = cover::presences(collection, positions, self.query);
        rest.extend(left.map(|(_, conjunct)| conjunct.condition.clone()));
        crate::conditions::all_of(rest)
    }

    /// The positions that the collection does not give, parents first.
    fn joins(&self, collection: &Collection, positions: &[Option<PositionId>]) -> Option<Vec<JoinStep>> {
        let given: HashSet<PositionId> = match collection.contents {
            // A master gives its root; what is inside it is joined without a request.
            Contents::Aggregate(_) => positions.iter().take(1).flatten().copied().collect(),
            Contents::Fields(_) | Contents::Nested(_) => positions.iter().flatten().copied().collect(),
        };
        let missing = self.query.positions.ids().filter(|position| !given.contains(position));
        missing.map(|position| Some(JoinStep { position, how: self.joining(position)? })).collect()
    }

    fn joining(&self, position: PositionId) -> Option<Joining> {
        let hop = self.query.positions[position].from?;
        let Member::End(end) = hop.step else { return Some(Joining::Inside) };
        let row = &self.conceptual.ends[end];
        let stored = if row.stored { end } else { row.inverse? };
        if self.conceptual.ends[stored].kind == RelationshipKind::Composition {
            // A part is in its owner's aggregate, and so is the owner.
            return Some(Joining::Inside);
        }
        let home = self.conceptual.homes(row.target).first()?.root;
        let master = self.design.master(home)?;
        // Of a symmetric relationship either side may hold the link.
        if row.stored && row.inverse != Some(end) {
            return Some(lookup::by_id(self.conceptual, self.design, master, row.target));
        }
        Some(lookup::back(self.design, stored, master))
    }

    /// Leaves the sort out where the entries come in the query's order, and then reads no more than LIMIT or PAGE asks for.
    /// Of several ranges, each in that order, no more than that is needed either, but they are sorted.
    fn settle_order(&self, collection: &Collection, plan: &mut Plan) {
        if self.costing.capability.gives_no_order(self.conceptual, collection) {
            return;
        }
        let Some(backwards) =
            order::direction(self.same(), collection, &plan.access, self.query, &self.conjuncts)
        else {
            return;
        };
        if !plan.joins.is_empty() || !self.query.group_by.is_empty() || paths::aggregates(self.query) {
            return;
        }
        // LIMIT and PAGE count the rows that are left of each group: more have to be read.
        let stops = plan.limit.is_some() && plan.filter.is_none() && plan.per_group.is_none();
        let mut how = &mut plan.access.how;
        let mut several = false;
        let mut sets = 0;
        while let Reading::Each { field, set, of } = how {
            sets += 1;
            several |= sets > 1 || !order::follow_each_other(collection, *field, set);
            how = of;
        }
        if let Reading::Range { backwards: direction, limited, .. } = how {
            *direction = backwards;
            *limited = stops;
        }
        if !several {
            plan.sort = None;
        }
    }
}

/// The first position of a query: its main entity.
#[must_use]
pub fn main() -> PositionId {
    PositionId::from_index(0)
}
