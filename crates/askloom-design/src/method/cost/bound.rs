//! What a programme costs at least, priced by our own code.
//!
//! Every row may be left out if breaking it is paid for: whatever price each row has, the cheapest choice without rows,
//! with those prices, costs no more than the cheapest choice with them. The prices come from a solver, which looks for
//! those that say most; that they are right need not be believed. Where that is less than the best choice known, the
//! programme is split in two by a variable.

use super::programme::{Op, Programme};
use super::solver::{self, scale};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOptions};
use std::time::{Duration, Instant};

/// A bound, and how many programmes it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Proven {
    pub(super) bound: f64,
    pub(super) nodes: usize,
}

/// Differences of costs below this share are rounding, of prices as the solver gives them.
const ROUNDING: f64 = 1e-8;
/// No more programmes than this are split.
const NODES: usize = 500;

/// The least that a variable may be, and the most.
type Within = (f64, f64);

/// What the programme costs at least; as much as a known choice, if that is the cheapest.
pub(super) fn prove(programme: &Programme, known: Option<f64>, end: Option<Instant>) -> Proven {
    let known = known.unwrap_or(f64::INFINITY);
    let enough = if known.is_finite() { known - ROUNDING * known.abs() } else { known };
    let mut open: Vec<(f64, Vec<Within>)> = Vec::new();
    let (mut nodes, mut proven) = (0, f64::INFINITY);
    let mut next = Some((f64::NEG_INFINITY, vec![(0.0, 1.0); programme.variables.len()]));
    while let Some((least, mut within)) = next {
        if nodes >= NODES || end.is_some_and(|end| Instant::now() >= end) {
            open.push((least.max(cheapest(programme, &within)), within));
            break;
        }
        nodes += 1;
        let prices = prices(programme, &within);
        let reduced = prices.as_ref().map(|prices| reduced(programme, prices));
        let bound = match prices.as_ref().zip(reduced.as_ref()) {
            Some((prices, reduced)) => priced(programme, prices, reduced, &within).max(least),
            None => cheapest(programme, &within).max(least),
        };
        if bound >= enough {
            proven = proven.min(bound);
        } else {
            let reduced = reduced.unwrap_or_else(|| vec![0.0; programme.variables.len()]);
            settle(programme, &reduced, bound, enough, &mut within);
            match undecided(programme, &reduced, &within, enough) {
                Some(at) => {
                    for side in [(0.0, 0.0), (1.0, 1.0)] {
                        let mut part = within.clone();
                        part.get_mut(at).into_iter().for_each(|slot| *slot = side);
                        open.push((bound, part));
                    }
                }
                // All is decided, and still less: what the solver knows is not the cheapest, or prices are not the best.
                None => proven = proven.min(bound),
            }
        }
        // The least first: the bound of all is the least of what is open.
        open.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        next = open.pop();
    }
    let left = open.iter().map(|(bound, _)| *bound).fold(proven, f64::min);
    Proven { bound: if left >= enough { known.min(left) } else { left }, nodes }
}

/// Without any row.
fn cheapest(programme: &Programme, within: &[Within]) -> f64 {
    let costs = programme.variables.iter().map(|variable| variable.cost);
    costs.zip(within).map(|(cost, &(least, most))| if cost < 0.0 { cost * most } else { cost * least }).sum()
}

/// What is left of each variable's cost when it has paid for its rows.
fn reduced(programme: &Programme, prices: &[f64]) -> Vec<f64> {
    let mut reduced: Vec<f64> = programme.variables.iter().map(|variable| variable.cost).collect();
    for (row, price) in programme.rows.iter().zip(prices) {
        for &(at, factor) in &row.terms {
            reduced.get_mut(at).into_iter().for_each(|slot| *slot -= price * factor);
        }
    }
    reduced
}

/// The bound that prices of rows give. Prices are turned so that breaking a row never pays.
fn priced(programme: &Programme, prices: &[f64], reduced: &[f64], within: &[Within]) -> f64 {
    let rows: f64 = programme.rows.iter().zip(prices).map(|(row, price)| row.bound * price).sum();
    let variables = reduced.iter().zip(within);
    rows + variables
        .map(|(&cost, &(least, most))| if cost < 0.0 { cost * most } else { cost * least })
        .sum::<f64>()
}

/// Fixes binary variables that would cost too much the other way.
fn settle(programme: &Programme, reduced: &[f64], bound: f64, enough: f64, within: &mut [Within]) {
    if !enough.is_finite() {
        return;
    }
    let variables = programme.variables.iter().zip(reduced).zip(within);
    for ((variable, &cost), slot) in variables.filter(|((variable, _), _)| variable.binary) {
        if slot.0 < slot.1 && variable.binary && bound + cost.abs() >= enough {
            *slot = if cost > 0.0 { (0.0, 0.0) } else { (1.0, 1.0) };
        }
    }
}

/// The binary variable that is closest to going either way: of those that a solver splits, else by what is left of costs.
fn undecided(programme: &Programme, reduced: &[f64], within: &[Within], known: f64) -> Option<usize> {
    let open = programme.variables.iter().zip(within).enumerate();
    let open = open.filter(|(_, (variable, (least, most)))| variable.binary && least < most);
    let open: Vec<usize> = open.map(|(at, _)| at).collect();
    let split = if known.is_finite() { solver::relaxed(programme, within, PATIENCE) } else { None };
    let off = |at: usize| {
        let value = split.as_ref().and_then(|values| values.get(at)).copied().unwrap_or(0.0);
        (value - value.round()).abs()
    };
    let most = open.iter().copied().max_by(|&a, &b| off(a).total_cmp(&off(b)))?;
    if off(most) > SPLIT {
        return Some(most);
    }
    let cost = |at: usize| reduced.get(at).copied().unwrap_or(0.0).abs();
    open.into_iter().min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
}

/// Less than this a solver means a whole number.
const SPLIT: f64 = 1e-6;

/// No row is dearer than so many times a usual cost: what cannot be at all is dear enough then.
const DEAREST: f64 = 1e8;
/// No prices are looked for longer than this at a time.
const PATIENCE: Duration = Duration::from_secs(20);

/// Prices of rows that say much: the solution of the dual programme.
fn prices(programme: &Programme, within: &[Within]) -> Option<Vec<f64>> {
    // What the solver takes for nothing is less than a millionth of a usual cost.
    let scale = scale(programme) / 1e4;
    let mut dual = Problem::new(OptimizationDirection::Maximize);
    dual.set_time_limit(PATIENCE);
    // For what a variable pays when it is at its most; what it cannot change is in the sum anyway.
    let rows: Vec<microlp::Variable> = programme
        .rows
        .iter()
        .map(|row| {
            let fixed = row.terms.iter().filter_map(|&(at, factor)| {
                let &(least, most) = within.get(at)?;
                (least == most).then_some(factor * least)
            });
            let bound = row.bound - fixed.sum::<f64>();
            let side = match row.op {
                Op::AtMost => (-DEAREST, 0.0),
                Op::AtLeast => (0.0, DEAREST),
                Op::Equal => (-DEAREST, DEAREST),
            };
            dual.add_var(bound, side)
        })
        .collect();
    let mut of: Vec<Vec<(microlp::Variable, f64)>> = vec![Vec::new(); programme.variables.len()];
    for (row, &price) in programme.rows.iter().zip(&rows) {
        for &(at, factor) in &row.terms {
            of.get_mut(at).into_iter().for_each(|terms| terms.push((price, factor)));
        }
    }
    for ((variable, mut terms), &(least, most)) in programme.variables.iter().zip(of).zip(within) {
        if least < most {
            let paid = dual.add_var(-1.0, (0.0, f64::INFINITY));
            terms.push((paid, -1.0));
            dual.add_constraint(terms, ComparisonOp::Le, variable.cost / scale);
        }
    }
    let outcome = dual.solve_with(SolveOptions::default()).ok()?;
    let solution = outcome.solution()?;
    let turned = |(row, &price): (&super::programme::Row, &microlp::Variable)| {
        let price = solution.var_value(price) * scale;
        match row.op {
            Op::AtMost => price.min(0.0),
            Op::AtLeast => price.max(0.0),
            Op::Equal => price,
        }
    };
    let mut prices: Vec<f64> = programme.rows.iter().zip(&rows).map(turned).collect();
    polish(programme, within, &mut prices);
    Some(prices)
}

/// Of variables of which exactly one is taken, the cheapest pays for the row: a price that leaves nobody less than nothing
/// says most. What a solver gives is a little off.
fn polish(programme: &Programme, within: &[Within], prices: &mut [f64]) {
    let mut left = reduced(programme, prices);
    for (row, price) in programme.rows.iter().zip(prices) {
        let one =
            row.op == Op::Equal && row.bound == 1.0 && row.terms.iter().all(|(_, factor)| *factor == 1.0);
        let open = |at: usize| within.get(at).is_some_and(|(least, most)| least < most);
        if !one || !row.terms.iter().all(|(at, _)| open(*at)) {
            continue;
        }
        let costs = row.terms.iter().filter_map(|(at, _)| left.get(*at).copied());
        let least = costs.fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            *price += least;
            for (at, _) in &row.terms {
                left.get_mut(*at).into_iter().for_each(|slot| *slot -= least);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Three pairs must each be covered by one of the two: whole numbers need two of three, halves do with less.
    fn odd() -> Programme {
        let mut programme = Programme::default();
        let all: Vec<usize> = (0..3).map(|n| programme.variable(format!("v{n}"), 1.0, true)).collect();
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            programme.row(vec![(*all.get(a).unwrap(), 1.0), (*all.get(b).unwrap(), 1.0)], Op::AtLeast, 1.0);
        }
        programme
    }

    #[test]
    fn any_prices_give_a_bound_and_splitting_closes_the_gap() {
        let programme = odd();
        let within = vec![(0.0, 1.0); 3];
        for prices in [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [1.0, 0.2, 0.0], [9.0, 9.0, 9.0]] {
            let reduced = reduced(&programme, &prices);
            assert!(priced(&programme, &prices, &reduced, &within) <= 2.0);
        }
        let found = prices(&programme, &within).unwrap();
        let root = priced(&programme, &found, &reduced(&programme, &found), &within);
        assert!((root - 1.5).abs() < 1e-6, "{root}");
        let proven = prove(&programme, Some(2.0), None);
        assert!((proven.bound - 2.0).abs() < 1e-6 && proven.nodes > 1, "{proven:?}");
    }

    #[test]
    fn what_is_not_the_cheapest_is_not_proven() {
        let proven = prove(&odd(), Some(3.0), None);
        assert!(proven.bound <= 2.0 + 1e-6, "{proven:?}");
        let late = prove(&odd(), Some(2.0), Some(Instant::now()));
        assert!(late.bound <= 0.0 + 1e-9, "{late:?}");
    }
}
