//! Which writes a program may do: those that the model declares, or all of them where it says `writes any`.

use crate::RunError;
use askloom_model::{ClassId, Conceptual, Model, WriteOf, WriteStep, Writes};

/// Refuses a write of a program that the model does not declare: its design keeps nothing for it. Says what to add.
pub fn permitted(model: &Model, of: &WriteOf) -> Result<(), RunError> {
    let conceptual = &model.conceptual;
    let class = match *of {
        WriteOf::Statement(_) => return Ok(()),
        WriteOf::Create(class) | WriteOf::Store(class) | WriteOf::Delete(class) => class,
        WriteOf::Relink(end) => conceptual.ends[end].class,
    };
    let any = |class: ClassId| conceptual.classes[class].writes == Writes::Any;
    let root = conceptual.aggregate_root(class).unwrap_or(class);
    if conceptual.lineage(class).into_iter().chain([root]).any(any) {
        return Ok(());
    }
    let mut steps = model.workload.writes.iter().flat_map(|write| &write.steps);
    if steps.any(|step| declares(conceptual, step, of)) {
        return Ok(());
    }
    let name = &conceptual.classes[class].name;
    let (write, line) = match of {
        WriteOf::Create(_) => (format!("INSERT {name}"), format!("write insert{name}: INSERT {name}")),
        WriteOf::Store(_) | WriteOf::Statement(_) => {
            (format!("STORE {name}"), format!("write store{name}: STORE {name}"))
        }
        WriteOf::Delete(_) => {
            let ids = conceptual.classes[class].identifier.iter().map(|&member| {
                let member = conceptual.member_name(member);
                format!("{member} = :{member}")
            });
            let by_id = ids.collect::<Vec<_>>().join(" AND ");
            let by_id = if by_id.is_empty() { by_id } else { format!(" WHERE {by_id}") };
            (format!("DELETE {name}"), format!("write delete{name}: DELETE {name}{by_id}"))
        }
        WriteOf::Relink(end) => {
            let end = &conceptual.ends[*end].name;
            let connect = format!("CONNECT {name}.{end} TO :{end}");
            (connect.clone(), format!("write connect{name}: {connect} WHERE …"))
        }
    };
    Err(RunError::Undeclared { write, line })
}

/// Whether a statement does what the program wants to do.
fn declares(conceptual: &Conceptual, step: &WriteStep, of: &WriteOf) -> bool {
    match (step, of) {
        (
            WriteStep::Insert { class } | WriteStep::Upsert { class } | WriteStep::Store { class },
            WriteOf::Create(wanted),
        )
        | (WriteStep::Store { class }, WriteOf::Store(wanted)) => class == wanted,
        (WriteStep::Delete { class, .. }, WriteOf::Delete(wanted)) => conceptual.is_kind_of(*wanted, *class),
        (WriteStep::Connect { end, .. } | WriteStep::Disconnect { end, .. }, WriteOf::Relink(wanted)) => {
            conceptual.stored_end(*end) == *wanted
        }
        (
            WriteStep::Insert { .. }
            | WriteStep::Upsert { .. }
            | WriteStep::Store { .. }
            | WriteStep::Update { .. }
            | WriteStep::UpdateElements { .. }
            | WriteStep::Delete { .. }
            | WriteStep::Add { .. }
            | WriteStep::Remove { .. }
            | WriteStep::Connect { .. }
            | WriteStep::Disconnect { .. },
            WriteOf::Statement(_)
            | WriteOf::Create(_)
            | WriteOf::Store(_)
            | WriteOf::Delete(_)
            | WriteOf::Relink(_),
        ) => false,
    }
}
