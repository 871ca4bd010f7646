//! Whole aggregates, lists included, as `load` and the mapper write them.

use super::Inputs;
use super::defaults::Maker;
use super::draft::Draft;
use super::error::WriteError;
use crate::address::Address;
use crate::state::{State, top};
use askloom_model::typed;
use askloom_model::{ClassId, Identity, Model, Record};
use jiff::Timestamp;
use std::collections::BTreeSet;

impl State {
    /// Stores a new aggregate and answers its id. Elements keep the ordinals they have.
    pub fn create(
        &mut self,
        model: &Model,
        record: &Record,
        inputs: &Inputs,
    ) -> Result<Identity, WriteError> {
        let mut draft = Draft::of(self, &model.conceptual, inputs.now);
        let before = draft.state.clone();
        let record = draft.whole_root(record, &mut Maker::of(inputs))?;
        let identity = draft.insert(record)?;
        draft.settle(&before)?;
        *self = draft.state;
        Ok(identity)
    }

    /// Stores many new aggregates at once: they may refer to each other in any order.
    pub fn load<'r>(
        &mut self,
        model: &Model,
        records: impl IntoIterator<Item = &'r Record>,
        inputs: &Inputs,
    ) -> Result<usize, WriteError> {
        let mut draft = Draft::of(self, &model.conceptual, inputs.now);
        let before = draft.state.clone();
        let mut maker = Maker::of(inputs);
        let mut placed = BTreeSet::new();
        for record in records {
            let record = draft.whole_root(record, &mut maker)?;
            let address = draft.place_new(record)?;
            placed.insert((address.top, address.root));
        }
        draft.claim_where(&|address| placed.contains(&(address.top, address.root.clone())))?;
        draft.settle(&before)?;
        *self = draft.state;
        Ok(placed.len())
    }

    /// Replaces an aggregate as a whole. When it was created stays, and so do the counters of its lists: they
    /// only go up.
    pub fn replace(&mut self, model: &Model, record: &Record, inputs: &Inputs) -> Result<(), WriteError> {
        let mut draft = Draft::of(self, &model.conceptual, inputs.now);
        let before = draft.state.clone();
        let record = draft.whole_root(record, &mut Maker::of(inputs))?;
        draft.replace(record)?;
        draft.settle(&before)?;
        *self = draft.state;
        Ok(())
    }

    /// Deletes an aggregate; false if there is none of that class and id.
    pub fn delete(
        &mut self,
        model: &Model,
        class: ClassId,
        identity: &Identity,
        now: Timestamp,
    ) -> Result<bool, WriteError> {
        let mut draft = Draft::of(self, &model.conceptual, now);
        let before = draft.state.clone();
        let found = draft.view().find(class, identity).map(|node| node.address.clone());
        let Some(address) = found else { return Ok(false) };
        if !address.place.is_empty() {
            return Err(WriteError::NotARoot { class });
        }
        draft.delete(&[vec![address]]);
        draft.settle(&before)?;
        *self = draft.state;
        Ok(true)
    }
}

impl Draft<'_> {
    /// The record with its defaults, if it can be a root.
    fn whole_root(&self, record: &Record, maker: &mut Maker<'_>) -> Result<Record, WriteError> {
        let class = record.class;
        let row = &self.conceptual.classes[class];
        let is_part =
            self.conceptual.lineage(class).iter().any(|&c| self.conceptual.classes[c].owner.is_some());
        if !row.kind.is_entity() || is_part {
            return Err(WriteError::NotARoot { class });
        }
        let record = typed::whole(self.conceptual, record, class)
            .ok_or_else(|| WriteError::WrongType { name: row.name.clone() })?;
        maker.complete(self.conceptual, record)
    }

    /// Places a complete record without looking at its links.
    fn place_new(&mut self, record: Record) -> Result<Address, WriteError> {
        let class = record.class;
        let top = top(self.conceptual, class);
        let identity = record.identity(self.conceptual).ok_or(WriteError::NotARoot { class })?;
        let taken = self.state.roots.get(&top).is_some_and(|roots| roots.contains_key(&identity));
        if taken {
            return Err(WriteError::AlreadyExists { class, identity });
        }
        Ok(self.place_root(top, identity, record))
    }

    pub(super) fn replace(&mut self, record: Record) -> Result<(), WriteError> {
        let class = record.class;
        let identity = record.identity(self.conceptual).ok_or(WriteError::NotARoot { class })?;
        let address = Address { top: top(self.conceptual, class), root: identity.clone(), place: Vec::new() };
        let (conceptual, now) = (self.conceptual, self.now);
        let found = self.state.record_mut(&address).filter(|there| there.class == class);
        let Some(old) = found.cloned() else { return Err(WriteError::NotFound { class, identity }) };
        self.forget_symmetric(&[old], std::slice::from_ref(&record));
        if let Some(instance) = self.state.instance_mut(&address) {
            instance.record = record;
            instance.note_parts(conceptual, now);
        }
        self.claim_all(&address)
    }
}
