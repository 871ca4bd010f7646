//! What the choice would be if something were different: less room, or other rates.

use super::decide::Decided;
use super::enumerate::Pick;
use super::presolve::Rules;
use super::study::{Study, Unmet};
use super::wishes::Wishes;
use serde::Serialize;

/// What a design of so many bytes costs at least.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    pub storage: f64,
    /// A second of the workload.
    pub cost: f64,
    /// How much less it could cost, as a share.
    pub gap: f64,
    pub collections: usize,
}

/// Between which rates of a statement nothing else is cheaper, all other rates as they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Range {
    pub statement: String,
    pub rate: f64,
    /// Nothing: however seldom it is done.
    pub least: Option<f64>,
    /// Nothing: up to so many times as often as was looked at.
    pub most: Option<f64>,
}

/// Rates are looked at up to so many times what they are.
const TIMES: f64 = 1_000.0;
/// A design that was not found cheaper by more than this share is as cheap.
const SAME: f64 = 1e-6;
/// Another design is looked for so many times before what is known is good enough.
const STEPS: usize = 12;

impl Study<'_> {
    /// The least cost for each of some budgets, from the smallest design to the cheapest, each design once.
    pub fn pareto(&self, wishes: &Wishes, budgets: usize) -> Result<Vec<Point>, Unmet> {
        let rules = Rules { storage: None, ..self.rules(wishes)? };
        let starts = self.starts();
        let decide = |rules: &Rules| self.choice.decide(rules, &starts, wishes.time_limit);
        let Some(cheapest) = decide(&rules) else { return Err(self.unmet(&rules)) };
        let most = self.choice.storage(&cheapest.chosen);
        let least = self.least_storage(&rules).unwrap_or(most);
        let mut points = Vec::new();
        for step in 0..budgets {
            // By factors: small budgets are where most happens.
            let share = step as f64 / (budgets.max(2) - 1) as f64;
            let budget = if least > 0.0 { least * (most / least).powf(share) } else { most * share };
            // A hair more: sums of the same numbers need not be the same.
            let within = Rules { storage: Some(budget * (1.0 + 1e-9)), ..rules.clone() };
            points.extend(decide(&within).map(|decided| self.point(&decided)));
        }
        points.push(self.point(&cheapest));
        points.dedup_by(|b, a| (a.cost - b.cost).abs() <= SAME * a.cost && a.storage >= b.storage);
        Ok(points)
    }

    fn point(&self, decided: &Decided) -> Point {
        let kept = self.choice.picks.iter().zip(&decided.chosen);
        let kept = kept.filter(|(pick, chosen)| **chosen && matches!(pick, Pick::Keep(_))).count();
        let gap = if decided.cost > 0.0 { (decided.cost - decided.bound) / decided.cost } else { 0.0 };
        Point {
            storage: self.choice.storage(&decided.chosen),
            cost: decided.cost,
            gap: gap.max(0.0),
            collections: self.pool.first + kept,
        }
    }

    /// For each statement, how far its rate may go until another design is cheaper, all others as they are.
    pub fn sensitivity(
        &self,
        wishes: &Wishes,
        mut done: impl FnMut(usize, usize),
    ) -> Result<Vec<Range>, Unmet> {
        let rules = self.rules(wishes)?;
        let starts = self.starts();
        let decided = self.choice.decide(&rules, &starts, wishes.time_limit);
        let Some(decided) = decided else { return Err(self.unmet(&rules)) };
        let count = self.choice.statements.len();
        let mut ranges = Vec::with_capacity(count);
        for (at, statement) in self.choice.statements.iter().enumerate() {
            done(at, count);
            let rate = statement.rate;
            ranges.push(Range {
                statement: statement.name.clone(),
                rate,
                least: self.turn(&rules, &decided, at, 0.0),
                most: self.turn(&rules, &decided, at, rate.max(1e-3) * TIMES),
            });
        }
        Ok(ranges)
    }

    /// The rate between that of the model and another one from which on something else is cheaper. What a design costs is a
    /// line over the rate, so where two lines cross is where one of them becomes cheaper: that of the cheapest there is
    /// looked at next, until none is cheaper than the chosen one.
    fn turn(&self, rules: &Rules, decided: &Decided, statement: usize, to: f64) -> Option<f64> {
        let cost = |chosen: &[bool], rate: f64| {
            let mut rates = rules.rates.clone();
            *rates.get_mut(statement)? = rate;
            self.choice.cost_at(chosen, &rates)
        };
        let from = rules.rates.get(statement).copied()?;
        let (mut at, mut found) = (to, None);
        for _ in 0..STEPS {
            let mut there = rules.clone();
            *there.rates.get_mut(statement)? = at;
            let best = self.choice.decide(&there, std::slice::from_ref(&decided.chosen), None)?;
            let own = cost(&decided.chosen, at)?;
            if best.cost >= own - SAME * own.abs() {
                return found;
            }
            let (own_from, best_from) = (cost(&decided.chosen, from)?, cost(&best.chosen, from)?);
            // How much cheaper the other one is here, and how much dearer it was there.
            let (gain, loss) = (own - best.cost, (best_from - own_from).max(0.0));
            let crossing = from + (at - from) * loss / (gain + loss);
            found = Some(crossing);
            if (crossing - at).abs() <= SAME * at.abs().max(from.abs()) {
                return found;
            }
            at = crossing;
        }
        found
    }
}
