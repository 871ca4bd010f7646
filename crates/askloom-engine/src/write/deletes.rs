//! What goes with what is deleted, and what checked references make of it.

use super::draft::{Address, Draft};
use crate::place::records;
use crate::stop::each;
use crate::{Aggregate, Held, Instances, RunError, Stop};
use askloom_model::{ClassId, EndId, Identity, Leaf, Member, OnDelete, Record, Value, fault};
use std::collections::BTreeSet;

/// Entities by hierarchy and id.
type Entities = BTreeSet<(ClassId, Identity)>;

impl Draft<'_> {
    /// Removes an instance, an element of a list, or a part. Whose part is required goes with it.
    pub(super) fn remove_record(&mut self, address: &Address) -> Result<(), Stop> {
        let mut owner = address.clone();
        let Some(step) = owner.place.0.pop() else {
            self.remove_root(&address.aggregate);
            return Ok(());
        };
        let required = match step.member {
            Member::End(end) => self.conceptual().ends[end].cardinality.min > 0,
            Member::Attribute(_) => false,
        };
        match step.ordinal {
            Some(ordinal) => self.remove_element(&owner, step.member, ordinal),
            None if required => self.remove_record(&owner),
            None => self.set(&owner, step.member, Value::Null).map(drop),
        }
    }

    /// What a statement has deleted, in whatever way, may be referred to by checked references. First all cascades
    /// run to their end; then whoever is left and refers to something that is gone refuses, or is cleared.
    pub(super) fn after_deletes(&mut self) -> Result<(), Stop> {
        if !self.conceptual().ends.iter().any(|(_, end)| end.is_checked()) {
            return Ok(());
        }
        let mut gone = Entities::new();
        loop {
            // Nothing comes to refer to what is gone already.
            let recent = self.after.changed.take_recent();
            let newly: Entities = self.gone(&recent)?.difference(&gone).cloned().collect();
            let doomed = self.referring(&newly, OnDelete::Cascade)?;
            gone.extend(newly);
            if doomed.is_empty() {
                break;
            }
            each(doomed, |(address, _, _)| self.remove_record(&address))?;
            if fault!(CascadeOnce) {
                break;
            }
        }
        let mut clear = Vec::new();
        each([OnDelete::Refuse, OnDelete::Clear], |action| {
            let found = self.referring(&gone, action)?;
            match (action, found.first()) {
                (OnDelete::Refuse, Some((_, end, _))) => {
                    return Err(Stop::Failed(RunError::Refused { field: self.field(Member::End(*end)) }));
                }
                (OnDelete::Clear, _) if !fault!(ClearForgotten) => clear = found,
                (OnDelete::Refuse | OnDelete::Clear | OnDelete::Cascade, _) => {}
            }
            Ok(())
        })?;
        each(clear, |(address, end, target)| self.take_link(&address, end, &target))?;
        Ok(())
    }

    /// Links by references of that kind to some entities.
    fn referring(&self, gone: &Entities, action: OnDelete) -> Result<Vec<(Address, EndId, Identity)>, Stop> {
        let conceptual = self.conceptual();
        let mut links = Vec::new();
        let of_the_kind =
            conceptual.ends.iter().filter(|(_, row)| row.stored && row.on_delete() == Some(action));
        each(of_the_kind, |(end, row)| {
            let hierarchy = conceptual.lineage(row.target).last().copied();
            each(gone.iter().filter(|(top, _)| Some(*top) == hierarchy), |(_, target)| {
                let holders = self.holders(&self.after, end, target)?.into_iter();
                links.extend(holders.map(|holder| (holder, end, target.clone())));
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(links)
    }

    /// What was in some changed aggregates before, and is in none of all that were changed. Nothing that follows from
    /// deletes moves a part from one aggregate to another, so that it ends where it was.
    fn gone(&self, recent: &BTreeSet<Aggregate>) -> Result<Entities, Stop> {
        let conceptual = self.conceptual();
        let before = self.entities(self.before, recent)?;
        let after = self.entities(&self.after, recent)?;
        let mut gone: Entities = before.difference(&after).cloned().collect();
        gone.retain(|(class, identity)| {
            let held = Held { class: *class, leaf: Leaf::Itself };
            let value = Value::Reference(identity.clone());
            self.after.changed.holding(conceptual, held, &value).is_empty()
        });
        Ok(gone)
    }

    /// The entities of some aggregates.
    fn entities(&self, state: &dyn Instances, of: &BTreeSet<Aggregate>) -> Result<Entities, Stop> {
        let conceptual = self.conceptual();
        let mut found = Entities::new();
        each(of, |aggregate| {
            let Some(stored) = self.live(state, aggregate)? else { return Ok(()) };
            for (_, record) in records(&stored.record) {
                if let (Some(&top), Some(identity)) =
                    (conceptual.lineage(record.class).last(), record.identity(conceptual))
                {
                    found.insert((top, identity));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The id of a part that has expired is free. Whoever takes it sweeps what is left of the former one: two parts of
    /// one id, be one of them gone, would have the same rows in copies. An aggregate that had the part before has done
    /// so already.
    pub(super) fn clear_former_holders(&mut self) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        if conceptual.classes.iter().all(|(_, class)| class.ttl.is_none()) {
            return Ok(());
        }
        let taken = self.gained(|record| self.part(record).into_iter().collect())?;
        let mut swept = Vec::new();
        each(taken, |(top, identity)| {
            each(self.after.owners(top, &identity)?, |holder| {
                let live = self.live(&self.after, &holder)?;
                if live != self.after.aggregate(holder.0, &holder.1)? {
                    swept.push((holder, live));
                }
                Ok(())
            })?;
            Ok(())
        })?;
        self.after.changed.extend(swept);
        Ok(())
    }

    /// The hierarchy and the id of an entity that may be a part of others.
    fn part(&self, record: &Record) -> Option<(ClassId, Identity)> {
        let conceptual = self.conceptual();
        let top = conceptual.lineage(record.class).last().copied().unwrap_or(record.class);
        let is_part = conceptual.occurrences(top).iter().any(|occurrence| !occurrence.hops.is_empty());
        record.identity(conceptual).filter(|_| is_part).map(|identity| (top, identity))
    }
}
