//! What a store knows about itself, in its own collection: which shape its data has, which number each collection
//! has, and what is still being filled or dropped.

use super::shape::Shape;
use crate::Keyspace;
use crate::codec::block_prefix;
use askloom_engine::RunError;
use askloom_model::{Identity, Value};
use askloom_plan::ordered_bytes::{decode, encode};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of the store's own collection.
pub(super) const OWN: u32 = 0;

/// Counts up when an older program could not read what this one keeps.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Catalogue {
    pub(super) fingerprint: String,
    pub(super) shape: Shape,
    pub(super) numbers: BTreeMap<String, u32>,
    /// The number of the next collection: a number is never given twice.
    pub(super) next: u32,
    /// Copies that do not hold all their rows yet.
    pub(super) filling: BTreeSet<String>,
    /// Numbers of collections that are gone, while their entries are not.
    pub(super) dropping: BTreeSet<u32>,
}

/// A key and its value.
type Put = (Vec<u8>, Vec<u8>);

impl Catalogue {
    pub(super) fn empty() -> Self {
        let shape = Shape { classes: BTreeMap::new(), design: Json::Null };
        Self {
            fingerprint: String::new(),
            shape,
            numbers: BTreeMap::new(),
            next: OWN + 1,
            filling: BTreeSet::new(),
            dropping: BTreeSet::new(),
        }
    }

    /// The catalogue of a store; nothing if nothing was ever applied to it.
    pub(super) fn read(keyspace: &dyn Keyspace) -> Result<Option<Self>, RunError> {
        let broken = |what: &str| RunError::Corrupted(format!("its catalogue {what}"));
        let Some(format) = keyspace.get(&key("format"))? else { return Ok(None) };
        match decode(&mut format.as_slice())? {
            Value::Int(format) if format == i64::from(FORMAT) => {}
            Value::Int(format) => {
                let known = format!("has format {format}, and this program knows {FORMAT}");
                return Err(broken(&known));
            }
            _other => return Err(broken("has no format")),
        }
        let text = keyspace.get(&key("catalogue"))?.ok_or_else(|| broken("is missing"))?;
        serde_json::from_slice(&text).map(Some).map_err(|error| broken(&format!("cannot be read: {error}")))
    }

    /// What has to be put so that it is found again.
    pub(super) fn puts(&self) -> Result<[Put; 2], RunError> {
        let mut format = Vec::new();
        encode(&Value::Int(i64::from(FORMAT)), &mut format);
        let text = serde_json::to_vec(self).map_err(|error| RunError::Store(error.to_string()))?;
        Ok([(key("format"), format), (key("catalogue"), text)])
    }

    pub(super) fn numbers(&self) -> HashMap<String, u32> {
        self.numbers.iter().map(|(name, number)| (name.clone(), *number)).collect()
    }

    /// A number that nothing has had.
    pub(super) fn give_number(&mut self, name: &str) {
        self.numbers.insert(name.to_owned(), self.next);
        self.next += 1;
    }
}

fn key(what: &str) -> Vec<u8> {
    block_prefix(OWN, &[Value::Text(what.to_owned())])
}

/// Where it is noted how far a collection has been filled.
pub(super) fn mark_key(number: u32) -> Vec<u8> {
    block_prefix(OWN, &[Value::Text("filled".to_owned()), Value::Int(i64::from(number))])
}

/// The last aggregate whose rows are in a collection that is being filled.
pub(super) fn read_mark(keyspace: &dyn Keyspace, number: u32) -> Result<Option<Identity>, RunError> {
    let Some(bytes) = keyspace.get(&mark_key(number))? else { return Ok(None) };
    match decode(&mut bytes.as_slice())? {
        Value::Reference(identity) => Ok(Some(identity)),
        _other => Err(RunError::Corrupted("a mark of its catalogue cannot be read".to_owned())),
    }
}

pub(super) fn mark(identity: &Identity) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&Value::Reference(identity.clone()), &mut bytes);
    bytes
}
