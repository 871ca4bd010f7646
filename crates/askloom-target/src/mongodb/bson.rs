//! Values of MongoDB.

use askloom_model::{Type, Value, ValueError, from_json};
use bigdecimal::BigDecimal;
use serde_json::Value as Json;

/// A value of MongoDB, or a slot for one.
#[derive(Debug, Clone, PartialEq)]
pub enum Bson {
    Null,
    Text(String),
    Int(i32),
    Long(i64),
    Double(f64),
    Decimal(BigDecimal),
    Bool(bool),
    /// Milliseconds since 1970.
    Date(i64),
    Binary(Vec<u8>),
    Uuid(uuid::Uuid),
    Array(Vec<Bson>),
    Document(Document),
    /// Until the value is known: its name, without the colon.
    Slot(String),
}

/// Fields in their order, which counts where documents are compared.
pub type Document = Vec<(String, Bson)>;

impl Bson {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(super) fn slot(name: &str) -> Self {
        Self::Slot(name.to_owned())
    }

    /// From canonical Extended JSON, as `EJSON.stringify(document, { relaxed: false })` and mongoexport write it.
    pub fn from_extended(json: &Json) -> Result<Self, ValueError> {
        match json {
            Json::Null => Ok(Self::Null),
            Json::Bool(truth) => Ok(Self::Bool(*truth)),
            Json::String(text) => Ok(Self::Text(text.clone())),
            Json::Number(number) => number.as_f64().map(Self::Double).ok_or_else(|| unknown(json)),
            Json::Array(items) => {
                items.iter().map(Self::from_extended).collect::<Result<_, _>>().map(Self::Array)
            }
            Json::Object(fields) => {
                if let Some((key, inner)) = fields.iter().next().filter(|(key, _)| key.starts_with('$')) {
                    return typed(key, inner).ok_or_else(|| unknown(json));
                }
                let field = |(name, value): (&String, &Json)| Ok((name.clone(), Self::from_extended(value)?));
                fields.iter().map(field).collect::<Result<_, ValueError>>().map(Self::Document)
            }
        }
    }
}

fn unknown(json: &Json) -> ValueError {
    ValueError(format!("{json} is no value that is kept here"))
}

fn typed(key: &str, inner: &Json) -> Option<Bson> {
    match key {
        "$numberInt" => inner.as_str()?.parse().ok().map(Bson::Int),
        "$numberLong" => inner.as_str()?.parse().ok().map(Bson::Long),
        "$numberDouble" => inner.as_str()?.parse().ok().map(Bson::Double),
        "$numberDecimal" => inner.as_str()?.parse().ok().map(Bson::Decimal),
        "$date" => inner.get("$numberLong")?.as_str()?.parse().ok().map(Bson::Date),
        "$uuid" => inner.as_str()?.parse().ok().map(Bson::Uuid),
        "$binary" => {
            let Ok(Value::Blob(bytes)) = from_json(inner.get("base64")?, &Type::Blob) else { return None };
            match inner.get("subType")?.as_str()? {
                "04" => uuid::Uuid::from_slice(&bytes).ok().map(Bson::Uuid),
                _plain => Some(Bson::Binary(bytes)),
            }
        }
        _other => None,
    }
}
