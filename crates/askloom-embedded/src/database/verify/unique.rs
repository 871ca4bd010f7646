//! Unique values that two instances hold. Each is reserved by its entry in an index, and two entries under one value
//! are one too many.

use super::{Fault, Verifier, text};
use crate::KeyspaceRecords;
use crate::codec::{block_prefix, split_entry};
use askloom_engine::expiry::alive;
use askloom_engine::{Held, Instances, Reader, RunError};
use askloom_model::{ClassId, CollectionId, Conceptual, Leaf, Value};
use askloom_plan::ordered_bytes::prefix_end;

impl Verifier<'_, '_> {
    pub(super) fn unique(&mut self) -> Result<(), RunError> {
        let schema = self.database.schema();
        for held in unique_members(&schema.model.conceptual) {
            let indexes: Vec<CollectionId> = schema
                .model
                .conceptual
                .occurrences(held.class)
                .iter()
                .filter_map(|occurrence| schema.readable().index(occurrence, held.leaf))
                .collect();
            for (nth, &index) in indexes.iter().enumerate() {
                // Values that are in several indexes are told with the first of them.
                let others = indexes.get(nth + 1..).unwrap_or_default();
                self.unique_in(held, index, others)?;
            }
        }
        Ok(())
    }

    fn unique_in(
        &mut self,
        held: Held,
        index: CollectionId,
        others: &[CollectionId],
    ) -> Result<(), RunError> {
        let schema = self.database.schema();
        let snapshot = self.snapshot();
        let prefix = block_prefix(schema.number(index), &[]);
        let end = prefix_end(&prefix);
        let mut last: Option<Value> = None;
        let mut twice: Vec<Value> = Vec::new();
        crate::Keyspace::scan(&snapshot, &prefix, end.as_deref(), false, &mut |key, _| {
            let Ok(parts) = split_entry(key, 1, &schema.design.collections[index].entry_key, 1) else {
                return Ok(true);
            };
            let Some(value) = parts.block.into_iter().next() else { return Ok(true) };
            let again = last.as_ref() == Some(&value);
            let elsewhere = || {
                let there = |other: &CollectionId| {
                    let prefix = block_prefix(schema.number(*other), std::slice::from_ref(&value));
                    super::copies::keys(&snapshot, &prefix, prefix_end(&prefix).as_deref())
                };
                others
                    .iter()
                    .map(there)
                    .try_fold(false, |any, keys| Ok::<_, RunError>(any || !keys?.is_empty()))
            };
            if (again || elsewhere()?) && twice.last() != Some(&value) {
                twice.push(value.clone());
            }
            last = Some(value);
            Ok(true)
        })?;
        let records = KeyspaceRecords { schema, keyspace: &snapshot };
        let reader = Reader::new(&records);
        for value in twice {
            self.told_if_alive(&reader, held, &value)?;
        }
        Ok(())
    }

    /// What has expired holds nothing any more.
    fn told_if_alive(&mut self, reader: &Reader<'_>, held: Held, value: &Value) -> Result<(), RunError> {
        let conceptual = &self.database.schema().model.conceptual;
        let mut owners = Vec::new();
        for (root, id) in reader.holding(held, value)? {
            let stored = reader.aggregate(root, &id)?.and_then(|stored| alive(conceptual, stored, self.now));
            if stored.is_some_and(|stored| held.is_in(conceptual, &stored.record, value)) {
                owners.push(text::instance(conceptual, root, &id));
            }
        }
        if owners.len() > 1 {
            let class = &conceptual.classes[held.class].name;
            let (member, value) = text::held(conceptual, held.leaf, value);
            self.found(Fault::NotUnique, class, format!("{member} {value} of {}", owners.join(" and ")));
        }
        Ok(())
    }
}

fn unique_members(conceptual: &Conceptual) -> Vec<Held> {
    let attributes = conceptual.attributes.iter().filter(|(_, attribute)| attribute.unique);
    let attributes = attributes.map(|(id, attribute)| (attribute.class, Leaf::Attribute(id)));
    let ends = conceptual.ends.iter().filter(|(_, end)| end.unique && end.stored);
    let ends = ends.map(|(id, end)| (end.class, Leaf::Reference(id)));
    let held = |(class, leaf): (ClassId, Leaf)| Held { class, leaf };
    attributes.chain(ends).map(held).collect()
}
