//! What has changed from the shape that a store has to the one that is applied, in words, and which of it a store can
//! take while it holds data.

use super::shape::{ClassShape, MemberShape, Shape};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fmt;

/// One difference between a store and a model with its design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub kind: Kind,
    pub words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stored data stays as it is; new copies are filled.
    Additive,
    /// Stored data would have to change, or might break the new rules.
    Refused,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

fn additive(words: String) -> Difference {
    Difference { kind: Kind::Additive, words }
}

fn refused(words: String) -> Difference {
    Difference { kind: Kind::Refused, words }
}

/// Everything that has changed, classes first.
pub(super) fn differences(old: &Shape, new: &Shape) -> Vec<Difference> {
    let mut found = Vec::new();
    for (name, class) in &old.classes {
        match new.classes.get(name) {
            Some(now) => of_class(name, class, now, &mut found),
            None => found.push(refused(format!("{} `{name}` is gone", class.kind))),
        }
    }
    for (name, class) in new.classes.iter().filter(|(name, _)| !old.classes.contains_key(*name)) {
        found.push(additive(format!("{} `{name}` is new", class.kind)));
    }
    let classes: BTreeSet<&str> = new.classes.keys().map(String::as_str).collect();
    let (old, new) = (old.collections(), new.collections());
    for (name, definition) in &old {
        match new.get(name) {
            Some(now) if now == definition => {}
            Some(now) if is_master(definition) || is_master(now) => {
                found.push(refused(format!("collection `{name}` would store its aggregates another way")));
            }
            Some(now) if is_carried(definition) || is_carried(now) => {
                found.push(refused(format!(
                    "`{name}`, which the records of a master carry, would be another"
                )));
            }
            Some(_) => found.push(additive(format!("copy `{name}` is made anew"))),
            // A class that is gone has been told already.
            None if is_master(definition) => found.extend(moved(name, definition, &classes)),
            None if is_carried(definition) => {
                found.push(refused(format!("the records of a master would no longer carry `{name}`")));
            }
            None => found.push(additive(format!("copy `{name}` is dropped"))),
        }
    }
    for (name, definition) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        let what = if is_master(definition) { "collection" } else { "copy" };
        found.push(additive(format!("{what} `{name}` is new")));
    }
    found
}

/// A master that is not there any more under its name, though its class is.
fn moved(name: &str, definition: &Json, classes: &BTreeSet<&str>) -> Option<Difference> {
    let class = definition.get("source")?.get("root")?.as_str()?;
    let words = format!("the aggregates of `{class}` would be in another collection than `{name}`");
    classes.contains(class).then(|| refused(words))
}

pub(super) fn is_master(definition: &Json) -> bool {
    definition.get("role").and_then(Json::as_str) == Some("master")
}

/// It is in the blocks of the master, which no longer can be told from others once the design does not name it.
fn is_carried(definition: &Json) -> bool {
    definition.get("role").and_then(Json::as_str) == Some("carried")
}

fn of_class(name: &str, old: &ClassShape, new: &ClassShape, found: &mut Vec<Difference>) {
    let same = [
        (old.kind == new.kind, "kind"),
        (old.parent == new.parent, "parent"),
        (old.identifier == new.identifier, "identifier"),
        (old.part == new.part, "owner"),
    ];
    for (_, what) in same.iter().filter(|(same, _)| !same) {
        found.push(refused(format!("the {what} of `{name}` is another one")));
    }
    match (old.immutable, new.immutable) {
        (false, true) => found.push(refused(format!(
            "`{name}` would be immutable, and copies and versions of what is stored are kept as for one that changes"
        ))),
        (true, false) => found.push(refused(format!(
            "`{name}` would no longer be immutable, and copies may rely on it that it never changes"
        ))),
        (false, false) | (true, true) => {}
    }
    if old.ttl_from != new.ttl_from {
        found.push(additive(format!("`{name}` expires counted from another time")));
    } else if old.ttl_ms != new.ttl_ms {
        found.push(additive(format!("`{name}` expires after another time")));
    }
    for (field, member) in &old.members {
        let field_name = format!("{name}.{field}");
        match new.members.get(field) {
            Some(now) => of_member(&field_name, member, now, found),
            None if member.stored => found.push(refused(format!("`{field_name}` is gone"))),
            None => found.push(additive(format!("`{field_name}` is gone, which was computed"))),
        }
    }
    for (field, member) in new.members.iter().filter(|(field, _)| !old.members.contains_key(*field)) {
        found.push(new_member(&format!("{name}.{field}"), member));
    }
}

/// Instances that are there have no value for it.
fn new_member(name: &str, member: &MemberShape) -> Difference {
    if member.stored && member.min > 0 {
        let all = "what is stored has no value for it";
        return refused(format!("`{name}` is new and required, and {all}: make it optional with `?`"));
    }
    if !member.stored && (member.min > 0 || member.max.is_some()) {
        return refused(format!("`{name}` is new and has bounds, which stored data may break"));
    }
    additive(format!("`{name}` is new"))
}

fn of_member(name: &str, old: &MemberShape, new: &MemberShape, found: &mut Vec<Difference>) {
    if (&old.kind, &old.ty, old.stored) != (&new.kind, &new.ty, new.stored) {
        let side = |member: &MemberShape| {
            let computed = if member.stored { "" } else { ", computed" };
            match member.kind.as_str() {
                "attribute" => member.ty.clone(),
                kind => format!("{kind} {}{computed}", member.ty),
            }
        };
        found.push(refused(format!("`{name}` was {}, and would be {}", side(old), side(new))));
        return;
    }
    if !new.values.starts_with(&old.values) {
        found.push(refused(format!("`{name}` has other values: new ones can only follow the old ones")));
    } else if new.values != old.values {
        found.push(additive(format!("`{name}` has new values at the end")));
    }
    if (old.max == Some(1)) != (new.max == Some(1)) {
        found.push(refused(format!(
            "`{name}` would be {}",
            if new.max == Some(1) { "single" } else { "many" }
        )));
    } else if new.min > old.min || new.max.is_some_and(|new| old.max.is_none_or(|old| new < old)) {
        found.push(refused(format!("`{name}` has narrower bounds, which stored data may break")));
    } else if (new.min, new.max) != (old.min, old.max) {
        found.push(additive(format!("`{name}` has wider bounds")));
    }
    match (old.unique, new.unique) {
        (false, true) => {
            found.push(refused(format!("`{name}` would be unique, which stored data may break")));
        }
        (true, false) => found.push(additive(format!("`{name}` is no longer unique"))),
        (false, false) | (true, true) => {}
    }
    if old.inverse != new.inverse && new.stored {
        found.push(additive(format!("`{name}` has another inverse")));
    }
    match (&old.on_delete, &new.on_delete) {
        (None, Some(_)) => {
            found.push(refused(format!("`{name}` would be checked, which stored data may break")));
        }
        (old, new) if old != new => found.push(additive(format!("`{name}` is checked otherwise"))),
        (_, _) => {}
    }
    match (old.loose, new.loose) {
        (false, true) => found.push(additive(format!("`{name}` is loose: its target may be missing"))),
        (true, false) => {
            found.push(additive(format!("`{name}` is no longer loose: `verify` lists what it breaks")));
        }
        (false, false) | (true, true) => {}
    }
}
