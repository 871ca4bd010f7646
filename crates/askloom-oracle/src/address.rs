//! Where a record is: in which aggregate, and where inside it.

use askloom_model::{ClassId, Identity, Member};

/// From a record to a part of it, or to one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Step {
    pub(crate) member: Member,
    /// Which element of a list; nothing for a to-one part and for the list itself.
    pub(crate) ordinal: Option<u64>,
}

/// The way from the root record of an aggregate to something inside it; empty for the root itself.
pub(crate) type Place = Vec<Step>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address {
    /// The topmost class of the root's hierarchy.
    pub(crate) top: ClassId,
    pub(crate) root: Identity,
    pub(crate) place: Place,
}

impl Address {
    pub(crate) fn below(&self, member: Member, ordinal: Option<u64>) -> Self {
        Self { place: below(&self.place, member, ordinal), ..self.clone() }
    }
}

pub(crate) fn below(place: &Place, member: Member, ordinal: Option<u64>) -> Place {
    let mut place = place.clone();
    place.push(Step { member, ordinal });
    place
}
