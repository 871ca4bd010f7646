//! Values that a write makes: records from parameters, defaults, `now()`, `uuid()`, surrogates. All of it from the write
//! and what it is given alone, before it is known what it will meet, so that a retry repeats it.

use super::Inputs;
use crate::RunError;
use crate::execute::Arguments;
use askloom_model::{
    Assigned, Assignment, Attribute, Cardinality, ClassId, ClassKind, Conceptual, Constant, Default, Member,
    Operand, Parameter, Precision, Record, Type, Value, Write, WriteStep, fault, typed,
};
use jiff::{Timestamp, tz::TimeZone};
use uuid::Uuid;

/// What a step of a write works with.
#[derive(Debug)]
pub(super) struct Given<'g> {
    /// By name: the fields of an INSERT.
    pub(super) named: &'g Arguments,
    /// The write's own.
    pub(super) parameters: &'g [Parameter],
    /// Their values, in the same order.
    pub(super) bound: Vec<Value>,
}

impl<'g> Given<'g> {
    pub(super) fn of(
        conceptual: &Conceptual,
        write: &'g Write,
        named: &'g Arguments,
    ) -> Result<Self, RunError> {
        for name in named.keys() {
            let declared = write.parameters.iter().any(|parameter| parameter.name == *name);
            if !declared && !is_field(conceptual, write, name) {
                return Err(RunError::UnknownParameter(name.clone()));
            }
        }
        let bound = bind(conceptual, &write.parameters, named)?;
        Ok(Self { named, parameters: &write.parameters, bound })
    }

    /// The value of an operand that does not depend on an instance; null for a path.
    pub(super) fn value(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Parameter(index) => self.bound.get(*index).cloned().unwrap_or(Value::Null),
            Operand::Constant(Constant::Null) | Operand::Path(_) => Value::Null,
            Operand::Constant(constant) => Value::of_constant(constant).unwrap_or(Value::Null),
        }
    }
}

fn is_field(conceptual: &Conceptual, write: &Write, name: &str) -> bool {
    let named =
        |&member: &Member| conceptual.member_name(member) == name && conceptual.insertable(member).is_some();
    let classes = write.steps.iter().filter_map(WriteStep::fields_of);
    classes.into_iter().any(|class| conceptual.all_members(class).any(|m| named(&m)))
}

/// The values of declared parameters, each of its type.
fn bind(conceptual: &Conceptual, declared: &[Parameter], given: &Arguments) -> Result<Vec<Value>, RunError> {
    let one = |parameter: &Parameter| {
        let name = &parameter.name;
        let value = given.get(name).ok_or_else(|| RunError::MissingParameter(name.clone()))?;
        typed::fitting(conceptual, value, &parameter.ty).ok_or_else(|| wrong_type(name))
    };
    declared.iter().map(one).collect()
}

fn wrong_type(name: &str) -> RunError {
    RunError::WrongType { parameter: name.to_owned(), message: "its value is of another type".to_owned() }
}

/// Hands out the values that were made before the first attempt.
#[derive(Debug)]
pub struct Maker<'m> {
    conceptual: &'m Conceptual,
    now: Timestamp,
    /// Nothing: as many as are asked for, for counting.
    uuids: Option<&'m [Uuid]>,
    used: usize,
}

impl<'m> Maker<'m> {
    pub fn of(conceptual: &'m Conceptual, inputs: &'m Inputs) -> Self {
        Self { conceptual, now: inputs.now, uuids: Some(&inputs.uuids), used: 0 }
    }

    pub(super) fn counting(conceptual: &'m Conceptual) -> Self {
        Self { conceptual, now: Timestamp::UNIX_EPOCH, uuids: None, used: 0 }
    }

    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Makes what a step needs, for counting.
    pub(super) fn dry_run(&mut self, step: &WriteStep, given: &Given<'_>) -> Result<(), RunError> {
        match step {
            WriteStep::Insert { class } | WriteStep::Upsert { class } | WriteStep::Store { class } => {
                self.inserted(*class, given).map(drop)
            }
            WriteStep::Update { set, .. } | WriteStep::UpdateElements { set, .. } => {
                self.assigned(set, given).map(drop)
            }
            WriteStep::Add { list, value, .. } => self.added(*list, value, given).map(drop),
            WriteStep::Delete { .. }
            | WriteStep::Remove { .. }
            | WriteStep::Connect { .. }
            | WriteStep::Disconnect { .. } => Ok(()),
        }
    }

    fn uuid(&mut self) -> Result<Uuid, RunError> {
        let uuid = match self.uuids {
            Some(made) => made.get(self.used).copied().ok_or(RunError::MissingUuid)?,
            None => Uuid::nil(),
        };
        self.used += 1;
        Ok(uuid)
    }

    fn default(&mut self, attribute: &Attribute) -> Result<Value, RunError> {
        if fault!(DefaultForgotten) {
            return Ok(Value::Null);
        }
        match &attribute.default {
            None => Ok(Value::Null),
            // The language has checked it against the type.
            Some(Default::Constant(constant)) => Ok(Value::of_constant(constant).unwrap_or(Value::Null)),
            Some(Default::Now) => Ok(self.now(&attribute.ty)),
            Some(Default::NewUuid) => self.uuid().map(Value::Uuid),
        }
    }

    /// `now()`: in UTC, as fine as the type, and a time of day in milliseconds.
    fn now(&self, ty: &Type) -> Value {
        match ty {
            Type::Date => Value::Date(self.now.to_zoned(TimeZone::UTC).date()),
            Type::Time => Value::Time(floored(self.now, Precision::Millis).to_zoned(TimeZone::UTC).time()),
            Type::Timestamp(precision) => Value::Timestamp(floored(self.now, *precision)),
            _no_time => Value::Null,
        }
    }

    /// The instance that the fields of an INSERT make. Lists that are not given are empty.
    pub(super) fn inserted(&mut self, class: ClassId, given: &Given<'_>) -> Result<Record, RunError> {
        let mut record = Record::new(class);
        if self.conceptual.classes[class].surrogate {
            record.surrogate = Some(self.uuid()?);
        }
        for member in self.conceptual.all_members(class) {
            let Some((_, may_be_left_out)) = self.conceptual.insertable(member) else { continue };
            let value = match (self.field(member, given)?, member) {
                (Some(value), _) => value,
                (None, Member::Attribute(id)) => self.default(&self.conceptual.attributes[id])?,
                (None, Member::End(_)) => Value::Null,
            };
            if value.is_null() && !may_be_left_out {
                return Err(RunError::MissingParameter(self.conceptual.member_name(member).to_owned()));
            }
            record.set(member, value);
        }
        self.within_max(&record)?;
        Ok(record)
    }

    /// Refuses lists that have more elements than their `@max`, at every depth.
    fn within_max(&self, record: &Record) -> Result<(), RunError> {
        for (_, record) in crate::place::records(record) {
            for (&member, value) in &record.fields {
                let count = match value {
                    Value::List(elements) => elements.len() as u64,
                    Value::Set(ids) => ids.len() as u64,
                    _single => continue,
                };
                if let Some(max) = self.conceptual.max_length(member).filter(|&max| count > max) {
                    let field = self.conceptual.member_name(member).to_owned();
                    return Err(RunError::TooMany { field, max, count });
                }
            }
        }
        Ok(())
    }

    /// The value that is given for a field; nothing if it is left out.
    fn field(&mut self, member: Member, given: &Given<'_>) -> Result<Option<Value>, RunError> {
        let name = self.conceptual.member_name(member);
        let Some(value) = given.named.get(name) else { return Ok(None) };
        let value = typed::inserted(self.conceptual, member, value).ok_or_else(|| wrong_type(name))?;
        let nullable = match member {
            // Null is the same as empty.
            member if self.conceptual.is_many(member) => true,
            Member::Attribute(id) => self.conceptual.attributes[id].optional,
            Member::End(id) => self.conceptual.ends[id].cardinality.min == 0,
        };
        if value.is_null() && !nullable {
            return Err(RunError::Required { field: name.to_owned() });
        }
        self.completed_parts(value).map(Some)
    }

    /// Fills in what a whole record leaves out, and checks that nothing required is missing.
    pub fn complete(&mut self, mut record: Record) -> Result<Record, RunError> {
        let class = &self.conceptual.classes[record.class];
        if class.kind == ClassKind::AbstractEntity {
            return Err(RunError::NotARoot { class: class.name.clone() });
        }
        if class.surrogate && record.surrogate.is_none() {
            record.surrogate = Some(self.uuid()?);
        }
        for member in self.conceptual.all_members(record.class) {
            let value = record.get(member).clone();
            let value = self.completed(member, value)?;
            record.set(member, value);
        }
        Ok(record)
    }

    fn completed(&mut self, member: Member, value: Value) -> Result<Value, RunError> {
        let (value, required) = match member {
            Member::Attribute(id) => {
                let attribute = &self.conceptual.attributes[id];
                let value = if value.is_null() { self.default(attribute)? } else { value };
                (value, !attribute.optional && !attribute.list)
            }
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                (self.completed_parts(value)?, end.stored && end.cardinality == Cardinality::ONE)
            }
        };
        if value.is_null() && required {
            return Err(RunError::Required { field: self.conceptual.member_name(member).to_owned() });
        }
        Ok(value)
    }

    /// Completes a part, or each of a list of parts.
    fn completed_parts(&mut self, value: Value) -> Result<Value, RunError> {
        match value {
            Value::Record(part) => Ok(Value::Record(Box::new(self.complete(*part)?))),
            Value::List(mut elements) => {
                for element in &mut elements {
                    let part = std::mem::replace(&mut element.value, Value::Null);
                    element.value = self.completed_parts(part)?;
                }
                Ok(Value::List(elements))
            }
            other => Ok(other),
        }
    }

    /// What each assignment sets, where that does not depend on the instance.
    pub(super) fn assigned(&mut self, set: &[Assignment], given: &Given<'_>) -> Result<Vec<Value>, RunError> {
        set.iter()
            .map(|assignment| match &assignment.value {
                Assigned::To(operand) | Assigned::Plus { amount: operand, .. } => {
                    self.completed_parts(given.value(operand))
                }
                Assigned::NewUuid => self.uuid().map(Value::Uuid),
                Assigned::Now => Ok(match assignment.member {
                    Member::Attribute(id) => self.now(&self.conceptual.attributes[id].ty),
                    Member::End(_) => Value::Null,
                }),
            })
            .collect()
    }

    /// The element that ADD appends.
    pub(super) fn added(
        &mut self,
        list: Member,
        value: &Operand,
        given: &Given<'_>,
    ) -> Result<Value, RunError> {
        let value = self.completed_parts(given.value(value))?;
        let field = || self.conceptual.member_name(list).to_owned();
        if value.is_null() {
            return Err(RunError::Required { field: field() });
        }
        match list {
            Member::Attribute(id) => typed::basic(&value, &self.conceptual.attributes[id].ty)
                .ok_or_else(|| RunError::OutOfRange { field: field() }),
            Member::End(_) => Ok(value),
        }
    }
}

fn floored(now: Timestamp, precision: Precision) -> Timestamp {
    let unit = match precision {
        Precision::Millis => 1_000_000,
        Precision::Micros => 1_000,
        Precision::Nanos => 1,
    };
    let nanos = now.as_nanosecond();
    Timestamp::from_nanosecond(nanos - nanos.rem_euclid(unit)).unwrap_or(now)
}
