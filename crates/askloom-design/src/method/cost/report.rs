//! How a choice came about: how much was looked at, what it costs, and what each collection saves and costs.

use super::candidate::Pool;
use super::choice::Choice;
use super::solve::Answer;
use crate::cost::Costing;
use crate::method::{Decision, Method, Proposal, complete};
use crate::plan;
use askloom_model::{CollectionId, Design, Model};
use serde::Serialize;
use std::collections::BTreeSet;

/// All that is known of a choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// What the workload costs in a second.
    pub cost: f64,
    /// No choice among the candidates costs less than this.
    pub bound: f64,
    /// Collections that were made up, and how many of them were different.
    pub made: usize,
    pub candidates: usize,
    /// Plans over them, and how many of these no other does with less and for less.
    pub plans: usize,
    pub plans_left: usize,
    pub variables: usize,
    pub rows: usize,
    pub components: usize,
    /// Every statement that no candidate can answer.
    pub missing: usize,
    /// What each kept collection is worth.
    pub kept: Vec<Worth>,
    /// Those that were not kept, the closest first.
    pub close: Vec<Worth>,
    /// What the designs of the other methods cost.
    pub others: Vec<(String, f64)>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worth {
    pub collection: String,
    /// How much more the workload would cost without it, or with it.
    pub difference: f64,
    pub serves: Vec<String>,
}

/// Of those that were not kept, so many are told.
const CLOSE: usize = 5;

impl Report {
    pub(super) fn new(
        model: &Model,
        costing: &Costing<'_>,
        pool: &Pool,
        choice: &Choice,
        answer: &Answer,
        kept: &BTreeSet<CollectionId>,
        others: &[(Method, Proposal)],
    ) -> Self {
        let cost = choice.cost(kept).unwrap_or(answer.cost);
        let named = |id: CollectionId| pool.design.collections[id].name.clone();
        let worth = |id: CollectionId, with: &BTreeSet<CollectionId>| {
            let other = choice.cost(with)?;
            let serves = choice.serves(id, if with.contains(&id) { with } else { kept });
            let serves = serves.into_iter().map(str::to_owned).collect();
            Some(Worth { collection: named(id), difference: other - cost, serves })
        };
        let without = |id: &CollectionId| {
            let needs =
                |other: &CollectionId| choice.needs.get(other).is_some_and(|needs| needs.contains(id));
            let rest = kept.iter().filter(|other| *other != id && !needs(other)).copied().collect();
            worth(*id, &rest)
        };
        let with = |id: CollectionId| {
            let more = choice.with_needs(&kept.iter().copied().chain([id]).collect());
            worth(id, &more)
        };
        let mut close: Vec<Worth> =
            pool.optional().filter(|id| !kept.contains(id)).filter_map(with).collect();
        close.retain(|worth| !worth.serves.is_empty());
        close.sort_by(|a, b| a.difference.total_cmp(&b.difference));
        close.truncate(CLOSE);
        Self {
            cost,
            bound: answer.bound.min(cost),
            made: pool.made,
            candidates: pool.back - pool.first,
            plans: choice.plans.made,
            plans_left: choice.plans.left,
            variables: choice.programme.variables.len(),
            rows: choice.programme.rows.len(),
            components: answer.components,
            missing: choice.plans.missing,
            kept: kept.iter().filter_map(without).collect(),
            close,
            others: others
                .iter()
                .map(|(method, proposal)| (method.name().to_owned(), total(model, costing, &proposal.design)))
                .collect(),
        }
    }

    pub(super) fn decisions(&self, costing: &Costing<'_>) -> Vec<Decision> {
        let unit = costing.model.unit();
        let share = |difference: f64| if self.cost > 0.0 { 100.0 * difference / self.cost } else { 0.0 };
        let gap = if self.cost > 0.0 { 100.0 * (self.cost - self.bound) / self.cost } else { 0.0 };
        let proven = if gap < 0.001 {
            "nothing among them is cheaper".to_owned()
        } else {
            format!("nothing among them is cheaper by more than {gap:.1} %")
        };
        let mut all = vec![Decision::new(
            "the design",
            format!(
                "{:.4} {unit} a second: of {} candidates ({} made) and {} plans ({} of use), {proven}",
                self.cost, self.candidates, self.made, self.plans, self.plans_left
            ),
            SOURCE,
        )];
        for worth in &self.kept {
            let says = match worth.serves.as_slice() {
                [] => "another collection could not be kept right without it".to_owned(),
                serves => format!(
                    "serves {}: without it the workload would cost {:.1} % more",
                    serves.join(", "),
                    share(worth.difference)
                ),
            };
            all.push(Decision::new(&worth.collection, says, SOURCE));
        }
        for worth in self.close.iter().filter(|worth| worth.difference > 0.0) {
            let says = format!(
                "not kept: it would serve {}, and the workload would cost {:.1} % more",
                worth.serves.join(", "),
                share(worth.difference)
            );
            all.push(Decision::new(&worth.collection, says, SOURCE));
        }
        all
    }
}

const SOURCE: &str = "askloom";

/// What the workload costs in a second over a design, statement by statement, with what storage costs.
#[must_use]
pub fn total(model: &Model, costing: &Costing<'_>, design: &Design) -> f64 {
    let rate = |header: &askloom_model::Header| header.rate.unwrap_or(1.0);
    let queries = complete::questions(model);
    let queries = queries.iter().filter_map(|query| {
        let plan = plan::plan_for(costing, &model.conceptual, design, query)?;
        Some(rate(&query.header) * plan.estimate.cost)
    });
    let writes = model.workload.writes.iter().filter_map(|write| {
        let plan = plan::write::plan(costing, model, design, write).ok()?;
        Some(rate(&write.header) * plan.estimate.cost)
    });
    let statistics = crate::cost::Statistics::new(&model.conceptual);
    let sizes = crate::cost::Sizes { statistics: &statistics, design };
    let stored: f64 = design.collections.ids().map(|id| sizes.bytes(id)).sum();
    queries.sum::<f64>() + writes.sum::<f64>() + costing.model.storage() * stored
}
