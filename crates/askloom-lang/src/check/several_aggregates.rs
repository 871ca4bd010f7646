//! A compound write over several aggregates needs a transaction of the target. Not every store has one.

use super::Context;
use askloom_model::{
    ClassId, Code, Comparison, Conceptual, Condition, Diagnostic, EndId, Leaf, Member, Operand, Write,
    WriteStep,
};

pub(super) fn check(context: &mut Context<'_>) {
    let model = context.model;
    for write in model.workload.writes.iter().filter(|write| write.compound) {
        let mut roots: Vec<ClassId> = Vec::new();
        for class in classes(&model.conceptual, write) {
            let root = model.conceptual.aggregate_root(class).unwrap_or(class);
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        if roots.len() < 2 && !ids_differ(&model.conceptual, write) {
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

/// Whether two statements about one class name their instance by different values: a transfer between two accounts.
fn ids_differ(conceptual: &Conceptual, write: &Write) -> bool {
    let mut seen: Vec<(ClassId, &Operand)> = Vec::new();
    for step in &write.steps {
        let (class, condition) = match step {
            WriteStep::Insert { .. } | WriteStep::Upsert { .. } => continue,
            WriteStep::Update { class, condition, .. }
            | WriteStep::Delete { class, condition, .. }
            | WriteStep::Add { class, condition, .. }
            | WriteStep::Remove { class, condition, .. }
            | WriteStep::Connect { class, condition, .. }
            | WriteStep::Disconnect { class, condition, .. } => (*class, condition.as_ref()),
        };
        let Some(id) = condition.and_then(|condition| id_of(conceptual, class, condition)) else { continue };
        if seen.iter().any(|(of, other)| *of == class && *other != id) {
            return true;
        }
        seen.push((class, id));
    }
    false
}

/// The value that a condition gives the only identifier of a class.
fn id_of<'c>(conceptual: &Conceptual, class: ClassId, condition: &'c Condition) -> Option<&'c Operand> {
    let [Member::Attribute(id)] = conceptual.classes[class].identifier.as_slice() else { return None };
    if let Condition::And(terms) = condition {
        return terms.iter().find_map(|term| id_of(conceptual, class, term));
    }
    let Condition::Compare { left: Operand::Path(path), op: Comparison::Equal, right } = condition else {
        return None;
    };
    (path.hops.is_empty() && path.leaf == Leaf::Attribute(*id)).then_some(right)
}

/// The classes whose instances a write changes. A link changes where it is stored.
fn classes(conceptual: &Conceptual, write: &Write) -> Vec<ClassId> {
    let mut classes = Vec::new();
    let holder = |end: EndId| conceptual.ends[conceptual.stored_end(end)].class;
    for step in &write.steps {
        match step {
            WriteStep::Insert { class }
            | WriteStep::Upsert { class }
            | WriteStep::Delete { class, .. }
            | WriteStep::Add { class, .. }
            | WriteStep::Remove { class, .. } => classes.push(*class),
            WriteStep::Update { class, set, .. } => {
                for assignment in set {
                    classes.push(match assignment.member {
                        Member::End(end) if !conceptual.ends[end].stored => holder(end),
                        Member::End(_) | Member::Attribute(_) => *class,
                    });
                }
            }
            WriteStep::Connect { end, .. } | WriteStep::Disconnect { end, .. } => classes.push(holder(*end)),
        }
    }
    classes
}
