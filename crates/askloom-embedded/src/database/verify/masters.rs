//! The blocks of masters: each can be read, is about the aggregate that its key names, and has the entries that the
//! design's rules give it.

use super::super::masters::{blocks, start};
use super::{AGGREGATES, Fault, Verifier, text};
use crate::block::encode_aggregate;
use crate::{KeyspaceRecords, Puts};
use askloom_engine::{Instances, Reader, RunError};
use askloom_model::{ClassId, CollectionId, Identity};
use askloom_plan::partition;

impl Verifier<'_, '_> {
    pub(super) fn master(&mut self, root: ClassId, id: CollectionId) -> Result<(), RunError> {
        let schema = self.database.schema();
        let name = schema.design.collections[id].name.clone();
        let snapshot = self.snapshot();
        let mut from = Some(start(schema, id, None));
        while let Some(key) = from {
            let some = blocks(&snapshot, schema, id, &key, AGGREGATES)?;
            let records = KeyspaceRecords { schema, keyspace: &snapshot };
            let reader = Reader::new(&records);
            for key in some.broken {
                self.found(Fault::Unreadable, &name, format!("the key {}", text::bytes(&key)));
            }
            for identity in &some.identities {
                self.verified.aggregates += 1;
                let puts = self.block(&records, &reader, (root, id), identity, &name)?;
                self.mend(puts)?;
            }
            from = some.next;
        }
        Ok(())
    }

    /// One block; what would make it right.
    fn block(
        &mut self,
        records: &KeyspaceRecords<'_>,
        reader: &Reader<'_>,
        (root, master): (ClassId, CollectionId),
        identity: &Identity,
        name: &str,
    ) -> Result<Puts, RunError> {
        let keys = self.database.schema().master_key(master);
        let conceptual = &self.database.schema().model.conceptual;
        let shown = text::instance(conceptual, root, identity);
        let read = records
            .contents(root, identity)
            .and_then(|block| Ok::<_, RunError>((block, reader.aggregate(root, identity)?)));
        let (block, stored) = match read {
            Ok(read) => read,
            Err(RunError::Corrupted(why)) => {
                self.found(Fault::Unreadable, name, format!("{shown} ({why})"));
                return Ok(Puts::new());
            }
            Err(other) => return Err(other),
        };
        let Some(stored) = stored else {
            if block.system.is_none() {
                self.found(Fault::Unreadable, name, format!("{shown} (its system entry is missing)"));
                return Ok(Puts::new());
            }
            // A deleted aggregate leaves its system entry and nothing else.
            for path in block.entries.keys() {
                self.found(Fault::Extra, name, format!("`{path}` of {shown}, which was deleted"));
            }
            let mut puts: Puts =
                block.entries.keys().map(|path| (keys.entry(identity, path), None)).collect();
            if block.carries {
                self.found(Fault::Extra, name, format!("what {shown} carried, which was deleted"));
                puts.insert(keys.carried(identity), None);
            }
            return Ok(puts);
        };
        let is_it = stored.record.identity(conceptual).as_ref() == Some(identity);
        if !is_it || !conceptual.is_kind_of(stored.record.class, root) {
            self.found(Fault::Unreadable, name, format!("{shown} (another aggregate is in its place)"));
            return Ok(Puts::new());
        }
        let right = encode_aggregate(self.database.schema(), root, &stored.record)?;
        let mut puts = Puts::new();
        for (path, value) in partition::diff(&block.entries, &right) {
            let fault = match (&value, block.entries.contains_key(&path)) {
                (None, _) => Fault::Extra,
                (Some(_), true) => Fault::Wrong,
                (Some(_), false) => Fault::Missing,
            };
            self.found(fault, name, format!("`{path}` of {shown}"));
            puts.insert(keys.entry(identity, &path), value);
        }
        if block.carries && self.database.schema().design.carried(root).is_none() {
            self.found(Fault::Extra, name, format!("what {shown} carries"));
            puts.insert(keys.carried(identity), None);
        }
        Ok(puts)
    }
}
