//! A compound write over several aggregates needs a transaction of the target, or `@apart`. Not every store has
//! transactions; and what changes one aggregate is atomic on every store, so that `@apart` would only take that away.

use super::Context;
use askloom_model::{Code, Diagnostic, Reach, Write};

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    for write in &context.model.workload.writes {
        let name = &write.header.name;
        let diagnostic = match (write.apart, one_of(write, conceptual)) {
            (true, Some(why)) => Diagnostic::new(Code::ApartWithinOne, write.header.span, why)
                .hint("leave `@apart` out: this write is atomic on every store"),
            (false, _) if write.compound && write.reach(conceptual) == Reach::Several => {
                let roots = write.roots(conceptual);
                let names: Vec<_> =
                    roots.iter().map(|&root| conceptual.classes[root].name.as_str()).collect();
                let message = format!("`{name}` changes several aggregates: {}", names.join(", "));
                Diagnostic::new(Code::SeveralAggregates, write.header.span, message)
                    .hint("a target without transactions refuses it, unless it says `@apart`")
            }
            (_, _) => continue,
        };
        context.diagnostics.push(diagnostic);
    }
}

/// Why there is nothing that could commit apart.
fn one_of(write: &Write, conceptual: &askloom_model::Conceptual) -> Option<String> {
    let name = &write.header.name;
    if write.steps.len() < 2 {
        return Some(format!("`{name}` is one statement: nothing can commit apart"));
    }
    match write.reach(conceptual) {
        Reach::One => Some(format!("all statements of `{name}` change the same aggregate")),
        Reach::Unknown | Reach::Several => None,
    }
}
