//! Expiry. What is past its `@ttl` by the clock of a statement is gone for it, whatever is still stored.

use crate::Stored;
use crate::place::{Place, records};
use askloom_model::{ClassId, Conceptual, Member, Record, Ttl, Value, fault};
use jiff::tz::TimeZone;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The aggregate as a statement at `now` sees it: nothing if it has expired, without the parts that have.
pub fn alive(conceptual: &Conceptual, stored: Arc<Stored>, now: jiff::Timestamp) -> Option<Arc<Stored>> {
    if expired(conceptual, &stored.record, stored.system.created, now) {
        return None;
    }
    // Only parts that expire are noted as born.
    if stored.system.born.is_empty() {
        return Some(stored);
    }
    let mut left = (*stored).clone();
    let born = std::mem::take(&mut left.system.born);
    let gone = |place: &Place, class: ClassId| {
        let since = born.get(&place.text(conceptual));
        // The time of a part counts from when it was added.
        let ttl = conceptual.ttl(class);
        since.zip(ttl).is_some_and(|((_, since), ttl)| is_over(i128::from(*since) * 1000, ttl, now))
    };
    drop_parts(&mut left.record, &Place::default(), &gone);
    // What comes to stand where something has expired is born anew.
    let places: BTreeSet<String> =
        records(&left.record).iter().map(|(place, _)| place.text(conceptual)).collect();
    left.system.born = born.into_iter().filter(|(path, _)| places.contains(path)).collect();
    Some(Arc::new(left))
}

/// Gone at the very moment when creation, or the time that the record itself names, is that long ago. A subclass has the
/// `@ttl` of its parent, unless it has its own.
pub fn expired(conceptual: &Conceptual, record: &Record, created: i64, now: jiff::Timestamp) -> bool {
    conceptual.ttl(record.class).is_some_and(|ttl| {
        let since = since(ttl, record).unwrap_or(i128::from(created) * 1000);
        is_over(since, ttl, now)
    })
}

/// The time that a record itself names, in nanoseconds since 1970.
fn since(ttl: Ttl, record: &Record) -> Option<i128> {
    if fault!(ExpiryFromCreation) {
        return None;
    }
    match record.get(Member::Attribute(ttl.from?)) {
        Value::Timestamp(at) => Some(at.as_nanosecond()),
        Value::Date(day) => day.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp().as_nanosecond()),
        _absent => None,
    }
}

fn is_over(since: i128, ttl: Ttl, now: jiff::Timestamp) -> bool {
    !fault!(ExpiredKept) && now.as_nanosecond() >= since + i128::from(ttl.ms) * 1_000_000
}

/// When an aggregate expires, in milliseconds since 1970, if it does.
pub fn expires_at(conceptual: &Conceptual, record: &Record, created: i64) -> Option<i64> {
    let ttl = conceptual.ttl(record.class)?;
    let since = since(ttl, record).unwrap_or(i128::from(created) * 1000).div_euclid(1_000_000);
    Some(i64::try_from(since).ok()?.saturating_add_unsigned(ttl.ms))
}

fn drop_parts(record: &mut Record, place: &Place, gone: &dyn Fn(&Place, ClassId) -> bool) {
    record.fields.retain(|&member, value| match value {
        Value::Record(part) => {
            let place = place.below(member, None);
            let stays = !gone(&place, part.class);
            if stays {
                drop_parts(part, &place, gone);
            }
            stays
        }
        Value::List(elements) => {
            elements.retain_mut(|element| match &mut element.value {
                Value::Record(part) => {
                    let place = place.below(member, Some(element.ordinal));
                    let stays = !gone(&place, part.class);
                    if stays {
                        drop_parts(part, &place, gone);
                    }
                    stays
                }
                _plain => true,
            });
            !elements.is_empty()
        }
        _plain => true,
    });
}
