//! Values that break things: separators, what looks empty, what is largest.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "values and types are many, and a function knows the few that concern it"
)]

use askloom_model::{Geo, MAX_DECIMAL_DIGITS, Precision, Type, Value};
use bigdecimal::BigDecimal;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use uuid::Uuid;

/// None of them consists of digits and small letters alone, as numbered texts do.
const TEXTS: [&str; 36] = [
    "",
    "\0",
    "a\0b",
    " ",
    "/",
    ":",
    "a/b",
    "a:b",
    "*",
    "[*]",
    "'",
    "''",
    "\"",
    "\\",
    "%",
    "_",
    "{}",
    "\n",
    "😀",
    "é",
    "e\u{301}",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{feff}",
    // What one shell or another takes for its own.
    "$where",
    "{tag}",
    "}",
    ";",
    "--",
    "/*",
    "$$",
    "$(x)",
    "`",
    "#{x}",
    ":name",
    "@a:{b}|-~*",
];

/// Values of a type that no ordinary data has; nothing where there is nothing special.
pub(super) fn values(ty: &Type) -> Vec<Value> {
    match ty {
        Type::Blob => vec![Value::Blob(Vec::new()), Value::Blob(vec![0]), Value::Blob(vec![255; 3])],
        Type::Geo => {
            let places = [(90.0, 180.0), (-90.0, -180.0), (0.0, 0.0)];
            places.iter().filter_map(|(lat, long)| Geo::new(*lat, *long).ok()).map(Value::Geo).collect()
        }
        Type::Json => ["[]", "{}", "\"\"", "0", "{\"\":[null,{\"a\":\"\\u0000\"}]}", "1e400"]
            .iter()
            .filter_map(|text| serde_json::from_str(text).ok())
            .map(Value::Json)
            .collect(),
        Type::Int | Type::Long => {
            let mut values = distinct(ty);
            values.extend([1, -1, 0].map(Value::Int));
            values
        }
        ordinary => distinct(ordinary),
    }
}

/// The same for ids and unique values: no two alike, and none that a number could give.
pub(super) fn distinct(ty: &Type) -> Vec<Value> {
    match ty {
        Type::Text => TEXTS.iter().map(|text| Value::Text((*text).to_owned())).collect(),
        Type::Int => [i32::MIN.into(), i32::MAX.into(), 0, -1].map(Value::Int).to_vec(),
        Type::Long => [i64::MIN, i64::MAX, i32::MIN.into(), -(1 << 53) - 1, 0, -1].map(Value::Int).to_vec(),
        Type::Decimal => decimals(),
        Type::Double => {
            [f64::MAX, f64::MIN, 5e-324, -5e-324, f64::MIN_POSITIVE, 0.1, 0.0].map(Value::Double).to_vec()
        }
        Type::Date => [Date::MIN, Date::MAX, Date::constant(1969, 12, 31)].map(Value::Date).to_vec(),
        Type::Time => vec![Value::Time(Time::MAX)],
        Type::Timestamp(precision) => timestamps(*precision),
        Type::Uuid => [Uuid::nil(), Uuid::max()].map(Value::Uuid).to_vec(),
        // Too few values to have special ones, or never numbered.
        Type::Bool | Type::Enum(_) | Type::Blob | Type::Geo | Type::Json => Vec::new(),
    }
}

fn decimals() -> Vec<Value> {
    let digits = usize::try_from(MAX_DECIMAL_DIGITS).unwrap_or(34);
    let largest = "9".repeat(digits);
    let smallest = format!("0.{}1", "0".repeat(digits - 1));
    let texts =
        [largest.clone(), format!("-{largest}"), smallest.clone(), format!("-{smallest}"), "0".to_owned()];
    let value = |text: &String| Value::decimal(&text.parse::<BigDecimal>().ok()?).ok();
    texts.iter().filter_map(value).collect()
}

/// The first and the last instant of a precision, and the one before 1970.
fn timestamps(precision: Precision) -> Vec<Value> {
    let unit: i128 = match precision {
        Precision::Millis => 1_000_000,
        Precision::Micros => 1_000,
        Precision::Nanos => 1,
    };
    let (first, last) = (Timestamp::MIN.as_nanosecond(), Timestamp::MAX.as_nanosecond());
    let instants = [-(-first / unit) * unit, last / unit * unit, -unit];
    instants
        .iter()
        .filter_map(|&nanos| Timestamp::from_nanosecond(nanos).ok())
        .map(Value::Timestamp)
        .collect()
}
