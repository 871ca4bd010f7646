//! An abstract entity has no instances of its own: without a subclass it has none at all.

use super::Context;
use askloom_model::{ClassKind, Code, Diagnostic};
use std::collections::HashSet;

pub(super) fn check(context: &mut Context<'_>) {
    let classes = &context.model.conceptual.classes;
    let parents: HashSet<_> = classes.iter().filter_map(|(_, class)| class.parent).collect();
    for (id, class) in classes.iter() {
        if class.kind == ClassKind::AbstractEntity && !parents.contains(&id) {
            let message = format!("`{}` is abstract and nothing extends it", class.name);
            context.diagnostics.push(
                Diagnostic::new(Code::AbstractWithoutSubclass, class.span, message)
                    .hint("add a subclass, or drop `abstract`"),
            );
        }
    }
}
