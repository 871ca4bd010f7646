//! Values that a write makes: defaults, `now()`, `uuid()`, surrogates. All are made from the write and its
//! parameters alone, before it is known what they will meet.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use super::error::WriteError;
use super::{Given, Inputs};
use askloom_model::typed;
use askloom_model::{
    Assigned, Assignment, Attribute, ClassKind, Conceptual, Constant, Default, End, Member, Operand,
    Precision, Record, RelationshipKind, Type, Value, WriteStep,
};
use jiff::{Timestamp, tz::TimeZone};
use uuid::Uuid;

/// Hands out the values that were made before.
#[derive(Debug)]
pub(super) struct Maker<'a> {
    now: Timestamp,
    /// Nothing: as many as are asked for, for counting.
    uuids: Option<&'a [Uuid]>,
    used: usize,
}

impl<'a> Maker<'a> {
    pub(super) fn of(inputs: &'a Inputs) -> Self {
        Self { now: inputs.now, uuids: Some(&inputs.uuids), used: 0 }
    }

    pub(super) fn endless(now: Timestamp) -> Self {
        Self { now, uuids: None, used: 0 }
    }

    pub(super) fn used(&self) -> usize {
        self.used
    }

    pub(super) fn uuid(&mut self) -> Result<Uuid, WriteError> {
        let uuid = match self.uuids {
            Some(made) => made.get(self.used).copied().ok_or(WriteError::MissingUuid)?,
            None => Uuid::nil(),
        };
        self.used += 1;
        Ok(uuid)
    }

    /// Makes what a step needs, for counting.
    pub(super) fn dry_run(
        &mut self,
        conceptual: &Conceptual,
        step: &WriteStep,
        given: &Given<'_>,
    ) -> Result<(), WriteError> {
        match step {
            WriteStep::Insert { class } | WriteStep::Upsert { class } | WriteStep::Store { class } => {
                self.inserted(conceptual, *class, given).map(drop)
            }
            WriteStep::Update { set, .. } | WriteStep::UpdateElements { set, .. } => {
                self.assigned(conceptual, set, given).map(drop)
            }
            WriteStep::Add { list, value, .. } => self.added(conceptual, *list, value, given).map(drop),
            WriteStep::Delete { .. }
            | WriteStep::Remove { .. }
            | WriteStep::Connect { .. }
            | WriteStep::Disconnect { .. } => Ok(()),
        }
    }

    /// The value of a default.
    pub(super) fn default(&mut self, attribute: &Attribute) -> Result<Value, WriteError> {
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
            Type::Time => Value::Time(self.now_floored(Precision::Millis).to_zoned(TimeZone::UTC).time()),
            Type::Timestamp(precision) => Value::Timestamp(self.now_floored(*precision)),
            Type::Text
            | Type::Int
            | Type::Long
            | Type::Decimal
            | Type::Double
            | Type::Bool
            | Type::Uuid
            | Type::Blob
            | Type::Geo
            | Type::Json
            | Type::Enum(_) => Value::Null,
        }
    }

    fn now_floored(&self, precision: Precision) -> Timestamp {
        let unit = match precision {
            Precision::Millis => 1_000_000,
            Precision::Micros => 1_000,
            Precision::Nanos => 1,
        };
        let nanos = self.now.as_nanosecond();
        Timestamp::from_nanosecond(nanos - nanos.rem_euclid(unit)).unwrap_or(self.now)
    }

    /// Fills in what a whole record leaves out, and checks that nothing required is missing.
    pub(super) fn complete(
        &mut self,
        conceptual: &Conceptual,
        mut record: Record,
    ) -> Result<Record, WriteError> {
        let class = &conceptual.classes[record.class];
        if class.kind == ClassKind::AbstractEntity {
            return Err(WriteError::NotARoot { class: record.class });
        }
        if class.surrogate && record.surrogate.is_none() {
            record.surrogate = Some(self.uuid()?);
        }
        for member in conceptual.all_members(record.class) {
            let value = self.completed(conceptual, member, record.get(member).clone())?;
            record.set(member, value);
        }
        Ok(record)
    }

    fn completed(
        &mut self,
        conceptual: &Conceptual,
        member: Member,
        value: Value,
    ) -> Result<Value, WriteError> {
        match member {
            Member::Attribute(id) => {
                let attribute = &conceptual.attributes[id];
                let value = if value.is_null() { self.default(attribute)? } else { value };
                let required = !attribute.optional && !attribute.list;
                if value.is_null() && required { Err(WriteError::Required { member }) } else { Ok(value) }
            }
            Member::End(id) => {
                let value = self.completed_parts(conceptual, value)?;
                if value.is_null() && is_required(&conceptual.ends[id]) {
                    return Err(WriteError::Required { member });
                }
                Ok(value)
            }
        }
    }

    /// Completes a part, or each of a list of parts.
    pub(super) fn completed_parts(
        &mut self,
        conceptual: &Conceptual,
        value: Value,
    ) -> Result<Value, WriteError> {
        match value {
            Value::Record(part) => Ok(Value::Record(Box::new(self.complete(conceptual, *part)?))),
            Value::List(mut elements) => {
                for element in &mut elements {
                    let part = std::mem::replace(&mut element.value, Value::Null);
                    element.value = self.completed_parts(conceptual, part)?;
                }
                Ok(Value::List(elements))
            }
            other => Ok(other),
        }
    }

    /// What each assignment sets, where that does not depend on the instance.
    pub(super) fn assigned(
        &mut self,
        conceptual: &Conceptual,
        set: &[Assignment],
        given: &Given<'_>,
    ) -> Result<Vec<Value>, WriteError> {
        set.iter()
            .map(|assignment| match &assignment.value {
                Assigned::To(operand) | Assigned::Plus { amount: operand, .. } => {
                    self.completed_parts(conceptual, given.value(operand))
                }
                Assigned::NewUuid => self.uuid().map(Value::Uuid),
                Assigned::Now => Ok(match assignment.member {
                    Member::Attribute(id) => self.now(&conceptual.attributes[id].ty),
                    Member::End(_) => Value::Null,
                }),
            })
            .collect()
    }

    /// The element that ADD appends.
    pub(super) fn added(
        &mut self,
        conceptual: &Conceptual,
        list: Member,
        value: &Operand,
        given: &Given<'_>,
    ) -> Result<Value, WriteError> {
        let value = self.completed_parts(conceptual, given.value(value))?;
        if value.is_null() {
            return Err(WriteError::Required { member: list });
        }
        match list {
            Member::Attribute(id) => typed::basic(&value, &conceptual.attributes[id].ty)
                .ok_or(WriteError::OutOfRange { member: list }),
            Member::End(_) => Ok(value),
        }
    }
}

/// A stored to-one end that must have something.
pub(super) fn is_required(end: &End) -> bool {
    end.stored && !end.cardinality.is_many() && end.cardinality.min > 0
}

/// A reference, not a part.
pub(super) fn is_reference(end: &End) -> bool {
    match end.kind {
        RelationshipKind::Composition => false,
        RelationshipKind::Association | RelationshipKind::Aggregation => true,
    }
}

impl Given<'_> {
    /// The value of an operand that does not depend on an instance; null for a path.
    pub(super) fn value(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Parameter(index) => self.bound.get(*index).cloned().unwrap_or(Value::Null),
            Operand::Constant(Constant::Null) | Operand::Path(_) => Value::Null,
            Operand::Constant(constant) => Value::of_constant(constant).unwrap_or(Value::Null),
        }
    }
}
