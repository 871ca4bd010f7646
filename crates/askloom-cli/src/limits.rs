//! Says what of a design is larger than its store takes.

use crate::screen::Screen;
use askloom_design::cost::Statistics;
use askloom_design::limits::all_broken;
use askloom_model::{Design, Diagnostic, Model, Severity};
use askloom_target::Target;

/// Says all of it, and whether some of it makes the design useless there.
pub(crate) fn say(model: &Model, design: &Design, target: &Target, screen: &mut Screen) -> bool {
    let statistics = Statistics::new(&model.conceptual);
    let found = all_broken(target.capability, &statistics, design);
    for broken in &found {
        screen.say(&line(&broken.diagnostic(target.capability, &model.conceptual, design)));
    }
    found.iter().any(|broken| broken.is_error())
}

fn line(diagnostic: &Diagnostic) -> String {
    let weight = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning | Severity::Note => "warning",
    };
    let hint = diagnostic.hint.as_ref().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    format!("{weight}[{}]: {}{hint}", diagnostic.code, diagnostic.message)
}
