//! Where an entry of its own is in its aggregate.

use askloom_model::{AccessPath, AccessStep};

/// The path of an element of a list, or of a link of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPath {
    /// The member that it is in.
    pub list: String,
    /// What stands where the element is said, until it is known: `:ordinal`.
    pub slot: String,
    /// Whether the element is a link, which is told by an id.
    pub link: bool,
    pub known: Option<AccessPath>,
}

impl EntryPath {
    #[must_use]
    pub fn element(list: &str) -> Self {
        Self { list: list.to_owned(), slot: "ordinal".to_owned(), link: false, known: None }
    }

    #[must_use]
    pub fn link(list: &str, slot: &str) -> Self {
        Self { list: list.to_owned(), slot: slot.to_owned(), link: true, known: None }
    }

    /// What stands before the slot and behind it. All of it is before it once it is known.
    #[must_use]
    pub fn around(&self) -> (String, &'static str) {
        if let Some(path) = &self.known {
            return (path.to_string(), "");
        }
        let list = AccessPath(vec![AccessStep::Field(self.list.clone())]);
        if self.link { (format!("{list}("), ")") } else { (format!("{list}["), "]") }
    }

    /// As the text of a path: `rounds[3]`, or `rounds[:ordinal]`.
    #[must_use]
    pub fn text(&self) -> String {
        let (before, behind) = self.around();
        if self.known.is_some() { before } else { format!("{before}:{}{behind}", self.slot) }
    }
}
