//! Solving a programme: what does not depend on each other apart, each by a solver.
//!
//! What the solver says is not taken on trust: the bound is priced in [`bound`](super::bound), by which
//! [`prove`](super::prove) may find something cheaper, and what it chooses is priced by whoever asks.

use super::bound::is_choice;
use super::programme::{Programme, Row};
use super::prove::prove;
use super::{solver, threads};
use crate::method::{Progress, Stage};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Of each part, the variables that it is about and a value for each. Only those of binary variables are to be used.
    pub parts: Vec<Found>,
    /// No choice costs less than this.
    pub bound: f64,
}

/// What was found for one part.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub variables: Vec<usize>,
    /// Nothing if the time was over before.
    pub values: Option<Vec<f64>>,
    pub bound: f64,
    /// How many times the part was split to prove it.
    pub nodes: usize,
}

/// The cheapest choice.
#[must_use]
pub fn solve(programme: &Programme, limit: Option<Duration>, progress: &Progress) -> Answer {
    let end = limit.and_then(|limit| Instant::now().checked_add(limit));
    let parts = components(programme);
    let count = progress.count(parts.len(), |done, of| Stage::Parts { done, of });
    let parts = threads::each(&parts, |part| {
        let found = part.solve(programme, end);
        count.one_more();
        found
    });
    let bound = programme.constant + parts.iter().map(|part| part.bound).sum::<f64>();
    Answer { parts, bound }
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

    fn solve(&self, of: &Programme, end: Option<Instant>) -> Found {
        let programme = self.programme(of);
        if programme.rows.is_empty() {
            // Nothing binds it: what costs something is left.
            let values = programme.variables.iter().map(|one| if one.cost < 0.0 { 1.0 } else { 0.0 });
            let values: Vec<f64> = values.collect();
            let bound = programme.cost(&values);
            return Found { variables: self.variables.clone(), values: Some(values), bound, nodes: 0 };
        }
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let values = if left == Some(Duration::ZERO) { None } else { solver::choose(&programme, left) };
        let values = values.filter(|values| is_choice(&programme, values));
        let cost = values.as_ref().map(|values| programme.cost(values));
        let proven = prove(&programme, cost, end);
        let values = proven.better.or(values);
        Found { variables: self.variables.clone(), values, bound: proven.bound, nodes: proven.nodes }
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

#[cfg(test)]
mod tests {
    use super::super::programme::Op;
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
        let answer = solve(&programme, None, &Progress::default());
        // Both open: 3 + 4 + 1 + 1; one: 3 + 1 + 6 or 4 + 5 + 1; none: 18. And 2 for the other part.
        assert!((answer.bound - (10.0 + 9.0 + 2.0)).abs() < 1e-6, "{answer:?}");
        let [first, second] = answer.parts.as_slice() else { panic!("{answer:?}") };
        assert_eq!(first.values.as_ref().map(|values| (values[0], values[1])), Some((1.0, 1.0)));
        assert_eq!(second.values, Some(vec![1.0, 0.0]));
        let late = solve(&programme, Some(Duration::ZERO), &Progress::default());
        assert!(late.parts.iter().all(|part| part.values.is_none()));
        assert!(late.bound <= answer.bound);
    }

    #[test]
    fn the_format_has_every_row_and_every_binary() {
        let text = places().lp();
        assert!(text.starts_with("\\ plus 10 whatever is chosen\nMinimize\n obj: + 3 v0_open"), "{text}");
        assert!(text.contains(" r0: + 1 v3_served - 1 v0_open <= 0\n"));
        assert!(text.contains("Binary\n v0_open\n v1_open\n v8_alone\n v9_other\nEnd\n"));
    }
}
