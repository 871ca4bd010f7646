//! The copy that a write works on.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use super::Given;
use super::error::WriteError;
use crate::address::{Address, Place, below};
use crate::condition::Asked;
use crate::identity::NodeIdentity;
use crate::state::{Instance, State};
use crate::ttl::expired;
use crate::view::View;
use askloom_model::{
    ClassId, Conceptual, Condition, Identity, Member, Position, PositionId, Record, Table, Value,
};
use jiff::Timestamp;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Draft<'m> {
    pub(super) conceptual: &'m Conceptual,
    pub(super) state: State,
    pub(super) now: Timestamp,
}

/// Where the instances of a matching row are: the instance itself, and for REMOVE the element.
pub(super) type Matched = Vec<Address>;

impl<'m> Draft<'m> {
    pub(super) fn of(state: &State, conceptual: &'m Conceptual, now: Timestamp) -> Self {
        Self { conceptual, state: state.live(conceptual, now), now }
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(self.conceptual, &self.state)
    }

    /// What a WHERE matches, in the order of identities.
    pub(super) fn matching(
        &self,
        positions: &Table<PositionId, Position>,
        condition: Option<&Condition>,
        given: &Given<'_>,
    ) -> Vec<Matched> {
        let view = self.view();
        let classes: Vec<Option<ClassId>> = positions.iter().map(|(_, position)| position.class).collect();
        let mut found: Vec<(Vec<Option<NodeIdentity>>, Matched)> = Vec::new();
        for row in view.join(positions) {
            let asked = Asked { view: &view, row: &row, parameters: &given.bound, classes: &classes };
            if asked.holds(condition) {
                let identity = row.iter().map(|node| node.as_ref().map(|node| node.identity.clone()));
                let matched = row.iter().flatten().map(|node| node.address.clone());
                found.push((identity.collect(), matched.collect()));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found.into_iter().map(|(_, matched)| matched).collect()
    }

    /// Makes a record a new aggregate, unless its time is up already: then it is gone at once.
    pub(super) fn place_root(&mut self, top: ClassId, identity: Identity, record: Record) -> Address {
        if expired(self.conceptual, &record, self.now, self.now) {
            return Address { top, root: identity, place: Vec::new() };
        }
        let mut instance =
            Instance { record, created: self.now, counters: BTreeMap::new(), born: BTreeMap::new() };
        instance.note_parts(self.conceptual, self.now);
        self.state.roots.entry(top).or_default().insert(identity.clone(), instance);
        Address { top, root: identity, place: Vec::new() }
    }

    /// Sets a member of the record at an address, and says whether there is one.
    pub(super) fn set(&mut self, address: &Address, member: Member, value: Value) -> bool {
        let Some(record) = self.state.record_mut(address) else { return false };
        record.set(member, value);
        let (conceptual, now) = (self.conceptual, self.now);
        if let Some(instance) = self.state.instance_mut(address) {
            instance.note_parts(conceptual, now);
        }
        true
    }

    /// The id of the entity at an address.
    pub(super) fn identity_at(&mut self, address: &Address) -> Option<Identity> {
        let conceptual = self.conceptual;
        self.state.record_mut(address)?.identity(conceptual)
    }

    /// What follows from a step, and what must hold after it.
    pub(super) fn settle(&mut self, before: &State) -> Result<(), WriteError> {
        self.after_deletes(before)?;
        self.check_rules(before)
    }
}

impl Instance {
    /// Takes note of the ordinals that are in use and of the part entities that are there.
    pub(super) fn note_parts(&mut self, conceptual: &Conceptual, now: Timestamp) {
        let mut parts = BTreeMap::new();
        let mut lists = BTreeMap::new();
        note(conceptual, &self.record, &Vec::new(), &mut parts, &mut lists);
        for (place, next) in lists {
            let counter = self.counters.entry(place).or_default();
            *counter = (*counter).max(next);
        }
        let since = |place: &Place, identity: &Identity| match self.born.get(place) {
            Some((before, since)) if before == identity => *since,
            Some(_) | None => now,
        };
        self.born = parts
            .into_iter()
            .map(|(place, identity)| {
                let since = since(&place, &identity);
                (place, (identity, since))
            })
            .collect();
    }

    /// The ordinal for a new element of a list.
    pub(super) fn next_ordinal(&mut self, list: &Place) -> u64 {
        let counter = self.counters.entry(list.clone()).or_default();
        let ordinal = *counter;
        *counter += 1;
        ordinal
    }
}

fn note(
    conceptual: &Conceptual,
    record: &Record,
    place: &Place,
    parts: &mut BTreeMap<Place, Identity>,
    lists: &mut BTreeMap<Place, u64>,
) {
    let mut inside = |member: Member, ordinal: Option<u64>, value: &Value| {
        let Value::Record(part) = value else { return };
        let place = below(place, member, ordinal);
        if let Some(identity) = part.identity(conceptual) {
            parts.insert(place.clone(), identity);
        }
        note(conceptual, part, &place, parts, lists);
    };
    let mut next = Vec::new();
    for (&member, value) in &record.fields {
        match value {
            Value::List(elements) => {
                for element in elements {
                    inside(member, Some(element.ordinal), &element.value);
                }
                let last = elements.last().map_or(0, |element| element.ordinal + 1);
                next.push((below(place, member, None), last));
            }
            single => inside(member, None, single),
        }
    }
    lists.extend(next);
}
