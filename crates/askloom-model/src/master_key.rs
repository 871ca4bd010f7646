//! The key of a master: the components of its root's identity, split into a partition part and a sort part, and
//! buckets of time computed from them.

use crate::{Collection, Conceptual, Identity, KeyField, Leaf, Role, TimeBucket, Value};

/// What a field of a master's key is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MasterField {
    /// One component of the identity.
    Component(usize),
    /// So many components from this one on: the id that a reference in the identifier holds.
    Reference { from: usize, length: usize },
    /// The hour, day or month of a component.
    TimeBucket { component: usize, unit: TimeBucket },
}

impl MasterField {
    /// The value of the field for an identity. Null if the identity is too short.
    #[must_use]
    pub fn value(self, identity: &[Value]) -> Value {
        match self {
            Self::Component(at) => identity.get(at).cloned().unwrap_or(Value::Null),
            Self::Reference { from, length } => {
                identity.get(from..from + length).map_or(Value::Null, |id| Value::Reference(id.to_vec()))
            }
            Self::TimeBucket { component, unit } => {
                identity.get(component).map_or(Value::Null, |at| unit.of_value(at))
            }
        }
    }

    /// How many components of the identity it gives.
    fn length(self) -> usize {
        match self {
            Self::Component(_) => 1,
            Self::Reference { length, .. } => length,
            Self::TimeBucket { .. } => 0,
        }
    }
}

/// The identity that the values of a master's key fields make, whatever those of buckets are. `None` if they do not fit
/// the fields.
#[must_use]
pub fn identity_by_key(fields: &[MasterField], values: &[Value]) -> Option<Identity> {
    let mut identity = vec![Value::Null; fields.iter().map(|field| field.length()).sum()];
    for (field, value) in fields.iter().zip(values) {
        match (*field, value) {
            (MasterField::Component(at), value) => *identity.get_mut(at)? = value.clone(),
            (MasterField::Reference { from, length }, Value::Reference(id)) if id.len() == length => {
                identity.get_mut(from..from + length)?.clone_from_slice(id);
            }
            (MasterField::Reference { .. }, _) => return None,
            (MasterField::TimeBucket { .. }, _) => {}
        }
    }
    (fields.len() == values.len()).then_some(identity)
}

impl Collection {
    /// Whether it is a master in whose partitions many aggregates are, in the order of the entry key.
    #[must_use]
    pub fn is_clustered(&self) -> bool {
        self.role == Role::Master && !self.entry_key.is_empty()
    }

    /// The fields of the key, those of the block first.
    pub fn key_fields(&self) -> impl Iterator<Item = &KeyField> {
        self.block_key.iter().chain(&self.entry_key)
    }
}

impl Conceptual {
    /// What the key fields of a master are made of, in their order. `None` if one is not a member of the root's
    /// identifier or a bucket of one.
    #[must_use]
    pub fn master_fields(&self, master: &Collection) -> Option<Vec<MasterField>> {
        let root = master.source.root;
        let field = |field: &KeyField| {
            let component = |leaf: Leaf| self.component(root, leaf);
            match field.path.leaf {
                leaf @ Leaf::Attribute(_) => component(leaf).map(|(at, _)| MasterField::Component(at)),
                leaf @ (Leaf::Reference(_) | Leaf::Itself) => {
                    component(leaf).map(|(from, length)| MasterField::Reference { from, length })
                }
                Leaf::TimeBucket(id, unit) => {
                    let (component, _) = component(Leaf::Attribute(id))?;
                    Some(MasterField::TimeBucket { component, unit })
                }
                Leaf::Bucket(_) => None,
            }
        };
        master.key_fields().map(field).collect()
    }

    /// Whether the key of a master is the identity of its root as it is: neither split nor in another order.
    #[must_use]
    pub fn is_keyed_by_identity(&self, master: &Collection) -> bool {
        let mut next = 0;
        let in_order = |field: MasterField| {
            let from = match field {
                MasterField::Component(at) => at,
                MasterField::Reference { from, .. } => from,
                MasterField::TimeBucket { .. } => return false,
            };
            let is_next = from == next;
            next += field.length();
            is_next
        };
        let fields = self.master_fields(master).unwrap_or_default();
        master.entry_key.is_empty() && fields.into_iter().all(in_order)
    }
}
