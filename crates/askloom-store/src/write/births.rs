//! When the parts of an aggregate were made: those that have a time to live expire by themselves.

use crate::{Schema, Stored};
use askloom_model::{Identity, Record, Value};
use std::collections::BTreeMap;

/// When each part was made that has a time to live, in microseconds since 1970, by its path in the aggregate. A part
/// that was in the same place before keeps its time.
pub(super) fn births(
    schema: &Schema,
    before: Option<&Stored>,
    record: &Record,
    now: jiff::Timestamp,
) -> BTreeMap<String, i64> {
    let mut parts = BTreeMap::new();
    if schema.expires() {
        expiring(schema, record, "", &mut parts);
    }
    let mut earlier = BTreeMap::new();
    if let Some(before) = before.filter(|_| !parts.is_empty()) {
        expiring(schema, &before.record, "", &mut earlier);
    }
    let made = |path: &String, identity: &Identity| {
        let stayed = before.filter(|_| earlier.get(path) == Some(identity));
        let known = stayed.and_then(|before| before.system.born.get(path).copied());
        known.unwrap_or_else(|| now.as_microsecond())
    };
    parts.iter().map(|(path, identity)| (path.clone(), made(path, identity))).collect()
}

/// The part entities with a time to live, by path.
fn expiring(schema: &Schema, record: &Record, path: &str, parts: &mut BTreeMap<String, Identity>) {
    let conceptual = &schema.model.conceptual;
    let mut part = |part: &Record, path: String| {
        let expires = conceptual.lineage(part.class).iter().any(|&c| conceptual.classes[c].ttl_ms.is_some());
        if let Some(identity) = part.identity(conceptual).filter(|_| expires) {
            parts.insert(path.clone(), identity);
        }
        expiring(schema, part, &path, parts);
    };
    for (&member, value) in &record.fields {
        let name = conceptual.member_name(member);
        let here = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if let Value::Record(inner) = value {
            part(inner, here);
        } else if let Value::List(elements) = value {
            for element in elements {
                if let Value::Record(inner) = &element.value {
                    part(inner, format!("{here}[{}]", element.ordinal));
                }
            }
        }
    }
}
