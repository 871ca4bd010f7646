//! ADD and REMOVE.

use super::Given;
use super::draft::{Draft, Matched};
use super::error::WriteError;
use crate::address::Address;
use askloom_model::{Element, Member, Operand, Value};
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
}
