//! Rows that come before what they refer to.
//!
//! A write relies on it that nobody refers to an instance before it is made. In a load somebody may, and what is looked
//! for there is kept in the store's own collection, in the same batch as the row that looks for it: when it comes, its
//! copies are brought after as if references were loose.

use super::dangling::exists;
use crate::codec::block_prefix;
use crate::{KeyedSchema, Keyspace, Puts};
use askloom_engine::place::records;
use askloom_engine::write::Phase;
use askloom_engine::{Instances, Reader, RunError};
use askloom_model::{ClassId, Conceptual, EndId, Identity, Member, Record, RelationshipKind, Value};
use askloom_plan::delta::is_relied_on;
use std::collections::BTreeSet;

/// The number of the store's own collection.
const OWN: u32 = 0;

/// The relied-on references that lead to other aggregates in rows of copies which are kept during the load.
pub(super) fn ends(schema: &KeyedSchema) -> BTreeSet<EndId> {
    let conceptual = &schema.model.conceptual;
    let steps = schema.copies().flat_map(|copy| {
        let positions = &schema.design.collections[copy].source.positions;
        schema.deltas(copy).iter().flat_map(|delta| delta.steps(positions))
    });
    let ends = steps.filter_map(|step| match step {
        Member::End(end) => Some(conceptual.stored_end(end)),
        Member::Attribute(_) => None,
    });
    let reference = |end: &EndId| conceptual.ends[*end].kind != RelationshipKind::Composition;
    ends.filter(|end| reference(end) && is_relied_on(conceptual, *end)).collect()
}

/// Whether a row, or a part in it, is what an earlier row looked for. If so it is no longer looked for.
pub(super) fn phase(
    conceptual: &Conceptual,
    state: &dyn Keyspace,
    record: &Record,
    puts: &mut Puts,
) -> Result<Phase, RunError> {
    let mut phase = Phase::Running;
    for (_, record) in records(record) {
        let Some(identity) = record.identity(conceptual) else { continue };
        let key = key(conceptual, record.class, &identity);
        if state.get(&key)?.is_some() {
            puts.insert(key, None);
            phase = Phase::Loading;
        }
    }
    Ok(phase)
}

/// Notes what a row refers to and is not there, itself excepted.
pub(super) fn note(
    reader: &Reader<'_>,
    ends: &BTreeSet<EndId>,
    record: &Record,
    now: jiff::Timestamp,
    puts: &mut Puts,
) -> Result<(), RunError> {
    let conceptual = &reader.schema().model.conceptual;
    for (_, part) in records(record) {
        for (&member, value) in &part.fields {
            let Member::End(end) = member else { continue };
            if !ends.contains(&end) {
                continue;
            }
            let target = conceptual.ends[end].target;
            let ids: Vec<&Identity> = match value {
                Value::Reference(id) => vec![id],
                Value::Set(ids) => ids.iter().collect(),
                _part => continue,
            };
            for id in ids {
                if !is_inside(conceptual, record, target, id) && !exists(reader, target, id, now)? {
                    puts.insert(key(conceptual, target, id), Some(Vec::new()));
                }
            }
        }
    }
    Ok(())
}

fn is_inside(conceptual: &Conceptual, record: &Record, class: ClassId, id: &Identity) -> bool {
    records(record).iter().any(|(_, part)| {
        conceptual.is_kind_of(part.class, class) && part.identity(conceptual).as_ref() == Some(id)
    })
}

fn key(conceptual: &Conceptual, class: ClassId, id: &Identity) -> Vec<u8> {
    let top = conceptual.lineage(class).last().copied().unwrap_or(class);
    let name = Value::Text(conceptual.classes[top].name.clone());
    block_prefix(OWN, &[Value::Text("awaited".to_owned()), name, Value::Reference(id.clone())])
}
