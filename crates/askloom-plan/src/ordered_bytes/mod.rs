//! Values as bytes that sort as the values do.
//!
//! Each value is a tag and a payload that says by itself where it ends, so that values can be put one behind the other
//! and taken apart again: no two sequences of values share their bytes. Null is the smallest. Descending fields are
//! written with every byte inverted.
//!
//! | value | payload |
//! | --- | --- |
//! | bool | one byte |
//! | int, long | 8 bytes, sign bit flipped |
//! | decimal | see `decimal` |
//! | double | 8 bytes, sign bit flipped, all bits if negative |
//! | text, blob, json | bytes, 0 as `00 FF`, ended by `00 01` |
//! | enum | 4 bytes |
//! | date | year, month, day: 4 bytes, sign flipped |
//! | time | 8 bytes of nanoseconds |
//! | timestamp | 16 bytes of nanoseconds, sign flipped |
//! | uuid | 16 bytes |
//! | place | two doubles |
//! | reference | its parts, each after `01`, ended by `00` |
//! | list, set, record | elements, each after `01`, ended by `00` |

mod decimal;

use askloom_model::{Element, Geo, Value, fault};
use std::collections::BTreeSet;
use std::fmt;

/// Bytes that no encoder wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these bytes are not a value of this store")
    }
}

impl std::error::Error for DecodeError {}

pub mod tag {
    pub const NULL: u8 = 0x00;
    pub const BOOL: u8 = 0x02;
    pub const INT: u8 = 0x03;
    pub const DECIMAL: u8 = 0x04;
    pub const DOUBLE: u8 = 0x05;
    pub const TEXT: u8 = 0x06;
    pub const ENUM: u8 = 0x07;
    pub const DATE: u8 = 0x08;
    pub const TIME: u8 = 0x09;
    pub const TIMESTAMP: u8 = 0x0a;
    pub const UUID: u8 = 0x0b;
    pub const BLOB: u8 = 0x0c;
    pub const GEO: u8 = 0x0d;
    pub const JSON: u8 = 0x0e;
    pub const REFERENCE: u8 = 0x0f;
    pub const LIST: u8 = 0x10;
    pub const SET: u8 = 0x11;
    pub const RECORD: u8 = 0x12;
}

pub const MORE: u8 = 0x01;
pub const END: u8 = 0x00;
const SIGN: u64 = 1 << 63;

/// Appends a value. Records have [`encode_entry`], since they need names; inside a value they are not expected.
pub fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(tag::NULL),
        Value::Bool(value) => out.extend([tag::BOOL, u8::from(*value)]),
        Value::Int(value) => fixed(out, tag::INT, &(value.cast_unsigned() ^ sign()).to_be_bytes()),
        Value::Decimal(value) => {
            out.push(tag::DECIMAL);
            decimal::encode(value, out);
        }
        Value::Double(value) => fixed(out, tag::DOUBLE, &ordered_bits(*value).to_be_bytes()),
        Value::Text(text) => escaped(out, tag::TEXT, text.as_bytes()),
        Value::Enum(index) => fixed(out, tag::ENUM, &index.to_be_bytes()),
        Value::Date(date) => {
            let year = i32::from(date.year()) + 0x8000;
            let [_, _, high, low] = year.to_be_bytes();
            fixed(out, tag::DATE, &[high, low, date.month().cast_unsigned(), date.day().cast_unsigned()]);
        }
        Value::Time(time) => fixed(out, tag::TIME, &nanoseconds(*time).to_be_bytes()),
        Value::Timestamp(at) => {
            let flipped = at.as_nanosecond().cast_unsigned() ^ (1 << 127);
            fixed(out, tag::TIMESTAMP, &flipped.to_be_bytes());
        }
        Value::Uuid(uuid) => fixed(out, tag::UUID, uuid.as_bytes()),
        Value::Blob(bytes) => escaped(out, tag::BLOB, bytes),
        Value::Geo(place) => {
            out.push(tag::GEO);
            out.extend(ordered_bits(place.latitude).to_be_bytes());
            out.extend(ordered_bits(place.longitude).to_be_bytes());
        }
        Value::Json(json) => escaped(out, tag::JSON, json.to_string().as_bytes()),
        Value::Reference(identity) => {
            out.push(tag::REFERENCE);
            sequence(out, identity, encode);
        }
        Value::List(elements) => {
            out.push(tag::LIST);
            sequence(out, elements, |element, out| {
                out.extend(element.ordinal.to_be_bytes());
                encode(&element.value, out);
            });
        }
        Value::Set(ids) => {
            out.push(tag::SET);
            sequence(out, ids, |id, out| sequence(out, id, encode));
        }
        // A record without names is its class alone; the record encoder writes names.
        Value::Record(_) => out.push(tag::NULL),
    }
}

/// The bit that puts negative whole numbers before the others.
fn sign() -> u64 {
    if fault!(NegativeUnordered) { 0 } else { SIGN }
}

/// Appends a value that sorts the other way round.
pub fn encode_descending(value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    encode(value, out);
    if fault!(DescendingNotInverted) {
        return;
    }
    for byte in out.iter_mut().skip(start) {
        *byte = !*byte;
    }
}

fn fixed(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend(bytes);
}

pub fn escaped(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    for &byte in bytes {
        out.push(byte);
        if byte == 0 && !fault!(NulNotEscaped) {
            out.push(0xff);
        }
    }
    out.extend([0x00, 0x01]);
}

pub fn sequence<'v, T: 'v>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = &'v T>,
    item: impl Fn(&T, &mut Vec<u8>),
) {
    for value in items {
        out.push(MORE);
        item(value, out);
    }
    out.push(END);
}

/// Bits of a double that sort as the doubles do.
fn ordered_bits(number: f64) -> u64 {
    let bits = number.to_bits();
    if fault!(NegativeDoubleUnordered) {
        return bits ^ SIGN;
    }
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn from_ordered_bits(bits: u64) -> f64 {
    if fault!(NegativeDoubleUnordered) {
        return f64::from_bits(bits ^ SIGN);
    }
    f64::from_bits(if bits & SIGN == 0 { !bits } else { bits & !SIGN })
}

fn nanoseconds(time: jiff::civil::Time) -> i64 {
    let seconds = (i64::from(time.hour()) * 60 + i64::from(time.minute())) * 60 + i64::from(time.second());
    seconds * 1_000_000_000 + i64::from(time.subsec_nanosecond())
}

/// How deep values may lie in values: references and lists in lists are the only ones.
const MAX_DEPTH: usize = 64;

/// Takes one value off the front of the bytes.
pub fn decode(bytes: &mut &[u8]) -> Result<Value, DecodeError> {
    decode_at(bytes, 0)
}

/// Takes one value off the front of the bytes that was written to sort the other way round.
pub fn decode_descending(bytes: &mut &[u8]) -> Result<Value, DecodeError> {
    if fault!(DescendingNotInverted) {
        return decode(bytes);
    }
    let inverted: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
    let mut rest = inverted.as_slice();
    let value = decode(&mut rest)?;
    *bytes = bytes.get(inverted.len() - rest.len()..).ok_or(DecodeError)?;
    Ok(value)
}

fn decode_at(bytes: &mut &[u8], depth: usize) -> Result<Value, DecodeError> {
    if depth > MAX_DEPTH {
        return Err(DecodeError);
    }
    let inner = |bytes: &mut &[u8]| decode_at(bytes, depth + 1);
    Ok(match byte(bytes)? {
        tag::NULL => Value::Null,
        tag::BOOL => Value::Bool(byte(bytes)? != 0),
        tag::INT => Value::Int((u64::from_be_bytes(take(bytes)?) ^ sign()).cast_signed()),
        tag::DECIMAL => Value::Decimal(decimal::decode(bytes)?),
        tag::DOUBLE => Value::Double(from_ordered_bits(u64::from_be_bytes(take(bytes)?))),
        tag::TEXT => Value::Text(String::from_utf8(unescaped(bytes)?).map_err(|_| DecodeError)?),
        tag::ENUM => Value::Enum(u32::from_be_bytes(take(bytes)?)),
        tag::DATE => Value::Date(date(take(bytes)?)?),
        tag::TIME => Value::Time(time(i64::from_be_bytes(take(bytes)?))?),
        tag::TIMESTAMP => {
            let nanoseconds = (u128::from_be_bytes(take(bytes)?) ^ (1 << 127)).cast_signed();
            Value::Timestamp(jiff::Timestamp::from_nanosecond(nanoseconds).map_err(|_| DecodeError)?)
        }
        tag::UUID => Value::Uuid(uuid::Uuid::from_bytes(take(bytes)?)),
        tag::BLOB => Value::Blob(unescaped(bytes)?),
        tag::GEO => {
            let latitude = from_ordered_bits(u64::from_be_bytes(take(bytes)?));
            let longitude = from_ordered_bits(u64::from_be_bytes(take(bytes)?));
            Value::Geo(Geo::new(latitude, longitude).map_err(|_| DecodeError)?)
        }
        tag::JSON => Value::Json(serde_json::from_slice(&unescaped(bytes)?).map_err(|_| DecodeError)?),
        tag::REFERENCE => Value::Reference(decode_sequence(bytes, inner)?),
        tag::LIST => Value::List(decode_sequence(bytes, |bytes| {
            Ok(Element { ordinal: u64::from_be_bytes(take(bytes)?), value: inner(bytes)? })
        })?),
        tag::SET => {
            let ids = decode_sequence(bytes, |bytes| decode_sequence(bytes, inner))?;
            Value::Set(ids.into_iter().collect::<BTreeSet<_>>())
        }
        _unknown => return Err(DecodeError),
    })
}

pub fn byte(bytes: &mut &[u8]) -> Result<u8, DecodeError> {
    let [byte] = take(bytes)?;
    Ok(byte)
}

pub fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], DecodeError> {
    let (first, rest) = bytes.split_first_chunk::<N>().ok_or(DecodeError)?;
    *bytes = rest;
    Ok(*first)
}

pub fn unescaped(bytes: &mut &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    loop {
        match byte(bytes)? {
            0x00 => match byte(bytes)? {
                0xff => out.push(0x00),
                0x01 => return Ok(out),
                _neither => return Err(DecodeError),
            },
            plain => out.push(plain),
        }
    }
}

pub fn decode_sequence<T>(
    bytes: &mut &[u8],
    item: impl Fn(&mut &[u8]) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let mut items = Vec::new();
    loop {
        match byte(bytes)? {
            MORE => items.push(item(bytes)?),
            END => return Ok(items),
            _neither => return Err(DecodeError),
        }
    }
}

fn date([high, low, month, day]: [u8; 4]) -> Result<jiff::civil::Date, DecodeError> {
    let year = i32::from(u16::from_be_bytes([high, low])) - 0x8000;
    let year = i16::try_from(year).map_err(|_| DecodeError)?;
    jiff::civil::Date::new(year, month.cast_signed(), day.cast_signed()).map_err(|_| DecodeError)
}

fn time(nanoseconds: i64) -> Result<jiff::civil::Time, DecodeError> {
    let part = |unit: i64, modulus: i64| i8::try_from(nanoseconds / unit % modulus).map_err(|_| DecodeError);
    let below = i32::try_from(nanoseconds % 1_000_000_000).map_err(|_| DecodeError)?;
    let (hour, minute) = (part(3_600_000_000_000, 24)?, part(60_000_000_000, 60)?);
    jiff::civil::Time::new(hour, minute, part(1_000_000_000, 60)?, below).map_err(|_| DecodeError)
}

/// The first key after all that start with a prefix. `None` if there is none.
#[must_use]
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < 0xff {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigdecimal::BigDecimal;

    fn random_value(kind: usize, random: &mut fastrand::Rng) -> Value {
        let texts =
            ["", "\0", "\0\0", "a", "a\0", "a\0b", "ab", "\u{ff5e}", "🎲", "/", ":", "\u{1}", "\u{ff}"];
        match kind {
            0 => Value::Int([i64::MIN, -1, 0, 1, i64::MAX, random.i64(..)][random.usize(..6)]),
            1 => Value::Text(
                texts[random.usize(..texts.len())].to_owned() + texts[random.usize(..texts.len())],
            ),
            2 => {
                let digits: BigDecimal =
                    format!("{}e{}", random.i64(-2000..2000), random.i32(-12..12)).parse().unwrap();
                Value::decimal(&digits).unwrap()
            }
            3 => Value::double(
                [0.0, f64::MAX, f64::MIN, 5e-324, -5e-324, random.f64() - 0.5][random.usize(..6)],
            )
            .unwrap(),
            4 => Value::Bool(random.bool()),
            5 => {
                let dates = [
                    jiff::civil::Date::MIN,
                    jiff::civil::Date::MAX,
                    jiff::civil::date(0, 1, 1),
                    jiff::civil::date(2026, 2, 28),
                ];
                Value::Date(dates[random.usize(..4)])
            }
            6 => Value::Time(jiff::civil::time(
                random.i8(0..24),
                random.i8(0..60),
                random.i8(0..60),
                random.i32(0..1_000_000_000),
            )),
            7 => {
                let edges = [jiff::Timestamp::MIN, jiff::Timestamp::MAX, jiff::Timestamp::UNIX_EPOCH];
                Value::Timestamp(edges[random.usize(..3)])
            }
            8 => Value::Uuid(uuid::Uuid::from_u128(random.u128(..))),
            9 => Value::Blob((0..random.usize(..4)).map(|_| [0, 1, 255][random.usize(..3)]).collect()),
            10 => Value::Enum(random.u32(..5)),
            _ => Value::Reference((0..2).map(|_| random_value(random.usize(..2) % 2, random)).collect()),
        }
    }

    fn bytes(value: &Value, descending: bool) -> Vec<u8> {
        let mut out = Vec::new();
        if descending {
            encode_descending(value, &mut out)
        } else {
            encode(value, &mut out)
        }
        out
    }

    #[test]
    fn bytes_sort_as_values_and_decode_to_them() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..60_000 {
            let kind = random.usize(..11);
            let a = if random.u8(..20) == 0 { Value::Null } else { random_value(kind, &mut random) };
            let b = random_value(kind, &mut random);
            assert_eq!(bytes(&a, false).cmp(&bytes(&b, false)), a.cmp(&b), "{a:?} {b:?}");
            assert_eq!(bytes(&a, true).cmp(&bytes(&b, true)), b.cmp(&a), "{a:?} {b:?}");
            let encoded = bytes(&a, false);
            let mut rest = encoded.as_slice();
            assert_eq!(decode(&mut rest), Ok(a));
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn sequences_of_values_sort_as_sequences() {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..30_000 {
            let kinds = [random.usize(..12), random.usize(..11)];
            let row = |random: &mut fastrand::Rng| {
                kinds.map(|kind| {
                    if kind == 11 {
                        Value::Reference(vec![random_value(1, random), random_value(1, random)])
                    } else {
                        random_value(kind, random)
                    }
                })
            };
            let (a, b) = (row(&mut random), row(&mut random));
            let both = |row: &[Value; 2]| {
                let mut out = Vec::new();
                encode(&row[0], &mut out);
                encode_descending(&row[1], &mut out);
                out
            };
            let expected = a[0].cmp(&b[0]).then(b[1].cmp(&a[1]));
            assert_eq!(both(&a).cmp(&both(&b)), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn foreign_bytes_are_an_error_not_a_panic() {
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..100_000 {
            let bytes: Vec<u8> = (0..random.usize(..12)).map(|_| random.u8(..0x20)).collect();
            let _ = decode(&mut bytes.as_slice());
        }
    }
}
