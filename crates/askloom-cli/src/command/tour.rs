use crate::embedded::Example;
use crate::exit::{Exit, Failure};
use crate::render::{self, Report, amount};
use crate::screen::{Screen, Style};
use askloom_lang::{Dialect, Memory, check, fix, format};
use askloom_model::{Applicability, Severity};
use clap::builder::styling;
use similar::{ChangeTag, TextDiff};
use std::path::Path;

/// See what Askloom does, in a minute; nothing is written
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  askloom tour")]
pub(crate) struct Args {}

const NAME: &str = "game.loom";

/// The declarations that are shown; the model has more.
const SHOWN: [&str; 2] = ["entity Player", "query lobby"];

/// What goes wrong in the copy: what stands in the model, and what a person in a hurry wrote.
const MISTAKES: [(&str, &str); 3] = [
    ("ORDER BY startedAt", "ORDER BY startdAt"),
    ("SET score = :score", "SET score = NULL"),
    ("AND status = 'waiting'", "AND status = 'waiting' OR status = 'over'"),
];

pub(super) fn run(_: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    let missing = || Failure::Input(format!("this program was built without {NAME}"));
    let model = Example::named("game").and_then(|example| example.text(NAME)).ok_or_else(missing)?;
    let style = screen.style();
    screen.print(&text(model, style))?;
    Ok(Exit::Done)
}

fn text(model: &str, style: Style) -> String {
    let broken = planted(model);
    let mended = mended(&broken);
    let heading = |text: &str| {
        let bold = if style.color { styling::Style::new().bold() } else { styling::Style::new() };
        format!("{bold}{text}{bold:#}\n")
    };
    [
        heading("1. One file says what is stored, what is asked, and how often."),
        excerpt(model),
        render::summary(&report(model)),
        heading("\n2. Askloom reads it before a database does. A copy with three mistakes:"),
        findings(report(&broken), style),
        heading("3. What was plainly meant, `askloom check --fix` writes; `askloom fmt` tidies."),
        changes(&broken, &mended),
        render::summary(&report(&mended)),
        heading("\nTry next"),
        NEXT.to_owned(),
    ]
    .concat()
}

const NEXT: &str = "  askloom new game          this model in a folder of yours
  askloom check game/game.loom
  askloom explain AL0109    what a code means, and how to mend it
";

fn report(text: &str) -> Report {
    let world = Memory::default().with(NAME, text);
    Report { root: NAME.into(), checked: check(&world, Path::new(NAME)) }
}

fn planted(model: &str) -> String {
    MISTAKES.iter().fold(model.to_owned(), |text, (right, wrong)| text.replacen(right, wrong, 1))
}

/// The diagnostics as `askloom check` shows them, but for the fixes: those are the next step.
fn findings(mut report: Report, style: Style) -> String {
    report.checked.diagnostics.retain(|diagnostic| diagnostic.severity != Severity::Note);
    for diagnostic in &mut report.checked.diagnostics {
        diagnostic.fix = None;
    }
    render::human(&report, style)
}

fn mended(broken: &str) -> String {
    let world = Memory::default().with(NAME, broken);
    let outcome = fix(&world, Path::new(NAME), Applicability::Safe);
    let text = outcome.files.into_iter().next().map_or_else(|| broken.to_owned(), |(_, text)| text);
    format(&text, Dialect::Loom).text
}

/// The lines that fixing and formatting wrote.
fn changes(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let added = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Insert);
    let lines: Vec<String> = added.map(|change| format!("  + {}\n", change.value().trim())).collect();
    match lines.as_slice() {
        [] => "  nothing to change\n".to_owned(),
        lines => lines.iter().take(4).cloned().collect::<String>() + &more(lines.len().saturating_sub(4)),
    }
}

fn more(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("  … {}\n", amount(lines, "more line")) }
}

/// Some declarations of a model, each to its end, with their annotations.
fn excerpt(model: &str) -> String {
    let mut blocks = model.split("\n\n").filter(|block| SHOWN.iter().any(|start| block.contains(start)));
    let mut text = String::new();
    for line in blocks.by_ref().flat_map(|block| block.lines().chain([""])) {
        text.push_str(format!("  {line}").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_can_be_made() {
        let model = Example::named("game").unwrap().text(NAME).unwrap();
        for (right, wrong) in MISTAKES {
            assert!(model.contains(right), "the model has no {right}");
            assert!(planted(model).contains(wrong), "no {wrong} was planted");
        }
    }

    #[test]
    fn every_declaration_is_shown() {
        let model = Example::named("game").unwrap().text(NAME).unwrap();
        for start in SHOWN {
            assert!(excerpt(model).contains(start), "{start} is not shown");
        }
    }
}
