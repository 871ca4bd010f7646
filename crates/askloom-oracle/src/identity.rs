use askloom_model::{Identity, Member};

/// What identifies something at a position, and breaks ties: an entity by its id; a value object or an element
/// of a list by its owner, the field, and its ordinal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeIdentity {
    Entity(Identity),
    Inside {
        owner: Box<NodeIdentity>,
        field: Member,
        /// Nothing for a to-one part.
        ordinal: Option<u64>,
    },
}

impl NodeIdentity {
    pub(crate) fn inside(&self, field: Member, ordinal: Option<u64>) -> Self {
        Self::Inside { owner: Box::new(self.clone()), field, ordinal }
    }

    pub(crate) fn entity(&self) -> Option<&Identity> {
        match self {
            Self::Entity(identity) => Some(identity),
            Self::Inside { .. } => None,
        }
    }
}
