//! A class cannot be its own ancestor.

use super::Context;
use askloom_model::{Code, Diagnostic, Id};

pub(super) fn check(context: &mut Context<'_>) {
    let classes = &context.model.conceptual.classes;
    let mut settled = vec![false; classes.len()];
    for (start, class) in classes.iter() {
        let mut seen = Vec::new();
        let mut current = Some(start);
        while let Some(id) = current {
            if settled.get(id.index()).copied().unwrap_or(true) {
                break;
            }
            if seen.contains(&id) {
                if id == start {
                    let message = format!("`{}` extends itself in a circle", class.name);
                    context.diagnostics.push(
                        Diagnostic::new(Code::ExtendsCycle, class.span, message)
                            .hint("take `extends` away from one of the classes in the circle"),
                    );
                }
                break;
            }
            seen.push(id);
            current = classes[id].parent;
        }
        for id in seen {
            if let Some(slot) = settled.get_mut(id.index()) {
                *slot = true;
            }
        }
    }
}
