//! The diagnostics for which something was refused.

use super::Report;
use super::human::diagnostics;
use crate::screen::Style;
use askloom::error::{Error, RefusedDesign};
use askloom::model::Diagnostic;

/// What is to be shown before the message of an error, if there is more than the message.
pub(crate) fn refusal(error: Error, style: Style) -> Option<String> {
    match error {
        Error::Call(_) | Error::Input(_) | Error::Store(_) => None,
        Error::Model(refused) => {
            let report = Report { root: refused.file, checked: refused.checked };
            Some(diagnostics(&report, style).trim_end().to_owned())
        }
        Error::SavedDesign(refused) => {
            let lines = refused.diagnostics.iter().map(|diagnostic| in_design(&refused, diagnostic));
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A line for a diagnostic of a saved design, which is no source of the model.
fn in_design(refused: &RefusedDesign, diagnostic: &Diagnostic) -> String {
    let text = &refused.text;
    let before = text.get(..diagnostic.span().start as usize).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let place = format!("{}:{line}:{column}", refused.path.display());
    let hint = diagnostic.hint.as_ref().map(|hint| format!("\n  = help: {hint}")).unwrap_or_default();
    format!("error[{}]: {}\n  --> {place}{hint}", diagnostic.code, diagnostic.message)
}
