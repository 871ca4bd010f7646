//! Says what of a design is larger than its store takes.

use crate::screen::Screen;
use askloom::limits::too_large;
use askloom::model::{Diagnostic, Severity};
use askloom::project::Designed;
use askloom::target::Target;

/// Says all of it, and whether some of it makes the design useless there.
pub(crate) fn say(designed: &Designed, target: &Target, screen: &mut Screen) -> bool {
    let found = too_large(&designed.model, &designed.design, target);
    for diagnostic in &found {
        screen.say(&line(diagnostic));
    }
    found.iter().any(Diagnostic::is_error)
}

fn line(diagnostic: &Diagnostic) -> String {
    let weight = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning | Severity::Note => "warning",
    };
    let hint = diagnostic.hint.as_ref().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    format!("{weight}[{}]: {}{hint}", diagnostic.code, diagnostic.message)
}
