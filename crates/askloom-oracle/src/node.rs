//! What can stand at a position: an entity, a value object, or an element of a list of plain values.

use crate::address::Address;
use crate::identity::NodeIdentity;
use askloom_model::{Record, Value};

#[derive(Debug, Clone)]
pub(crate) struct Node<'s> {
    pub(crate) identity: NodeIdentity,
    pub(crate) address: Address,
    pub(crate) thing: Thing<'s>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Thing<'s> {
    Record(&'s Record),
    Plain(&'s Value),
}

impl<'s> Node<'s> {
    pub(crate) fn record(&self) -> Option<&'s Record> {
        match self.thing {
            Thing::Record(record) => Some(record),
            Thing::Plain(_) => None,
        }
    }

    /// The whole of it: `a.*`.
    pub(crate) fn whole(&self) -> Value {
        match self.thing {
            Thing::Record(record) => Value::Record(Box::new(record.clone())),
            Thing::Plain(value) => value.clone(),
        }
    }

    /// The node as a value in an expression: an entity is its id.
    pub(crate) fn itself(&self) -> Value {
        match self.identity.entity() {
            Some(identity) => Value::Reference(identity.clone()),
            None => self.whole(),
        }
    }
}
