//! What the choice would be if something were different: less room, or other rates.

use super::decide::Decided;
use super::enumerate::Pick;
use super::presolve::Rules;
use super::study::{Deadline, Study, Unmet};
use super::threads;
use super::wishes::Wishes;
use crate::method::{Progress, Stage};
use serde::Serialize;

/// What a design of so many bytes costs at least.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    pub storage: f64,
    /// A second of the workload.
    pub cost: f64,
    /// How much less it could cost, as a share.
    pub gap: f64,
    /// Candidates that were left out, as one block of them would be asked for more often than the store serves one.
    pub too_hot: usize,
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
    /// Whether that is proven: if not, the time was over before, or something closer may be cheaper.
    pub proven: bool,
}

/// Where something else becomes cheaper.
#[derive(Debug, Clone, Copy)]
struct Turned {
    at: Option<f64>,
    proven: bool,
}

/// Rates are looked at up to so many times what they are.
const TIMES: f64 = 1_000.0;
/// A design that was not found cheaper by more than this share is as cheap.
const SAME: f64 = 1e-6;
/// Budgets that differ by less than this share of all that storage may differ by are not told apart further.
const SHARE: f64 = 1e-3;
/// Another design is looked for so many times before what is known is good enough.
const STEPS: usize = 12;

impl Study<'_> {
    /// The least cost for each of some budgets, from the smallest design to the cheapest, each design once. The first half
    /// of the budgets are apart by factors, as most happens where there is little room; the others are where the cost falls most.
    pub fn pareto(&self, wishes: &Wishes, budgets: usize) -> Result<Vec<Point>, Unmet> {
        let rules = Rules { storage: None, ..self.rules(wishes)? };
        let starts = self.starts();
        let nobody = Progress::default();
        let deadline = self.deadline(wishes);
        let budgets = budgets.max(2);
        // What is too hot here need not be where there is less room.
        let mut cool = rules.clone();
        let cheapest = self.cool(&mut cool, &starts, deadline.share(budgets + 2), &nobody);
        let Some(cheapest) = cheapest else {
            return self.otherwise(&rules, deadline, |patient| patient.pareto(wishes, budgets));
        };
        let hot = |left: &Rules| left.forbidden.len() - rules.forbidden.len();
        let cheapest_point = self.point(&cheapest, hot(&cool));
        let most = self.choice.storage(&cheapest.chosen);
        let least = self.least_storage(&rules, deadline.share(budgets + 1)).unwrap_or(most);
        let count = self.progress.count(budgets, |done, of| Stage::Budgets { done, of });
        let within = |budget: f64, starts: &[Vec<bool>], further: usize| {
            // A hair more: sums of the same numbers need not be the same.
            let mut left = Rules { storage: Some(budget * (1.0 + 1e-9)), ..rules.clone() };
            let decided = self.cool(&mut left, starts, deadline.share(further + 1), &nobody);
            count.one_more();
            let point = |decided: &Decided| self.point(decided, hot(&left));
            decided.map(|decided| Step { budget, point: point(&decided), chosen: decided.chosen })
        };
        let apart = budgets.div_ceil(2).max(2);
        let mut found: Vec<Step> = Vec::new();
        for step in 0..apart {
            let share = step as f64 / (apart - 1) as f64;
            let budget = if least > 0.0 { least * (most / least).powf(share) } else { most * share };
            // What there was room for before there is room for now.
            let before = found.last().map(|step| step.chosen.clone());
            let starts = [starts.clone(), before.into_iter().collect()].concat();
            found.extend(within(budget, &starts, budgets - step));
        }
        for step in apart..budgets {
            let Some(at) = steepest(&found, SHARE * (most - least)) else { break };
            let Some([low, high]) = found.get(at..at + 2) else { break };
            let budget = f64::midpoint(low.budget, high.point.storage);
            let starts = [starts.clone(), vec![low.chosen.clone()]].concat();
            let Some(between) = within(budget, &starts, budgets - step) else { break };
            found.insert(at + 1, between);
        }
        let mut points: Vec<Point> = found.into_iter().map(|step| step.point).collect();
        points.push(cheapest_point);
        Ok(falling(points))
    }

    fn point(&self, decided: &Decided, too_hot: usize) -> Point {
        let kept = self.choice.picks.iter().zip(&decided.chosen);
        let kept = kept.filter(|(pick, chosen)| **chosen && matches!(pick, Pick::Keep(_))).count();
        let gap = if decided.cost > 0.0 { (decided.cost - decided.bound) / decided.cost } else { 0.0 };
        Point {
            storage: self.choice.storage(&decided.chosen),
            cost: decided.cost,
            gap: gap.max(0.0),
            too_hot,
            collections: self.pool.first + kept,
        }
    }

    /// For each statement, how far its rate may go until another design is cheaper, all others as they are.
    pub fn sensitivity(&self, wishes: &Wishes) -> Result<Vec<Range>, Unmet> {
        let mut rules = self.rules(wishes)?;
        let deadline = self.deadline(wishes);
        let decided = self.cool(&mut rules, &self.starts(), deadline.left(), &self.progress);
        let Some(decided) = decided else {
            return self.otherwise(&rules, deadline, |patient| patient.sensitivity(wishes));
        };
        let statements: Vec<usize> = (0..self.choice.statements.len()).collect();
        let count = self.progress.count(statements.len(), |done, of| Stage::Rates { done, of });
        let ranges = threads::each(&statements, |&at| {
            let statement = self.choice.statements.get(at)?;
            let rate = statement.rate;
            let turn = |to: f64| self.turn(&rules, &decided, at, to, deadline);
            let (least, most) = (turn(0.0)?, turn(rate.max(1e-3) * TIMES)?);
            count.one_more();
            let proven = least.proven && most.proven;
            Some(Range { statement: statement.name.clone(), rate, least: least.at, most: most.at, proven })
        });
        Ok(ranges.into_iter().flatten().collect())
    }

    /// The rate between that of the model and another one from which on something else is cheaper. What a design costs is a
    /// line over the rate, so where two lines cross is where one of them becomes cheaper: that of the cheapest there is
    /// looked at next, until none is cheaper than the chosen one.
    fn turn(
        &self,
        rules: &Rules,
        decided: &Decided,
        statement: usize,
        to: f64,
        deadline: Deadline,
    ) -> Option<Turned> {
        let cost = |chosen: &[bool], rate: f64| {
            let mut rates = rules.rates.clone();
            *rates.get_mut(statement)? = rate;
            self.choice.cost_at(chosen, &rates)
        };
        let from = rules.rates.get(statement).copied()?;
        let (mut at, mut found) = (to, None);
        for _ in 0..STEPS {
            if deadline.is_over() {
                break;
            }
            let mut there = rules.clone();
            *there.rates.get_mut(statement)? = at;
            let best = self.choice.decide(
                &there,
                std::slice::from_ref(&decided.chosen),
                deadline.left(),
                &Progress::default(),
            )?;
            let own = cost(&decided.chosen, at)?;
            let as_cheap = own - SAME * own.abs();
            if best.cost >= as_cheap {
                return Some(Turned { at: found, proven: best.bound >= as_cheap });
            }
            let (own_from, best_from) = (cost(&decided.chosen, from)?, cost(&best.chosen, from)?);
            // How much cheaper the other one is here, and how much dearer it was there.
            let (gain, loss) = (own - best.cost, (best_from - own_from).max(0.0));
            let crossing = from + (at - from) * loss / (gain + loss);
            found = Some(crossing);
            if (crossing - at).abs() <= SAME * at.abs().max(from.abs()) {
                let proven = best.bound >= best.cost - SAME * best.cost.abs();
                return Some(Turned { at: found, proven });
            }
            at = crossing;
        }
        Some(Turned { at: found, proven: false })
    }
}

/// What was found for a budget.
struct Step {
    budget: f64,
    point: Point,
    chosen: Vec<bool>,
}

/// Where the cost falls most between a budget and the next design, if these are at least so far apart.
fn steepest(found: &[Step], apart: f64) -> Option<usize> {
    let falls = |pair: &[Step]| match pair {
        [low, high]
            if high.point.storage - low.budget >= apart
                && high.point.cost < low.point.cost * (1.0 - SAME) =>
        {
            Some(if high.point.cost > 0.0 { low.point.cost / high.point.cost } else { f64::INFINITY })
        }
        _alike => None,
    };
    let pairs = found.windows(2).enumerate().filter_map(|(at, pair)| Some((at, falls(pair)?)));
    pairs.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at)
}

/// By storage, without those that cost no less than a smaller one.
fn falling(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.storage.total_cmp(&b.storage).then(a.cost.total_cmp(&b.cost)));
    let mut left: Vec<Point> = Vec::new();
    for point in points {
        if left.last().is_none_or(|last| point.cost < last.cost * (1.0 - SAME)) {
            left.push(point);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_falls() {
        let point = |storage, cost| Point { storage, cost, gap: 0.0, too_hot: 0, collections: 1 };
        let all = [(3.0, 5.0), (1.0, 9.0), (2.0, 9.0), (4.0, 6.0), (5.0, 5.0), (6.0, 1.0)];
        let left = falling(all.map(|(storage, cost)| point(storage, cost)).to_vec());
        assert_eq!(left, [point(1.0, 9.0), point(3.0, 5.0), point(6.0, 1.0)]);
    }
}
