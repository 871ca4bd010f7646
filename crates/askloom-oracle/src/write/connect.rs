//! Links. A relationship is one set of links, kept at its stored end; a write to either end is the same write.

use super::Given;
use super::defaults::is_reference;
use super::draft::{Draft, Matched};
use super::error::WriteError;
use crate::address::Address;
use crate::node::Node;
use crate::state::top;
use crate::view::stored_ids;
use askloom_model::typed;
use askloom_model::{ClassId, Conceptual, EndId, Identity, Member, Operand, Record, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Draft<'_> {
    /// CONNECT. An instance counts as matched if the link can be held: of a derived end, if the instance at the
    /// other end, which stores it, exists.
    pub(super) fn connect_all(
        &mut self,
        end: EndId,
        to: &Operand,
        rows: &[Matched],
        given: &Given<'_>,
    ) -> Result<u64, WriteError> {
        let target = self.target(end, given.value(to))?;
        let mut matched = 0;
        for address in rows.iter().filter_map(|row| row.first()) {
            match &target {
                Some(target) => matched += u64::from(self.connect(address, end, target)?),
                // Nothing is put into a set.
                None if self.conceptual.ends[end].cardinality.is_many() => matched += 1,
                // Like SET to null.
                None => {
                    self.disconnect(address, end, None)?;
                    matched += 1;
                }
            }
        }
        Ok(matched)
    }

    /// DISCONNECT: one link, or all of them. It is no error if there is none.
    pub(super) fn disconnect_all(
        &mut self,
        end: EndId,
        from: Option<&Operand>,
        rows: &[Matched],
        given: &Given<'_>,
    ) -> Result<u64, WriteError> {
        let target = match from {
            // From null is from nothing.
            Some(from) => match self.target(end, given.value(from))? {
                None => return Ok(rows.len() as u64),
                some => some,
            },
            None => None,
        };
        for address in rows.iter().filter_map(|row| row.first()) {
            self.disconnect(address, end, target.as_ref())?;
        }
        Ok(rows.len() as u64)
    }

    fn target(&self, end: EndId, value: Value) -> Result<Option<Identity>, WriteError> {
        if value.is_null() {
            return Ok(None);
        }
        let member = Member::End(end);
        match typed::reference(self.conceptual, &value, self.conceptual.ends[end].target) {
            Some(Value::Reference(identity)) => Ok(Some(identity)),
            _another_type => Err(WriteError::OutOfRange { member }),
        }
    }

    /// Links the record at an address to an instance. False if the link has nowhere to be.
    pub(super) fn connect(
        &mut self,
        address: &Address,
        end: EndId,
        target: &Identity,
    ) -> Result<bool, WriteError> {
        let row = &self.conceptual.ends[end];
        if row.stored {
            self.put_link(address, end, target)?;
            return Ok(true);
        }
        let holder = self.view().find(row.target, target).map(|node| node.address.clone());
        match (holder, row.inverse, self.identity_at(address)) {
            (Some(holder), Some(inverse), Some(own)) => {
                self.put_link(&holder, inverse, &own)?;
                Ok(true)
            }
            _no_holder => Ok(false),
        }
    }

    /// Takes a link away, or all of an end.
    pub(super) fn disconnect(
        &mut self,
        address: &Address,
        end: EndId,
        target: Option<&Identity>,
    ) -> Result<(), WriteError> {
        let row = &self.conceptual.ends[end];
        let wanted = |id: &Identity| target.is_none_or(|target| target == id);
        if row.stored {
            let ids =
                self.state.record_mut(address).map(|record| stored_ids(record, end)).unwrap_or_default();
            for id in ids.iter().filter(|id| wanted(id)) {
                self.drop_link(address, end, id)?;
            }
            return Ok(());
        }
        let (Some(inverse), Some(own)) = (row.inverse, self.identity_at(address)) else { return Ok(()) };
        let holders = self.view().holders(inverse, &own);
        let holders = holders.iter().filter(|holder| holder.identity.entity().is_none_or(wanted));
        let holders: Vec<Address> = holders.map(|holder| holder.address.clone()).collect();
        for holder in holders {
            self.drop_link(&holder, inverse, &own)?;
        }
        Ok(())
    }

    /// A to-one end is replaced, a set is added to.
    fn put_link(&mut self, holder: &Address, stored: EndId, target: &Identity) -> Result<(), WriteError> {
        let Some(record) = self.state.record_mut(holder) else { return Ok(()) };
        let mut ids = stored_ids(record, stored);
        if ids.contains(target) {
            return Ok(());
        }
        let end = &self.conceptual.ends[stored];
        if end.id {
            return Err(WriteError::Immutable { member: Member::End(stored) });
        }
        if !end.cardinality.is_many() {
            ids.clear();
        }
        ids.push(target.clone());
        self.set_ids(holder, stored, ids);
        self.claim(holder, stored, target)
    }

    fn drop_link(&mut self, holder: &Address, stored: EndId, target: &Identity) -> Result<(), WriteError> {
        if self.conceptual.ends[stored].id {
            return Err(WriteError::Immutable { member: Member::End(stored) });
        }
        self.take_link(holder, stored, target);
        if self.conceptual.ends[stored].inverse == Some(stored)
            && let Some(own) = self.identity_at(holder)
            && let Some(other) = self.entity(stored, target)
        {
            self.take_link(&other, stored, &own);
        }
        Ok(())
    }

    pub(super) fn take_link(&mut self, holder: &Address, stored: EndId, target: &Identity) {
        let Some(record) = self.state.record_mut(holder) else { return };
        let mut ids = stored_ids(record, stored);
        ids.retain(|id| id != target);
        self.set_ids(holder, stored, ids);
    }

    fn set_ids(&mut self, holder: &Address, stored: EndId, mut ids: Vec<Identity>) {
        let value = match self.conceptual.ends[stored].cardinality.is_many() {
            true => Value::Set(ids.into_iter().collect()),
            false => ids.pop().map_or(Value::Null, Value::Reference),
        };
        self.set(holder, Member::End(stored), value);
    }

    /// Where the target of a reference is, if it exists.
    fn entity(&self, end: EndId, target: &Identity) -> Option<Address> {
        let class = self.conceptual.ends[end].target;
        self.view().find(class, target).map(|node| node.address.clone())
    }

    /// What a new link does to others: a checked one needs its target; a partner that may have only one link is
    /// taken away from its former one; a symmetric link is there from both sides.
    fn claim(&mut self, holder: &Address, stored: EndId, target: &Identity) -> Result<(), WriteError> {
        let end = &self.conceptual.ends[stored];
        if end.is_checked() && self.entity(stored, target).is_none() {
            return Err(WriteError::NoSuchTarget { end: stored });
        }
        let Some(inverse) = end.inverse else { return Ok(()) };
        if inverse == stored {
            let own = self.identity_at(holder);
            if let (Some(own), Some(other)) = (own, self.entity(stored, target)) {
                let record = self.state.record_mut(&other);
                let mut ids = record.map(|record| stored_ids(record, stored)).unwrap_or_default();
                ids.push(own);
                self.set_ids(&other, stored, ids);
            }
            return Ok(());
        }
        if !self.conceptual.ends[inverse].cardinality.is_many() {
            let holders = self.view().holders(stored, target);
            let others: Vec<Address> = holders.into_iter().map(|node| node.address).collect();
            for other in others.iter().filter(|other| *other != holder) {
                self.drop_link(other, stored, target)?;
            }
        }
        Ok(())
    }

    /// The same for every link of a record that is new, and of the parts in it.
    pub(super) fn claim_all(&mut self, address: &Address) -> Result<(), WriteError> {
        self.claim_where(&|other| {
            other.top == address.top && other.root == address.root && other.place.starts_with(&address.place)
        })
    }

    /// The same for all records that are new. A symmetric relationship may have links to them already.
    pub(super) fn claim_where(&mut self, is_new: &dyn Fn(&Address) -> bool) -> Result<(), WriteError> {
        let mut contested: Vec<(Address, EndId, Identity)> = Vec::new();
        let mut both_sides: Vec<(Address, EndId, Vec<Identity>)> = Vec::new();
        let view = self.view();
        let ends = self.conceptual.ends.iter().filter(|(_, end)| end.stored && is_reference(end));
        for (id, end) in ends {
            let symmetric = end.inverse == Some(id);
            let alone = |inverse: EndId| !self.conceptual.ends[inverse].cardinality.is_many();
            let new: Vec<(&Node<'_>, Vec<Identity>)> = view
                .extent(end.class)
                .filter(|node| is_new(&node.address))
                .map(|node| (node, view.links_of(node, id)))
                .collect();
            let targets: BTreeSet<&Identity> =
                view.extent(end.target).filter_map(|n| n.identity.entity()).collect();
            let missing = |(_, ids): &(_, Vec<Identity>)| ids.iter().any(|target| !targets.contains(target));
            if end.is_checked() && new.iter().any(missing) {
                return Err(WriteError::NoSuchTarget { end: id });
            }
            if !symmetric && !end.inverse.is_some_and(alone) {
                continue;
            }
            let mut held: BTreeMap<Identity, usize> = BTreeMap::new();
            for target in view.extent(end.class).flat_map(|node| view.links_of(node, id)) {
                *held.entry(target).or_default() += 1;
            }
            for (node, ids) in new {
                let by_several = |target: &Identity| symmetric || held.get(target).is_some_and(|&n| n > 1);
                let ids = ids.into_iter().filter(by_several);
                contested.extend(ids.map(|target| (node.address.clone(), id, target)));
                if symmetric {
                    both_sides.push((node.address.clone(), id, view.ids_at(node, id)));
                }
            }
        }
        // Of several new ones the last has it, as if they had come one after the other.
        for (holder, end, target) in contested.into_iter().rev() {
            let record = self.state.record_mut(&holder);
            if record.is_some_and(|record| stored_ids(record, end).contains(&target)) {
                self.claim(&holder, end, &target)?;
            }
        }
        for (holder, end, ids) in both_sides {
            self.set_ids(&holder, end, ids);
        }
        Ok(())
    }

    /// Takes the links of a symmetric relationship away from the other side where entities are replaced by ones of the
    /// same id that are not given them. It comes before the new records are placed, so that no link is lost that
    /// another of them is given.
    pub(super) fn forget_symmetric(&mut self, old: &[Record], new: &[Record]) {
        let conceptual = self.conceptual;
        let replaced = entities(conceptual, old);
        let mut lost: Vec<(EndId, Identity, Identity)> = Vec::new();
        for (entity, new) in entities(conceptual, new) {
            let Some(old) = replaced.get(&entity) else { continue };
            for member in conceptual.all_members(old.class) {
                let Member::End(end) = member else { continue };
                if conceptual.ends[end].inverse != Some(end) {
                    continue;
                }
                let kept = stored_ids(new, end);
                let gone = stored_ids(old, end).into_iter().filter(|id| !kept.contains(id));
                lost.extend(gone.map(|other| (end, other, entity.1.clone())));
            }
        }
        for (end, other, own) in lost {
            if let Some(other) = self.entity(end, &other) {
                self.take_link(&other, end, &own);
            }
        }
    }
}

/// The entities in records, by hierarchy and id.
fn entities<'r>(conceptual: &Conceptual, records: &'r [Record]) -> BTreeMap<(ClassId, Identity), &'r Record> {
    let mut found = BTreeMap::new();
    let mut unseen: Vec<&Record> = records.iter().collect();
    while let Some(record) = unseen.pop() {
        if let Some(identity) = record.identity(conceptual) {
            found.insert((top(conceptual, record.class), identity), record);
        }
        unseen.extend(record.fields.values().flat_map(parts));
    }
    found
}

/// The parts that a value is, or has as elements.
fn parts(value: &Value) -> Vec<&Record> {
    if let Value::List(elements) = value {
        return elements.iter().flat_map(|element| parts(&element.value)).collect();
    }
    if let Value::Record(part) = value { vec![&**part] } else { Vec::new() }
}
