//! UPDATE: what each assignment sets, on each instance that matched.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use super::draft::{Draft, Matched};
use super::error::WriteError;
use crate::address::Address;
use askloom_model::typed;
use askloom_model::typed::exact;
use askloom_model::{Assigned, Assignment, AttributeId, EndId, Member, Operand, Type, Value};

impl Draft<'_> {
    /// Every new value is computed on the prior state, then all are set.
    pub(super) fn update(
        &mut self,
        set: &[Assignment],
        values: &[Value],
        rows: &[Matched],
    ) -> Result<u64, WriteError> {
        let mut changes: Vec<(Address, Member, Value)> = Vec::new();
        for address in rows.iter().filter_map(|row| row.first()) {
            for (assignment, value) in set.iter().zip(values) {
                changes.extend(self.change_at(address, assignment, value)?);
            }
        }
        self.assign_all(changes)?;
        Ok(rows.len() as u64)
    }

    /// Where an assignment leads from the record at an address, and what it sets there. Nothing if a part on the way is
    /// not there: it has no fields to set.
    pub(super) fn change_at(
        &mut self,
        address: &Address,
        assignment: &Assignment,
        value: &Value,
    ) -> Result<Option<(Address, Member, Value)>, WriteError> {
        let below = |address: Address, &hop: &EndId| address.below(Member::End(hop), None);
        let place = assignment.hops.iter().fold(address.clone(), below);
        if self.state.record_mut(&place).is_none() {
            return Ok(None);
        }
        let value = self.new_value(&place, assignment, value)?;
        Ok(Some((place, assignment.member, value)))
    }

    fn new_value(
        &mut self,
        place: &Address,
        assignment: &Assignment,
        value: &Value,
    ) -> Result<Value, WriteError> {
        let member = assignment.member;
        let current = self.state.record_mut(place).map_or(Value::Null, |record| record.get(member).clone());
        let new = match &assignment.value {
            Assigned::Plus { negative, .. } => return self.sum(member, &current, value, *negative),
            // A bare word that is the name of another field of the same enum.
            Assigned::To(Operand::Path(path)) => match path.leaf {
                askloom_model::Leaf::Attribute(id) => self
                    .state
                    .record_mut(place)
                    .map_or(Value::Null, |record| record.get(Member::Attribute(id)).clone()),
                askloom_model::Leaf::Reference(_)
                | askloom_model::Leaf::Itself
                | askloom_model::Leaf::Bucket(_)
                | askloom_model::Leaf::TimeBucket(..) => Value::Null,
            },
            Assigned::To(_) | Assigned::Now | Assigned::NewUuid => value.clone(),
        };
        match member {
            Member::Attribute(id) => self.fitted(id, new),
            Member::End(id) => match new {
                // A literal id stands for itself.
                Value::Null | Value::Record(_) => Ok(new),
                id_value => typed::reference(self.conceptual, &id_value, self.conceptual.ends[id].target)
                    .ok_or(WriteError::OutOfRange { member }),
            },
        }
    }

    /// What a plain value in a list becomes.
    pub(super) fn assigned_value(
        &self,
        assignment: &Assignment,
        current: &Value,
        value: &Value,
    ) -> Result<Value, WriteError> {
        let member = assignment.member;
        match (&assignment.value, member) {
            (Assigned::Plus { negative, .. }, _) => self.sum(member, current, value, *negative),
            (Assigned::To(_) | Assigned::Now | Assigned::NewUuid, Member::Attribute(id)) => {
                self.fitted(id, value.clone())
            }
            (_, Member::End(_)) => Err(WriteError::OutOfRange { member }),
        }
    }

    /// The value in the type of an attribute. A parameter that is used elsewhere, too, can be of a wider one.
    fn fitted(&self, attribute: AttributeId, value: Value) -> Result<Value, WriteError> {
        match value {
            Value::Null => Ok(Value::Null),
            value => typed::basic(&value, &self.conceptual.attributes[attribute].ty)
                .ok_or(WriteError::OutOfRange { member: Member::Attribute(attribute) }),
        }
    }

    /// `n + :d`: null if either is. Whole numbers and decimals are exact, doubles are added as doubles are.
    fn sum(
        &self,
        member: Member,
        current: &Value,
        amount: &Value,
        negative: bool,
    ) -> Result<Value, WriteError> {
        let out_of_range = WriteError::OutOfRange { member };
        let Member::Attribute(id) = member else { return Err(out_of_range) };
        let (Some(a), Some(b)) = (exact(current), exact(amount)) else { return Ok(Value::Null) };
        if self.conceptual.attributes[id].ty == Type::Double
            && let (Value::Double(a), Value::Double(b)) = (current, amount)
        {
            let sum = if negative { a - b } else { a + b };
            return Value::double(sum).map_err(|_| out_of_range);
        }
        let sum = if negative { a - b } else { a + b };
        self.fitted(id, Value::Decimal(sum))
    }
}
