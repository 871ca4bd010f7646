//! Designs rely on it that what a trusted reference names exists. Where the model itself declares the delete of a target, the
//! application has to take references away first; whoever did not think of that finds copies that differ.

use super::Context;
use askloom_model::{
    ClassId, Code, Conceptual, Diagnostic, EndId, Integrity, Member, RelationshipKind, Write, WriteStep,
};

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    for write in &context.model.workload.writes {
        for (index, step) in write.steps.iter().enumerate() {
            let before = write.steps.get(..index).unwrap_or_default();
            let left: Vec<EndId> = trusted(conceptual, &ended(conceptual, step))
                .into_iter()
                .filter(|&end| !before.iter().any(|earlier| takes_away(conceptual, earlier, end)))
                .collect();
            if !left.is_empty() {
                context.diagnostics.push(note(conceptual, write, &left));
            }
        }
    }
}

fn note(conceptual: &Conceptual, write: &Write, left: &[EndId]) -> Diagnostic {
    let names = left.iter().map(|&end| {
        let row = &conceptual.ends[end];
        format!("`{}.{}`", conceptual.classes[row.class].name, row.name)
    });
    let names: Vec<String> = names.collect();
    let message = format!("`{}` deletes what {} may name", write.header.name, names.join(" and "));
    let hint = "designs trust that nothing refers to it any more; `checked ref` would see to it, `loose ref` allows it";
    let mut diagnostic = Diagnostic::new(Code::DeletesTrusted, write.header.span, message).hint(hint);
    for &end in left {
        diagnostic = diagnostic.also(conceptual.ends[end].span, "trusted");
    }
    diagnostic
}

/// The classes of which a statement ends instances.
fn ended(conceptual: &Conceptual, step: &WriteStep) -> Vec<ClassId> {
    let top = match *step {
        WriteStep::Delete { class, .. } => class,
        WriteStep::Remove { list: Member::End(end), .. }
            if conceptual.ends[end].kind == RelationshipKind::Composition =>
        {
            conceptual.ends[end].target
        }
        WriteStep::Remove { .. }
        | WriteStep::Insert { .. }
        | WriteStep::Upsert { .. }
        | WriteStep::Store { .. }
        | WriteStep::Update { .. }
        | WriteStep::UpdateElements { .. }
        | WriteStep::Add { .. }
        | WriteStep::Connect { .. }
        | WriteStep::Disconnect { .. } => return Vec::new(),
    };
    let kinds = std::iter::once(top).chain(conceptual.descendants(top));
    kinds.flat_map(|kind| conceptual.inside(kind)).collect()
}

/// The trusted references that may name an instance of these classes.
fn trusted(conceptual: &Conceptual, ended: &[ClassId]) -> Vec<EndId> {
    let may_name = |target: ClassId| ended.iter().any(|&class| conceptual.is_kind_of(class, target));
    let references = conceptual.ends.iter().filter(|(_, end)| {
        end.stored && end.kind != RelationshipKind::Composition && end.integrity == Integrity::Trusted
    });
    references
        .filter(|(id, end)| may_name(end.target) && conceptual.is_relied_on(*id))
        .map(|(id, _)| id)
        .collect()
}

/// Whether a statement ends the holders of a reference, or changes it.
fn takes_away(conceptual: &Conceptual, step: &WriteStep, end: EndId) -> bool {
    let is_it = |member: Member| member == Member::End(end);
    match step {
        WriteStep::Delete { .. } | WriteStep::Remove { .. } => {
            ended(conceptual, step).contains(&conceptual.ends[end].class)
        }
        WriteStep::Update { set, .. } | WriteStep::UpdateElements { set, .. } => {
            set.iter().any(|assignment| is_it(assignment.member))
        }
        WriteStep::Disconnect { end: other, .. } | WriteStep::Connect { end: other, .. } => {
            conceptual.stored_end(*other) == end
        }
        WriteStep::Insert { .. }
        | WriteStep::Upsert { .. }
        | WriteStep::Store { .. }
        | WriteStep::Add { .. } => false,
    }
}
