use crate::exit::{Exit, Failure};
use crate::model::Designed;
use crate::native;
use crate::pricing::Pricing;
use crate::screen::Screen;
use crate::statement::Statement;
use crate::{fit, limits};
use askloom_design::cost::Costing;
use askloom_design::method::Method;
use askloom_design::{lower, plan};
use askloom_model::{Design, Diagnostic, Model, Query};
use askloom_target::Target;
use std::path::Path;

/// What is to be explained.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) file: &'a Path,
    /// Nothing: every statement.
    pub(super) name: Option<&'a str>,
    pub(super) method: Option<Method>,
    /// With the sources of all numbers.
    pub(super) all: bool,
}

/// How a statement is carried out, or all of them: the plan, what a reader may see, what was assumed.
pub(super) fn run(asked: &Asked<'_>, pricing: &Pricing, screen: &mut Screen) -> Result<Exit, Failure> {
    let Asked { file, name, method, all } = *asked;
    let (target, costing) = (pricing.target, pricing.costing());
    let designed = Designed::on(target.capability.target, &costing, method, file, screen)?;
    let native = native::statements(&designed.model, &designed.design, target, &costing, &designed.sources);
    let chosen: Vec<Statement<'_>> = match name {
        Some(name) => vec![Statement::named(&designed.model, name)?],
        None => Statement::all(&designed.model.workload).collect(),
    };
    if chosen.is_empty() {
        screen.say(&format!("{} has no statements, so there is nothing to plan", file.display()));
        return Ok(Exit::Done);
    }
    let mut texts = Vec::new();
    let mut wrong = false;
    for one in chosen {
        let (Ok(text) | Err(text)) = &explained(&designed, one, &costing).inspect_err(|_| wrong = true);
        let native = native.get(one.name()).map(|text| format!("\n{text}"));
        let native = native.or_else(|| not_generated(&designed, one, target)).unwrap_or_default();
        texts.push(format!("{text}{}{native}", why(&designed, one.name())));
    }
    texts.extend(pricing.words().map(|words| wrapped(&words)));
    texts.extend(all.then(|| pricing.sources()));
    screen.print(&texts.join("\n"))?;
    wrong |= limits::say(&designed.model, &designed.design, target, screen);
    Ok(Exit::any_wrong(wrong))
}

/// Says that the store has a language, and that this statement is not put into it.
fn not_generated(designed: &Designed, statement: Statement<'_>, target: &Target) -> Option<String> {
    target.language?;
    let form = match statement {
        Statement::Query(query) => lower::not_generated(&designed.model.conceptual, query)?,
        Statement::Ask(_) | Statement::Write(_) => return None,
    };
    Some(wrapped(&format!("its text for {} is not generated yet: it has {form}", target.capability.title)))
}

/// What the method decided about a statement, with where that comes from.
fn why(designed: &Designed, name: &str) -> String {
    let about = designed.decisions.iter().filter(|decision| decision.about == name);
    let lines = about.map(|decision| wrapped(&format!("why: {} [{}]", decision.says, decision.source)));
    lines.collect()
}

fn wrapped(words: &str) -> String {
    fit::lines(words, fit::WIDTH - 4).join("\n    ") + "\n"
}

/// How it is carried out, or why it cannot be.
fn explained(designed: &Designed, statement: Statement<'_>, costing: &Costing<'_>) -> Result<String, String> {
    let Designed { model, design, .. } = designed;
    match statement {
        Statement::Query(query) => answered(model, design, query, costing),
        Statement::Ask(ask) => match askloom_design::ask::query(&model.conceptual, ask) {
            Some(query) => answered(model, design, &query, costing),
            None => Err(format!("{}: its links close a circle between two value objects\n", ask.header.name)),
        },
        Statement::Write(write) => match plan::write::plan(costing, model, design, write) {
            Ok(found) => {
                let assumed = plan::print_assumed(model, &found.assumed);
                Ok(format!("{}{assumed}", plan::write::print(model, design, Some(write), &found)))
            }
            Err(why) => {
                let hint = why.hint.as_ref().map(|hint| wrapped(&format!("    {hint}")));
                Err(unanswered(&write.header.name, &why) + &hint.unwrap_or_default())
            }
        },
    }
}

fn answered(model: &Model, design: &Design, query: &Query, costing: &Costing<'_>) -> Result<String, String> {
    match plan::answer(costing, model, design, query) {
        Ok(found) => {
            let given = plan::print_given(model, query);
            let assumed = plan::print_assumed(model, &found.priced.assumed);
            Ok(format!("{}{given}{assumed}", plan::print(model, design, query, &found)))
        }
        Err(why) => Err(unanswered(&query.header.name, &why)),
    }
}

fn unanswered(name: &str, why: &Diagnostic) -> String {
    format!("{name}: {}[{}]: {}\n", why.severity.name(), why.code, why.message)
}
