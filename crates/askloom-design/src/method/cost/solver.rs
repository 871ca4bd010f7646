//! The solvers: microlp, which is in every build, and HiGHS, which is written in C++ and behind the feature `highs`.

use super::programme::{Op, Programme, Variable};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOptions};
use std::time::{Duration, Instant};

/// So many times a programme is split by the solver. What is best by then is proven, or not, by our own code.
#[cfg(not(feature = "highs"))]
const NODES: u64 = 2_000;

/// What the solver chooses; nothing if it finds nothing in time.
#[cfg(not(feature = "highs"))]
pub(super) fn choose(programme: &Programme, limit: Option<Duration>) -> Option<Vec<f64>> {
    let (problem, variables) = problem(programme, |problem, variable, cost| match variable.binary {
        true => problem.add_binary_var(cost),
        false => problem.add_var(cost, (0.0, 1.0)),
    });
    let mut options = SolveOptions::default();
    (options.time_limit, options.node_limit) = (limit, Some(NODES));
    let outcome = problem.solve_with(options).ok()?;
    let solution = outcome.solution()?;
    let value = |(variable, at): (&Variable, &microlp::Variable)| {
        let value = solution.var_value(*at);
        if variable.binary { value.round() } else { value.clamp(0.0, 1.0) }
    };
    Some(programme.variables.iter().zip(&variables).map(value).collect())
}

/// What the solver chooses; nothing if it finds nothing in time. One thread, so that the same choice comes out of the same
/// programme.
#[cfg(feature = "highs")]
pub(super) fn choose(programme: &Programme, limit: Option<Duration>) -> Option<Vec<f64>> {
    use highs::{HighsModelStatus, RowProblem, Sense};
    use std::num::NonZeroU32;
    let scale = scale(programme);
    let mut problem = RowProblem::new();
    let columns: Vec<highs::Col> = programme
        .variables
        .iter()
        .map(|variable| match variable.binary {
            true => problem.add_integer_column(variable.cost / scale, 0.0..=1.0),
            false => problem.add_column(variable.cost / scale, 0.0..=1.0),
        })
        .collect();
    for row in &programme.rows {
        let terms: Vec<(highs::Col, f64)> =
            row.terms.iter().filter_map(|&(at, factor)| Some((*columns.get(at)?, factor))).collect();
        match row.op {
            Op::AtMost => problem.add_row(..=row.bound, terms),
            Op::AtLeast => problem.add_row(row.bound.., terms),
            Op::Equal => problem.add_row(row.bound..=row.bound, terms),
        };
    }
    let mut model = problem.try_optimise(Sense::Minimise).ok()?;
    model.make_quiet();
    model.set_threads(NonZeroU32::MIN);
    model.set_option("mip_rel_gap", 0.0);
    if let Some(limit) = limit {
        model.set_option("time_limit", limit.as_secs_f64());
    }
    let solved = model.try_solve().ok()?;
    if !matches!(solved.status(), HighsModelStatus::Optimal | HighsModelStatus::ReachedTimeLimit) {
        return None;
    }
    let solution = solved.get_solution();
    let value = |(variable, &value): (&Variable, &f64)| {
        if variable.binary { value.round() } else { value.clamp(0.0, 1.0) }
    };
    let values: Vec<f64> = programme.variables.iter().zip(solution.columns()).map(value).collect();
    (values.len() == programme.variables.len()).then_some(values)
}

/// What microlp takes if parts of what is binary may be taken, each variable within its bounds.
pub(super) fn relaxed(
    programme: &Programme,
    within: &[(f64, f64)],
    end: Option<Instant>,
) -> Option<Vec<f64>> {
    let mut sides = within.iter();
    let (problem, variables) = problem(programme, |problem, _, cost| {
        problem.add_var(cost, sides.next().copied().unwrap_or((0.0, 1.0)))
    });
    let outcome = problem.solve_with(until(end)).ok()?;
    let solution = outcome.solution()?;
    Some(variables.iter().map(|&variable| solution.var_value(variable)).collect())
}

/// Nothing is looked for when the time is over. Without an end, nothing depends on how fast the machine is.
pub(super) fn until(end: Option<Instant>) -> SolveOptions {
    let mut options = SolveOptions::default();
    options.time_limit = end.map(|end| end.saturating_duration_since(Instant::now()));
    options
}

/// A programme as microlp has it, with whoever adds its variables in order.
fn problem(
    programme: &Programme,
    mut add: impl FnMut(&mut Problem, &Variable, f64) -> microlp::Variable,
) -> (Problem, Vec<microlp::Variable>) {
    // Costs that the solver sees are about 1: its tolerances are absolute.
    let scale = scale(programme);
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let mut variables = Vec::with_capacity(programme.variables.len());
    for variable in &programme.variables {
        variables.push(add(&mut problem, variable, variable.cost / scale));
    }
    for row in &programme.rows {
        let terms = row.terms.iter().filter_map(|&(at, factor)| Some((*variables.get(at)?, factor)));
        let op = match row.op {
            Op::AtMost => ComparisonOp::Le,
            Op::AtLeast => ComparisonOp::Ge,
            Op::Equal => ComparisonOp::Eq,
        };
        problem.add_constraint(terms.collect::<Vec<_>>(), op, row.bound);
    }
    (problem, variables)
}

/// What costs are about.
pub(super) fn scale(programme: &Programme) -> f64 {
    let costs = programme.variables.iter().map(|variable| variable.cost.abs());
    let (sum, count) =
        costs.filter(|&cost| cost > 0.0).fold((0.0, 0.0), |(sum, n), cost| (sum + cost, n + 1.0));
    if count > 0.0 { sum / count } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::super::bound::odd;
    use super::*;

    #[test]
    fn nothing_is_looked_for_when_the_time_is_over() {
        let (within, now) = ([(0.0, 1.0); 3], Some(Instant::now()));
        assert!(choose(&odd(), None).is_some() && choose(&odd(), Some(Duration::ZERO)).is_none());
        assert!(relaxed(&odd(), &within, None).is_some() && relaxed(&odd(), &within, now).is_none());
    }
}
