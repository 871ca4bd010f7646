//! All sensible plans of a query over a set of collections; the cheapest is taken.
//!
//! A collection can start a plan if its rows are those of a part of the query's tree of positions: same root, each
//! of its positions one of the query's, nothing left out by an inner join or a condition that the query does not
//! have too. What it does not hold is joined or looked up afterwards, and what it does not guarantee is filtered on
//! the client. A scan of the master can always start a plan, so every query has one.

mod conjuncts;
mod cost;
mod cover;
mod order;
mod paths;
mod print;
mod steady;

pub use conjuncts::{Conjunct, conjuncts, is_single};
pub use paths::{condition_paths, needed_paths, needs_whole};
pub use print::print;

use askloom_model::{
    Access, Collection, CollectionId, Conceptual, Condition, Contents, Design, Id, JoinStep, Joining,
    KeyRange, Limit, Member, Operand, Plan, PositionId, Query, Reading, RelationshipKind,
};
use conjuncts::bound_by_equality;
use cover::embed;
use std::collections::HashSet;

/// The cheapest plan. `None` only if a class has no master in the design.
#[must_use]
pub fn plan(conceptual: &Conceptual, design: &Design, query: &Query) -> Option<Plan> {
    let plans = plans(conceptual, design, query);
    plans.into_iter().min_by(|a, b| cost::total(&a.estimate).total_cmp(&cost::total(&b.estimate)))
}

/// Every plan that a collection of the design can start.
#[must_use]
pub fn plans(conceptual: &Conceptual, design: &Design, query: &Query) -> Vec<Plan> {
    let planner = Planner { conceptual, design, query, conjuncts: conjuncts(query.condition.as_ref()) };
    design.collections.iter().filter_map(|(id, collection)| planner.start(id, collection)).collect()
}

struct Planner<'p> {
    conceptual: &'p Conceptual,
    design: &'p Design,
    query: &'p Query,
    conjuncts: Vec<Conjunct<'p>>,
}

impl Planner<'_> {
    /// The plan that reads this collection first, if there is one.
    fn start(&self, id: CollectionId, collection: &Collection) -> Option<Plan> {
        let is_master = matches!(collection.contents, Contents::Aggregate(_));
        if !is_master && !steady::is_steady(self.conceptual, collection) {
            return None;
        }
        let positions = embed(self.conceptual, collection, self.query)?;
        let mut used = self.implied(collection, &positions)?;
        let how = self.reading(collection, &positions, &mut used)?;
        // An index has no entry for an instance that holds nothing there: it cannot be scanned for all of them.
        if how == Reading::Scan && collection.indexed().is_some() {
            return None;
        }
        let joins = self.joins(collection, &positions)?;
        let filter = self.rest(&used, collection, &positions);
        let mut plan = Plan {
            access: Access { collection: id, how, positions },
            joins,
            filter,
            group_by: self.query.group_by.clone(),
            sort: Some(self.query.order_by.clone()),
            limit: self.query.limit.clone(),
            columns: self.query.columns.clone(),
            estimate: askloom_model::Estimate::default(),
        };
        self.settle_order(collection, &mut plan);
        plan.estimate = cost::estimate(self.conceptual, self.design, self.query, &plan);
        Some(plan)
    }

    /// The conjuncts of the query that the collection's own condition guarantees. `None` if the collection leaves
    /// out rows that the query may want.
    fn implied(&self, collection: &Collection, positions: &[PositionId]) -> Option<HashSet<usize>> {
        let mut used = HashSet::new();
        for own in conjuncts(collection.source.condition.as_ref()) {
            let mapped = cover::map_condition(own.condition, positions)?;
            let same = self.conjuncts.iter().position(|conjunct| *conjunct.condition == mapped)?;
            used.insert(same);
        }
        Some(used)
    }

    /// How the collection is read: by key as far as the query gives values, else as a whole.
    fn reading(
        &self,
        collection: &Collection,
        positions: &[PositionId],
        used: &mut HashSet<usize>,
    ) -> Option<Reading> {
        let mut key = Vec::with_capacity(collection.block_key.len());
        let mut by_key = HashSet::new();
        for field in &collection.block_key {
            let path = cover::map_path(&field.path, positions)?;
            match bound_by_equality(&self.conjuncts, &path) {
                Some((conjunct, operand)) => {
                    by_key.insert(conjunct);
                    key.push(operand.clone());
                }
                None => return Some(Reading::Scan),
            }
        }
        used.extend(by_key);
        match collection.contents {
            Contents::Aggregate(_) => Some(Reading::GetBlock { key }),
            Contents::Fields(_) => Some(self.range(collection, positions, key, used)),
        }
    }

    fn range(
        &self,
        collection: &Collection,
        positions: &[PositionId],
        key: Vec<Operand>,
        used: &mut HashSet<usize>,
    ) -> Reading {
        let mut equal = Vec::new();
        let mut range = None;
        for field in &collection.entry_key {
            let Some(path) = cover::map_path(&field.path, positions) else { break };
            if let Some((conjunct, operand)) = bound_by_equality(&self.conjuncts, &path) {
                used.insert(conjunct);
                equal.push(operand.clone());
                continue;
            }
            let mut narrowed = KeyRange::ALL;
            let mut any = false;
            for (index, conjunct) in self.conjuncts.iter().enumerate() {
                if conjuncts::narrow(conjunct, &path, &mut narrowed) {
                    used.insert(index);
                    any = true;
                }
            }
            range = any.then_some(narrowed);
            break;
        }
        Reading::Range { key, equal, range, backwards: false, limited: false }
    }

    /// What has to be filtered still: conjuncts that nothing guarantees, and the presence of positions that the
    /// query joins inner and the collection outer.
    fn rest(
        &self,
        used: &HashSet<usize>,
        collection: &Collection,
        positions: &[PositionId],
    ) -> Option<Condition> {
        let left = self.conjuncts.iter().enumerate().filter(|(index, _)| !used.contains(index));
        let mut rest: Vec<Condition> = left.map(|(_, conjunct)| conjunct.condition.clone()).collect();
        rest.extend(cover::presences(collection, positions, self.query));
        match rest.len() {
            0 => None,
            1 => rest.pop(),
            _several => Some(Condition::And(rest)),
        }
    }

    /// The positions that the collection does not give, parents first.
    fn joins(&self, collection: &Collection, positions: &[PositionId]) -> Option<Vec<JoinStep>> {
        let given: HashSet<PositionId> = match collection.contents {
            // A master gives its root; what is inside it is joined without a request.
            Contents::Aggregate(_) => positions.iter().take(1).copied().collect(),
            Contents::Fields(_) => positions.iter().copied().collect(),
        };
        let missing = self.query.positions.ids().filter(|position| !given.contains(position));
        missing.map(|position| Some(JoinStep { position, how: self.joining(position)? })).collect()
    }

    fn joining(&self, position: PositionId) -> Option<Joining> {
        let hop = self.query.positions[position].from?;
        let Member::End(end) = hop.step else { return Some(Joining::Inside) };
        let row = &self.conceptual.ends[end];
        if row.kind == RelationshipKind::Composition && row.stored {
            return Some(Joining::Inside);
        }
        let master = self.design.master(self.conceptual.aggregate_root(row.target)?)?;
        if row.stored {
            return Some(Joining::LookUp { master });
        }
        let stored = row.inverse?;
        Some(match self.design.reverse_index(stored) {
            Some(index) => Joining::Back { index, master },
            None => Joining::BackByScan { master },
        })
    }

    /// Leaves the sort out where the entries come in the query's order, and then reads no more than LIMIT asks for.
    fn settle_order(&self, collection: &Collection, plan: &mut Plan) {
        let Some(backwards) = order::direction(collection, &plan.access, self.query, &self.conjuncts) else {
            return;
        };
        if !plan.joins.is_empty() || !self.query.group_by.is_empty() || paths::aggregates(self.query) {
            return;
        }
        plan.sort = None;
        let no_filter = plan.filter.is_none();
        let limit_rows = matches!(plan.limit, Some(Limit::Rows(_)));
        if let Reading::Range { backwards: direction, limited, .. } = &mut plan.access.how {
            *direction = backwards;
            *limited = no_filter && limit_rows;
        }
    }
}

/// The first position of a query: its main entity.
#[must_use]
pub fn main() -> PositionId {
    PositionId::from_index(0)
}
