//! Values as strings of Redis, and ordered bytes for the members of sorted sets.
//!
//! | value | as a field | in a key |
//! | --- | --- | --- |
//! | text, numbers, dates, times, uuid, enum | their text; a double with as many digits as it needs | the same, escaped |
//! | blob | its bytes | hexadecimal digits |
//! | place | latitude, comma, longitude | the same, escaped |
//! | anything nested | JSON | – |
//! | null | no field | `~` |
//!
//! In a key, letters and digits and some harmless characters stand for themselves, every other byte is `%` and two
//! hexadecimal digits, so that nothing ends a `{tag}` early and no pattern of SCAN means more than it says. An empty
//! text is `%` alone. Parts are separated by commas.

use askloom_model::{Geo, Type, Value, ValueError, from_text};
use askloom_plan::layout::{Column, Holds, Layout, Place};
use askloom_plan::ordered_bytes::{encode, encode_descending};

/// The text of a plain value. Nothing for null.
#[must_use]
pub(super) fn plain(value: &Value, ty: &Type) -> Option<Vec<u8>> {
    let text = match (value, ty) {
        (Value::Null, _) => return None,
        (Value::Blob(bytes), _) => return Some(bytes.clone()),
        (Value::Reference(parts), _) => return parts.first().and_then(|part| plain(part, ty)),
        (Value::Enum(index), Type::Enum(names)) => names.get(*index as usize)?.clone(),
        (Value::Text(text), _) => text.clone(),
        (Value::Int(number), _) => number.to_string(),
        (Value::Decimal(number), _) => number.to_plain_string(),
        (Value::Double(number), _) => format!("{number:?}"),
        (Value::Bool(truth), _) => truth.to_string(),
        (Value::Date(date), _) => date.to_string(),
        (Value::Time(time), _) => time.to_string(),
        (Value::Timestamp(at), _) => at.to_string(),
        (Value::Uuid(id), _) => id.to_string(),
        (Value::Geo(place), _) => format!("{:?},{:?}", place.latitude, place.longitude),
        (Value::Json(json), _) => json.to_string(),
        (Value::Enum(_) | Value::List(_) | Value::Set(_) | Value::Record(_), _) => return None,
    };
    Some(text.into_bytes())
}

/// What a field of a hash holds. Nothing for null, which has no field.
#[must_use]
pub(super) fn field(layout: &Layout, column: &Column, value: &Value) -> Option<Vec<u8>> {
    match (&column.holds, value) {
        (_, Value::Null) => None,
        (Holds::Tree { .. }, value) => {
            Some(column.tree(&layout.conceptual, value).to_json().to_string().into_bytes())
        }
        (Holds::Scalar(_) | Holds::Ordinal | Holds::Locator, value) => plain(value, column.holds.scalar()?),
    }
}

/// The value of a field.
pub(super) fn value(layout: &Layout, column: &Column, bytes: &[u8]) -> Result<Value, ValueError> {
    let wrong = |why: String| ValueError(format!("`{}`: {why}", column.name));
    if column.holds.scalar() == Some(&Type::Blob) {
        return Ok(Value::Blob(bytes.to_vec()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    let json = || serde_json::from_str(text).map_err(|error| wrong(error.to_string()));
    match column.holds.scalar() {
        None => column.from_json(&layout.conceptual, &json()?),
        Some(Type::Json) => json().map(Value::Json),
        Some(Type::Geo) => place(text).ok_or_else(|| wrong(format!("{text} is no place"))),
        Some(Type::Text) => Ok(Value::Text(text.to_owned())),
        Some(ty) => from_text(text, ty),
    }
}

fn place(text: &str) -> Option<Value> {
    let (latitude, longitude) = text.split_once(',')?;
    Geo::new(latitude.parse().ok()?, longitude.parse().ok()?).ok().map(Value::Geo)
}

/// One part of a key.
#[must_use]
pub(super) fn key_part(column: &Column, value: &Value) -> String {
    let ty = column.holds.scalar();
    let Some(bytes) = ty.and_then(|ty| plain(value, ty)) else { return "~".to_owned() };
    if bytes.is_empty() {
        return "%".to_owned();
    }
    if ty == Some(&Type::Blob) {
        return hex(&bytes);
    }
    let mut part = String::new();
    for (index, letter) in String::from_utf8_lossy(&bytes).chars().enumerate() {
        let harmless = letter.is_alphanumeric()
            || matches!(letter, '-' | '_' | '.' | '@' | '+')
            // At the start it would look like a slot.
            || (letter == ':' && index > 0);
        if harmless {
            part.push(letter);
        } else {
            let mut buffer = [0; 4];
            let escaped = letter.encode_utf8(&mut buffer).bytes().map(|byte| format!("%{byte:02x}"));
            part.extend(escaped);
        }
    }
    part
}

/// The bytes of a value, which sort as the column does.
#[must_use]
pub(super) fn ordered(column: &Column, value: &Value) -> Vec<u8> {
    sorted_bytes(value, column.place == Place::Sort { descending: true })
}

#[must_use]
pub(super) fn sorted_bytes(value: &Value, descending: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    if descending {
        encode_descending(value, &mut bytes)
    } else {
        encode(value, &mut bytes)
    }
    bytes
}

/// The number that a value is searched by. Of two values, the greater one has no smaller number.
#[must_use]
pub(super) fn number(value: &Value) -> Option<String> {
    let number = match value {
        Value::Int(number) => *number,
        Value::Date(date) => date.duration_since(jiff::civil::Date::constant(1970, 1, 1)).as_hours() / 24,
        Value::Timestamp(at) => at.as_microsecond(),
        _other => return None,
    };
    Some(number.to_string())
}

/// The same of a slot.
#[must_use]
pub(super) fn number_of(column: Option<&Column>, name: &str) -> String {
    match column.and_then(|column| column.holds.scalar()) {
        Some(Type::Int | Type::Long) => name.to_owned(),
        _other => format!("number({name})"),
    }
}

#[must_use]
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
