//! Expiry. What is past its `@ttl` by the clock of a statement is gone for it, whatever is still stored: its id
//! and its unique values are free, and so are those of its parts.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and a function knows the few that concern it"
)]

use crate::address::{Place, below};
use crate::state::{Instance, State};
use askloom_model::{Conceptual, Identity, Member, Record, Value};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

impl State {
    /// The state as a statement at `now` sees it.
    pub(crate) fn live(&self, conceptual: &Conceptual, now: Timestamp) -> Self {
        let mut live = self.clone();
        for roots in live.roots.values_mut() {
            roots.retain(|_, instance| !expired(conceptual, &instance.record, instance.created, now));
            for instance in roots.values_mut() {
                let Instance { record, born, .. } = instance;
                let mut gone = Vec::new();
                drop_expired_parts(conceptual, record, &Vec::new(), born, now, &mut gone);
                // What comes to the same place later is a new one, also under the same id.
                born.retain(|place, _| !gone.iter().any(|gone| place.starts_with(gone)));
            }
        }
        live
    }
}

/// Gone at the very moment when creation, or the time that the record itself names, is that long ago. A subclass has
/// the `@ttl` of its parent, unless it has its own.
pub(crate) fn expired(conceptual: &Conceptual, record: &Record, created: Timestamp, now: Timestamp) -> bool {
    let lineage = conceptual.lineage(record.class);
    let Some(ttl) = lineage.into_iter().find_map(|class| conceptual.classes[class].ttl) else { return false };
    let Ok(ms) = i64::try_from(ttl.ms) else { return false };
    let since = match ttl.from.map(|attribute| record.get(Member::Attribute(attribute))) {
        None => created,
        Some(Value::Timestamp(at)) => *at,
        Some(Value::Date(day)) => match day.to_zoned(TimeZone::UTC) {
            Ok(midnight) => midnight.timestamp(),
            Err(_) => return false,
        },
        // The attribute is required: only a part of a record lacks it.
        Some(_) => return false,
    };
    now.duration_since(since) >= SignedDuration::from_millis(ms)
}

fn drop_expired_parts(
    conceptual: &Conceptual,
    record: &mut Record,
    place: &Place,
    born: &BTreeMap<Place, (Identity, Timestamp)>,
    now: Timestamp,
    dropped: &mut Vec<Place>,
) {
    let mut stays = |member: Member, ordinal: Option<u64>, part: &mut Record| {
        let place = below(place, member, ordinal);
        let gone = born.get(&place).is_some_and(|(_, since)| expired(conceptual, part, *since, now));
        match gone {
            true => dropped.push(place),
            false => drop_expired_parts(conceptual, part, &place, born, now, dropped),
        }
        !gone
    };
    record.fields.retain(|&member, value| match value {
        Value::Record(part) => stays(member, None, part),
        Value::List(elements) => {
            elements.retain_mut(|element| match &mut element.value {
                Value::Record(part) => stays(member, Some(element.ordinal), part),
                _plain => true,
            });
            !elements.is_empty()
        }
        _plain => true,
    });
}
