//! `id ref a: A` puts A's identifier into this one. If A's in turn contains this one, neither ends.

use super::Context;
use super::part_cycle::circles;
use askloom_model::{ClassId, Code, Conceptual, Diagnostic, EndId, Member};

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    // A chain of identifiers that is too long is as endless as a circle.
    for (end, _) in circles(conceptual, identifying) {
        let row = &conceptual.ends[end];
        let message = format!("the identifier of `{}` contains itself", conceptual.classes[row.class].name);
        let target = conceptual.classes[row.target].span;
        context.diagnostics.push(
            Diagnostic::new(Code::RequiredCycle, row.span, message)
                .also(target, "whose identifier leads back")
                .hint("give one of them an identifier of its own"),
        );
    }
}

fn identifying(conceptual: &Conceptual, class: ClassId) -> Vec<(EndId, ClassId)> {
    let members = &conceptual.classes[class].members;
    let reference = |&member: &Member| match member {
        Member::End(id) if conceptual.ends[id].id => Some((id, conceptual.ends[id].target)),
        Member::End(_) | Member::Attribute(_) => None,
    };
    members.iter().filter_map(reference).collect()
}
