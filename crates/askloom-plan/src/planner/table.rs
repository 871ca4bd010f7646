//! An indented tree with numbers beside it, in 80 columns.

use std::fmt::Write;

const WIDTH: usize = 80;
/// Of each column of numbers but the last, which is the cost.
const COLUMN: usize = 7;
const COST: usize = 9;
/// Deeper steps are not moved further in: words need their room.
const DEEPEST: usize = 8;
/// How much further in a line goes on.
const HANGING: usize = 4;

/// The tree under construction.
#[derive(Debug)]
pub(super) struct Tree {
    text: String,
    columns: usize,
}

impl Tree {
    /// A heading, and the names of the columns; the last is the unit of costs.
    pub(super) fn new(heading: &str, columns: &[&str], unit: &str) -> Self {
        let mut tree = Self { text: String::new(), columns: columns.len() };
        for line in wrapped(heading, WIDTH, WIDTH - HANGING) {
            let indent = if tree.text.is_empty() { 0 } else { HANGING };
            let _ = writeln!(tree.text, "{:indent$}{line}", "");
        }
        let numbers: String = columns.iter().map(|name| format!("{name:>COLUMN$}")).collect();
        let _ = writeln!(tree.text, "{:room$}{numbers}{unit:>COST$}", "", room = tree.room());
        tree
    }

    fn room(&self) -> usize {
        WIDTH - self.columns * COLUMN - COST
    }

    /// A step: what is done, then how much of the first columns, then the cost. What is nothing is left blank.
    pub(super) fn step(&mut self, depth: usize, words: &str, numbers: &[f64], cost: f64) {
        let indent = depth.min(DEEPEST) * 2;
        let room = self.room().saturating_sub(indent);
        let further = WIDTH.saturating_sub(indent + HANGING);
        let mut lines = wrapped(words, room, further).into_iter();
        let first = lines.next().unwrap_or_default();
        let padded = numbers.iter().copied().chain(std::iter::repeat(0.0)).take(self.columns);
        let mut row: String = padded.map(|number| format!("{:>COLUMN$}", short(number))).collect();
        let _ = write!(row, "{:>COST$}", price(cost));
        let row = row.trim_end();
        if first.chars().count() > room {
            let _ = writeln!(self.text, "{:indent$}{first}", "");
            let _ = writeln!(self.text, "{:indent$}{:room$}{row}", "", "");
        } else if row.is_empty() {
            let _ = writeln!(self.text, "{:indent$}{first}", "");
        } else {
            let _ = writeln!(self.text, "{:indent$}{first:room$}{row}", "");
        }
        for line in lines {
            let _ = writeln!(self.text, "{:indent$}{line}", "", indent = indent + HANGING);
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Words in lines of at most so many characters, the first and the others. A longer word stands alone.
pub(super) fn wrapped(words: &str, first: usize, others: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words.split_whitespace() {
        let width = if lines.len() == 1 { first } else { others };
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// `13`, `1.6k`, `4.1G`; nothing for nothing.
pub(super) fn short(number: f64) -> String {
    if number <= 0.0 {
        return String::new();
    }
    let units = ["", "k", "M", "G", "T", "P"];
    let mut scaled = number;
    let mut unit = 0;
    while scaled >= 999.5 && unit + 1 < units.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if (scaled >= 9.95) || (unit == 0 && (scaled - scaled.round()).abs() < 0.05 && scaled >= 1.0) {
        format!("{scaled:.0}{name}")
    } else if scaled >= 0.095 {
        format!("{scaled:.1}{name}")
    } else {
        "<0.1".to_owned()
    }
}

/// Three digits that count; nothing for nothing.
pub(super) fn price(cost: f64) -> String {
    match cost {
        cost if cost <= 0.0 => String::new(),
        cost if cost < 0.0005 => "<0.001".to_owned(),
        cost if cost < 0.9995 => format!("{cost:.3}"),
        cost if cost < 9.995 => format!("{cost:.2}"),
        cost if cost < 99.95 => format!("{cost:.1}"),
        cost => short(cost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shorts = [0.0, 0.01, 0.5, 1.0, 3.26, 13.0, 999.0, 999.6, 1_640.0, 4.1e9, 7e20].map(short);
        assert_eq!(shorts, ["", "<0.1", "0.5", "1", "3.3", "13", "999", "1.0k", "1.6k", "4.1G", "700000P"]);
        let prices = [0.0, 0.0001, 0.125, 1.0, 41.24, 2474.0].map(price);
        assert_eq!(prices, ["", "<0.001", "0.125", "1.00", "41.2", "2.5k"]);
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        let mut tree = Tree::new(&"a heading ".repeat(12), &["calls", "rows"], "µs");
        for depth in 0..12 {
            tree.step(depth, &"word and another ".repeat(9), &[1.0, 1e9], 12.0);
        }
        let text = tree.into_text();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
