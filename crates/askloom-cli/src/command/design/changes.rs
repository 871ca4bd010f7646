//! What is different from the design that is saved, and why.

use super::Prepared;
use askloom_design::method::cost::{told, total};
use askloom_design::method::{Decision, Proposal};
use askloom_model::{Collection, Design};

const SOURCE: &str = "askloom";

impl Prepared {
    /// Each collection that was not there, that is no longer there, or that is another one now; and what that saves.
    pub(super) fn since(&self, saved: &Design, now: &Proposal) -> Vec<Decision> {
        let costing = self.pricing.costing();
        let mut changes = changed(saved, &now.design);
        if changes.is_empty() {
            return changes;
        }
        let (before, after) =
            (total(&self.model, &costing, saved), total(&self.model, &costing, &now.design));
        let unit = costing.model.unit();
        let says = format!("{}, now {}: what follows changed", told(before, &unit), told(after, &unit));
        changes.insert(0, Decision { about: "since the saved design".to_owned(), says, source: SOURCE });
        changes
    }
}

fn changed(saved: &Design, now: &Design) -> Vec<Decision> {
    let named = |design: &Design, name: &str| -> Option<Collection> {
        design.collections.iter().find(|(_, one)| one.name == name).map(|(_, one)| one.clone())
    };
    let mut changes = Vec::new();
    let mut say = |name: &str, says: String| {
        changes.push(Decision { about: name.to_owned(), says, source: SOURCE });
    };
    for (_, one) in now.collections.iter() {
        match named(saved, &one.name) {
            None => say(&one.name, "was not in the saved design".to_owned()),
            Some(other) if !other.is_same_as(one) => say(&one.name, "is not as it was saved".to_owned()),
            Some(_) => {}
        }
    }
    for (_, one) in saved.collections.iter().filter(|(_, one)| named(now, &one.name).is_none()) {
        say(&one.name, "is in the saved design, and would not be kept".to_owned());
    }
    changes
}
