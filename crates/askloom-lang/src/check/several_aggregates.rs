//! A compound write over several aggregates needs a transaction of the target. Not every store has one.

use super::Context;
use askloom_model::{ClassId, Code, Diagnostic, Write, WriteStep};

pub(super) fn check(context: &mut Context<'_>) {
    let model = context.model;
    for write in model.workload.writes.iter().filter(|write| write.compound) {
        let mut roots: Vec<ClassId> = Vec::new();
        for class in classes(write) {
            let root = model.conceptual.aggregate_root(class).unwrap_or(class);
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        if roots.len() < 2 {
            continue;
        }
        let names: Vec<_> = roots.iter().map(|&root| model.conceptual.classes[root].name.as_str()).collect();
        let message = format!("`{}` changes several aggregates: {}", write.header.name, names.join(", "));
        context.diagnostics.push(
            Diagnostic::new(Code::SeveralAggregates, write.header.span, message)
                .hint("a target without transactions refuses it"),
        );
    }
}

fn classes(write: &Write) -> impl Iterator<Item = ClassId> + '_ {
    write.steps.iter().map(|step| match step {
        WriteStep::Insert { class, .. }
        | WriteStep::Upsert { class, .. }
        | WriteStep::Update { class, .. }
        | WriteStep::Delete { class, .. }
        | WriteStep::Add { class, .. }
        | WriteStep::Remove { class, .. }
        | WriteStep::Connect { class, .. }
        | WriteStep::Disconnect { class, .. } => *class,
    })
}
