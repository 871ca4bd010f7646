//! UPDATE of elements: every one that matches, where it is.

use super::draft::{Address, Draft};
use super::steps::Matched;
use crate::{RunError, Stop};
use askloom_model::{Assigned, Assignment, Member, Value, fault};
use std::collections::BTreeSet;

impl Draft<'_> {
    /// Sets members of every matching element, or the element itself if it is a plain value. Every new value is computed
    /// on the prior state. The answer is how many owners had a matching one.
    pub(super) fn update_elements(
        &mut self,
        list: Member,
        set: &[Assignment],
        values: &[Value],
        rows: &[Matched],
    ) -> Result<u64, Stop> {
        let mut owners: BTreeSet<&Address> = BTreeSet::new();
        let mut changes: Vec<(Address, Member, Value)> = Vec::new();
        let mut elements: Vec<(&Address, u64, Value)> = Vec::new();
        for row in rows {
            let [owner, element] = row.as_slice() else { continue };
            let Some(ordinal) = element.place.0.last().and_then(|step| step.ordinal) else { continue };
            if !owners.insert(owner) && fault!(OneElementChanged) {
                continue;
            }
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
            self.change(owner, |record| {
                let elements = record.elements_mut(list).iter_mut();
                for element in elements.filter(|element| element.ordinal == ordinal) {
                    element.value = value.clone();
                }
            })?;
        }
        Ok(owners.len() as u64)
    }

    /// What a plain value in a list becomes.
    fn new_element(
        &self,
        owner: &Address,
        ordinal: u64,
        assignment: &Assignment,
        value: &Value,
    ) -> Result<Value, Stop> {
        let list = assignment.member;
        let current = self.look(owner, |record| {
            let element = record.list(list).iter().find(|element| element.ordinal == ordinal);
            element.map_or(Value::Null, |element| element.value.clone())
        })?;
        let current = current.unwrap_or(Value::Null);
        let new = match (&assignment.value, list) {
            (Assigned::Plus { negative, .. }, _) => self.sum(list, &current, value, *negative)?,
            (Assigned::To(_) | Assigned::Now | Assigned::NewUuid, Member::Attribute(id))
                if !value.is_null() =>
            {
                self.fitted(id, value)?
            }
            (Assigned::To(_) | Assigned::Now | Assigned::NewUuid, _) => Value::Null,
        };
        // A list has no empty places.
        if new.is_null() {
            Err(Stop::Failed(RunError::Required { field: self.field(list) }))
        } else {
            Ok(new)
        }
    }
}
