//! Links. A relationship is one set of links, kept at its stored end; a write to either end is the same write.

use super::draft::{Address, Draft};
use crate::execute::stored_ids;
use crate::place::records;
use crate::stop::each;
use crate::{RunError, Stop};
use askloom_model::{ClassId, Conceptual, EndId, Identity, Member, Record, RelationshipKind, Value, fault};
use std::collections::BTreeMap;

impl Draft<'_> {
    /// Links the record at an address to an instance. False if the link has nowhere to be: the instance that would
    /// store it does not exist.
    pub(super) fn connect(&mut self, address: &Address, end: EndId, target: &Identity) -> Result<bool, Stop> {
        let row = &self.conceptual().ends[end];
        if row.stored {
            self.put_link(address, end, target)?;
            return Ok(true);
        }
        match (self.find(row.target, target)?, row.inverse, self.identity_at(address)?) {
            (Some(holder), Some(inverse), Some(own)) => {
                self.put_link(&holder, inverse, &own)?;
                Ok(true)
            }
            (_, _, _) => Ok(false),
        }
    }

    /// Takes a link away, or all of an end. It is no error if there is none.
    pub(super) fn disconnect(
        &mut self,
        address: &Address,
        end: EndId,
        target: Option<&Identity>,
    ) -> Result<(), Stop> {
        let row = &self.conceptual().ends[end];
        let wanted = |id: &Identity| target.is_none_or(|target| target == id);
        if row.stored {
            let record = self.record(address)?;
            let ids = record.map(|record| stored_ids(&record, end)).unwrap_or_default();
            each(ids.iter().filter(|id| wanted(id)), |id| self.drop_link(address, end, id))?;
            return Ok(());
        }
        let (Some(inverse), Some(own)) = (row.inverse, self.identity_at(address)?) else { return Ok(()) };
        each(self.holders(&self.after, inverse, &own)?, |holder| {
            match self.identity_at(&holder)?.as_ref().is_none_or(wanted) {
                true => self.drop_link(&holder, inverse, &own),
                false => Ok(()),
            }
        })?;
        Ok(())
    }

    /// A to-one end is replaced, a set is added to.
    fn put_link(&mut self, holder: &Address, stored: EndId, target: &Identity) -> Result<(), Stop> {
        let Some(record) = self.record(holder)? else { return Ok(()) };
        let mut ids = stored_ids(&record, stored);
        if ids.contains(target) {
            return Ok(());
        }
        let end = &self.conceptual().ends[stored];
        if end.id {
            return Err(Stop::Failed(RunError::Immutable { field: self.field(Member::End(stored)) }));
        }
        if !end.cardinality.is_many() {
            ids.clear();
        }
        ids.push(target.clone());
        self.set_ids(holder, stored, ids)?;
        self.claim(holder, stored, target)
    }

    fn drop_link(&mut self, holder: &Address, stored: EndId, target: &Identity) -> Result<(), Stop> {
        let end = &self.conceptual().ends[stored];
        if end.id {
            return Err(Stop::Failed(RunError::Immutable { field: self.field(Member::End(stored)) }));
        }
        self.take_link(holder, stored, target)?;
        if end.inverse == Some(stored)
            && let Some(own) = self.identity_at(holder)?
            && let Some(other) = self.find(end.target, target)?
        {
            self.take_link(&other, stored, &own)?;
        }
        Ok(())
    }

    pub(super) fn take_link(
        &mut self,
        holder: &Address,
        stored: EndId,
        target: &Identity,
    ) -> Result<(), Stop> {
        let Some(record) = self.record(holder)? else { return Ok(()) };
        let mut ids = stored_ids(&record, stored);
        if !ids.contains(target) {
            return Ok(());
        }
        ids.retain(|id| id != target);
        self.set_ids(holder, stored, ids)
    }

    fn set_ids(&mut self, holder: &Address, stored: EndId, mut ids: Vec<Identity>) -> Result<(), Stop> {
        let value = if self.conceptual().ends[stored].cardinality.is_many() {
            Value::Set(ids.into_iter().collect())
        } else {
            ids.pop().map_or(Value::Null, Value::Reference)
        };
        self.set(holder, Member::End(stored), value).map(drop)
    }

    /// What a new link does to others: a checked one needs its target; a partner that may have only one link is
    /// taken away from its former one; a symmetric link is there from both sides.
    fn claim(&mut self, holder: &Address, stored: EndId, target: &Identity) -> Result<(), Stop> {
        let end = &self.conceptual().ends[stored];
        self.target_is_there(stored, target)?;
        let Some(inverse) = end.inverse else { return Ok(()) };
        if inverse == stored && !fault!(MirrorForgotten) {
            return self.mirror(holder, stored, target);
        }
        if !self.conceptual().ends[inverse].cardinality.is_many() && !fault!(LinkNotTaken) {
            let mut others = self.holders(&self.after, stored, target)?;
            others.retain(|other| other != holder);
            each(others, |other| self.drop_link(&other, stored, target))?;
        }
        Ok(())
    }

    /// A checked reference names an instance that exists.
    fn target_is_there(&self, stored: EndId, target: &Identity) -> Result<(), Stop> {
        let end = &self.conceptual().ends[stored];
        if end.is_checked() && self.find(end.target, target)?.is_none() {
            return Err(Stop::Failed(RunError::NoSuchTarget { field: self.field(Member::End(stored)) }));
        }
        Ok(())
    }

    /// Puts a symmetric link on the other side, too.
    fn mirror(&mut self, holder: &Address, stored: EndId, target: &Identity) -> Result<(), Stop> {
        let target_class = self.conceptual().ends[stored].target;
        let (Some(own), Some(other)) = (self.identity_at(holder)?, self.find(target_class, target)?) else {
            return Ok(());
        };
        let record = self.record(&other)?;
        let mut ids = record.map(|record| stored_ids(&record, stored)).unwrap_or_default();
        if ids.contains(&own) {
            return Ok(());
        }
        ids.push(own);
        self.set_ids(&other, stored, ids)
    }

    /// The same for every link of a record that is new, and of the parts in it. Of several that claim the same
    /// partner the last has it, as if they had come one after the other.
    pub(super) fn claim_all(&mut self, address: &Address) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        let Some(stored) = self.live(&self.after, &address.aggregate)? else { return Ok(()) };
        let mut contested: Vec<(Address, EndId, Identity)> = Vec::new();
        let mut both_sides: Vec<(Address, EndId)> = Vec::new();
        for (id, end) in conceptual.ends.iter() {
            if !end.stored || end.kind == RelationshipKind::Composition {
                continue;
            }
            let symmetric = end.inverse == Some(id);
            let alone = end.inverse.is_some_and(|inverse| !conceptual.ends[inverse].cardinality.is_many());
            if !end.is_checked() && !symmetric && !alone {
                continue;
            }
            for (place, record) in records(&stored.record) {
                let new = place.starts_with(&address.place) && conceptual.is_kind_of(record.class, end.class);
                if !new {
                    continue;
                }
                let holder = Address { aggregate: address.aggregate.clone(), place };
                contested
                    .extend(stored_ids(record, id).into_iter().map(|target| (holder.clone(), id, target)));
                if symmetric {
                    both_sides.push((holder, id));
                }
            }
        }
        each(&contested, |(_, end, target)| self.target_is_there(*end, target))?;
        each(contested.into_iter().rev(), |(holder, end, target)| {
            let record = self.record(&holder)?;
            match record.is_some_and(|record| stored_ids(&record, end).contains(&target)) {
                true => self.claim(&holder, end, &target),
                false => Ok(()),
            }
        })?;
        each(both_sides, |(holder, end)| self.take_over(&holder, end))?;
        Ok(())
    }

    /// Others may have had a symmetric link to a record before it was there.
    fn take_over(&mut self, holder: &Address, end: EndId) -> Result<(), Stop> {
        let Some(own) = self.identity_at(holder)? else { return Ok(()) };
        let Some(record) = self.record(holder)? else { return Ok(()) };
        let mut ids = stored_ids(&record, end);
        let others = self.holders(&self.after, end, &own)?;
        ids.extend(each(&others, |other| self.identity_at(other))?.into_iter().flatten());
        ids.sort();
        ids.dedup();
        if ids == stored_ids(&record, end) { Ok(()) } else { self.set_ids(holder, end, ids) }
    }

    /// Takes the links of a symmetric relationship away from the other side where entities are replaced by ones of the
    /// same id that are not given them. It comes before the new records are placed, so that no link is lost that
    /// another of them is given.
    pub(super) fn forget_symmetric(&mut self, old: &[&Record], new: &[&Record]) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        if !conceptual.ends.iter().any(|(id, end)| end.inverse == Some(id)) {
            return Ok(());
        }
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
        each(lost, |(end, other, own)| match self.find(conceptual.ends[end].target, &other)? {
            Some(other) => self.take_link(&other, end, &own),
            None => Ok(()),
        })?;
        Ok(())
    }
}

/// The entities in records, by hierarchy and id.
fn entities<'r>(
    conceptual: &Conceptual,
    roots: &[&'r Record],
) -> BTreeMap<(Option<ClassId>, Identity), &'r Record> {
    let inside = roots.iter().flat_map(|root| records(root));
    let entity = |record: &'r Record| {
        let top = conceptual.lineage(record.class).last().copied();
        Some(((top, record.identity(conceptual)?), record))
    };
    inside.filter_map(|(_, record)| entity(record)).collect()
}
