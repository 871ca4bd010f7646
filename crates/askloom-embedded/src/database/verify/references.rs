//! Breaches: references that designs rely on and that lead to nothing. A loose one may, and so may one to what can expire.

use super::super::masters::{blocks, start};
use super::{AGGREGATES, Fault, Verifier, text};
use crate::KeyspaceRecords;
use askloom_engine::execute::Scene;
use askloom_engine::expiry::alive;
use askloom_engine::place::records;
use askloom_engine::{Instances, Reader, RunError};
use askloom_model::{ClassId, CollectionId, EndId, Identity, Member, RelationshipKind, Table, Value};

impl Verifier<'_, '_> {
    pub(super) fn references(&mut self, root: ClassId, id: CollectionId) -> Result<(), RunError> {
        let schema = self.database.schema();
        let conceptual = &schema.model.conceptual;
        let name = schema.design.collections[id].name.clone();
        let snapshot = self.snapshot();
        let mut from = Some(start(schema, id, None));
        while let Some(key) = from {
            let some = blocks(&snapshot, schema, id, &key, AGGREGATES)?;
            let stored = KeyspaceRecords { schema, keyspace: &snapshot };
            let reader = Reader::new(&stored);
            for identity in &some.identities {
                let stored = match reader.aggregate(root, identity).map_err(RunError::from) {
                    Ok(stored) => stored.and_then(|stored| alive(conceptual, stored, self.now)),
                    // Told already.
                    Err(RunError::Corrupted(_)) => None,
                    Err(other) => return Err(other),
                };
                let Some(stored) = stored else { continue };
                for (place, record) in records(&stored.record) {
                    for (end, target) in held(conceptual, record) {
                        if !self.is_there(&reader, end, target)? {
                            let member = &conceptual.ends[end].name;
                            let place = place.text(conceptual);
                            let dot = if place.is_empty() { "" } else { "." };
                            let owner = text::instance(conceptual, root, identity);
                            let to = text::instance(conceptual, conceptual.ends[end].target, target);
                            self.found(
                                Fault::Breach,
                                &name,
                                format!("{owner}, {place}{dot}{member}, to {to}"),
                            );
                        }
                    }
                }
            }
            from = some.next;
        }
        Ok(())
    }

    fn is_there(&self, reader: &Reader<'_>, end: EndId, target: &Identity) -> Result<bool, RunError> {
        let class = self.database.schema().model.conceptual.ends[end].target;
        let positions = Table::default();
        let scene = Scene {
            instances: reader,
            positions: &positions,
            arguments: &[],
            now: self.now,
            fetcher: None,
            restriction: None,
        };
        match scene.instance(class, target).map_err(RunError::from) {
            Ok(found) => Ok(found.is_some()),
            // It is there; what is wrong with it has been told.
            Err(RunError::Corrupted(_)) => Ok(true),
            Err(other) => Err(other),
        }
    }
}

/// The references that a record holds itself and that designs rely on.
fn held<'r>(
    conceptual: &askloom_model::Conceptual,
    record: &'r askloom_model::Record,
) -> Vec<(EndId, &'r Identity)> {
    let mut found = Vec::new();
    for (&member, value) in &record.fields {
        let Member::End(end) = member else { continue };
        if conceptual.ends[end].kind == RelationshipKind::Composition || !conceptual.is_relied_on(end) {
            continue;
        }
        match value {
            Value::Reference(id) => found.push((end, id)),
            Value::Set(ids) => found.extend(ids.iter().map(|id| (end, id))),
            _nothing => {}
        }
    }
    found
}
