//! Which classes are in which aggregate.

use super::{AGGREGATES, listed};
use crate::method::Decision;
use askloom_model::{ClassId, Conceptual, Invariant, Member, Model, RelationshipKind};
use std::collections::BTreeSet;

/// What is in each aggregate and what is not, and what changes atomically for that.
pub(super) fn decisions(model: &Model) -> Vec<Decision> {
    let conceptual = &model.conceptual;
    let mut decisions = Vec::new();
    for root in conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)) {
        let mut walk = Walk { conceptual, seen: BTreeSet::new(), found: Found::default() };
        walk.class(root);
        decisions.extend(walk.found.says(conceptual, root));
    }
    decisions.extend(model.invariants.iter().map(|invariant| kept(conceptual, invariant)));
    decisions
}

fn kept(conceptual: &Conceptual, invariant: &Invariant) -> Decision {
    let path = |path: &Vec<Member>| {
        let names: Vec<&str> = path.iter().map(|&member| conceptual.member_name(member)).collect();
        format!("`{}`", names.join("."))
    };
    let paths: Vec<String> = invariant.paths.iter().map(path).collect();
    let says = format!(
        "{} of {} are in one block, so they change together or not at all",
        listed(&paths),
        conceptual.classes[invariant.class].name
    );
    Decision::new(&invariant.name, says, AGGREGATES)
}

/// What an aggregate holds and what it names.
#[derive(Default)]
struct Found {
    parts: Vec<String>,
    values: Vec<String>,
    subclasses: Vec<String>,
    references: Vec<String>,
    targets: Vec<String>,
}

impl Found {
    fn says(self, conceptual: &Conceptual, root: ClassId) -> Vec<Decision> {
        let name = &conceptual.classes[root].name;
        let are = |names: &[String]| if names.len() == 1 { "is" } else { "are" };
        let mut says = Vec::new();
        if !self.parts.is_empty() {
            let parts = listed(&self.parts);
            says.push(format!("holds {parts}: what is a part is read, written and ended with its owner"));
        }
        if !self.values.is_empty() {
            let values = listed(&self.values);
            says.push(format!("holds {values}: a value object has no identity to be found by elsewhere"));
        }
        if !self.subclasses.is_empty() {
            let (subclasses, are) = (listed(&self.subclasses), are(&self.subclasses));
            says.push(format!("{subclasses} {are} kept in its collection, told apart by a type tag"));
        }
        if !self.references.is_empty() {
            let stays = if self.references.len() == 1 { "stays an id" } else { "stay ids" };
            let (references, targets) = (listed(&self.references), listed(&self.targets));
            let are = are(&self.targets);
            let other = if self.targets.len() == 1 { "another aggregate" } else { "other aggregates" };
            says.push(format!("{references} {stays}: {targets} {are} {other}"));
        }
        says.into_iter().map(|says| Decision::new(name, says, AGGREGATES)).collect()
    }
}

struct Walk<'w> {
    conceptual: &'w Conceptual,
    seen: BTreeSet<ClassId>,
    found: Found,
}

impl Walk<'_> {
    fn class(&mut self, class: ClassId) {
        if !self.seen.insert(class) {
            return;
        }
        let conceptual = self.conceptual;
        for &member in &conceptual.classes[class].members {
            let Member::End(end) = member else { continue };
            let end = &conceptual.ends[end];
            if !end.stored {
                continue;
            }
            let target = &conceptual.classes[end.target];
            match end.kind {
                RelationshipKind::Composition => {
                    let kind = target.kind;
                    let held = if kind.is_entity() { &mut self.found.parts } else { &mut self.found.values };
                    note(held, format!("{} (`{}`)", target.name, end.name));
                    self.class(end.target);
                }
                RelationshipKind::Association | RelationshipKind::Aggregation => {
                    note(&mut self.found.references, format!("`{}`", end.name));
                    let root = conceptual.aggregate_root(end.target).filter(|&root| root != end.target);
                    let root = root.map(|root| format!(" (in {})", conceptual.classes[root].name));
                    note(&mut self.found.targets, format!("{}{}", target.name, root.unwrap_or_default()));
                }
            }
        }
        for &sub in &conceptual.classes[class].subclasses {
            note(&mut self.found.subclasses, conceptual.classes[sub].name.clone());
            self.class(sub);
        }
    }
}

fn note(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
    }
}
