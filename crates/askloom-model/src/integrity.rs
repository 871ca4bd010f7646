//! Whether the instances that references name exist, and who sees to it.

use crate::{ClassId, Conceptual, End, EndId};
use serde::Serialize;

/// Who sees to it that the instance a reference names exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Integrity {
    /// The application: it inserts the target first and deletes it last. Designs rely on it; see
    /// [`Conceptual::is_relied_on`].
    Trusted,
    /// Every write that sets the reference or deletes its target.
    Checked(OnDelete),
    /// Nobody: the target may be missing.
    Loose,
}

/// What deleting the target of a checked reference does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDelete {
    Refuse,
    Cascade,
    Clear,
}

impl End {
    /// What deleting the target does, if the reference is checked.
    #[must_use]
    pub fn on_delete(&self) -> Option<OnDelete> {
        match self.integrity {
            Integrity::Checked(on_delete) => Some(on_delete),
            Integrity::Trusted | Integrity::Loose => None,
        }
    }

    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.on_delete().is_some()
    }
}

impl Conceptual {
    /// Whether designs may take it for granted that the instances which a relationship names exist: the reference is
    /// trusted or checked, and its target cannot expire. A holder is made after its target, so it can outlive one that
    /// expires even if both live equally long.
    #[must_use]
    pub fn is_relied_on(&self, end: EndId) -> bool {
        let stored = &self.ends[self.stored_end(end)];
        match stored.integrity {
            Integrity::Trusted | Integrity::Checked(_) => !self.can_expire(stored.target),
            Integrity::Loose => false,
        }
    }

    /// Whether some instance of the class can expire: by its own time to live or by that of what it is a part of.
    #[must_use]
    pub fn can_expire(&self, class: ClassId) -> bool {
        self.has_ttl(class)
            || self.occurrences(class).iter().any(|place| {
                let owners = place.hops.iter().map(|&hop| self.ends[hop].class);
                owners.chain([place.root]).any(|owner| self.has_ttl(owner))
            })
    }

    /// Whether an instance of the class may be of a class with a time to live.
    fn has_ttl(&self, class: ClassId) -> bool {
        std::iter::once(class).chain(self.descendants(class)).any(|kind| self.ttl(kind).is_some())
    }
}
