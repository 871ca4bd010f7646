//! What each collection saves and costs: what was decided beside what is near.

use super::choice::{Choice, Of, Served};
use super::decide::Decided;
use super::enumerate::Pick;
use super::presolve::Rules;
use super::report::{CutWorth, Turn, Worth};
use super::shape::shape;
use super::study::Study;
use super::threads;
use crate::saved::rule_text;
use std::collections::BTreeSet;

/// Of those that were not kept, so many are told.
const CLOSE: usize = 5;

/// Compares what was decided with what is near.
pub(super) struct Judge<'j> {
    study: &'j Study<'j>,
    rules: &'j Rules,
    decided: &'j Decided,
    /// By pick, those that have a plan which reads it.
    readers: Vec<Vec<usize>>,
}

impl<'j> Judge<'j> {
    pub(super) fn new(study: &'j Study<'j>, rules: &'j Rules, decided: &'j Decided) -> Self {
        Self { study, rules, decided, readers: study.choice.readers() }
    }

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

    /// Those that read a pick, if these are chosen.
    fn reading(&self, pick: usize, chosen: &[bool]) -> Vec<&Served> {
        let choice = self.choice();
        let reads =
            |served: &&Served| choice.taken(served, chosen).is_some_and(|one| one.reads.contains(&pick));
        let readers = self.readers.get(pick).into_iter().flatten();
        readers.filter_map(|&at| choice.served.get(at)).filter(reads).collect()
    }

    /// The names of their statements.
    fn serves(&self, pick: usize, chosen: &[bool]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for served in self.reading(pick, chosen) {
            let statement = self.choice().statements.get(served.statement);
            let name = statement.map(|one| one.name.as_str()).unwrap_or_default();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    pub(super) fn kept(&self) -> Vec<Worth> {
        let kept: Vec<usize> = self.keeps().filter(|&pick| self.is_chosen(pick)).collect();
        threads::each(&kept, |&pick| self.without(pick))
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
        let serves = self.serves(pick, &self.decided.chosen);
        let other = choice.cost_at(&rest, &self.rules.rates);
        let difference = other.map_or(f64::INFINITY, |other| other - self.decided.cost);
        let (collection, too_slow) = (self.study.name(pick), self.too_slow(&rest));
        // However often something is done, a write may not take longer.
        let turns = match difference.is_finite() && too_slow.is_empty() {
            true => self.turn(pick, &rest, difference),
            false => None,
        };
        let (shape, upkeep) = (self.shape(pick), self.upkeep(pick));
        Worth { collection, shape, difference, upkeep, serves, too_slow, turns }
    }

    fn too_slow(&self, chosen: &[bool]) -> Vec<String> {
        self.choice().late(chosen).into_iter().map(|slow| slow.statement).collect()
    }

    fn shape(&self, pick: usize) -> String {
        match self.choice().picks.get(pick) {
            Some(Pick::Keep(id)) => {
                shape(&self.study.model.conceptual, &self.study.pool.design.collections[*id])
            }
            Some(Pick::Cut(..)) | None => String::new(),
        }
    }

    /// What is paid for a collection alone.
    fn upkeep(&self, pick: usize) -> f64 {
        let choice = self.choice();
        let own = choice.charges.iter().filter(|charge| charge.of == Some(Of::Pick(pick)));
        let rate = |statement: usize| self.rules.rates.get(statement).copied().unwrap_or(0.0);
        own.map(|charge| rate(charge.statement) * charge.cost).sum::<f64>()
            + choice.price * choice.bytes.get(pick).copied().unwrap_or(0.0)
    }

    /// The rate that has to change least, as a factor, until something without a collection costs as much.
    fn turn(&self, pick: usize, rest: &[bool], difference: f64) -> Option<Turn> {
        let choice = self.choice();
        let reading = self.reading(pick, &self.decided.chosen);
        let mut statements: BTreeSet<usize> = reading.iter().map(|served| served.statement).collect();
        let own = choice.charges.iter().filter(|charge| charge.of == Some(Of::Pick(pick)));
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

    /// The closest of those that would serve something and were not kept, and how many more there are.
    pub(super) fn close(&self) -> (Vec<Worth>, usize) {
        let left = |pick: &usize| !self.is_chosen(*pick) && !self.rules.forbidden.contains(pick);
        let left: Vec<usize> = self.keeps().filter(left).collect();
        let mut close: Vec<Worth> =
            threads::each(&left, |&pick| self.with(pick)).into_iter().flatten().collect();
        close.sort_by(|a, b| a.difference.total_cmp(&b.difference));
        let further = close.len().saturating_sub(CLOSE);
        close.truncate(CLOSE);
        (close, further)
    }

    /// What the workload would cost with one more.
    fn with(&self, pick: usize) -> Option<Worth> {
        let choice = self.choice();
        let mut more = self.decided.chosen.clone();
        *more.get_mut(pick)? = true;
        choice.close(&mut more);
        let serves = self.serves(pick, &more);
        if serves.is_empty() {
            return None;
        }
        let difference = choice.cost_at(&more, &self.rules.rates)? - self.decided.cost;
        let collection = self.study.name(pick);
        let (shape, upkeep, too_slow) = (self.shape(pick), self.upkeep(pick), self.too_slow(&more));
        Some(Worth { collection, shape, difference, upkeep, serves, too_slow, turns: None })
    }

    pub(super) fn cuts(&self) -> Vec<CutWorth> {
        let choice = self.choice();
        let mut found = Vec::new();
        for group in &choice.groups {
            let Some(&own) = group.iter().find(|&&pick| self.is_chosen(pick)) else { continue };
            let others = group.iter().filter(|&&pick| pick != own).filter_map(|&pick| {
                let mut other = self.decided.chosen.clone();
                *other.get_mut(own)? = false;
                *other.get_mut(pick)? = true;
                let quick = choice.late(&other).is_empty();
                choice.cost_at(&other, &self.rules.rates).filter(|_| quick)
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
