//! How a choice came about: how much was looked at, what it costs, and what each collection saves and costs.

use super::choice::Slow;
use super::decide::Decided;
use super::judge::Judge;
use super::presolve::{Rules, Settled};
use super::study::{Study, Unmet};
use super::threads;
use crate::method::{Decision, complete};
use askloom_model::{Design, Header, Model};
use askloom_plan::cost::{Costing, MONTH};
use askloom_plan::planner;
use serde::Serialize;

/// All that is known of a choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// What the workload costs in a second.
    pub cost: f64,
    /// No choice among the candidates costs less than this.
    pub bound: f64,
    /// Bytes that are stored.
    pub storage: f64,
    pub looked_at: LookedAt,
    /// What each kept collection is worth.
    pub kept: Vec<Worth>,
    /// Those that were not kept, the closest first.
    pub close: Vec<Worth>,
    /// How many more would serve something, and were not kept.
    pub further: usize,
    /// What the designs of the other methods cost that are as they must be.
    pub others: Vec<(String, f64)>,
    /// How masters are cut, where there was a choice.
    pub cuts: Vec<CutWorth>,
    pub slow: Vec<Slow>,
    /// Whether there are writes that may not take longer, beside those.
    pub bounded: bool,
    /// The method whose design was taken as it is, as nothing among the candidates is as cheap.
    pub taken: Option<String>,
    /// Why no design is as it must be; this one is as if nothing had to be.
    pub unmet: Option<Unmet>,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LookedAt {
    /// Collections that were made up, and of them the same as another one, and larger than the store takes.
    pub made: usize,
    pub same: usize,
    pub too_large: usize,
    /// Chosen, and found to be asked for more often than the store can serve one block.
    pub too_hot: usize,
    pub candidates: usize,
    /// Ways to cut masters that were made up, and those that were left.
    pub cuts_made: usize,
    pub cuts: usize,
    /// Plans, and how many of these no other does with less and for less.
    pub plans: usize,
    pub plans_left: usize,
    /// Candidates that were settled before the programme was made.
    pub settled: Settled,
    pub variables: usize,
    pub rows: usize,
    pub parts: usize,
    pub nodes: usize,
    /// Statements that nothing can answer.
    pub missing: usize,
    /// Statements of which not every choice of ways back, of cuts, and of plans for both halves of a path was looked at.
    pub capped: usize,
}

/// A collection that was kept or not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worth {
    pub collection: String,
    /// What it is: its keys, and which rows it has.
    pub shape: String,
    /// How much more the workload would cost without it, or with it.
    pub difference: f64,
    /// What it costs to keep it: what writes do for it, and storage.
    pub upkeep: f64,
    pub serves: Vec<String>,
    /// Writes that would take longer than they may without it, or with it.
    pub too_slow: Vec<String>,
    /// The rate that would have to change least for it to be no longer worth it.
    pub turns: Option<Turn>,
}

/// A rate at which something else would be cheaper.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turn {
    pub statement: String,
    pub rate: f64,
    pub at: f64,
}

/// A way to cut a master.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CutWorth {
    pub collection: String,
    pub rules: Vec<String>,
    /// How much more the cheapest other way would cost, everything else as it is.
    pub difference: f64,
}

impl Report {
    pub(super) fn new(study: &Study<'_>, rules: &Rules, decided: &Decided, design: &Design) -> Self {
        let Study { pool, choice, .. } = study;
        let looked_at = LookedAt {
            made: pool.made.collections,
            same: pool.made.same,
            too_large: pool.made.too_large + pool.too_large.len(),
            too_hot: 0,
            candidates: pool.back - pool.first - pool.too_large.len(),
            cuts_made: pool.made.cuts,
            cuts: pool.made.cuts_left,
            plans: choice.plans.made,
            plans_left: choice.plans.left,
            settled: decided.settled,
            variables: decided.variables,
            rows: decided.rows,
            parts: decided.parts,
            nodes: decided.nodes,
            missing: choice.plans.missing,
            capped: choice.plans.capped,
        };
        let judge = Judge::new(study, rules, decided);
        let (close, further) = judge.close();
        // Unwanted by nobody: what the planner finds over the design is what it costs.
        let cost = total(study.model, study.costing, design).min(decided.cost);
        Self {
            cost,
            bound: decided.bound.min(cost),
            storage: choice.storage(&decided.chosen),
            looked_at,
            kept: judge.kept(),
            close,
            further,
            others: study.baselines(rules),
            cuts: judge.cuts(),
            slow: choice.slow.clone(),
            bounded: !choice.waits.is_empty(),
            taken: None,
            unmet: None,
        }
    }

    /// How much less another choice could cost, as a share.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.cost <= 0.0 { 0.0 } else { ((self.cost - self.bound) / self.cost).max(0.0) }
    }

    /// Whether nothing among the candidates is cheaper, but for rounding.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.gap() <= ROUNDING
    }

    pub(super) fn decisions(&self, costing: &Costing<'_>) -> Vec<Decision> {
        let share = |difference: f64| if self.cost > 0.0 { 100.0 * difference / self.cost } else { 0.0 };
        let unit = costing.model.unit();
        let nothing = match self.bounded {
            true => "nothing among them that is quick enough is cheaper",
            false => "nothing among them is cheaper",
        };
        let proven = if self.is_proven() {
            nothing.to_owned()
        } else {
            format!("{nothing} by more than {:.2} %", 100.0 * self.gap())
        };
        let looked = &self.looked_at;
        let says = format!(
            "{}: of {} candidates and {} plans, {proven}",
            told(self.cost, &unit),
            looked.candidates,
            looked.plans
        );
        let mut all = vec![Decision::new("the design", says, SOURCE)];
        if looked.capped > 0 {
            let says = format!(
                "of {} statements not every choice of ways back, of cuts, and of plans for the halves of a path was looked at: there are too many",
                looked.capped
            );
            all.push(Decision::new("the design", says, SOURCE));
        }
        if looked.too_hot > 0 {
            let says = format!(
                "{} left out: one block would be asked for more often than the store serves one",
                are(looked.too_hot, "candidate")
            );
            all.push(Decision::new("the design", says, SOURCE));
        }
        for Slow { statement, takes, most } in &self.slow {
            let says = format!("no design is as quick as {most} ms wants it: it takes {takes:.1} ms");
            all.push(Decision::new(statement, says, SOURCE));
        }
        if let Some(method) = &self.taken {
            let says = format!("that of {method} is cheaper than all candidates, and is taken as it is");
            all.push(Decision::new("the design", says, SOURCE));
            return all;
        }
        all.extend(self.cuts.iter().map(|cut| cut.decision(share(cut.difference))));
        all.extend(self.kept.iter().map(|worth| worth.kept(share(worth.difference), share(worth.upkeep))));
        let close = self.close.iter().filter(|worth| worth.difference > 0.0 || !worth.too_slow.is_empty());
        all.extend(close.map(|worth| worth.left(share(worth.difference))));
        if self.further > 0 {
            let says = format!("{} not kept that lost by more", are(self.further, "further candidate"));
            all.push(Decision::new("the design", says, SOURCE));
        }
        all
    }
}

const SOURCE: &str = "askloom";
/// Differences of costs below this share are rounding.
const ROUNDING: f64 = 1e-6;

impl Worth {
    fn kept(&self, percent: f64, upkeep: f64) -> Decision {
        let mut says = match self.serves.as_slice() {
            [] => "another collection could not be kept right without it".to_owned(),
            serves => format!("serves {}: without it {}", serves.join(", "), more(percent)),
        };
        if !self.too_slow.is_empty() {
            let though = if percent < 0.0 { "though" } else { "and" };
            says.push_str(&format!(", {though} {} would take longer than it may", self.too_slow.join(", ")));
        }
        says.push_str(&match upkeep {
            upkeep if upkeep >= 0.05 => format!("; keeping it is {upkeep:.1} % of all costs"),
            upkeep if upkeep > 0.0 => "; keeping it costs little".to_owned(),
            _nothing => "; keeping it costs nothing".to_owned(),
        });
        if let Some(turn) = &self.turns {
            let Turn { statement, rate, at } = turn;
            let word = if at > rate { "passed" } else { "fell below" };
            says.push_str(&format!("; would change if {statement} {word} {}", often(*at)));
        }
        Decision::new(&self.collection, says, SOURCE)
    }

    fn left(&self, percent: f64) -> Decision {
        let serves = self.serves.join(", ");
        let but = match self.too_slow.as_slice() {
            [] => more(percent),
            late => {
                let though = if percent < 0.0 { "though" } else { "and" };
                format!("{} would take longer than it may, {though} {}", late.join(", "), more(percent))
            }
        };
        let says = format!("not kept: {}; it would serve {serves}, but {but}", self.shape);
        Decision::new(&self.collection, says, SOURCE)
    }
}

impl CutWorth {
    fn decision(&self, percent: f64) -> Decision {
        let says = format!("cut by {}: any other way {}", self.rules.join(", "), more(percent));
        Decision::new(&self.collection, says, SOURCE)
    }
}

/// What a second of the workload costs, in what is paid: where that is money, a month of it.
#[must_use]
pub fn told(cost: f64, unit: &str) -> String {
    match unit {
        _ if cost.is_nan() || cost >= 1e15 => "past counting".to_owned(),
        "$/M" => format!("${} a month", grouped(cost * MONTH)),
        unit => format!("{} {unit} a second", grouped(cost)),
    }
}

/// `61,050`, and what is small with two decimals.
fn grouped(number: f64) -> String {
    if number < 1_000.0 {
        return format!("{number:.2}");
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 candidate is`
fn are(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what} is") } else { format!("{count} {what}s are") }
}

/// How much more the workload would cost.
fn more(percent: f64) -> String {
    match percent {
        percent if !percent.is_finite() => "a statement would have no plan".to_owned(),
        percent if percent >= 300.0 => {
            format!("the workload would cost {:.0} times as much", 1.0 + percent / 100.0)
        }
        percent if percent >= 0.05 => format!("the workload would cost {percent:.1} % more"),
        percent if percent > 0.0 => "the workload would cost a little more".to_owned(),
        percent if percent <= -0.05 => format!("the workload would cost {:.1} % less", -percent),
        _nothing => "the workload would cost as much".to_owned(),
    }
}

/// A rate with the digits that count, in a time in which something happens.
#[must_use]
pub fn often(rate: f64) -> String {
    let (times, time) = match rate {
        rate if rate >= 0.1 => (rate, "s"),
        rate if rate >= 0.1 / 60.0 => (rate * 60.0, "min"),
        rate if rate >= 0.1 / 3_600.0 => (rate * 3_600.0, "h"),
        rate => (rate * 86_400.0, "day"),
    };
    let digits = match times {
        times if times >= 100.0 => 0,
        times if times >= 1.0 => 1,
        _few => 2,
    };
    format!("{times:.digits$}/{time}")
}

/// What a statement costs in a second.
#[derive(Debug, Clone, PartialEq)]
pub struct Paid {
    pub statement: String,
    pub cost: f64,
}

/// What each statement costs in a second over a design; one without a plan nothing.
#[must_use]
pub fn paid(model: &Model, costing: &Costing<'_>, design: &Design) -> Vec<Paid> {
    let of = |header: &Header, each: Option<f64>| Paid {
        statement: header.name.clone(),
        cost: header.rate.unwrap_or(super::choice::RATE) * each.unwrap_or(0.0),
    };
    let queries = complete::questions(model);
    let mut all = threads::each(&queries, |query| {
        let plan = planner::plan(costing, &model.conceptual, design, query);
        of(&query.header, plan.map(|plan| plan.estimate.cost))
    });
    all.extend(threads::each(&model.workload.writes, |write| {
        let plan = planner::write::plan(costing, model, design, write).ok();
        of(&write.header, plan.map(|plan| plan.estimate.cost))
    }));
    all
}

/// What the workload costs in a second over a design, with what storage costs.
#[must_use]
pub fn total(model: &Model, costing: &Costing<'_>, design: &Design) -> f64 {
    let statistics = costing.statistics(&model.conceptual);
    let sizes = askloom_plan::cost::Sizes { statistics: &statistics, design };
    let stored: f64 = design.collections.ids().map(|id| sizes.bytes(id)).sum();
    let paid = paid(model, costing, design);
    paid.iter().map(|one| one.cost).sum::<f64>() + costing.model.storage() * stored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_told_in_a_time_in_which_something_happens() {
        let told = [2_000.0, 2.6, 0.12, 0.0046, 0.001, 1.0 / 86_400.0].map(often);
        assert_eq!(told, ["2000/s", "2.6/s", "0.12/s", "0.28/min", "3.6/h", "1.0/day"]);
    }

    #[test]
    fn costs_are_told_in_groups_of_digits() {
        assert_eq!(
            [0.5, 999.0, 61_050.13, 14_262_318.3].map(grouped),
            ["0.50", "999.00", "61,050", "14,262,318"]
        );
        assert_eq!(told(1_234.0, "µs"), "1,234 µs a second");
    }

    #[test]
    fn what_a_collection_saves_and_costs_is_told() {
        let turns = Some(Turn { statement: "list".to_owned(), rate: 5.0, at: 0.001 });
        let worth = Worth {
            collection: "View".to_owned(),
            shape: "rows by city".to_owned(),
            difference: 3.0,
            upkeep: 0.5,
            serves: vec!["list".to_owned()],
            too_slow: Vec::new(),
            turns,
        };
        assert_eq!(
            worth.kept(30.0, 5.0).says,
            "serves list: without it the workload would cost 30.0 % more; keeping it is 5.0 % of all costs; \
             would change if list fell below 3.6/h"
        );
        assert_eq!(
            worth.left(0.01).says,
            "not kept: rows by city; it would serve list, but the workload would cost a little more"
        );
        let nothing = Worth { serves: Vec::new(), turns: None, ..worth };
        assert_eq!(
            nothing.kept(0.0, 0.0).says,
            "another collection could not be kept right without it; keeping it costs nothing"
        );
    }
}
