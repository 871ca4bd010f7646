mod store;

use crate::embedded::Example;
use crate::exit::Exit;
use crate::render::{self, Report};
use crate::screen::{Screen, Style};
use askloom::Error;
use askloom::design::simple;
use askloom::lang::{Memory, check};
use askloom::model::{Model, Severity};
use askloom::plan::planner;
use clap::builder::styling;
use std::path::Path;

/// See what Askloom does, in a minute; nothing is left behind
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  askloom tour")]
pub(crate) struct Args {}

const NAME: &str = "game.loom";

/// The declaration that is shown; the model has more.
const SHOWN: &str = "query lobby";

/// What goes wrong in the copy: what stands in the model, and what a person in a hurry wrote.
const MISTAKE: (&str, &str) = ("ORDER BY startedAt", "ORDER BY startdAt");

pub(super) fn run(_: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let missing = || Error::Input(format!("this program was built without {NAME}"));
    let example = Example::named("game").ok_or_else(missing)?;
    let model = example.text(NAME).ok_or_else(missing)?;
    let style = screen.style();
    let report = report(model);
    let heading = |text: &str| {
        let bold = if style.color { styling::Style::new().bold() } else { styling::Style::new() };
        format!("{bold}{text}{bold:#}\n")
    };
    let text = [
        heading("1. One file says what is stored, what is asked, and how often."),
        excerpt(model),
        render::summary(&report),
        heading("\n2. Askloom reads it before a database does. A copy with a mistake:"),
        findings(model, style),
        heading("3. It designs what to keep where. The lobby gets a copy of its own:"),
        design(&report.checked.model),
        heading("\n4. It runs the design: here on the embedded store, with some players."),
        store::played(example, &report.checked.model, style)?,
        heading("\nTry next"),
        NEXT.to_owned(),
    ];
    screen.print(&text.concat())?;
    Ok(Exit::Done)
}

const NEXT: &str = "  askloom new game                  this model in a folder of yours
  askloom explain game/game.loom    how each statement is answered
  askloom apply game/game.loom      a store for it, then `askloom run`
";

fn report(text: &str) -> Report {
    let world = Memory::default().with(NAME, text);
    Report { root: NAME.into(), checked: check(&world, Path::new(NAME)) }
}

fn findings(model: &str, style: Style) -> String {
    let mut report = report(&model.replacen(MISTAKE.0, MISTAKE.1, 1));
    report.checked.diagnostics.retain(|diagnostic| diagnostic.severity != Severity::Note);
    render::human(&report, style)
}

/// The view of the lobby, and how the query reads it.
fn design(model: &Model) -> String {
    let design = simple::design(model);
    let Some(lobby) = model.workload.queries.iter().find(|query| query.header.name == "lobby") else {
        return String::new();
    };
    let mut text = String::new();
    for (_, collection) in design.collections.iter().filter(|(_, collection)| collection.name == "LobbyView")
    {
        askloom::words::one(
            &model.conceptual,
            collection,
            &askloom::target::embedded::CAPABILITY.words,
            &mut text,
        );
    }
    let found = planner::plan(&askloom::target::embedded::costing(), &model.conceptual, &design, lobby);
    text + &found.map(|found| planner::print(model, &design, lobby, &found)).unwrap_or_default()
}

/// A declaration of a model to its end, with its annotations.
fn excerpt(model: &str) -> String {
    let block = model.split("\n\n").find(|block| block.contains(SHOWN)).unwrap_or_default();
    block.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_there() {
        let model = Example::named("game").unwrap().text(NAME).unwrap();
        assert!(model.contains(MISTAKE.0) && excerpt(model).contains(SHOWN));
        assert!(findings(model, Style::PLAIN).contains(MISTAKE.1.split_once("BY ").unwrap().1));
    }
}
