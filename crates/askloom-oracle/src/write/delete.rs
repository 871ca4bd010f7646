//! DELETE, and what checked references make of it.

use super::draft::{Draft, Matched};
use super::error::WriteError;
use crate::address::Address;
use crate::state::{State, top};
use crate::view::View;
use askloom_model::{ClassId, Conceptual, EndId, Identity, Member, OnDelete};
use std::collections::BTreeSet;

/// Entities by hierarchy and id.
type Entities = BTreeSet<(ClassId, Identity)>;

impl Draft<'_> {
    /// Deletes aggregates, and with them their parts.
    pub(super) fn delete(&mut self, rows: &[Matched]) -> u64 {
        for address in rows.iter().filter_map(|row| row.first()) {
            self.remove_record(address);
        }
        rows.len() as u64
    }

    /// Removes an instance, an element of a list, or a part. Whose part is required goes with it.
    fn remove_record(&mut self, address: &Address) {
        let mut owner = address.clone();
        let Some(step) = owner.place.pop() else {
            if let Some(roots) = self.state.roots.get_mut(&address.top) {
                roots.remove(&address.root);
            }
            return;
        };
        let required = match step.member {
            Member::End(end) => self.conceptual.ends[end].cardinality.min > 0,
            Member::Attribute(_) => false,
        };
        match step.ordinal {
            Some(ordinal) => self.remove_element(&owner, step.member, ordinal),
            None if required => self.remove_record(&owner),
            None => {
                self.set(&owner, step.member, askloom_model::Value::Null);
            }
        }
    }

    /// What a step has deleted, in whatever way, may be referred to by checked references. First all cascades
    /// run to their end; then whoever is left and refers to something that is gone refuses, or is cleared.
    pub(super) fn after_deletes(&mut self, before: &State) -> Result<(), WriteError> {
        if !self.conceptual.ends.iter().any(|(_, end)| end.is_checked()) {
            return Ok(());
        }
        let before = entities(&View::new(self.conceptual, before));
        loop {
            let doomed = self.referring(&before, OnDelete::Cascade);
            if doomed.is_empty() {
                break;
            }
            for (address, _, _) in doomed {
                self.remove_record(&address);
            }
        }
        if let Some((_, end, _)) = self.referring(&before, OnDelete::Refuse).first() {
            return Err(WriteError::Refused { end: *end });
        }
        for (address, end, target) in self.referring(&before, OnDelete::Clear) {
            self.take_link(&address, end, &target);
        }
        Ok(())
    }

    /// Links by references of that kind to what existed before and does not now.
    fn referring(&self, before: &Entities, action: OnDelete) -> Vec<(Address, EndId, Identity)> {
        let view = self.view();
        let gone: Entities = before.difference(&entities(&view)).cloned().collect();
        let mut links = Vec::new();
        for (end, row) in self.conceptual.ends.iter() {
            if row.on_delete() != Some(action) || !row.stored {
                continue;
            }
            let hierarchy = top(self.conceptual, row.target);
            for node in view.extent(row.class) {
                for id in view.links_of(node, end) {
                    if gone.contains(&(hierarchy, id.clone())) {
                        links.push((node.address.clone(), end, id));
                    }
                }
            }
        }
        links
    }
}

fn entities(view: &View<'_>) -> Entities {
    let conceptual: &Conceptual = view.conceptual;
    let entity = |node: &crate::node::Node<'_>| {
        Some((top(conceptual, node.record()?.class), node.identity.entity()?.clone()))
    };
    view.all().iter().filter_map(entity).collect()
}
