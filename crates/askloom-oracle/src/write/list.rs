//! ADD, REMOVE and UPDATE of elements.

use super::Given;
use super::draft::{Draft, Matched};
use super::error::WriteError;
use crate::address::Address;
use askloom_model::{Assignment, Element, Member, Operand, Value};
use std::collections::BTreeSet;

impl Draft<'_> {
    /// Appends one element to the list of each owner. A part entity that is added to two owners exists twice,
    /// which the rules refuse.
    pub(super) fn add(&mut self, list: Member, value: &Value, rows: &[Matched]) -> Result<u64, WriteError> {
        for owner in rows.iter().filter_map(|row| row.first()) {
            let place = owner.below(list, None).place;
            let Some(instance) = self.state.instance_mut(owner) else { continue };
            let ordinal = instance.next_ordinal(&place);
            let Some(record) = self.state.record_mut(owner) else { continue };
            let mut elements = record.list(list).to_vec();
            elements.push(Element { ordinal, value: value.clone() });
            self.set(owner, list, Value::List(elements));
            self.claim_all(&owner.below(list, Some(ordinal)))?;
        }
        Ok(rows.len() as u64)
    }

    /// Removes every matching element, or only the one at a position in list order. The answer is how many
    /// owners lost one.
    pub(super) fn remove(
        &mut self,
        list: Member,
        at: Option<&Operand>,
        rows: &[Matched],
        given: &Given<'_>,
    ) -> u64 {
        let mut owners: BTreeSet<&Address> = BTreeSet::new();
        let mut doomed: Vec<(&Address, u64)> = Vec::new();
        for row in rows {
            let [owner, element] = row.as_slice() else { continue };
            let Some(ordinal) = element.place.last().and_then(|step| step.ordinal) else { continue };
            if at.is_none_or(|at| self.is_at(owner, list, ordinal, &given.value(at))) {
                owners.insert(owner);
                doomed.push((owner, ordinal));
            }
        }
        for (owner, ordinal) in doomed {
            self.remove_element(owner, list, ordinal);
        }
        owners.len() as u64
    }

    /// Whether the element of that ordinal is the n-th one, counted from 0.
    fn is_at(&mut self, owner: &Address, list: Member, ordinal: u64, position: &Value) -> bool {
        let Value::Int(position) = position else { return false };
        let Some(record) = self.state.record_mut(owner) else { return false };
        let at = usize::try_from(*position).ok().and_then(|position| record.list(list).get(position));
        at.is_some_and(|element| element.ordinal == ordinal)
    }

    pub(super) fn remove_element(&mut self, owner: &Address, list: Member, ordinal: u64) {
        let Some(record) = self.state.record_mut(owner) else { return };
        let mut elements = record.list(list).to_vec();
        elements.retain(|element| element.ordinal != ordinal);
        self.set(owner, list, Value::List(elements));
    }

    /// Sets members of every matching element, or the element itself if it is a plain value. Every new value is computed
    /// on the prior state. The answer is how many owners had a matching one.
    pub(super) fn update_elements(
        &mut self,
        list: Member,
        set: &[Assignment],
        values: &[Value],
        rows: &[Matched],
    ) -> Result<u64, WriteError> {
        let mut owners: BTreeSet<&Address> = BTreeSet::new();
        let mut changes: Vec<(Address, Member, Value)> = Vec::new();
        let mut elements: Vec<(&Address, u64, Value)> = Vec::new();
        for row in rows {
            let [owner, element] = row.as_slice() else { continue };
            let Some(ordinal) = element.place.last().and_then(|step| step.ordinal) else { continue };
            owners.insert(owner);
            for (assignment, value) in set.iter().zip(values) {
                if assignment.member == list && assignment.hops.is_empty() {
                    elements.push((owner, ordinal, self.new_element(owner, ordinal, assignment, value)?));
                } else {
                    changes.extend(self.change_at(element, assignment, value)?);
                }
            }
        }
        self.assign_all(changes)?;
        for (owner, ordinal, value) in elements {
            self.set_element(owner, list, ordinal, value);
        }
        Ok(owners.len() as u64)
    }

    /// What a plain value in a list becomes.
    fn new_element(
        &mut self,
        owner: &Address,
        ordinal: u64,
        assignment: &Assignment,
        value: &Value,
    ) -> Result<Value, WriteError> {
        let list = assignment.member;
        let elements = self.state.record_mut(owner).map(|record| record.list(list).to_vec());
        let current = elements.into_iter().flatten().find(|element| element.ordinal == ordinal);
        let current = current.map_or(Value::Null, |element| element.value);
        let new = self.assigned_value(assignment, &current, value)?;
        // A list has no empty places.
        if new.is_null() { Err(WriteError::Required { member: list }) } else { Ok(new) }
    }

    fn set_element(&mut self, owner: &Address, list: Member, ordinal: u64, value: Value) {
        let Some(record) = self.state.record_mut(owner) else { return };
        let mut elements = record.list(list).to_vec();
        for element in elements.iter_mut().filter(|element| element.ordinal == ordinal) {
            element.value = value.clone();
        }
        self.set(owner, list, Value::List(elements));
    }
}
