use crate::exit::{Exit, Failure};
use crate::model::Designed;
use crate::screen::Screen;
use crate::statement::Statement;
use askloom_design::cost::Costing;
use askloom_design::method::Method;
use askloom_design::plan;
use askloom_model::{Design, Diagnostic, Model, Query};
use askloom_target::Target;
use std::path::Path;

/// How a statement is carried out, or all of them: the plan, what a reader may see, what was assumed.
pub(super) fn run(
    file: &Path,
    name: Option<&str>,
    target: &Target,
    method: Option<Method>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let designed = match method {
        Some(method) => Designed::by(method, file, &Costing::from(target), screen)?,
        None => Designed::read(file, screen)?,
    };
    let chosen: Vec<Statement<'_>> = match name {
        Some(name) => vec![Statement::named(&designed.model, name)?],
        None => Statement::all(&designed.model.workload).collect(),
    };
    let texts: Vec<String> = chosen
        .into_iter()
        .map(|one| format!("{}{}", explained(&designed, one, target), why(&designed, one.name())))
        .collect();
    screen.print(&texts.join("\n"))?;
    Ok(Exit::Done)
}

/// What the method decided about a statement, with where that comes from.
fn why(designed: &Designed, name: &str) -> String {
    let about = designed.decisions.iter().filter(|decision| decision.about == name);
    let lines = about.map(|decision| wrapped(&format!("why: {} [{}]", decision.says, decision.source)));
    lines.collect()
}

fn wrapped(words: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + word.chars().count() < 80 => {
                line.push(' ');
                line.push_str(word);
            }
            _full => lines.push(format!("    {word}")),
        }
    }
    lines.join("\n") + "\n"
}

fn explained(designed: &Designed, statement: Statement<'_>, target: &Target) -> String {
    let Designed { model, design, .. } = designed;
    let costing = Costing::from(target);
    match statement {
        Statement::Query(query) => answered(model, design, query, &costing),
        Statement::Ask(ask) => match askloom_design::ask::query(&model.conceptual, ask) {
            Some(query) => answered(model, design, &query, &costing),
            None => format!("{}: its links close a circle between two value objects\n", ask.header.name),
        },
        Statement::Write(write) => match plan::write::plan(&costing, model, design, write) {
            Ok(found) => {
                let assumed = plan::print_assumed(model, &found.assumed);
                format!("{}{assumed}", plan::write::print(model, design, Some(write), &found))
            }
            Err(why) => unanswered(&write.header.name, &why),
        },
    }
}

fn answered(model: &Model, design: &Design, query: &Query, costing: &Costing<'_>) -> String {
    match plan::answer(costing, model, design, query) {
        Ok(found) => {
            let assumed = plan::print_assumed(model, &found.priced.assumed);
            format!("{}{assumed}", plan::print(model, design, query, &found))
        }
        Err(why) => unanswered(&query.header.name, &why),
    }
}

fn unanswered(name: &str, why: &Diagnostic) -> String {
    format!("{name}: {}[{}]: {}\n", why.severity.name(), why.code, why.message)
}
