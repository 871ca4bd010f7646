//! What a write means: on a copy of what is live, step by step, each followed by the rules that always hold. If
//! anything is wrong the copy is thrown away.

mod connect;
mod defaults;
mod delete;
mod draft;
mod error;
mod insert;
mod list;
mod rules;
mod store;
mod update;

pub use error::WriteError;

use crate::parameters::{Parameters, bind_declared};
use crate::state::State;
use askloom_model::{Conceptual, Model, Value, Write, WriteStep};
use defaults::Maker;
use draft::Draft;
use jiff::Timestamp;
use uuid::Uuid;

/// What is made once, before the first attempt of a write, so that a retry repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// The clock, and the value of `now()`.
    pub now: Timestamp,
    /// The values of `uuid()` and of surrogates, in the order in which they are needed; see [`uuids_needed`].
    pub uuids: Vec<Uuid>,
}

impl Inputs {
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self { now, uuids: Vec::new() }
    }
}

/// What a write answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How many instances each step matched.
    pub matched: Vec<u64>,
}

/// What a step of a write works with.
#[derive(Debug)]
struct Given<'a> {
    /// By name: the fields of an INSERT.
    named: &'a Parameters,
    /// In the order of the write's own parameters.
    bound: Vec<Value>,
}

/// How many uuids a write needs. They are needed step by step; within an instance first its surrogate, then its
/// members in declared order, parts with what is inside them.
pub fn uuids_needed(model: &Model, write: &Write, parameters: &Parameters) -> Result<usize, WriteError> {
    let given = give(&model.conceptual, write, parameters)?;
    let mut maker = Maker::endless(Timestamp::UNIX_EPOCH);
    for step in &write.steps {
        maker.dry_run(&model.conceptual, step, &given)?;
    }
    Ok(maker.used())
}

fn give<'a>(conceptual: &Conceptual, write: &Write, named: &'a Parameters) -> Result<Given<'a>, WriteError> {
    for name in named.keys() {
        let declared = write.parameters.iter().any(|parameter| parameter.name == *name);
        let a_field = write.steps.iter().filter_map(inserted).any(|class| {
            conceptual.all_members(class).any(|member| {
                conceptual.member_name(member) == name && conceptual.insertable(member).is_some()
            })
        });
        if !declared && !a_field {
            return Err(WriteError::UnknownParameter { name: name.clone() });
        }
    }
    Ok(Given { named, bound: bind_declared(conceptual, &write.parameters, named)? })
}

fn inserted(step: &WriteStep) -> Option<askloom_model::ClassId> {
    match step {
        WriteStep::Insert { class } | WriteStep::Upsert { class } => Some(*class),
        WriteStep::Update { .. }
        | WriteStep::Delete { .. }
        | WriteStep::Add { .. }
        | WriteStep::Remove { .. }
        | WriteStep::Connect { .. }
        | WriteStep::Disconnect { .. } => None,
    }
}

impl State {
    /// Applies a write, or answers why not and changes nothing. Time does not go back between writes: what has
    /// expired by `now` is dropped for good.
    pub fn write(
        &mut self,
        model: &Model,
        write: &Write,
        parameters: &Parameters,
        inputs: &Inputs,
    ) -> Result<Outcome, WriteError> {
        let given = give(&model.conceptual, write, parameters)?;
        let mut maker = Maker::of(inputs);
        let mut draft = Draft::of(self, &model.conceptual, inputs.now);
        let mut matched = Vec::new();
        for (index, step) in write.steps.iter().enumerate() {
            let before = draft.state.clone();
            let count = draft.step(step, &given, &mut maker)?;
            if write.compound && count == 0 {
                return Err(WriteError::StepMatchedNothing { step: index });
            }
            draft.settle(&before)?;
            matched.push(count);
        }
        *self = draft.state;
        Ok(Outcome { matched })
    }
}

impl Draft<'_> {
    /// One statement; how many instances it matched.
    fn step(
        &mut self,
        step: &WriteStep,
        given: &Given<'_>,
        maker: &mut Maker<'_>,
    ) -> Result<u64, WriteError> {
        match step {
            WriteStep::Insert { class } => self.insert_given(*class, given, maker),
            WriteStep::Upsert { class } => self.upsert(*class, given, maker),
            WriteStep::Update { set, condition, positions, .. } => {
                let values = maker.assigned(self.conceptual, set, given)?;
                let rows = self.matching(positions, condition.as_ref(), given);
                self.update(set, &values, &rows)
            }
            WriteStep::Delete { condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given);
                Ok(self.delete(&rows))
            }
            WriteStep::Add { list, value, condition, positions, .. } => {
                let value = maker.added(self.conceptual, *list, value, given)?;
                let rows = self.matching(positions, condition.as_ref(), given);
                self.add(*list, &value, &rows)
            }
            WriteStep::Remove { list, at, condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given);
                Ok(self.remove(*list, at.as_ref(), &rows, given))
            }
            WriteStep::Connect { end, to, condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given);
                self.connect_all(*end, to, &rows, given)
            }
            WriteStep::Disconnect { end, from, condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given);
                self.disconnect_all(*end, from.as_ref(), &rows, given)
            }
        }
    }
}
