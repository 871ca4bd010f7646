//! The state that a statement works on: aggregates are changed in an overlay, and everything is seen as of one clock.

use crate::execute::holds;
use crate::expiry::{alive, expired};
use crate::place::{Place, records};
use crate::stop::each;
use crate::{Aggregate, Instances, Overlay, Reader, Schema, Stop, Stored, System};
use askloom_model::{ClassId, Conceptual, EndId, Identity, Member, Record, RelationshipKind, Value, fault};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A record: its aggregate, and where it is inside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address {
    pub(super) aggregate: Aggregate,
    pub(super) place: Place,
}

impl Address {
    pub(super) fn root(aggregate: Aggregate) -> Self {
        Self { aggregate, place: Place::default() }
    }

    pub(super) fn below(&self, member: Member, ordinal: Option<u64>) -> Self {
        Self { aggregate: self.aggregate.clone(), place: self.place.below(member, ordinal) }
    }
}

#[derive(Debug)]
pub(super) struct Draft<'d> {
    pub(super) schema: &'d Schema,
    pub(super) before: &'d Reader<'d>,
    pub(super) after: Overlay<'d>,
    pub(super) now: jiff::Timestamp,
    /// What a statement has made, by its class.
    pub(super) made: Vec<(ClassId, Identity)>,
    /// Aggregates that have lost elements, whose parts are taken note of once at the end.
    unnoted: BTreeSet<Aggregate>,
}

impl<'d> Draft<'d> {
    pub(super) fn new(before: &'d Reader<'d>, now: jiff::Timestamp) -> Self {
        Self {
            schema: before.schema(),
            before,
            after: Overlay::new(before),
            now,
            made: Vec::new(),
            unnoted: BTreeSet::new(),
        }
    }

    pub(super) fn conceptual(&self) -> &'d Conceptual {
        &self.schema.model.conceptual
    }

    /// The name of a member as errors say it.
    pub(super) fn field(&self, member: Member) -> String {
        let conceptual = self.conceptual();
        let class = match member {
            Member::Attribute(id) => conceptual.attributes[id].class,
            Member::End(id) => conceptual.ends[id].class,
        };
        format!("{}.{}", conceptual.classes[class].name, conceptual.member_name(member))
    }

    /// An aggregate in a state, if it lives.
    pub(super) fn live(
        &self,
        state: &dyn Instances,
        aggregate: &Aggregate,
    ) -> Result<Option<Arc<Stored>>, Stop> {
        let Some(stored) = state.aggregate(aggregate.0, &aggregate.1)? else { return Ok(None) };
        // What this statement has changed was alive when it did: a rule may still refuse the time that it gave it.
        let changed = self.after.changed.get(aggregate);
        if changed
            .is_some_and(|changed| changed.as_ref().is_some_and(|changed| Arc::ptr_eq(changed, &stored)))
        {
            return Ok(Some(stored));
        }
        Ok(alive(self.conceptual(), stored, self.now))
    }

    /// The record at an address, as it is now.
    pub(super) fn record(&self, address: &Address) -> Result<Option<Record>, Stop> {
        self.look(address, Record::clone)
    }

    /// What is asked of the record at an address, as it is now.
    pub(super) fn look<T>(
        &self,
        address: &Address,
        of: impl FnOnce(&Record) -> T,
    ) -> Result<Option<T>, Stop> {
        let stored = self.live(&self.after, &address.aggregate)?;
        Ok(stored.and_then(|stored| address.place.find(&stored.record).map(of)))
    }

    /// The id of the entity at an address. That of a root is known without reading it.
    pub(super) fn identity_at(&self, address: &Address) -> Result<Option<Identity>, Stop> {
        if address.place.0.is_empty() {
            let ended = matches!(self.after.changed.get(&address.aggregate), Some(None));
            return Ok((!ended).then(|| address.aggregate.1.clone()));
        }
        let stored = self.live(&self.after, &address.aggregate)?;
        let found = stored.as_ref().and_then(|stored| address.place.find(&stored.record));
        Ok(found.and_then(|record| record.identity(self.conceptual())))
    }

    /// Sets a member of the record at an address. False if there is no such record.
    pub(super) fn set(&mut self, address: &Address, member: Member, value: Value) -> Result<bool, Stop> {
        let has_parts = match member {
            Member::Attribute(_) => matches!(value, Value::List(_)),
            Member::End(end) => self.conceptual().ends[end].kind == RelationshipKind::Composition,
        };
        let is_there = self.change(address, |record| record.set(member, value))?;
        if is_there && has_parts {
            self.note(&address.aggregate)?;
        }
        Ok(is_there)
    }

    /// Removes the element of a list that has that ordinal.
    pub(super) fn remove_element(&mut self, owner: &Address, list: Member, ordinal: u64) -> Result<(), Stop> {
        let is_there = self.change(owner, |record| record.remove_element(list, ordinal))?;
        if is_there {
            self.unnoted.insert(owner.aggregate.clone());
        }
        Ok(())
    }

    /// Changes the record at an address. False if there is no such record.
    pub(super) fn change(&mut self, address: &Address, act: impl FnOnce(&mut Record)) -> Result<bool, Stop> {
        let Some(mut stored) = self.live(&self.after, &address.aggregate)? else { return Ok(false) };
        if address.place.find(&stored.record).is_none() {
            return Ok(false);
        }
        // Ten thousand changes of one aggregate would copy it ten thousand times.
        self.after.changed.release(&address.aggregate);
        if let Some(record) = address.place.find_mut(&mut Arc::make_mut(&mut stored).record) {
            act(record);
        }
        self.after.changed.insert(address.aggregate.clone(), Some(stored));
        Ok(true)
    }

    /// Takes note of the parts of an aggregate.
    fn note(&mut self, aggregate: &Aggregate) -> Result<(), Stop> {
        let Some(mut stored) = self.live(&self.after, aggregate)? else { return Ok(()) };
        self.after.changed.release(aggregate);
        note_parts(self.conceptual(), Arc::make_mut(&mut stored), self.now);
        self.after.changed.insert(aggregate.clone(), Some(stored));
        Ok(())
    }

    /// Takes note of the parts of aggregates that have lost elements.
    pub(super) fn note_removed(&mut self) -> Result<(), Stop> {
        each(std::mem::take(&mut self.unnoted), |aggregate| self.note(&aggregate))?;
        Ok(())
    }

    /// Takes the next ordinal of a list.
    pub(super) fn next_ordinal(&mut self, owner: &Address, list: Member) -> Result<Option<u64>, Stop> {
        let Some(mut stored) = self.live(&self.after, &owner.aggregate)? else { return Ok(None) };
        let path = owner.place.below(list, None).text(self.conceptual());
        let counter = Arc::make_mut(&mut stored).system.ordinals.entry(path).or_default();
        let ordinal = *counter;
        *counter += 1;
        if fault!(OrdinalReused) {
            let last = owner.place.find(&stored.record).and_then(|owner| owner.list(list).last().cloned());
            return Ok(Some(last.map_or(0, |element| element.ordinal + 1)));
        }
        self.after.changed.insert(owner.aggregate.clone(), Some(stored));
        Ok(Some(ordinal))
    }

    /// Makes a record an aggregate: a new one, or in place of one that lives. One whose time is up already is gone at
    /// once.
    pub(super) fn place_root(
        &mut self,
        aggregate: Aggregate,
        record: Record,
        over: Option<&Stored>,
    ) -> Result<(), Stop> {
        let now = self.now.as_microsecond();
        if over.is_none() && expired(self.conceptual(), &record, now, self.now) {
            return Ok(());
        }
        let system = match over {
            Some(stored) => stored.system.clone(),
            None => {
                // Versions and what is known of past writes go on where a former one of that id has ended.
                let former = self.before.system(aggregate.0, &aggregate.1)?.unwrap_or_default();
                System {
                    version: former.version,
                    epoch: former.epoch,
                    writes: former.writes,
                    created: if fault!(CreatedKept) && former.created > 0 { former.created } else { now },
                    ..System::default()
                }
            }
        };
        let mut stored = Stored { record, system };
        note_parts(self.conceptual(), &mut stored, self.now);
        self.after.changed.insert(aggregate, Some(Arc::new(stored)));
        Ok(())
    }

    pub(super) fn remove_root(&mut self, aggregate: &Aggregate) {
        self.after.changed.insert(aggregate.clone(), None);
    }

    /// Where the entity of that class and id is, if it exists.
    pub(super) fn find(&self, class: ClassId, id: &Identity) -> Result<Option<Address>, Stop> {
        self.find_in(&self.after, class, id)
    }

    pub(super) fn find_in(
        &self,
        state: &dyn Instances,
        class: ClassId,
        id: &Identity,
    ) -> Result<Option<Address>, Stop> {
        Ok(self.all_in(state, class, id)?.into_iter().next())
    }

    /// Every place where an entity of that class and id is. After all rules have been kept there is one at most.
    pub(super) fn all_in(
        &self,
        state: &dyn Instances,
        class: ClassId,
        id: &Identity,
    ) -> Result<Vec<Address>, Stop> {
        let conceptual = self.conceptual();
        let mut found = Vec::new();
        let occurrences = conceptual.occurrences(class);
        each(occurrences.iter().filter(|occurrence| occurrence.hops.is_empty()), |root| {
            let aggregate = (root.root, id.clone());
            if let Some(stored) = self.live(state, &aggregate)?
                && conceptual.is_kind_of(stored.record.class, class)
            {
                found.push(Address::root(aggregate));
            }
            Ok(())
        })?;
        if occurrences.iter().any(|occurrence| !occurrence.hops.is_empty()) {
            each(state.owners(class, id)?, |aggregate| {
                let Some(stored) = self.live(state, &aggregate)? else { return Ok(()) };
                for (place, record) in records(&stored.record) {
                    let is_it = conceptual.is_kind_of(record.class, class)
                        && record.identity(conceptual).as_ref() == Some(id);
                    if is_it && !place.0.is_empty() {
                        found.push(Address { aggregate: aggregate.clone(), place });
                    }
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Every record that holds a link to `target` at a stored end.
    pub(super) fn holders(
        &self,
        state: &dyn Instances,
        end: EndId,
        target: &Identity,
    ) -> Result<Vec<Address>, Stop> {
        let conceptual = self.conceptual();
        let mut found = Vec::new();
        each(state.referring(end, target)?, |aggregate| {
            let Some(stored) = self.live(state, &aggregate)? else { return Ok(()) };
            for (place, record) in records(&stored.record) {
                if conceptual.is_kind_of(record.class, conceptual.ends[end].class)
                    && holds(record, end, target)
                {
                    found.push(Address { aggregate: aggregate.clone(), place });
                }
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Takes note of the ordinals that are in use and of the parts that expire.
pub fn note_parts(conceptual: &Conceptual, stored: &mut Stored, now: jiff::Timestamp) {
    let Stored { record, system } = stored;
    let mut born = BTreeMap::new();
    for (place, part) in records(record) {
        for (&member, value) in &part.fields {
            if let Value::List(elements) = value {
                let last = elements.last().map_or(0, |element| element.ordinal + 1);
                let path = place.below(member, None).text(conceptual);
                let counter = system.ordinals.entry(path).or_default();
                *counter = last.max(*counter);
            }
        }
        if place.0.is_empty() || conceptual.ttl(part.class).is_none() {
            continue;
        }
        if let Some(identity) = part.identity(conceptual) {
            let path = place.text(conceptual);
            let since = match system.born.get(&path) {
                Some((before, since)) if *before == identity => *since,
                Some(_) | None => now.as_microsecond(),
            };
            born.insert(path, (identity, since));
        }
    }
    system.born = born;
}
