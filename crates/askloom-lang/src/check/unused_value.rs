//! A value object exists only as a part of something.

use super::Context;
use askloom_model::{ClassKind, Code, Diagnostic};
use std::collections::HashSet;

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    let targets = conceptual.ends.iter().map(|(_, end)| end.target);
    let parents = conceptual.classes.iter().filter_map(|(_, class)| class.parent);
    let used: HashSet<_> = targets.chain(parents).collect();
    // A file of nothing but value objects is there to be imported.
    if conceptual.classes.iter().all(|(_, class)| class.kind == ClassKind::Value) {
        return;
    }
    for (id, class) in conceptual.classes.iter() {
        let extends_a_used_one = class.parent.is_some_and(|parent| used.contains(&parent));
        if class.kind == ClassKind::Value && !used.contains(&id) && !extends_a_used_one {
            let message = format!("`{}` is a part of nothing", class.name);
            context.diagnostics.push(
                Diagnostic::new(Code::UnusedValue, class.span, message)
                    .hint("add a `part` of it somewhere, or remove it"),
            );
        }
    }
}
