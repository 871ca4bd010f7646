//! What the gates ask for of immutable entities.

use crate::case::Case;
use crate::coverage::Coverage;
use crate::steps::{Answer, Doing};
use askloom_model::{ClassId, WriteStep};
use askloom_plan::planner::write::is_blind_insert;

impl Case {
    /// What the gates ask for of immutable entities and of times to live that count from an attribute.
    pub(crate) fn note_immutable(
        &self,
        doing: &Doing,
        expected: &Result<Answer, String>,
        changed: bool,
        coverage: &mut Coverage,
    ) {
        let model = &self.schema.model;
        let immutable = |class: ClassId| model.conceptual.classes[class].immutable;
        let again = |step: &WriteStep| matches!(step, WriteStep::Upsert { class } if immutable(*class));
        if let (Doing::Statement(index, _), false) = (doing, changed)
            && expected.is_ok()
            && matches!(model.workload.writes[*index].steps.as_slice(), [step] if again(step))
        {
            coverage.gate("UPSERT of the same immutable value");
        }
        if let (Doing::Statement(index, given), true) = (doing, expected.is_ok() && changed) {
            let id_is_made = |class: ClassId| {
                let identifier = &model.conceptual.classes[class].identifier;
                !identifier.iter().all(|&member| given.contains_key(model.conceptual.member_name(member)))
            };
            let blind = |step: &WriteStep| match step {
                WriteStep::Insert { class } => {
                    model.conceptual.classes[*class].surrogate || id_is_made(*class)
                }
                _upsert => true,
            };
            let steps = model.workload.writes[*index].steps.iter();
            let mut puts = steps.filter(|step| is_blind_insert(model, &self.schema.design, step));
            if puts.any(blind) {
                coverage.gate("blind put");
            }
        }
        match expected {
            Err(kind) if kind == "immutable entity" => {
                coverage.gate("change of an immutable instance refused")
            }
            Err(_) | Ok(_) => {}
        }
    }
}
