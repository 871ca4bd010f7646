//! Values from plain text: a CSV field, a `name=value` argument. The forms are those of JSON without quotes.

use super::{Geo, Value, ValueError};
use crate::Type;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The value that a text stands for.
pub fn from_text(text: &str, ty: &Type) -> Result<Value, ValueError> {
    let not = || ValueError(format!("`{}` is not of type {ty}", shortened(text)));
    match ty {
        Type::Text => Ok(Value::Text(text.to_owned())),
        Type::Int => text.parse::<i32>().map(|n| Value::Int(n.into())).map_err(|_| not()),
        Type::Long => text.parse().map(Value::Int).map_err(|_| not()),
        Type::Decimal => Value::decimal(&text.parse().map_err(|_| not())?),
        Type::Double => Value::double(text.parse().map_err(|_| not())?),
        Type::Bool => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _other => Err(not()),
        },
        // A text that says more than the type holds is refused, not cut.
        Type::Date if text.contains([':', 'T', 't', ' ']) => Err(not()),
        Type::Date => text.parse().map(Value::Date).map_err(|_| not()),
        Type::Time if text.contains(['-', 'T', 't', ' ', '+']) => Err(not()),
        Type::Time => text.parse().map(Value::Time).map_err(|_| not()),
        Type::Timestamp(precision) => Value::timestamp(text.parse().map_err(|_| not())?, *precision),
        Type::Uuid => uuid::Uuid::try_parse(text).map(Value::Uuid).map_err(|_| not()),
        Type::Blob => {
            STANDARD.decode(text).map(Value::Blob).map_err(|_| ValueError("a blob is base64".to_owned()))
        }
        Type::Geo => place(text).ok_or_else(not)?,
        Type::Json => {
            serde_json::from_str(text).map(Value::Json).map_err(|error| ValueError(error.to_string()))
        }
        Type::Enum(values) => {
            let index =
                values.iter().position(|value| value == text).and_then(|index| u32::try_from(index).ok());
            index.map(Value::Enum).ok_or_else(|| {
                ValueError(format!("`{}` is not one of {}", shortened(text), values.join(", ")))
            })
        }
    }
}

/// `48.85,2.35`
fn place(text: &str) -> Option<Result<Value, ValueError>> {
    let (latitude, longitude) = text.split_once(',')?;
    let (latitude, longitude) = (latitude.trim().parse().ok()?, longitude.trim().parse().ok()?);
    Some(Geo::new(latitude, longitude).map(Value::Geo))
}

pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.to_owned(),
    }
}
