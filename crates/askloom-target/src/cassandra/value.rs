//! Values as Cassandra has them.

use super::schema::{CqlColumn, Kind};
use crate::embedded::{encode, prefix_end};
use crate::layout::Layout;
use askloom_model::{Precision, Type, Value};
use bigdecimal::BigDecimal;

/// A value of Cassandra.
#[derive(Debug, Clone, PartialEq)]
pub enum Cql {
    Null,
    Text(String),
    /// Of `int` and `bigint`.
    Int(i64),
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
pub(super) fn value(layout: &Layout<'_>, column: &CqlColumn, value: &Value) -> Cql {
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
        (Kind::Json, value) => Cql::Text(column.of.tree(layout.conceptual, value).to_json().to_string()),
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
        (Value::Timestamp(at), Type::Timestamp(Precision::Nanos)) => {
            // The last nanosecond of a bigint is in 2262; what lies further is refused at run time.
            Cql::Int(i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX))
        }
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

/// The first text behind all that start with one. Nothing if there is none.
#[must_use]
pub fn text_after(text: &str) -> Option<String> {
    let mut letters: Vec<char> = text.chars().collect();
    while let Some(last) = letters.pop() {
        let next = (last as u32 + 1..=char::MAX as u32).find_map(char::from_u32);
        if let Some(next) = next {
            letters.push(next);
            return Some(letters.into_iter().collect());
        }
    }
    None
}
