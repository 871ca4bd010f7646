//! Expiry. What is past its `@ttl` by the clock of a statement is gone for it, whatever is still stored.

use crate::Stored;
use crate::place::{Place, records};
use askloom_model::{ClassId, Conceptual, Record, Value, fault};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The aggregate as a statement at `now` sees it: nothing if it has expired, without the parts that have.
pub(crate) fn alive(conceptual: &Conceptual, stored: Rc<Stored>, now: jiff::Timestamp) -> Option<Rc<Stored>> {
    if expired(conceptual, stored.record.class, stored.system.created, now) {
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
        since.is_some_and(|(_, since)| expired(conceptual, class, *since, now))
    };
    drop_parts(&mut left.record, &Place::default(), &gone);
    // What comes to stand where something has expired is born anew.
    let places: BTreeSet<String> =
        records(&left.record).iter().map(|(place, _)| place.text(conceptual)).collect();
    left.system.born = born.into_iter().filter(|(path, _)| places.contains(path)).collect();
    Some(Rc::new(left))
}

/// Gone at the very moment when creation is that long ago. A subclass has the `@ttl` of its parent, unless it has its
/// own.
pub(crate) fn expired(conceptual: &Conceptual, class: ClassId, created: i64, now: jiff::Timestamp) -> bool {
    !fault!(ExpiredKept)
        && conceptual.ttl_ms(class).is_some_and(|ttl| {
            i128::from(now.as_microsecond()) >= i128::from(created) + i128::from(ttl) * 1000
        })
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
