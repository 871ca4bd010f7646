//! A choice as a programme: what costs what, and what must be so. Only data: who solves it is another matter.

use std::fmt::Write as _;

/// Minimise the cost of the variables, each from 0 to 1, within the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Programme {
    pub variables: Vec<Variable>,
    pub rows: Vec<Row>,
    /// What is paid whatever is chosen.
    pub constant: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: String,
    pub cost: f64,
    /// Whether it is 0 or 1. What is not follows from those that are.
    pub binary: bool,
}

/// A sum of variables, each with a factor, against a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub terms: Vec<(usize, f64)>,
    pub op: Op,
    pub bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    AtMost,
    AtLeast,
    Equal,
}

/// How far a sum may be off, by rounding.
const TOLERANCE: f64 = 1e-6;

impl Programme {
    pub fn variable(&mut self, name: String, cost: f64, binary: bool) -> usize {
        self.variables.push(Variable { name, cost, binary });
        self.variables.len() - 1
    }

    pub fn row(&mut self, terms: Vec<(usize, f64)>, op: Op, bound: f64) {
        self.rows.push(Row { terms, op, bound });
    }

    /// What some values cost.
    #[must_use]
    pub fn cost(&self, values: &[f64]) -> f64 {
        self.constant
            + self.variables.iter().zip(values).map(|(variable, value)| variable.cost * value).sum::<f64>()
    }

    /// Whether some values are a choice.
    #[must_use]
    pub fn meets(&self, values: &[f64]) -> bool {
        let whole = |(variable, value): (&Variable, &f64)| {
            let within = (-TOLERANCE..=1.0 + TOLERANCE).contains(value);
            within && (!variable.binary || (value - value.round()).abs() <= TOLERANCE)
        };
        self.variables.len() == values.len()
            && self.variables.iter().zip(values).all(whole)
            && self.rows.iter().all(|row| row.holds(values))
    }

    /// In the LP format that solvers read.
    #[must_use]
    pub fn lp(&self) -> String {
        let mut text = format!("\\ plus {} whatever is chosen\nMinimize\n obj:", self.constant);
        for (at, variable) in self.variables.iter().enumerate().filter(|(_, variable)| variable.cost != 0.0) {
            let _ = write!(text, " + {} {}", variable.cost, self.named(at));
        }
        text.push_str("\nSubject To\n");
        for (at, row) in self.rows.iter().enumerate() {
            let _ = write!(text, " r{at}:");
            for &(variable, factor) in &row.terms {
                let sign = if factor < 0.0 { '-' } else { '+' };
                let _ = write!(text, " {sign} {} {}", factor.abs(), self.named(variable));
            }
            let op = match row.op {
                Op::AtMost => "<=",
                Op::AtLeast => ">=",
                Op::Equal => "=",
            };
            let _ = writeln!(text, " {op} {}", row.bound);
        }
        text.push_str("Bounds\n");
        for at in 0..self.variables.len() {
            let _ = writeln!(text, " 0 <= {} <= 1", self.named(at));
        }
        text.push_str("Binary\n");
        for (at, _) in self.variables.iter().enumerate().filter(|(_, variable)| variable.binary) {
            let _ = writeln!(text, " {}", self.named(at));
        }
        text.push_str("End\n");
        text
    }

    /// A name that the format takes, and that no other has.
    fn named(&self, at: usize) -> String {
        let name = self.variables.get(at).map(|variable| variable.name.as_str()).unwrap_or_default();
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        format!("v{at}_{plain}")
    }
}

impl Row {
    fn holds(&self, values: &[f64]) -> bool {
        let sum: f64 =
            self.terms.iter().map(|&(at, factor)| factor * values.get(at).copied().unwrap_or(0.0)).sum();
        let off = TOLERANCE * self.bound.abs().max(1.0);
        match self.op {
            Op::AtMost => sum <= self.bound + off,
            Op::AtLeast => sum >= self.bound - off,
            Op::Equal => (sum - self.bound).abs() <= off,
        }
    }
}
