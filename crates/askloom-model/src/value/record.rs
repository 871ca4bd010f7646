//! Whole records from JSON, as data files and the wire carry them, with every problem named at its place.

use super::parse::shortened;
use super::{Element, Identity, Record, Value, from_json, identity_from_json};
use crate::{Attribute, ClassId, ClassKind, Conceptual, End, MAX_NESTING, Member, RelationshipKind};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::fmt;

/// One thing that is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// `rounds[3].moves`; empty for the record itself.
    pub path: String,
    pub message: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for FieldError {}

impl Record {
    /// What identifies the record: its surrogate or the values of its identifier, references flattened.
    /// Nothing for a value object, and when a part of the identifier is missing.
    #[must_use]
    pub fn identity(&self, conceptual: &Conceptual) -> Option<Identity> {
        let class = &conceptual.classes[self.class];
        if class.surrogate {
            return self.surrogate.map(|id| vec![Value::Uuid(id)]);
        }
        let mut identity = Vec::new();
        for &member in &class.identifier {
            match self.get(member) {
                Value::Null => return None,
                Value::Reference(parts) => identity.extend(parts.iter().cloned()),
                value => identity.push(value.clone()),
            }
        }
        (!identity.is_empty()).then_some(identity)
    }

    /// The record that a JSON object stands for: the stored members by name, references as ids, lists with
    /// ordinals from 0. `"$class"` names a subclass of `declared`, `"$id"` is the id of an entity that has a
    /// surrogate. What has a default may be left out, and stays so.
    pub fn from_json(
        conceptual: &Conceptual,
        declared: ClassId,
        json: &Json,
    ) -> Result<Self, Vec<FieldError>> {
        let mut reader = Reader { conceptual, path: Vec::new(), errors: Vec::new() };
        let record = reader.record(declared, json);
        match record {
            Some(record) if reader.errors.is_empty() => Ok(record),
            _wrong => Err(reader.errors),
        }
    }
}

struct Reader<'m> {
    conceptual: &'m Conceptual,
    /// Names and indices that lead to what is read now.
    path: Vec<String>,
    errors: Vec<FieldError>,
}

impl Reader<'_> {
    fn say(&mut self, message: impl Into<String>) {
        self.errors.push(FieldError { path: self.path.concat(), message: message.into() });
    }

    /// Reads something further down, so that its errors say where.
    fn within<T>(&mut self, step: String, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = read(self);
        self.path.pop();
        result
    }

    fn named<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.within(format!("{dot}{name}"), read)
    }

    fn record(&mut self, declared: ClassId, json: &Json) -> Option<Record> {
        // The JSON parser stops at 128 levels, the model at as many as this.
        if self.path.len() > MAX_NESTING * 2 {
            self.say("nested too deeply");
            return None;
        }
        let Json::Object(object) = json else {
            let name = &self.conceptual.classes[declared].name;
            self.say(format!("{} is not an object, and a {name} is one", shortened(&json.to_string())));
            return None;
        };
        let class = self.class(declared, object)?;
        let mut record = Record::new(class);
        record.surrogate = self.surrogate(class, object);
        let members: Vec<Member> = self.conceptual.all_members(class).collect();
        self.refuse_unknown(class, &members, object);
        for member in members {
            let name = self.conceptual.member_name(member).to_owned();
            let given = object.get(&name);
            let value = self.named(&name, |reader| reader.member(member, given));
            record.set(member, value);
        }
        Some(record)
    }

    /// The class that `"$class"` names, or the declared one.
    fn class(&mut self, declared: ClassId, object: &Map<String, Json>) -> Option<ClassId> {
        let conceptual = self.conceptual;
        let found = match object.get("$class") {
            None => declared,
            Some(Json::String(name)) => {
                let class = conceptual.classes.iter().find(|(_, class)| class.name == *name);
                match class.filter(|(id, _)| conceptual.is_kind_of(*id, declared)) {
                    Some((id, _)) => id,
                    None => {
                        let declared = &conceptual.classes[declared].name;
                        let message = format!("`{}` is not a kind of {declared}", shortened(name));
                        self.named("$class", |reader| reader.say(message));
                        return None;
                    }
                }
            }
            Some(_) => {
                self.named("$class", |reader| reader.say("it is the name of a class, as a text"));
                return None;
            }
        };
        if conceptual.classes[found].kind == ClassKind::AbstractEntity {
            let name = &conceptual.classes[found].name;
            self.say(format!("{name} is abstract: `$class` has to name one of its subclasses"));
            return None;
        }
        Some(found)
    }

    fn surrogate(&mut self, class: ClassId, object: &Map<String, Json>) -> Option<uuid::Uuid> {
        let given = object.get("$id")?;
        let row = &self.conceptual.classes[class];
        if !row.surrogate || !row.kind.is_entity() {
            let message = format!("{} has an identifier of its own, or needs none", row.name);
            self.named("$id", |reader| reader.say(message));
            return None;
        }
        match from_json(given, &crate::Type::Uuid) {
            Ok(Value::Uuid(id)) => Some(id),
            Ok(_null) => None,
            Err(error) => {
                self.named("$id", |reader| reader.say(error.0));
                None
            }
        }
    }

    fn refuse_unknown(&mut self, class: ClassId, members: &[Member], object: &Map<String, Json>) {
        for name in object.keys().filter(|name| !matches!(name.as_str(), "$class" | "$id")) {
            if !members.iter().any(|&member| self.conceptual.member_name(member) == name) {
                let message = format!("{} has no such field", self.conceptual.classes[class].name);
                self.named(&shortened(name), |reader| reader.say(message));
            }
        }
    }

    fn member(&mut self, member: Member, given: Option<&Json>) -> Value {
        match member {
            Member::Attribute(id) => self.attribute(&self.conceptual.attributes[id], given),
            Member::End(id) => self.end(&self.conceptual.ends[id], given),
        }
    }

    fn attribute(&mut self, attribute: &Attribute, given: Option<&Json>) -> Value {
        if attribute.list {
            return self.list(given, None, |reader, item| reader.plain(attribute, item));
        }
        match given {
            None if attribute.optional || attribute.default.is_some() => Value::Null,
            None => {
                self.say("is missing");
                Value::Null
            }
            Some(Json::Null) if attribute.optional => Value::Null,
            Some(json) => self.plain(attribute, json),
        }
    }

    /// One value that is not null.
    fn plain(&mut self, attribute: &Attribute, json: &Json) -> Value {
        match from_json(json, &attribute.ty) {
            Ok(Value::Null) => {
                self.say("must have a value, and here is null");
                Value::Null
            }
            Ok(value) => value,
            Err(error) => {
                self.say(error.0);
                Value::Null
            }
        }
    }

    fn end(&mut self, end: &End, given: Option<&Json>) -> Value {
        if !end.stored {
            if given.is_some() {
                let class = &self.conceptual.classes[end.target].name;
                self.say(format!("is derived: the link is stored at {class}"));
            }
            return Value::Null;
        }
        let part = end.kind == RelationshipKind::Composition;
        match (end.cardinality.is_many(), part) {
            (true, true) => {
                self.list(given, end.cardinality.max, |reader, item| reader.part(end.target, item))
            }
            (true, false) => self.set(end, given),
            (false, _) => match given {
                None | Some(Json::Null) if end.cardinality.min == 0 => Value::Null,
                None => {
                    self.say("is missing");
                    Value::Null
                }
                Some(Json::Null) => {
                    self.say("must have a value, and here is null");
                    Value::Null
                }
                Some(json) if part => self.part(end.target, json),
                Some(json) => self.reference(end.target, json).map_or(Value::Null, Value::Reference),
            },
        }
    }

    fn part(&mut self, target: ClassId, json: &Json) -> Value {
        self.record(target, json).map_or(Value::Null, |record| Value::Record(Box::new(record)))
    }

    fn reference(&mut self, target: ClassId, json: &Json) -> Option<Identity> {
        match identity_from_json(self.conceptual, target, json) {
            Ok(identity) => Some(identity),
            Err(error) => {
                self.say(error.0);
                None
            }
        }
    }

    /// A list is never null: absent, null and empty are the same.
    fn array<'j>(&mut self, given: Option<&'j Json>) -> &'j [Json] {
        match given {
            None | Some(Json::Null) => &[],
            Some(Json::Array(items)) => items,
            Some(other) => {
                self.say(format!("{} is not a list", shortened(&other.to_string())));
                &[]
            }
        }
    }

    fn at_most(&mut self, length: usize, most: Option<u32>) {
        if let Some(most) = most.filter(|&most| length > most as usize) {
            self.say(format!("has {length} elements, and may have {most}"));
        }
    }

    fn list(
        &mut self,
        given: Option<&Json>,
        most: Option<u32>,
        mut read: impl FnMut(&mut Self, &Json) -> Value,
    ) -> Value {
        let items = self.array(given);
        self.at_most(items.len(), most);
        let mut elements = Vec::with_capacity(items.len());
        for (ordinal, item) in (0..).zip(items) {
            let value = self.within(format!("[{ordinal}]"), |reader| read(reader, item));
            elements.push(Element { ordinal, value });
        }
        Value::List(elements)
    }

    fn set(&mut self, end: &End, given: Option<&Json>) -> Value {
        let items = self.array(given);
        self.at_most(items.len(), end.cardinality.max);
        let mut ids = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            self.within(format!("[{index}]"), |reader| {
                let Some(identity) = reader.reference(end.target, item) else { return };
                if !ids.insert(identity) {
                    reader.say("is there already: references make a set");
                }
            });
        }
        Value::Set(ids)
    }
}
