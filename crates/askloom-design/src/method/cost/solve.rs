//! Solving a programme: what does not depend on each other apart, each by microlp.
//!
//! What the solver says is not taken on trust: its values are rounded, checked against the rows and priced here.

use super::programme::{Op, Programme, Row};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolutionStatus, SolveOptions};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub values: Vec<f64>,
    pub cost: f64,
    /// No choice costs less than this.
    pub bound: f64,
    /// How many programmes it fell into.
    pub components: usize,
}

impl Answer {
    /// How much less another choice could cost, as a share.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.cost <= 0.0 { 0.0 } else { ((self.cost - self.bound) / self.cost).max(0.0) }
    }
}

/// Differences of costs below this share are rounding.
const ROUNDING: f64 = 1e-7;

/// The cheapest choice, at least as cheap as the one to start from. That one must be a choice.
#[must_use]
pub fn solve(programme: &Programme, start: &[f64], limit: Option<Duration>) -> Answer {
    let begun = Instant::now();
    let mut values = start.to_vec();
    let mut bound = programme.constant;
    let parts = components(programme);
    let components = parts.len();
    for part in parts {
        let own: Vec<f64> = part.variables.iter().filter_map(|&at| start.get(at).copied()).collect();
        let sub = part.programme(programme);
        let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        let found = component(&sub, &own, left);
        bound += found.bound;
        for (&at, value) in part.variables.iter().zip(found.values) {
            if let Some(slot) = values.get_mut(at) {
                *slot = value;
            }
        }
    }
    let cost = programme.cost(&values);
    Answer { values, cost, bound: bound.min(cost), components }
}

/// Variables and rows that have nothing to do with the others.
struct Part {
    variables: Vec<usize>,
    rows: Vec<usize>,
}

impl Part {
    fn programme(&self, of: &Programme) -> Programme {
        let at: HashMap<usize, usize> =
            self.variables.iter().enumerate().map(|(new, &old)| (old, new)).collect();
        let row = |row: &Row| Row {
            terms: row.terms.iter().filter_map(|(old, factor)| Some((*at.get(old)?, *factor))).collect(),
            op: row.op,
            bound: row.bound,
        };
        Programme {
            variables: self.variables.iter().filter_map(|&old| of.variables.get(old).cloned()).collect(),
            rows: self.rows.iter().filter_map(|&old| of.rows.get(old).map(row)).collect(),
            constant: 0.0,
        }
    }
}

fn components(programme: &Programme) -> Vec<Part> {
    let mut of: Vec<usize> = (0..programme.variables.len()).collect();
    fn root(of: &mut [usize], mut at: usize) -> usize {
        while let Some(&above) = of.get(at)
            && above != at
        {
            let further = of.get(above).copied().unwrap_or(above);
            if let Some(slot) = of.get_mut(at) {
                *slot = further;
            }
            at = further;
        }
        at
    }
    for row in &programme.rows {
        for pair in row.terms.windows(2) {
            let [(a, _), (b, _)] = pair else { continue };
            let (a, b) = (root(&mut of, *a), root(&mut of, *b));
            if let Some(slot) = of.get_mut(a.max(b)) {
                *slot = a.min(b);
            }
        }
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    for variable in 0..programme.variables.len() {
        let at = *known.entry(root(&mut of, variable)).or_insert_with(|| {
            parts.push(Part { variables: Vec::new(), rows: Vec::new() });
            parts.len() - 1
        });
        parts.get_mut(at).into_iter().for_each(|part| part.variables.push(variable));
    }
    for (index, row) in programme.rows.iter().enumerate() {
        let first = row.terms.first().map(|(at, _)| root(&mut of, *at));
        let part = first.and_then(|first| known.get(&first)).and_then(|&at| parts.get_mut(at));
        part.into_iter().for_each(|part| part.rows.push(index));
    }
    parts
}

struct Found {
    values: Vec<f64>,
    bound: f64,
}

fn component(programme: &Programme, start: &[f64], limit: Option<Duration>) -> Found {
    let started = programme.cost(start);
    let nothing = Found { values: start.to_vec(), bound: 0.0 };
    if programme.rows.is_empty() {
        // Whatever costs nothing and is bound by nothing stays as it was.
        let values: Vec<f64> = programme
            .variables
            .iter()
            .zip(start)
            .map(|(variable, &value)| if variable.cost > 0.0 { 0.0 } else { value })
            .collect();
        let bound = programme.cost(&values);
        return Found { values, bound };
    }
    if limit == Some(Duration::ZERO) {
        return nothing;
    }
    // Costs that the solver sees are about 1: its tolerances are absolute.
    let scale = if started > 0.0 { started } else { 1.0 };
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let variables: Vec<microlp::Variable> = programme
        .variables
        .iter()
        .map(|variable| match variable.binary {
            true => problem.add_binary_var(variable.cost / scale),
            false => problem.add_var(variable.cost / scale, (0.0, 1.0)),
        })
        .collect();
    for row in &programme.rows {
        let terms: Vec<(microlp::Variable, f64)> =
            row.terms.iter().filter_map(|&(at, factor)| Some((*variables.get(at)?, factor))).collect();
        let op = match row.op {
            Op::AtMost => ComparisonOp::Le,
            Op::AtLeast => ComparisonOp::Ge,
            Op::Equal => ComparisonOp::Eq,
        };
        problem.add_constraint(terms, op, row.bound);
    }
    if let Some(limit) = limit {
        problem.set_time_limit(limit);
    }
    let Ok(outcome) = problem.solve_with(SolveOptions::default()) else { return nothing };
    let Some(solution) = outcome.solution() else { return nothing };
    let values: Vec<f64> = programme
        .variables
        .iter()
        .zip(&variables)
        .map(|(variable, &at)| {
            let value = solution.var_value(at);
            if variable.binary { value.round() } else { value.clamp(0.0, 1.0) }
        })
        .collect();
    let proven = solution.status() == SolutionStatus::Optimal;
    let cost = programme.cost(&values);
    let gap = solution.gap().unwrap_or(0.0);
    let bound = if proven { solution.objective() } else { solution.objective() * (1.0 - gap) } * scale;
    let better = programme.meets(&values) && cost <= started;
    Found { values: if better { values } else { start.to_vec() }, bound: (bound * (1.0 - ROUNDING)).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two places to open, each serving two customers, and a third that has nothing to do with them.
    fn places() -> Programme {
        let mut programme = Programme { constant: 10.0, ..Programme::default() };
        let open: Vec<usize> =
            [3.0, 4.0].iter().map(|&cost| programme.variable("open".to_owned(), cost, true)).collect();
        for costs in [[1.0, 5.0], [6.0, 1.0]] {
            let none = programme.variable("none".to_owned(), 9.0, false);
            let mut all = vec![(none, 1.0)];
            for (place, cost) in open.iter().zip(costs) {
                let served = programme.variable("served".to_owned(), cost, false);
                programme.row(vec![(served, 1.0), (*place, -1.0)], Op::AtMost, 0.0);
                all.push((served, 1.0));
            }
            programme.row(all, Op::Equal, 1.0);
        }
        let alone = programme.variable("alone".to_owned(), 2.0, true);
        let other = programme.variable("other".to_owned(), 3.0, true);
        programme.row(vec![(alone, 1.0), (other, 1.0)], Op::AtLeast, 1.0);
        programme
    }

    #[test]
    fn the_cheapest_choice_is_found_and_proven_part_by_part() {
        let programme = places();
        let start = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        assert!(programme.meets(&start));
        let answer = solve(&programme, &start, None);
        // Both open: 3 + 4 + 1 + 1; one: 3 + 1 + 6 or 4 + 5 + 1; none: 18. And 2 for the other part.
        assert!((answer.cost - (10.0 + 9.0 + 2.0)).abs() < 1e-6, "{answer:?}");
        assert!(answer.gap() < 1e-6 && answer.components == 2, "{answer:?}");
        assert!(programme.meets(&answer.values));
        let late = solve(&programme, &start, Some(Duration::ZERO));
        assert_eq!(late.values, start, "without time the start is the answer");
        assert!(late.gap() > 0.5);
    }

    #[test]
    fn the_format_has_every_row_and_every_binary() {
        let text = places().lp();
        assert!(text.starts_with("\\ plus 10 whatever is chosen\nMinimize\n obj: + 3 v0_open"), "{text}");
        assert!(text.contains(" r0: + 1 v3_served - 1 v0_open <= 0\n"));
        assert!(text.contains("Binary\n v0_open\n v1_open\n v8_alone\n v9_other\nEnd\n"));
    }
}
