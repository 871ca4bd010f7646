//! What a programme costs at least, priced by our own code.
//!
//! Every row may be left out if breaking it is paid for: whatever price each row has, the cheapest choice without rows,
//! with those prices, costs no more than the cheapest choice with them. The prices come from a solver, which looks for
//! those that say most; that they are right need not be believed.

use super::programme::{Op, Programme, Row};
use super::solver::{scale, until};
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use std::collections::HashSet;
use std::time::Instant;

/// A row that is broken by less than this share may hold but for rounding.
const BROKEN: f64 = 1e-12;
/// The least that a variable may be, and the most.
pub(super) type Within = (f64, f64);

/// A bound, and what is left of each variable's cost.
pub(super) struct Bound {
    pub(super) bound: f64,
    pub(super) reduced: Vec<f64>,
}

/// What the programme costs at least within these bounds. What is known when the time is over is a bound, too.
pub(super) fn bound(programme: &Programme, within: &[Within], end: Option<Instant>) -> Bound {
    let prices =
        prices(programme, within, f64::INFINITY, end).or_else(|| prices(programme, within, DEAREST, end));
    match prices {
        Some(prices) => {
            let reduced = reduced(programme, &prices);
            Bound { bound: priced(programme, &prices, &reduced, within), reduced }
        }
        None => {
            let reduced = vec![0.0; programme.variables.len()];
            Bound { bound: cheapest(programme, within), reduced }
        }
    }
}

/// Fixes what rows leave no choice of, and says whether all of them can hold. Prices would say so, too, but where a row is
/// broken by little they would have to be higher than a solver takes them. In a choice every variable is 0 or 1, also
/// those that follow from others.
pub(super) fn is_possible(programme: &Programme, within: &mut [Within]) -> bool {
    let mut again = true;
    while again {
        again = false;
        for row in &programme.rows {
            match row.settled(within) {
                None => return false,
                Some(settled) => {
                    again |= !settled.is_empty();
                    for (at, value) in settled {
                        within.get_mut(at).into_iter().for_each(|slot| *slot = (value, value));
                    }
                }
            }
        }
    }
    true
}

/// Whether some values are a choice. A budget is not met by a millionth more, as solvers have it.
pub(super) fn is_choice(programme: &Programme, values: &[f64]) -> bool {
    let fixed = programme.variables.iter().zip(values);
    let fixed = fixed.map(|(variable, &value)| if variable.binary { (value, value) } else { (0.0, 1.0) });
    programme.meets(values) && is_possible(programme, &mut fixed.collect::<Vec<Within>>())
}

impl Row {
    /// The variables that can be only one thing by this row; nothing if it cannot hold.
    fn settled(&self, within: &[Within]) -> Option<Vec<(usize, f64)>> {
        let at_most = matches!(self.op, Op::AtMost | Op::Equal);
        let at_least = matches!(self.op, Op::AtLeast | Op::Equal);
        let sides = |at: usize| within.get(at).copied().unwrap_or((0.0, 1.0));
        let (mut least, mut most) = (0.0, 0.0);
        for &(at, factor) in &self.terms {
            let (low, high) = sides(at);
            least += f64::min(factor * low, factor * high);
            most += f64::max(factor * low, factor * high);
        }
        let off = BROKEN * self.bound.abs().max(1.0);
        let (top, bottom) = (self.bound + off, self.bound - off);
        if (at_most && least > top) || (at_least && most < bottom) {
            return None;
        }
        let open = self.terms.iter().filter(|(at, _)| sides(*at) == (0.0, 1.0));
        let forced = open.filter_map(|&(at, factor)| {
            let (down, up) = if factor < 0.0 { (1.0, 0.0) } else { (0.0, 1.0) };
            let size = factor.abs();
            if at_most && least + size > top {
                Some((at, down))
            } else if at_least && most - size < bottom {
                Some((at, up))
            } else {
                None
            }
        });
        Some(forced.collect())
    }
}

/// Without any row.
pub(super) fn cheapest(programme: &Programme, within: &[Within]) -> f64 {
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

/// Where nothing can be at all, prices have no end: then no row is dearer than so many times a usual cost. Solving
/// without that is several times as fast.
const DEAREST: f64 = 1e8;

/// Prices of rows that say much: the solution of the dual programme.
fn prices(programme: &Programme, within: &[Within], dearest: f64, end: Option<Instant>) -> Option<Vec<f64>> {
    let one_of = one_of(programme, within);
    // What the solver takes for nothing is less than a millionth of a usual cost.
    let scale = scale(programme) / 1e4;
    let mut dual = Problem::new(OptimizationDirection::Maximize);
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
                Op::AtMost => (-dearest, 0.0),
                Op::AtLeast => (0.0, dearest),
                Op::Equal => (-dearest, dearest),
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
    for ((at, mut terms), &(least, most)) in of.into_iter().enumerate().zip(within) {
        let Some(variable) = programme.variables.get(at).filter(|_| least < most) else { continue };
        if !one_of.contains(&at) {
            let paid = dual.add_var(-1.0, (0.0, f64::INFINITY));
            terms.push((paid, -1.0));
        }
        dual.add_constraint(terms, ComparisonOp::Le, variable.cost / scale);
    }
    let outcome = dual.solve_with(until(end)).ok()?;
    let solution = outcome.solution()?;
    let turned = |(row, &price): (&Row, &microlp::Variable)| {
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
    for (row, price) in programme.rows.iter().zip(prices).filter(|(row, _)| takes_one(row, within)) {
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

/// Whether exactly one of some open variables is taken.
fn takes_one(row: &Row, within: &[Within]) -> bool {
    let open = |at: usize| within.get(at).is_some_and(|(least, most)| least < most);
    row.op == Op::Equal
        && row.bound == 1.0
        && row.terms.iter().all(|(at, factor)| *factor == 1.0 && open(*at))
}

/// The variables that cannot be more than 1 by a row.
fn one_of(programme: &Programme, within: &[Within]) -> HashSet<usize> {
    let rows = programme.rows.iter().filter(|row| takes_one(row, within));
    rows.flat_map(|row| &row.terms).map(|(at, _)| *at).collect()
}

/// Three pairs must each be covered by one of the two: whole numbers need two of three, halves do with less.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(super) fn odd() -> Programme {
    let mut programme = Programme::default();
    let all: Vec<usize> = (0..3).map(|n| programme.variable(format!("v{n}"), 1.0, true)).collect();
    for (a, b) in [(0, 1), (1, 2), (0, 2)] {
        programme.row(vec![(*all.get(a).unwrap(), 1.0), (*all.get(b).unwrap(), 1.0)], Op::AtLeast, 1.0);
    }
    programme
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn any_prices_give_a_bound() {
        let programme = odd();
        let within = vec![(0.0, 1.0); 3];
        for prices in [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [1.0, 0.2, 0.0], [9.0, 9.0, 9.0]] {
            let reduced = reduced(&programme, &prices);
            assert!(priced(&programme, &prices, &reduced, &within) <= 2.0);
        }
        let root = bound(&programme, &within, None).bound;
        assert!((root - 1.5).abs() < 1e-6, "{root}");
    }

    #[test]
    fn what_cannot_be_is_told_by_arithmetic() {
        let programme = odd();
        let mut within = [(0.0, 1.0), (0.0, 0.0), (0.0, 1.0)];
        assert!(is_possible(&programme, &mut within));
        assert_eq!(within, [(1.0, 1.0), (0.0, 0.0), (1.0, 1.0)]);
        assert!(!is_possible(&programme, &mut [(0.0, 0.0), (0.0, 0.0), (0.0, 1.0)]));
    }
}
