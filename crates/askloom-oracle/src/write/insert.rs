//! INSERT, UPSERT and STORE.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use super::Given;
use super::defaults::{Maker, is_reference};
use super::draft::Draft;
use super::error::WriteError;
use crate::address::Address;
use crate::state::top;
use askloom_model::typed;
use askloom_model::{ClassId, Conceptual, Identity, Member, Record, Value};

impl Maker<'_> {
    /// The instance that the fields of an INSERT make. Lists that are not given are empty.
    pub(super) fn inserted(
        &mut self,
        conceptual: &Conceptual,
        class: ClassId,
        given: &Given<'_>,
    ) -> Result<Record, WriteError> {
        let mut record = Record::new(class);
        if conceptual.classes[class].surrogate {
            record.surrogate = Some(self.uuid()?);
        }
        for member in conceptual.all_members(class) {
            let Some((_, may_be_left_out)) = conceptual.insertable(member) else { continue };
            let value = match self.field(conceptual, member, given)? {
                Some(value) => value,
                None => match member {
                    Member::Attribute(id) => self.default(&conceptual.attributes[id])?,
                    Member::End(_) => Value::Null,
                },
            };
            if value.is_null() && !may_be_left_out {
                let name = conceptual.member_name(member).to_owned();
                return Err(WriteError::MissingParameter { name });
            }
            record.set(member, value);
        }
        lists_within_max(conceptual, &record)?;
        Ok(record)
    }

    /// The value that is given for a field; nothing if it is left out.
    fn field(
        &mut self,
        conceptual: &Conceptual,
        member: Member,
        given: &Given<'_>,
    ) -> Result<Option<Value>, WriteError> {
        let name = conceptual.member_name(member);
        let Some(value) = given.named.get(name) else { return Ok(None) };
        let value = typed::inserted(conceptual, member, value)
            .ok_or_else(|| WriteError::WrongType { name: name.to_owned() })?;
        if value.is_null() && !nullable(conceptual, member) {
            return Err(WriteError::Required { member });
        }
        self.completed_parts(conceptual, value).map(Some)
    }
}

/// A list that is given has at most `@max` elements, at every depth.
fn lists_within_max(conceptual: &Conceptual, record: &Record) -> Result<(), WriteError> {
    for (&member, value) in &record.fields {
        let (count, parts): (usize, Vec<&Value>) = match value {
            Value::List(elements) => {
                (elements.len(), elements.iter().map(|element| &element.value).collect())
            }
            Value::Set(ids) => (ids.len(), Vec::new()),
            single => (0, vec![single]),
        };
        let count = count as u64;
        if let Some(max) = conceptual.max_length(member).filter(|&max| count > max) {
            return Err(WriteError::TooMany { member, max, count });
        }
        for part in parts {
            if let Value::Record(part) = part {
                lists_within_max(conceptual, part)?;
            }
        }
    }
    Ok(())
}

fn nullable(conceptual: &Conceptual, member: Member) -> bool {
    match member {
        // Null is the same as empty.
        member if conceptual.is_many(member) => true,
        Member::Attribute(id) => conceptual.attributes[id].optional,
        Member::End(id) => conceptual.ends[id].cardinality.min == 0,
    }
}

impl Draft<'_> {
    pub(super) fn insert_given(
        &mut self,
        class: ClassId,
        given: &Given<'_>,
        maker: &mut Maker<'_>,
    ) -> Result<u64, WriteError> {
        let record = maker.inserted(self.conceptual, class, given)?;
        self.insert(record)?;
        Ok(1)
    }

    /// Makes a complete record a new aggregate.
    pub(super) fn insert(&mut self, record: Record) -> Result<Identity, WriteError> {
        let class = record.class;
        let identity = record.identity(self.conceptual).ok_or_else(|| self.no_identity(class, &record))?;
        let top = top(self.conceptual, class);
        if self.view().find(top, &identity).is_some() {
            return Err(WriteError::AlreadyExists { class, identity });
        }
        let address = self.place_root(top, identity.clone(), record);
        self.claim_all(&address)?;
        Ok(identity)
    }

    /// Which part of the identifier is missing.
    fn no_identity(&self, class: ClassId, record: &Record) -> WriteError {
        let identifier = &self.conceptual.classes[class].identifier;
        match identifier.iter().find(|&&member| record.get(member).is_null()) {
            Some(&member) => WriteError::Required { member },
            None => WriteError::NotARoot { class },
        }
    }

    /// INSERT if there is none of that id, else sets the given fields; lists stay.
    pub(super) fn upsert(
        &mut self,
        class: ClassId,
        given: &Given<'_>,
        maker: &mut Maker<'_>,
    ) -> Result<u64, WriteError> {
        let record = maker.inserted(self.conceptual, class, given)?;
        let identity = record.identity(self.conceptual).ok_or_else(|| self.no_identity(class, &record))?;
        let found = self.view().find(class, &identity).map(|node| node.address.clone());
        let Some(address) = found else {
            // An instance of another class of the hierarchy may have that id.
            self.insert(record)?;
            return Ok(1);
        };
        if self.conceptual.classes[class].immutable {
            return self.same_value(&address, &record);
        }
        let mut changes = Vec::new();
        for member in self.conceptual.all_members(class) {
            let name = self.conceptual.member_name(member);
            let settable = self.conceptual.insertable(member).is_some() && !self.conceptual.is_many(member);
            let identifies = self.conceptual.classes[class].identifier.contains(&member);
            if settable && !identifies && given.named.contains_key(name) {
                changes.push((address.clone(), member, record.get(member).clone()));
            }
        }
        self.assign_all(changes)?;
        Ok(1)
    }

    /// INSERT if there is none of that id and class, else the instance in place of the one that is there.
    pub(super) fn store(
        &mut self,
        class: ClassId,
        given: &Given<'_>,
        maker: &mut Maker<'_>,
    ) -> Result<u64, WriteError> {
        let record = maker.inserted(self.conceptual, class, given)?;
        let identity = record.identity(self.conceptual).ok_or_else(|| self.no_identity(class, &record))?;
        let there = Address { top: top(self.conceptual, class), root: identity, place: Vec::new() };
        match self.state.record_mut(&there).is_some_and(|old| old.class == class) {
            true => self.replace(record)?,
            false => {
                self.insert(record)?;
            }
        }
        Ok(1)
    }

    /// UPSERT of what is immutable and there already: the same id means the same value, and changes nothing.
    fn same_value(&mut self, address: &Address, record: &Record) -> Result<u64, WriteError> {
        match self.state.record_mut(address) {
            Some(there) if there == record => Ok(1),
            Some(_) | None => Err(WriteError::ImmutableEntity { class: record.class }),
        }
    }

    /// Sets members of records one after the other. A part entity that only changes its place lives on.
    pub(super) fn assign_all(&mut self, changes: Vec<(Address, Member, Value)>) -> Result<(), WriteError> {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (address, member, value) in &changes {
            old.extend(self.state.record_mut(&address.below(*member, None)).cloned());
            if let Value::Record(part) = value {
                new.push((**part).clone());
            }
        }
        self.forget_symmetric(&old, &new);
        for (address, member, value) in changes {
            self.assign(&address, member, value)?;
        }
        Ok(())
    }

    /// Sets one member of the record at an address to a value of its type.
    fn assign(&mut self, address: &Address, member: Member, value: Value) -> Result<(), WriteError> {
        match (member, value) {
            (Member::Attribute(id), Value::Null) if !self.conceptual.attributes[id].optional => {
                Err(WriteError::Required { member })
            }
            (Member::Attribute(_), value) => {
                self.set(address, member, value);
                Ok(())
            }
            (Member::End(id), value) if is_reference(&self.conceptual.ends[id]) => match value {
                Value::Reference(target) => self.connect(address, id, &target).map(drop),
                _null => self.disconnect(address, id, None),
            },
            (Member::End(id), Value::Null) if self.conceptual.ends[id].cardinality.min > 0 => {
                Err(WriteError::RequiredEnd { end: id })
            }
            (Member::End(_), part) => {
                // Through null, so that nothing is left of the part that was there.
                self.set(address, member, Value::Null);
                self.set(address, member, part);
                self.claim_all(&address.below(member, None))
            }
        }
    }
}
