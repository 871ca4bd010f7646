//! Aligned columns. Numbers stand right. A line that is wider than the terminal is cut, with a mark; what goes into a
//! file or a pipe never is.

use super::plain;
use crate::screen::Style;
use askloom::run::Rows;
use clap::builder::styling;
use serde_json::Value as Json;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const GAP: &str = "  ";
const CUT: char = '…';

/// No column is cut below this.
const NARROWEST: usize = 8;

pub(super) fn render(rows: &Rows, style: Style) -> String {
    let names: Vec<String> = rows.columns.iter().map(|name| shown(name)).collect();
    let cells: Vec<Vec<String>> =
        rows.rows.iter().map(|row| row.iter().map(|value| shown(&plain(value))).collect()).collect();
    let mut widths: Vec<usize> = names.iter().map(|name| name.width()).collect();
    for row in &cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    if style.terminal {
        narrow(&mut widths, style.width);
    }
    let numbers: Vec<bool> = (0..names.len()).map(|column| is_number(rows, column)).collect();
    let bold = if style.color { styling::Style::new().bold() } else { styling::Style::new() };
    let mut text = format!("{bold}{}{bold:#}\n", line(&names, &widths, &numbers));
    for row in &cells {
        text.push_str(&line(row, &widths, &numbers));
        text.push('\n');
    }
    text
}

/// Takes from the widest columns what is too much.
fn narrow(widths: &mut [usize], most: usize) {
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    let mut surplus = (widths.iter().sum::<usize>() + gaps).saturating_sub(most);
    while surplus > 0 {
        let Some(widest) = widths.iter_mut().max().filter(|width| **width > NARROWEST) else { return };
        *widest -= 1;
        surplus -= 1;
    }
}

fn is_number(rows: &Rows, column: usize) -> bool {
    let mut values =
        rows.rows.iter().filter_map(|row| row.get(column)).filter(|value| !value.is_null()).peekable();
    values.peek().is_some() && values.all(Json::is_number)
}

fn line(cells: &[String], widths: &[usize], numbers: &[bool]) -> String {
    let mut line = String::new();
    for ((cell, &width), &number) in cells.iter().zip(widths).zip(numbers) {
        if !line.is_empty() {
            line.push_str(GAP);
        }
        let cell = cut(cell, width);
        let space = " ".repeat(width.saturating_sub(cell.width()));
        line.push_str(&if number { format!("{space}{cell}") } else { format!("{cell}{space}") });
    }
    line.truncate(line.trim_end().len());
    line
}

fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut width = 0;
    for letter in text.chars() {
        width += letter.width().unwrap_or(0);
        if width > most.saturating_sub(1) {
            break;
        }
        kept.push(letter);
    }
    kept.push(CUT);
    kept
}

/// A text on one line, and nothing in it that a terminal would obey.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(values: &[[Json; 2]]) -> Rows {
        let rows = values.iter().map(|row| row.to_vec()).collect();
        Rows { columns: vec!["name".into(), "score".into()], rows }
    }

    #[test]
    fn wide_letters_take_two_places() {
        let rows = rows(&[[json!("漢字"), json!(7)], [json!("ada"), json!(1200)]]);
        assert_eq!(render(&rows, Style::PLAIN), "name  score\n漢字      7\nada    1200\n");
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        let rows = rows(&[[json!("a\u{1b}[2Jb\nc"), json!(null)]]);
        assert_eq!(render(&rows, Style::PLAIN), "name            score\na\\u{1b}[2Jb\\nc  null\n");
    }

    #[test]
    fn only_a_terminal_cuts() {
        let rows = rows(&[[json!("x".repeat(100)), json!(1)]]);
        assert!(render(&rows, Style::PLAIN).contains(&"x".repeat(100)));
        let style = Style { terminal: true, width: 40, ..Style::PLAIN };
        let text = render(&rows, style);
        assert!(text.lines().all(|line| line.width() <= 40) && text.contains("xx…"), "{text}");
    }
}
