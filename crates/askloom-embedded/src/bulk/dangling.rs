//! Breaches in what is loaded: references that designs rely on and that lead to nothing.

use askloom_engine::expiry::alive;
use askloom_engine::place::records;
use askloom_engine::{Instances, Reader, RunError};
use askloom_model::{ClassId, Identity, Member, Record, Value};

/// The fields of a record whose references have to lead somewhere and do not, each once.
pub(super) fn dangling(
    reader: &Reader<'_>,
    record: &Record,
    now: jiff::Timestamp,
) -> Result<Vec<String>, RunError> {
    let conceptual = &reader.schema().model.conceptual;
    let mut found = Vec::new();
    for (place, part) in records(record) {
        for (&member, value) in &part.fields {
            let Member::End(end) = member else { continue };
            // What designs do not rely on may lead to nothing.
            if !conceptual.is_relied_on(end) {
                continue;
            }
            let target = conceptual.ends[end].target;
            let ids: Vec<&Identity> = match value {
                Value::Reference(id) => vec![id],
                Value::Set(ids) => ids.iter().collect(),
                _part => continue,
            };
            for id in ids {
                if !exists(reader, target, id, now)? {
                    found.push(place.below(member, None).text(conceptual));
                    break;
                }
            }
        }
    }
    Ok(found)
}

/// Whether an instance of a class lives, as a root or as a part.
pub(super) fn exists(
    reader: &Reader<'_>,
    class: ClassId,
    id: &Identity,
    now: jiff::Timestamp,
) -> Result<bool, RunError> {
    let conceptual = &reader.schema().model.conceptual;
    let occurrences = conceptual.occurrences(class);
    for root in occurrences.iter().filter(|occurrence| occurrence.hops.is_empty()) {
        let stored = reader.aggregate(root.root, id)?.and_then(|stored| alive(conceptual, stored, now));
        if stored.is_some_and(|stored| conceptual.is_kind_of(stored.record.class, class)) {
            return Ok(true);
        }
    }
    if occurrences.iter().all(|occurrence| occurrence.hops.is_empty()) {
        return Ok(false);
    }
    for (root, owner) in reader.owners(class, id)? {
        let stored = reader.aggregate(root, &owner)?.and_then(|stored| alive(conceptual, stored, now));
        let has = |stored: &askloom_engine::Stored| {
            records(&stored.record).iter().any(|(_, part)| {
                conceptual.is_kind_of(part.class, class) && part.identity(conceptual).as_ref() == Some(id)
            })
        };
        if stored.is_some_and(|stored| has(&stored)) {
            return Ok(true);
        }
    }
    Ok(false)
}
