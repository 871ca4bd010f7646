//! Values as JSON, without loss: long and decimal as JSON numbers of all their digits, times as ISO 8601 text,
//! blobs as base64, places as `[latitude, longitude]`, enums by name, references by id (an array if it has several
//! parts), records as objects.

use super::parse::shortened;
use super::{Element, Geo, Identity, Record, Value, ValueError, from_text};
use crate::{ClassId, Conceptual, Member, Type};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

/// A single value as JSON. The type is needed for enums alone, but a caller always has it.
#[must_use]
pub fn to_json(value: &Value, ty: &Type) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Decimal(value) => number(&value.to_plain_string()),
        Value::Double(value) => Json::from(*value),
        Value::Text(text) => Json::from(text.as_str()),
        Value::Enum(index) => {
            let name = if let Type::Enum(values) = ty { values.get(*index as usize) } else { None };
            name.map_or(Json::Null, |name| Json::from(name.as_str()))
        }
        Value::Date(date) => Json::from(date.to_string()),
        Value::Time(time) => Json::from(time.to_string()),
        Value::Timestamp(at) => Json::from(at.to_string()),
        Value::Uuid(uuid) => Json::from(uuid.to_string()),
        Value::Blob(bytes) => Json::from(STANDARD.encode(bytes)),
        Value::Geo(place) => Json::from(vec![place.latitude, place.longitude]),
        Value::Json(json) => json.clone(),
        Value::List(elements) => elements.iter().map(|element| to_json(&element.value, ty)).collect(),
        // These know their own types, and have functions of their own.
        Value::Reference(_) | Value::Set(_) | Value::Record(_) => Json::Null,
    }
}

fn number(digits: &str) -> Json {
    serde_json::from_str(digits).unwrap_or(Json::Null)
}

/// The value of a type that JSON stands for.
pub fn from_json(json: &Json, ty: &Type) -> Result<Value, ValueError> {
    let not = || ValueError(format!("{} is not of type {ty}", shortened(&json.to_string())));
    match (json, ty) {
        (_, Type::Json) if !json.is_null() => Ok(Value::Json(json.clone())),
        (Json::Null, _) => Ok(Value::Null),
        (Json::Bool(value), Type::Bool) => Ok(Value::Bool(*value)),
        (Json::Number(digits), Type::Int | Type::Long | Type::Double) => from_text(&digits.to_string(), ty),
        (Json::Number(digits), Type::Decimal) => from_text(&digits.to_string(), ty),
        // Other tools write decimals in quotes, so as not to lose digits.
        (Json::String(digits), Type::Decimal) => from_text(digits, ty),
        (
            Json::String(text),
            Type::Text
            | Type::Date
            | Type::Time
            | Type::Timestamp(_)
            | Type::Uuid
            | Type::Blob
            | Type::Enum(_),
        ) => from_text(text, ty),
        (Json::Array(parts), Type::Geo) => match parts.as_slice() {
            [latitude, longitude] => {
                let (latitude, longitude) =
                    (latitude.as_f64().ok_or_else(not)?, longitude.as_f64().ok_or_else(not)?);
                Geo::new(latitude, longitude).map(Value::Geo)
            }
            _other => Err(not()),
        },
        _other => Err(not()),
    }
}

/// The types of the parts of an identity, references flattened. A surrogate is one uuid.
#[must_use]
pub fn identity_types(conceptual: &Conceptual, class: ClassId) -> Vec<Type> {
    let mut types = Vec::new();
    collect_types(conceptual, class, 0, &mut types);
    types
}

fn collect_types(conceptual: &Conceptual, class: ClassId, depth: usize, types: &mut Vec<Type>) {
    let row = &conceptual.classes[class];
    if row.surrogate || depth > crate::MAX_NESTING {
        return types.push(Type::Uuid);
    }
    for member in &row.identifier {
        match *member {
            Member::Attribute(id) => types.push(conceptual.attributes[id].ty.clone()),
            Member::End(id) => collect_types(conceptual, conceptual.ends[id].target, depth + 1, types),
        }
    }
}

/// An id as JSON: a single value, or an array of its parts.
#[must_use]
pub fn identity_to_json(conceptual: &Conceptual, class: ClassId, identity: &Identity) -> Json {
    let types = identity_types(conceptual, class);
    match identity.as_slice() {
        [only] => to_json(only, types.first().unwrap_or(&Type::Text)),
        parts => parts.iter().zip(&types).map(|(part, ty)| to_json(part, ty)).collect(),
    }
}

pub fn identity_from_json(
    conceptual: &Conceptual,
    class: ClassId,
    json: &Json,
) -> Result<Identity, ValueError> {
    let types = identity_types(conceptual, class);
    let name = &conceptual.classes[class].name;
    let wrong = || ValueError(format!("{} is not the id of a {name}", shortened(&json.to_string())));
    let parts: Vec<&Json> = match (types.len(), json) {
        (1, single) => vec![single],
        (_, Json::Array(parts)) => parts.iter().collect(),
        (_, _single) => return Err(wrong()),
    };
    if parts.len() != types.len() || parts.iter().any(|part| part.is_null()) {
        return Err(wrong());
    }
    parts.into_iter().zip(&types).map(|(part, ty)| from_json(part, ty)).collect()
}

impl Record {
    /// The record as a JSON object, members by name. A subclass says so in `"$class"`; an id that is no member
    /// is `"$id"`.
    #[must_use]
    pub fn to_json(&self, conceptual: &Conceptual, declared: ClassId) -> Json {
        let mut object = serde_json::Map::new();
        if self.class != declared {
            object.insert("$class".to_owned(), Json::from(conceptual.classes[self.class].name.as_str()));
        }
        if let Some(id) = self.surrogate {
            object.insert("$id".to_owned(), Json::from(id.to_string()));
        }
        for (&member, value) in &self.fields {
            object
                .insert(conceptual.member_name(member).to_owned(), member_to_json(conceptual, member, value));
        }
        Json::Object(object)
    }
}

/// The value of a member as JSON.
#[must_use]
pub fn member_to_json(conceptual: &Conceptual, member: Member, value: &Value) -> Json {
    match member {
        Member::Attribute(id) => to_json(value, &conceptual.attributes[id].ty),
        Member::End(id) => {
            let target = conceptual.ends[id].target;
            end_to_json(conceptual, target, value)
        }
    }
}

pub(super) fn end_to_json(conceptual: &Conceptual, target: ClassId, value: &Value) -> Json {
    match value {
        Value::Reference(identity) => identity_to_json(conceptual, target, identity),
        Value::Set(ids) => ids.iter().map(|id| identity_to_json(conceptual, target, id)).collect(),
        Value::Record(record) => record.to_json(conceptual, target),
        Value::List(elements) => {
            elements.iter().map(|Element { value, .. }| end_to_json(conceptual, target, value)).collect()
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Decimal(_)
        | Value::Double(_)
        | Value::Text(_)
        | Value::Enum(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::Timestamp(_)
        | Value::Uuid(_)
        | Value::Blob(_)
        | Value::Geo(_)
        | Value::Json(_) => Json::Null,
    }
}
