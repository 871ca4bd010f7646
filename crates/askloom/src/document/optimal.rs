//! How the choice by cost came about.

use super::bound::bounded;
use askloom_design::method::Paper;
use askloom_design::method::cost::{CutWorth, LookedAt, Report, Slow, Worth};
use serde::Serialize;
use std::collections::BTreeMap;

/// What was looked at, and what is known of the choice.
#[derive(Debug, Clone, Serialize)]
pub struct Optimal {
    /// Nothing among the candidates is cheaper.
    pub proven: bool,
    /// How much less another choice among the candidates could cost, as a share.
    pub gap: f64,
    /// A second of the workload, storage included.
    pub cost: f64,
    pub bound: f64,
    pub looked_at: LookedAt,
    pub kept: Vec<Worth>,
    pub close: Vec<Worth>,
    pub further: usize,
    pub cuts: Vec<CutWorth>,
    /// Statements that are never as quick as their `@latency`.
    pub slow: Vec<Slow>,
    /// What the designs of the other methods cost.
    pub others: BTreeMap<String, f64>,
}

impl Optimal {
    pub(super) fn of(paper: &Paper) -> Option<Self> {
        match paper {
            Paper::Cost(report) => Some(Self::new(report)),
            Paper::Noam(_) | Paper::Qodm(_) | Paper::Kvmod(_) | Paper::Given => None,
        }
    }

    fn new(report: &Report) -> Self {
        Self {
            proven: report.is_proven(),
            gap: bounded(report.gap()),
            cost: bounded(report.cost),
            bound: bounded(report.bound),
            looked_at: report.looked_at,
            kept: report.kept.iter().map(within).collect(),
            close: report.close.iter().map(within).collect(),
            further: report.further,
            cuts: report.cuts.clone(),
            slow: report.slow.clone(),
            others: report.others.iter().map(|(name, cost)| (name.clone(), bounded(*cost))).collect(),
        }
    }

    /// As in a design's heading.
    pub fn sentence(&self) -> String {
        let LookedAt { candidates, plans, .. } = self.looked_at;
        let proven = if self.proven {
            "proven".to_owned()
        } else {
            format!("nothing is cheaper by more than {:.2} %", 100.0 * self.gap)
        };
        let amount = crate::human::amount;
        format!("best of {} and {}, {proven}", amount(candidates, "candidate"), amount(plans, "plan"))
    }
}

/// What is past counting is bounded; what no plan would be left by stays nothing.
fn within(worth: &Worth) -> Worth {
    Worth { upkeep: bounded(worth.upkeep), ..worth.clone() }
}
