//! Forms of writes that have no text on any store yet. They are named instead of being printed wrong.

use askloom_model::{ClassId, Conceptual, Value, Write, WriteStep};
use std::collections::HashMap;

/// The first form of a write that cannot be put into a store's statements.
pub(super) fn missing(
    conceptual: &Conceptual,
    write: &Write,
    arguments: Option<&HashMap<String, Value>>,
) -> Option<&'static str> {
    if write.apart {
        return Some("`@apart`");
    }
    let gives_lists = |class: ClassId| {
        let given =
            |name: &str| arguments.and_then(|all| all.get(name)).is_some_and(|value| !value.is_absent());
        let mut members = conceptual.all_members(class);
        members.any(|member| conceptual.is_many(member) && given(conceptual.member_name(member)))
    };
    write.steps.iter().find_map(|step| match step {
        WriteStep::Store { .. } => Some("STORE"),
        WriteStep::UpdateElements { .. } => Some("UPDATE of the elements of a list"),
        WriteStep::Insert { class } => gives_lists(*class).then_some("INSERT with lists"),
        WriteStep::Upsert { class } => gives_lists(*class).then_some("UPSERT with lists"),
        WriteStep::Update { .. }
        | WriteStep::Delete { .. }
        | WriteStep::Add { .. }
        | WriteStep::Remove { .. }
        | WriteStep::Connect { .. }
        | WriteStep::Disconnect { .. } => None,
    })
}
