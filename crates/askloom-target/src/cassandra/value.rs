//! Values as Cassandra has them.

use super::schema::{CqlColumn, Kind};
use askloom_model::{Element, Precision, Type, Value, ValueError, from_json};
use askloom_plan::layout::Layout;
use askloom_plan::ordered_bytes::{decode, encode, prefix_end};
use bigdecimal::BigDecimal;
use serde_json::Value as Json;

/// A value of Cassandra.
#[derive(Debug, Clone, PartialEq)]
pub enum Cql {
    Null,
    Text(String),
    /// Of `int` and `bigint`.
    Int(i64),
    Varint(i128),
    Decimal(BigDecimal),
    Double(f64),
    Bool(bool),
    Date(jiff::civil::Date),
    Time(jiff::civil::Time),
    /// Milliseconds since 1970.
    Timestamp(i64),
    Uuid(uuid::Uuid),
    Blob(Vec<u8>),
    Tuple(f64, f64),
    List(Vec<Cql>),
}

/// The value of a column.
#[must_use]
pub(super) fn value(layout: &Layout, column: &CqlColumn, value: &Value) -> Cql {
    match (&column.kind, value) {
        (Kind::Bytes, value) => Cql::Blob(ordered(value)),
        (_, Value::Null) => Cql::Null,
        (Kind::Plain(ty), Value::Reference(parts)) => parts.first().map_or(Cql::Null, |part| plain(part, ty)),
        (Kind::Plain(ty), value) => plain(value, ty),
        (Kind::Filled, Value::Text(text)) => Cql::Text(filled(text)),
        (Kind::Number, Value::Enum(index)) => Cql::Int(i64::from(*index)),
        (Kind::List(ty), Value::List(elements)) => {
            Cql::List(elements.iter().map(|element| plain(&element.value, ty)).collect())
        }
        (Kind::Json, value) => Cql::Text(column.of.tree(&layout.conceptual, value).to_json().to_string()),
        (Kind::Filled | Kind::Number | Kind::List(_), _) => Cql::Null,
    }
}

pub(super) fn plain(value: &Value, ty: &Type) -> Cql {
    match (value, ty) {
        (Value::Null, _) => Cql::Null,
        (Value::Enum(index), Type::Enum(names)) => {
            names.get(*index as usize).map_or(Cql::Null, |name| Cql::Text(name.clone()))
        }
        (Value::Text(text), _) => Cql::Text(text.clone()),
        (Value::Int(number), Type::Decimal) => Cql::Decimal(BigDecimal::from(*number)),
        (Value::Int(number), _) => Cql::Int(*number),
        (Value::Decimal(number), _) => Cql::Decimal(number.clone()),
        (Value::Double(number), _) => Cql::Double(*number),
        (Value::Bool(truth), _) => Cql::Bool(*truth),
        (Value::Date(date), _) => Cql::Date(*date),
        (Value::Time(time), _) => Cql::Time(*time),
        (Value::Timestamp(at), Type::Timestamp(Precision::Micros)) => Cql::Int(at.as_microsecond()),
        (Value::Timestamp(at), Type::Timestamp(Precision::Nanos)) => Cql::Varint(at.as_nanosecond()),
        (Value::Timestamp(at), _) => Cql::Timestamp(at.as_millisecond()),
        (Value::Uuid(id), _) => Cql::Uuid(*id),
        (Value::Blob(bytes), _) => Cql::Blob(bytes.clone()),
        (Value::Geo(place), _) => Cql::Tuple(place.latitude, place.longitude),
        (Value::Json(json), _) => Cql::Text(json.to_string()),
        (Value::Enum(_) | Value::Reference(_) | Value::List(_) | Value::Set(_) | Value::Record(_), _) => {
            Cql::Null
        }
    }
}

/// A text for a partition key, which must not be empty.
fn filled(text: &str) -> String {
    if text.is_empty() || text.starts_with('\0') { format!("\0{text}") } else { text.to_owned() }
}

/// The bytes of a value, which sort as values do.
#[must_use]
pub(super) fn ordered(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(value, &mut bytes);
    bytes
}

/// The bytes of the texts that start with one: from the first to behind the last.
pub(super) fn bytes_after(text: &str) -> (Vec<u8>, Option<Vec<u8>>) {
    const END_MARK: usize = 2;
    let mut from = ordered(&Value::Text(text.to_owned()));
    from.truncate(from.len().saturating_sub(END_MARK));
    let to = prefix_end(&from);
    (from, to)
}

impl CqlColumn {
    /// The value of the column from the JSON that Cassandra shows it in.
    pub fn from_json(&self, layout: &Layout, json: &Json) -> Result<Value, ValueError> {
        let wrong = || ValueError(format!("{json} is no value of `{}`", self.name));
        match (&self.kind, json) {
            (Kind::Bytes, Json::String(digits)) => {
                decode(&mut bytes(digits).ok_or_else(wrong)?.as_slice()).map_err(|_| wrong())
            }
            (_, Json::Null) => Ok(Value::Null),
            (Kind::Plain(ty), json) => plain_from_json(json, ty),
            (Kind::Filled, Json::String(text)) => {
                Ok(Value::Text(text.strip_prefix('\0').unwrap_or(text).to_owned()))
            }
            (Kind::Number, json) => {
                let number = json.as_u64().and_then(|number| u32::try_from(number).ok());
                number.map(Value::Enum).ok_or_else(wrong)
            }
            (Kind::List(ty), Json::Array(items)) => {
                let elements = items
                    .iter()
                    .zip(0..)
                    .map(|(item, ordinal)| Ok(Element { ordinal, value: plain_from_json(item, ty)? }));
                elements.collect::<Result<_, ValueError>>().map(Value::List)
            }
            (Kind::Json, Json::String(text)) => {
                let json = serde_json::from_str(text).map_err(|error| ValueError(error.to_string()))?;
                self.of.from_json(&layout.conceptual, &json)
            }
            (Kind::Bytes | Kind::Filled | Kind::List(_) | Kind::Json, _) => Err(wrong()),
        }
    }
}

fn plain_from_json(json: &Json, ty: &Type) -> Result<Value, ValueError> {
    let wrong = || ValueError(format!("{json} is no {ty}"));
    match (ty, json) {
        (Type::Blob, Json::String(digits)) => bytes(digits).map(Value::Blob).ok_or_else(wrong),
        (Type::Json, Json::String(text)) => {
            serde_json::from_str(text).map(Value::Json).map_err(|error| ValueError(error.to_string()))
        }
        (Type::Date, Json::String(text)) => {
            // A year before the first has six digits in ISO 8601.
            let long = text.strip_prefix('-').and_then(|rest| rest.split_once('-'));
            let text = long.map_or_else(|| text.clone(), |(year, rest)| format!("-{year:0>6}-{rest}"));
            from_json(&Json::from(text), ty)
        }
        (Type::Timestamp(Precision::Millis), Json::String(text)) => {
            // Cassandra writes a blank where ISO 8601 has a T.
            from_json(&Json::from(text.replacen(' ', "T", 1)), ty)
        }
        (Type::Timestamp(Precision::Micros), json) => {
            let at = json.as_i64().ok_or_else(wrong)?;
            jiff::Timestamp::from_microsecond(at).map(Value::Timestamp).map_err(|_| wrong())
        }
        (Type::Timestamp(Precision::Nanos), json) => {
            let at = json.to_string().parse().map_err(|_| wrong())?;
            jiff::Timestamp::from_nanosecond(at).map(Value::Timestamp).map_err(|_| wrong())
        }
        (ty, json) => from_json(json, ty),
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.strip_prefix("0x")?.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
