//! How a design answers the statements of a model: plans, what a reader may see, what was assumed, native statements.

use crate::error::Error;
use crate::fit;
use crate::native;
use crate::pricing::Pricing;
use crate::project::Designed;
use crate::statement::Statement;
use askloom_model::{Design, Diagnostic, Model, Query};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::{lower, planner};
use askloom_target::Target;
use askloom_target::generate::not_said;

/// What is told about some statements of a model.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// One for each statement, then what costs are by.
    pub texts: Vec<String>,
    /// How many of the statements have no plan.
    pub unanswered: usize,
}

/// How a statement is carried out, or all of them if none is named. `None` if the model has no statements.
pub fn explain(
    designed: &Designed,
    pricing: &Pricing,
    name: Option<&str>,
) -> Result<Option<Explanation>, Error> {
    let (target, costing) = (pricing.target, pricing.costing());
    let native = native::statements(&designed.model, &designed.design, target, &costing, &designed.sources);
    let chosen: Vec<Statement<'_>> = match name {
        Some(name) => vec![Statement::named(&designed.model, name)?],
        None => Statement::all(&designed.model.workload).collect(),
    };
    if chosen.is_empty() {
        return Ok(None);
    }
    let mut texts = Vec::new();
    let mut unanswered = 0;
    for one in chosen {
        let (Ok(text) | Err(text)) = &explained(designed, one, &costing).inspect_err(|_| unanswered += 1);
        let native = native.get(one.name()).map(|text| format!("\n{text}"));
        let native = native.or_else(|| not_generated(designed, one, target)).unwrap_or_default();
        texts.push(format!("{text}{}{native}", why(designed, one.name())));
    }
    texts.extend(pricing.words().map(|words| wrapped(&words)));
    Ok(Some(Explanation { texts, unanswered }))
}

/// Says that the store has a language, and that this statement is not put into it.
fn not_generated(designed: &Designed, statement: Statement<'_>, target: &Target) -> Option<String> {
    target.language?;
    let layout = Layout::new(&designed.model.conceptual, &designed.design);
    if let Some(why) = not_said(target.capability, &layout).first() {
        return Some(wrapped(&format!("its text for {} is not generated: {why}", target.capability.title)));
    }
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
        Statement::Ask(ask) => match askloom_plan::ask::query(&model.conceptual, ask) {
            Some(query) => answered(model, design, &query, costing),
            None => Err(format!("{}: its links close a circle between two value objects\n", ask.header.name)),
        },
        Statement::Write(write) => match planner::write::plan(costing, model, design, write) {
            Ok(found) => {
                let assumed = planner::print_assumed(model, &found.assumed);
                Ok(format!("{}{assumed}", planner::write::print(model, design, Some(write), &found)))
            }
            Err(why) => {
                let hint = why.hint.as_ref().map(|hint| wrapped(&format!("    {hint}")));
                Err(unanswered(&write.header.name, &why) + &hint.unwrap_or_default())
            }
        },
    }
}

fn answered(model: &Model, design: &Design, query: &Query, costing: &Costing<'_>) -> Result<String, String> {
    match planner::answer(costing, model, design, query) {
        Ok(found) => {
            let given = planner::print_given(model, query);
            let assumed = planner::print_assumed(model, &found.priced.assumed);
            Ok(format!("{}{given}{assumed}", planner::print(model, design, query, &found)))
        }
        Err(why) => Err(unanswered(&query.header.name, &why)),
    }
}

fn unanswered(name: &str, why: &Diagnostic) -> String {
    format!("{name}: {}[{}]: {}\n", why.severity.name(), why.code, why.message)
}
