//! Values as the bytes of cells, in the way of HBase's own `Bytes` where that has one, so that other clients and the
//! shell's converters (`d:score:toInt`) read them.
//!
//! | value | bytes |
//! | --- | --- |
//! | text, enum | UTF-8; an enum by its name |
//! | int | 4 bytes, big-endian |
//! | long, ordinal | 8 bytes, big-endian |
//! | `timestamp`, `timestamp(6)`, `timestamp(9)` | a long of milli-, micro- or nanoseconds; where that has no room, text |
//! | double | 8 bytes, IEEE 754, big-endian |
//! | bool | one byte, FF or 00 |
//! | uuid, blob | their bytes |
//! | decimal, date, time | text, as in data files |
//! | place, json, anything nested | JSON |
//! | null | no cell |

use askloom_model::{Precision, Type, Value, ValueError, from_json, to_json};
use askloom_plan::layout::{Column, Holds, Layout};
use serde_json::Value as Json;

/// What a cell holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Bytes(Vec<u8>),
    Int(i32),
    Long(i64),
    Double(f64),
}

/// How a value that is not known yet will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Bytes,
    Int,
    Long,
    Double,
}

impl Cell {
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }

    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Int(number) => number.to_be_bytes().to_vec(),
            Self::Long(number) => number.to_be_bytes().to_vec(),
            Self::Double(number) => number.to_be_bytes().to_vec(),
        }
    }
}

/// How values of a column are written.
#[must_use]
pub(super) fn packing(column: &Column) -> Packing {
    match column.holds.scalar() {
        Some(Type::Int) => Packing::Int,
        Some(Type::Long | Type::Timestamp(_)) => Packing::Long,
        Some(Type::Double) => Packing::Double,
        Some(_) | None => Packing::Bytes,
    }
}

/// The cell of a value. None for null.
#[must_use]
pub(super) fn cell(layout: &Layout, column: &Column, value: &Value) -> Option<Cell> {
    match (&column.holds, value) {
        (_, Value::Null) => None,
        (Holds::Tree { .. }, value) => {
            Some(Cell::text(&column.tree(&layout.conceptual, value).to_json().to_string()))
        }
        (Holds::Scalar(ty), Value::Reference(parts)) => parts.first().and_then(|part| scalar(part, ty)),
        (Holds::Scalar(ty), value) => scalar(value, ty),
        (Holds::Ordinal, value) => scalar(value, &Type::Long),
        (Holds::Locator, value) => scalar(value, &Type::Blob),
    }
}

pub(super) fn scalar(value: &Value, ty: &Type) -> Option<Cell> {
    Some(match (value, ty) {
        (Value::Null, _) => return None,
        (Value::Text(text), _) => Cell::text(text),
        (Value::Int(number), Type::Int) => i32::try_from(*number).map_or(Cell::Long(*number), Cell::Int),
        (Value::Int(number), Type::Long) => Cell::Long(*number),
        (Value::Double(number), _) => Cell::Double(*number),
        (Value::Bool(truth), _) => Cell::Bytes(vec![if *truth { 0xff } else { 0 }]),
        (Value::Timestamp(at), Type::Timestamp(precision)) => match ticks(*at, *precision) {
            Some(ticks) => Cell::Long(ticks),
            None => written(value, ty),
        },
        (Value::Uuid(id), _) => Cell::Bytes(id.as_bytes().to_vec()),
        (Value::Blob(bytes), _) => Cell::Bytes(bytes.clone()),
        (value, Type::Json | Type::Geo) => Cell::text(&to_json(value, ty).to_string()),
        (value, ty) => written(value, ty),
    })
}

fn ticks(at: jiff::Timestamp, precision: Precision) -> Option<i64> {
    match precision {
        Precision::Millis => Some(at.as_millisecond()),
        Precision::Micros => Some(at.as_microsecond()),
        Precision::Nanos => i64::try_from(at.as_nanosecond()).ok(),
    }
}

/// As in data files, a text without its quotes.
fn written(value: &Value, ty: &Type) -> Cell {
    match to_json(value, ty) {
        Json::String(text) => Cell::text(&text),
        other => Cell::text(&other.to_string()),
    }
}

/// The value of a cell's bytes.
pub(super) fn value(layout: &Layout, column: &Column, bytes: &[u8]) -> Result<Value, ValueError> {
    match &column.holds {
        Holds::Tree { .. } => column.from_json(&layout.conceptual, &json(bytes)?),
        Holds::Scalar(ty) => scalar_value(bytes, ty),
        Holds::Ordinal => scalar_value(bytes, &Type::Long),
        Holds::Locator => scalar_value(bytes, &Type::Blob),
    }
}

pub(super) fn scalar_value(bytes: &[u8], ty: &Type) -> Result<Value, ValueError> {
    let wrong = || ValueError(format!("{bytes:?} is no {ty}"));
    let four = <[u8; 4]>::try_from(bytes).map(i32::from_be_bytes);
    let eight = <[u8; 8]>::try_from(bytes).map(i64::from_be_bytes);
    match (ty, four, eight) {
        (Type::Int, Ok(number), _) => Ok(Value::Int(i64::from(number))),
        (Type::Int | Type::Long, _, Ok(number)) => Ok(Value::Int(number)),
        (Type::Timestamp(precision), _, Ok(ticks)) => {
            let unit = match precision {
                Precision::Millis => 1_000_000,
                Precision::Micros => 1_000,
                Precision::Nanos => 1,
            };
            // By way of nanoseconds: the last millisecond is refused as one.
            let at = jiff::Timestamp::from_nanosecond(i128::from(ticks) * unit);
            at.map(Value::Timestamp).map_err(|_| wrong())
        }
        (Type::Double, _, Ok(bits)) => {
            Value::double(f64::from_bits(bits.cast_unsigned())).map_err(|_| wrong())
        }
        (Type::Bool, _, _) => Ok(Value::Bool(bytes != [0])),
        (Type::Uuid, _, _) => uuid::Uuid::from_slice(bytes).map(Value::Uuid).map_err(|_| wrong()),
        (Type::Blob, _, _) => Ok(Value::Blob(bytes.to_vec())),
        (Type::Text, _, _) => text(bytes).map(|text| Value::Text(text.to_owned())),
        (Type::Json, _, _) => json(bytes).map(Value::Json),
        (Type::Geo, _, _) => from_json(&json(bytes)?, ty),
        (ty, _, _) => {
            let text = text(bytes)?;
            from_json(&Json::from(text), ty).or_else(|_| from_json(&json(bytes)?, ty))
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, ValueError> {
    std::str::from_utf8(bytes).map_err(|error| ValueError(error.to_string()))
}

fn json(bytes: &[u8]) -> Result<Json, ValueError> {
    serde_json::from_slice(bytes).map_err(|error| ValueError(error.to_string()))
}
