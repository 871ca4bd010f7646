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
    /// How many instances each step matched, of those that were done.
    pub matched: Vec<u64>,
    /// Of a write that says `@apart`: the first statement that was not done. Those after it were not tried.
    pub stopped: Option<Stopped>,
}

/// A statement that failed, or that matched nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Counted from 0.
    pub step: usize,
    pub why: WriteError,
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
        let a_field = write.steps.iter().filter_map(WriteStep::fields_of).any(|class| {
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

impl State {
    /// Applies a write, or answers why not and changes nothing. One that says `@apart` is applied as far as it goes; a
    /// parameter that does not fit is found before its first statement. Time does not go back between writes: what has
    /// expired by `now` is dropped for good.
    pub fn write(
        &mut self,
        model: &Model,
        write: &Write,
        parameters: &Parameters,
        inputs: &Inputs,
    ) -> Result<Outcome, WriteError> {
        let given = give(&model.conceptual, write, parameters)?;
        if write.apart {
            uuids_needed(model, write, parameters)?;
        }
        let mut maker = Maker::of(inputs);
        let mut draft = Draft::of(self, &model.conceptual, inputs.now);
        let mut matched = Vec::new();
        let mut stopped = None;
        for (index, step) in write.steps.iter().enumerate() {
            let before = draft.state.clone();
            let done = draft.settled(step, &given, &mut maker).and_then(|count| match count {
                0 if write.compound => Err(WriteError::StepMatchedNothing { step: index }),
                count => Ok(count),
            });
            match done {
                Ok(count) => matched.push(count),
                Err(why) if write.apart => {
                    draft.state = before;
                    stopped = Some(Stopped { step: index, why });
                    break;
                }
                Err(why) => return Err(why),
            }
        }
        *self = draft.state;
        Ok(Outcome { matched, stopped })
    }
}

impl Draft<'_> {
    /// One statement with what follows from it; how many instances it matched.
    fn settled(
        &mut self,
        step: &WriteStep,
        given: &Given<'_>,
        maker: &mut Maker<'_>,
    ) -> Result<u64, WriteError> {
        let before = self.state.clone();
        let count = self.step(step, given, maker)?;
        if count > 0 {
            self.settle(&before)?;
        }
        Ok(count)
    }

    fn step(
        &mut self,
        step: &WriteStep,
        given: &Given<'_>,
        maker: &mut Maker<'_>,
    ) -> Result<u64, WriteError> {
        match step {
            WriteStep::Insert { class } => self.insert_given(*class, given, maker),
            WriteStep::Upsert { class } => self.upsert(*class, given, maker),
            WriteStep::Store { class } => self.store(*class, given, maker),
            WriteStep::Update { set, condition, positions, .. } => {
                let values = maker.assigned(self.conceptual, set, given)?;
                let rows = self.matching(positions, condition.as_ref(), given);
                self.update(set, &values, &rows)
            }
            WriteStep::UpdateElements { list, set, condition, positions, .. } => {
                let values = maker.assigned(self.conceptual, set, given)?;
                let rows = self.matching(positions, condition.as_ref(), given);
                self.update_elements(*list, set, &values, &rows)
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
