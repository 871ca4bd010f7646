//! How a choice came about: how much was looked at, what it costs, and what each collection saves and costs.

use super::choice::{Choice, Slow};
use super::decide::Decided;
use super::enumerate::Pick;
use super::presolve::{Rules, Settled};
use super::study::{Study, Unmet};
use crate::cost::{Costing, MONTH};
use crate::method::{Decision, complete};
use crate::plan;
use crate::saved::rule_text;
use askloom_model::{Design, Model};
use serde::Serialize;
use std::collections::BTreeSet;

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
    /// What the designs of the other methods cost that are as they must be.
    pub others: Vec<(String, f64)>,
    /// How masters are cut, where there was a choice.
    pub cuts: Vec<CutWorth>,
    pub slow: Vec<Slow>,
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
    /// How much more the workload would cost without it, or with it.
    pub difference: f64,
    /// What it costs to keep it: what writes do for it, and storage.
    pub upkeep: f64,
    pub serves: Vec<String>,
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

/// Of those that were not kept, so many are told.
const CLOSE: usize = 5;

impl Report {
    pub(super) fn new(study: &Study<'_>, rules: &Rules, decided: &Decided, design: &Design) -> Self {
        let Study { pool, choice, .. } = study;
        let looked_at = LookedAt {
            made: pool.made.collections,
            same: pool.made.same,
            too_large: pool.made.too_large,
            too_hot: 0,
            candidates: pool.back - pool.first,
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
        let judge = Judge { study, rules, decided };
        // Unwanted by nobody: what the planner finds over the design is what it costs.
        let cost = total(study.model, study.costing, design).min(decided.cost);
        Self {
            cost,
            bound: decided.bound.min(cost),
            storage: choice.storage(&decided.chosen),
            looked_at,
            kept: judge.kept(),
            close: judge.close(),
            others: study.baselines(rules),
            cuts: judge.cuts(),
            slow: choice.slow.clone(),
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
        let proven = if self.is_proven() {
            "nothing among them is cheaper".to_owned()
        } else {
            format!("nothing among them is cheaper by more than {:.2} %", 100.0 * self.gap())
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
        for Slow { statement, takes, most } in &self.slow {
            let says = format!("no plan is as quick as {most} ms: the quickest takes {takes:.1} ms");
            all.push(Decision::new(statement, says, SOURCE));
        }
        if let Some(method) = &self.taken {
            let says = format!("that of {method} is cheaper than all candidates, and is taken as it is");
            all.push(Decision::new("the design", says, SOURCE));
            return all;
        }
        all.extend(self.cuts.iter().map(|cut| cut.decision(share(cut.difference))));
        all.extend(self.kept.iter().map(|worth| worth.kept(share(worth.difference))));
        let close = self.close.iter().filter(|worth| worth.difference > 0.0);
        all.extend(close.map(|worth| worth.left(share(worth.difference))));
        all
    }
}

const SOURCE: &str = "askloom";
/// Differences of costs below this share are rounding.
const ROUNDING: f64 = 1e-6;

impl Worth {
    fn kept(&self, percent: f64) -> Decision {
        let mut says = match self.serves.as_slice() {
            [] => "another collection could not be kept right without it".to_owned(),
            serves => format!("serves {}: without it {}", serves.join(", "), more(percent)),
        };
        if let Some(turn) = &self.turns {
            let Turn { statement, rate, at } = turn;
            let word = if at > rate { "passed" } else { "fell below" };
            says.push_str(&format!("; would change if {statement} {word} {}/s", rounded(*at)));
        }
        Decision::new(&self.collection, says, SOURCE)
    }

    fn left(&self, percent: f64) -> Decision {
        let says = format!("not kept: it would serve {}, but {}", self.serves.join(", "), more(percent));
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
        "$/M" => format!("${:.2} a month", cost * MONTH),
        unit => format!("{cost:.2} {unit} a second"),
    }
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
        _nothing => "the workload would cost as much".to_owned(),
    }
}

/// Three digits that count.
fn rounded(rate: f64) -> String {
    let digits = if rate >= 100.0 {
        0
    } else if rate >= 1.0 {
        1
    } else {
        4
    };
    format!("{rate:.digits$}")
}

/// Compares what was decided with what is near.
struct Judge<'j> {
    study: &'j Study<'j>,
    rules: &'j Rules,
    decided: &'j Decided,
}

impl Judge<'_> {
    fn choice(&self) -> &Choice {
        &self.study.choice
    }

    fn is_chosen(&self, pick: usize) -> bool {
        self.decided.chosen.get(pick).copied().unwrap_or(false)
    }

    fn keeps(&self) -> impl Iterator<Item = usize> + '_ {
        let picks = self.choice().picks.iter().enumerate();
        picks.filter(|(_, pick)| matches!(pick, Pick::Keep(_))).map(|(at, _)| at)
    }

    fn kept(&self) -> Vec<Worth> {
        self.keeps().filter(|&pick| self.is_chosen(pick)).map(|pick| self.without(pick)).collect()
    }

    /// What a kept collection is worth, everything else as it is but for what needs it.
    fn without(&self, pick: usize) -> Worth {
        let choice = self.choice();
        let mut rest = self.decided.chosen.clone();
        let mut open = vec![pick];
        while let Some(at) = open.pop() {
            rest.get_mut(at).into_iter().for_each(|slot| *slot = false);
            let needs = choice.needs.iter().enumerate().filter(|(_, needs)| needs.contains(&at));
            open.extend(needs.map(|(other, _)| other).filter(|&other| rest.get(other) == Some(&true)));
        }
        let serves = choice.serves(pick, &self.decided.chosen).into_iter().map(str::to_owned).collect();
        let other = choice.cost_at(&rest, &self.rules.rates);
        let difference = other.map_or(f64::INFINITY, |other| other - self.decided.cost);
        let turns = if difference.is_finite() { self.turn(pick, &rest, difference) } else { None };
        let collection = self.study.name(pick);
        Worth { collection, difference, upkeep: self.upkeep(pick), serves, turns }
    }

    /// What is paid for a collection alone.
    fn upkeep(&self, pick: usize) -> f64 {
        let choice = self.choice();
        let own = choice.charges.iter().filter(|charge| charge.of == Some(super::choice::Of::Pick(pick)));
        let rate = |statement: usize| self.rules.rates.get(statement).copied().unwrap_or(0.0);
        own.map(|charge| rate(charge.statement) * charge.cost).sum::<f64>()
            + choice.price * choice.bytes.get(pick).copied().unwrap_or(0.0)
    }

    /// The rate that has to change least, as a factor, until something without a collection costs as much.
    fn turn(&self, pick: usize, rest: &[bool], difference: f64) -> Option<Turn> {
        let choice = self.choice();
        let reading = choice.served.iter().filter(|served| {
            choice.taken(served, &self.decided.chosen).is_some_and(|one| one.reads.contains(&pick))
        });
        let mut statements: BTreeSet<usize> = reading.map(|served| served.statement).collect();
        let own = choice.charges.iter().filter(|charge| charge.of == Some(super::choice::Of::Pick(pick)));
        statements.extend(own.map(|charge| charge.statement));
        let mut turns: Vec<Turn> = Vec::new();
        for statement in statements {
            let rate = self.rules.rates.get(statement).copied().unwrap_or(0.0);
            let mut rates = self.rules.rates.clone();
            let step = rate.max(1.0);
            rates.get_mut(statement).into_iter().for_each(|slot| *slot = rate + step);
            let cost = |chosen: &[bool]| choice.cost_at(chosen, &rates);
            let (Some(with), Some(without)) = (cost(&self.decided.chosen), cost(rest)) else { continue };
            let slope = ((without - with) - difference) / step;
            let at = rate - difference / slope;
            if slope != 0.0 && at.is_finite() && at >= 0.0 {
                let name = choice.statements.get(statement).map(|one| one.name.clone()).unwrap_or_default();
                turns.push(Turn { statement: name, rate, at });
            }
        }
        let change = |turn: &Turn| {
            let (low, high) = (turn.rate.min(turn.at), turn.rate.max(turn.at));
            if low > 0.0 { high / low } else { f64::INFINITY }
        };
        turns.into_iter().min_by(|a, b| change(a).total_cmp(&change(b))).filter(|turn| change(turn) < 1e3)
    }

    fn close(&self) -> Vec<Worth> {
        let mut close: Vec<Worth> = self
            .keeps()
            .filter(|&pick| !self.is_chosen(pick) && !self.rules.forbidden.contains(&pick))
            .filter_map(|pick| self.with(pick))
            .collect();
        close.sort_by(|a, b| a.difference.total_cmp(&b.difference));
        close.truncate(CLOSE);
        close
    }

    /// What the workload would cost with one more.
    fn with(&self, pick: usize) -> Option<Worth> {
        let choice = self.choice();
        let mut more = self.decided.chosen.clone();
        *more.get_mut(pick)? = true;
        choice.close(&mut more);
        let serves: Vec<String> = choice.serves(pick, &more).into_iter().map(str::to_owned).collect();
        if serves.is_empty() {
            return None;
        }
        let difference = choice.cost_at(&more, &self.rules.rates)? - self.decided.cost;
        let collection = self.study.name(pick);
        Some(Worth { collection, difference, upkeep: self.upkeep(pick), serves, turns: None })
    }

    fn cuts(&self) -> Vec<CutWorth> {
        let choice = self.choice();
        let mut found = Vec::new();
        for group in &choice.groups {
            let Some(&own) = group.iter().find(|&&pick| self.is_chosen(pick)) else { continue };
            let others = group.iter().filter(|&&pick| pick != own).filter_map(|&pick| {
                let mut other = self.decided.chosen.clone();
                *other.get_mut(own)? = false;
                *other.get_mut(pick)? = true;
                choice.cost_at(&other, &self.rules.rates)
            });
            let least = others.fold(f64::INFINITY, f64::min);
            let Some(Pick::Cut(cut, way)) = choice.picks.get(own) else { continue };
            let Some(cut) = self.study.pool.cuts.get(*cut) else { continue };
            let rules = cut.ways.get(*way).into_iter().flatten();
            let conceptual = &self.study.model.conceptual;
            found.push(CutWorth {
                collection: self.study.pool.design.collections[cut.master].name.clone(),
                rules: rules.map(|rule| rule_text(conceptual, rule)).collect(),
                difference: least - self.decided.cost,
            });
        }
        found
    }
}

/// What the workload costs in a second over a design, statement by statement, with what storage costs.
#[must_use]
pub fn total(model: &Model, costing: &Costing<'_>, design: &Design) -> f64 {
    let rate = |header: &askloom_model::Header| header.rate.unwrap_or(super::choice::RATE);
    let queries = complete::questions(model);
    let queries = queries.iter().filter_map(|query| {
        let plan = plan::plan_for(costing, &model.conceptual, design, query)?;
        Some(rate(&query.header) * plan.estimate.cost)
    });
    let writes = model.workload.writes.iter().filter_map(|write| {
        let plan = plan::write::plan(costing, model, design, write).ok()?;
        Some(rate(&write.header) * plan.estimate.cost)
    });
    let statistics = costing.statistics(&model.conceptual);
    let sizes = crate::cost::Sizes { statistics: &statistics, design };
    let stored: f64 = design.collections.ids().map(|id| sizes.bytes(id)).sum();
    queries.sum::<f64>() + writes.sum::<f64>() + costing.model.storage() * stored
}
