//! One line for people, and the same numbers for programs.

use super::Report;
use askloom::human::amount;
use askloom::model::{Applicability, ClassKind, Model, Severity};
use serde::Serialize;

/// What was found in one model, or in all models of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    pub(super) models: usize,
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) notes: usize,
    /// How many `--fix` can fix.
    pub(super) fixable: usize,
    /// How many more `--unsafe-fixes` can fix.
    pub(super) fixable_unsafely: usize,
}

impl Counts {
    pub(super) fn of(report: &Report) -> Self {
        let fixes = |applicability| {
            let fixes = report.checked.diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_ref());
            fixes.filter(|fix| fix.applicability == applicability).count()
        };
        Self {
            models: 1,
            // The list may have been cut off; the count was not.
            errors: report.checked.errors,
            warnings: report.checked.count(Severity::Warning),
            notes: report.checked.count(Severity::Note),
            fixable: fixes(Applicability::Safe),
            fixable_unsafely: fixes(Applicability::Suggested),
        }
    }

    pub(super) fn of_all(reports: &[Report]) -> Self {
        reports.iter().map(Self::of).fold(Self::default(), |sum, one| Self {
            models: sum.models + one.models,
            errors: sum.errors + one.errors,
            warnings: sum.warnings + one.warnings,
            notes: sum.notes + one.notes,
            fixable: sum.fixable + one.fixable,
            fixable_unsafely: sum.fixable_unsafely + one.fixable_unsafely,
        })
    }

    fn found(self) -> String {
        list([(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")])
    }

    fn fixes(self) -> String {
        match (self.fixable, self.fixable_unsafely) {
            (0, 0) => String::new(),
            (safe, 0) => format!(" ({safe} can be fixed with --fix)"),
            (0, more) => format!(" ({more} can be fixed with --fix --unsafe-fixes)"),
            (safe, more) => format!(" ({safe} can be fixed with --fix, {more} more with --unsafe-fixes)"),
        }
    }
}

/// What is wrong with a model, or what it holds.
pub(crate) fn line(report: &Report) -> String {
    let counts = Counts::of(report);
    let name = report.root.display();
    if counts.errors + counts.warnings > 0 {
        return format!("{name}: {}{}\n", counts.found(), counts.fixes());
    }
    let parts = [held(&report.checked.model), counts.found()];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    format!("{name}: ok, {}{}\n", parts.join(", "), counts.fixes())
}

fn held(model: &Model) -> String {
    let kinds = |wanted: fn(ClassKind) -> bool| {
        model.conceptual.classes.iter().filter(|(_, class)| wanted(class.kind)).count()
    };
    let entities = kinds(ClassKind::is_entity);
    let rest = list([
        (kinds(|kind| !kind.is_entity()), "value object"),
        (model.workload.queries.len() + model.workload.asks.len(), "query"),
        (model.workload.writes.len(), "write"),
    ]);
    let entities = amount(entities, "entity");
    if rest.is_empty() { entities } else { format!("{entities}, {rest}") }
}

/// Those that are not zero: `2 errors, 1 warning`.
fn list<const N: usize>(counts: [(usize, &str); N]) -> String {
    let parts: Vec<String> =
        counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| amount(n, noun)).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn errors_warnings_and_what_can_be_fixed() {
        assert_eq!(
            line(&sample::report()),
            "shop/shop.loom: 1 error, 1 warning, 1 note \
             (1 can be fixed with --fix, 1 more with --unsafe-fixes)\n"
        );
    }

    #[test]
    fn a_clean_model_says_what_it_holds() {
        assert_eq!(line(&sample::clean()), "shop/shop.loom: ok, 0 entities\n");
    }
}
