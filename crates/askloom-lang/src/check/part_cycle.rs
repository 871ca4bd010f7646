//! Parts live and die with their owner, so that no class can be inside itself, however far down. A class
//! that is nested in itself would have no end.

use super::Context;
use askloom_model::{
    ClassId, Code, Conceptual, Diagnostic, EndId, Id, MAX_NESTING, Member, RelationshipKind,
};
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

pub(super) fn check(context: &mut Context<'_>) {
    let conceptual = &context.model.conceptual;
    let subclasses = conceptual.subclasses();
    let parts = |conceptual: &Conceptual, class| parts(conceptual, &subclasses, class);
    for (end, why) in circles(conceptual, parts) {
        let row = &conceptual.ends[end];
        if why == Closing::TooDeep {
            let message = format!("parts nest deeper than {MAX_NESTING}");
            context
                .diagnostics
                .push(Diagnostic::new(Code::TooDeep, row.span, message).here("this part is too deep"));
            continue;
        }
        let message = format!("parts form a circle through `{}`", row.name);
        let target = conceptual.classes[row.target].span;
        context.diagnostics.push(
            Diagnostic::new(Code::PartCycle, row.span, message)
                .also(target, "this class would be inside itself")
                .hint("use `ref` for one of the links in the circle"),
        );
    }
}

/// The parts that an instance of the class can have: its own, and those of any subclass it may be of.
fn parts(
    conceptual: &Conceptual,
    subclasses: &HashMap<ClassId, Vec<ClassId>>,
    class: ClassId,
) -> Vec<(EndId, ClassId)> {
    let part = |member| match member {
        Member::End(id)
            if conceptual.ends[id].kind == RelationshipKind::Composition && conceptual.ends[id].declared =>
        {
            Some((id, conceptual.ends[id].target))
        }
        Member::End(_) | Member::Attribute(_) => None,
    };
    let mut found: Vec<_> = conceptual.all_members(class).filter_map(part).collect();
    let mut open: Vec<ClassId> = subclasses.get(&class).cloned().unwrap_or_default();
    while let Some(below) = open.pop() {
        found.extend(conceptual.classes[below].members.iter().copied().filter_map(part));
        open.extend(subclasses.get(&below).into_iter().flatten());
    }
    found
}

/// Why a walk cannot go on through an end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    Circle,
    TooDeep,
}

/// The ends that close a circle, by a depth-first walk with a stack of its own.
pub(super) fn circles(
    conceptual: &Conceptual,
    next: impl Fn(&Conceptual, ClassId) -> Vec<(EndId, ClassId)>,
) -> Vec<(EndId, Closing)> {
    let mut marks = vec![Mark::New; conceptual.classes.len()];
    let mut closing = Vec::new();
    for start in conceptual.classes.ids() {
        if marks.get(start.index()) != Some(&Mark::New) {
            continue;
        }
        let mut stack = vec![(start, next(conceptual, start))];
        set(&mut marks, start, Mark::Open);
        while let Some((class, links)) = stack.last_mut() {
            let Some((end, target)) = links.pop() else {
                set(&mut marks, *class, Mark::Done);
                stack.pop();
                continue;
            };
            match marks.get(target.index()).copied().unwrap_or(Mark::Done) {
                Mark::New if stack.len() > MAX_NESTING => closing.push((end, Closing::TooDeep)),
                Mark::New => {
                    set(&mut marks, target, Mark::Open);
                    stack.push((target, next(conceptual, target)));
                }
                Mark::Open => closing.push((end, Closing::Circle)),
                Mark::Done => {}
            }
        }
    }
    closing
}

fn set(marks: &mut [Mark], class: ClassId, mark: Mark) {
    if let Some(slot) = marks.get_mut(class.index()) {
        *slot = mark;
    }
}
