//! The proof that nothing is cheaper. Where a bound is less than the best choice that is known, the programme is split in two
//! by a variable. A choice that turns up on the way and is cheaper is kept.

use super::bound::{Bound, Within, bound, cheapest, is_choice, is_possible};
use super::programme::Programme;
use super::solver;
use std::time::Instant;

/// What was found out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Proven {
    /// What the programme costs at least; as much as the best choice, if that is the cheapest.
    pub(super) bound: f64,
    /// A choice that is cheaper than the one that was known.
    pub(super) better: Option<Vec<f64>>,
    /// How many programmes it took.
    pub(super) nodes: usize,
}

/// Differences of costs below this share are rounding, of prices as the solver gives them.
const ROUNDING: f64 = 1e-8;
/// Less than this a solver means a whole number.
const SPLIT: f64 = 1e-6;
/// No more programmes than this are split.
const NODES: usize = 500;

/// What the programme costs at least.
pub(super) fn prove(programme: &Programme, known: Option<f64>, end: Option<Instant>) -> Proven {
    let all = vec![(0.0, 1.0); programme.variables.len()];
    let mut search = Search {
        programme,
        end,
        known: known.unwrap_or(f64::INFINITY),
        better: None,
        open: vec![(f64::NEG_INFINITY, all)],
        closed: f64::INFINITY,
    };
    let mut nodes = 0;
    while let Some((least, within)) = search.next() {
        if nodes >= NODES || end.is_some_and(|end| Instant::now() >= end) {
            search.open.push((least.max(cheapest(programme, &within)), within));
            break;
        }
        nodes += 1;
        search.look(least, within);
    }
    let left = search.open.iter().map(|(bound, _)| *bound).fold(search.closed, f64::min);
    let bound = if left >= search.enough() { search.known.min(left) } else { left };
    Proven { bound, better: search.better, nodes }
}

struct Search<'s> {
    programme: &'s Programme,
    end: Option<Instant>,
    /// What the best choice costs.
    known: f64,
    better: Option<Vec<f64>>,
    /// What has to be looked at still, and what it costs at least.
    open: Vec<(f64, Vec<Within>)>,
    /// The least of what need not be looked at.
    closed: f64,
}

impl Search<'_> {
    /// A bound that is as high proves what is known.
    fn enough(&self) -> f64 {
        if self.known.is_finite() { self.known - ROUNDING * self.known.abs() } else { self.known }
    }

    /// The least first: the bound of all is the least of what is open.
    fn next(&mut self) -> Option<(f64, Vec<Within>)> {
        self.open.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        self.open.pop()
    }

    fn look(&mut self, least: f64, mut within: Vec<Within>) {
        if !is_possible(self.programme, &mut within) {
            return;
        }
        let Bound { bound: own, reduced } = bound(self.programme, &within, self.end);
        let bound = own.max(least);
        if bound < self.enough() {
            // What is left of costs belongs to the bound of the same prices.
            self.settle(&reduced, own, &mut within);
            if let Some(at) = self.undecided(&reduced, &within)
                && bound < self.enough()
            {
                for side in [(0.0, 0.0), (1.0, 1.0)] {
                    let mut part = within.clone();
                    part.get_mut(at).into_iter().for_each(|slot| *slot = side);
                    self.open.push((bound, part));
                }
                return;
            }
        }
        // Dear enough; or all is decided, and prices are not the best.
        self.closed = self.closed.min(bound);
    }

    /// Fixes binary variables that would cost too much the other way.
    fn settle(&self, reduced: &[f64], bound: f64, within: &mut [Within]) {
        let enough = self.enough();
        if !enough.is_finite() {
            return;
        }
        let variables = self.programme.variables.iter().zip(reduced).zip(within);
        for ((_, &cost), slot) in variables.filter(|((variable, _), _)| variable.binary) {
            if slot.0 < slot.1 && bound + cost.abs() >= enough {
                *slot = if cost > 0.0 { (0.0, 0.0) } else { (1.0, 1.0) };
            }
        }
    }

    /// The binary variable that is closest to going either way: of those that a solver splits, else by what is left of costs.
    /// If it splits none, that is a choice.
    fn undecided(&mut self, reduced: &[f64], within: &[Within]) -> Option<usize> {
        let binary = self.programme.variables.iter().enumerate().filter(|(_, variable)| variable.binary);
        let is_open = |at: &usize| within.get(*at).is_some_and(|(least, most)| least < most);
        let open: Vec<usize> = binary.map(|(at, _)| at).filter(is_open).collect();
        let relaxed = solver::relaxed(self.programme, within, self.end);
        let off = |at: usize| {
            let value = relaxed.as_ref().and_then(|values| values.get(at)).copied().unwrap_or(0.0);
            (value - value.round()).abs()
        };
        let most = open.iter().copied().max_by(|&a, &b| off(a).total_cmp(&off(b)));
        if let Some(most) = most.filter(|&most| off(most) > SPLIT) {
            return Some(most);
        }
        relaxed.into_iter().for_each(|values| self.choose(values));
        let cost = |at: usize| reduced.get(at).copied().unwrap_or(0.0).abs();
        open.into_iter().min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
    }

    /// Keeps a choice if it is one and cheaper than what is known.
    fn choose(&mut self, mut values: Vec<f64>) {
        for (value, variable) in values.iter_mut().zip(&self.programme.variables) {
            *value = if variable.binary { value.round() } else { value.clamp(0.0, 1.0) };
        }
        let cost = self.programme.cost(&values);
        if cost < self.known && is_choice(self.programme, &values) {
            self.known = cost;
            self.better = Some(values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bound::odd;
    use super::super::programme::Op;
    use super::*;

    #[test]
    fn splitting_closes_the_gap() {
        let proven = prove(&odd(), Some(2.0), None);
        assert!((proven.bound - 2.0).abs() < 1e-6 && proven.nodes > 1, "{proven:?}");
        assert_eq!(proven.better, None);
    }

    #[test]
    fn what_is_not_the_cheapest_is_not_proven_and_the_cheapest_is_found() {
        let proven = prove(&odd(), Some(3.0), None);
        assert!(proven.bound <= 2.0 + 1e-6, "{proven:?}");
        let better = proven.better.unwrap_or_default();
        assert!(odd().meets(&better) && (odd().cost(&better) - 2.0).abs() < 1e-9, "{better:?}");
        let late = prove(&odd(), Some(2.0), Some(Instant::now()));
        assert!(late.bound <= 0.0 + 1e-9, "{late:?}");
    }

    /// Of three things that are a hair larger than half of the room there is room for one.
    #[test]
    fn a_budget_that_is_missed_by_a_hair_is_missed() {
        let mut programme = Programme::default();
        let all: Vec<usize> = (0..3).map(|n| programme.variable(format!("v{n}"), -1e9, true)).collect();
        let each = 0.5 + 1e-9;
        programme.row(all.iter().map(|&at| (at, each)).collect(), Op::AtMost, 1.0);
        let proven = prove(&programme, Some(-1e9), None);
        assert!((proven.bound + 1e9).abs() < 100.0, "{proven:?}");
    }
}
