//! Random values of every type, ugly ones among them, from small pools so that rows meet.

use crate::random::Random;
use askloom_model::{Geo, Precision, Type, Value};
use jiff::Timestamp;
use jiff::civil::{Date, Time, date, time};

const TEXTS: [&str; 16] =
    ["a", "b", "", "ab", "a\0", "\0", "é", "🎲", "/", ":", "'", "\"", "a b", "B", "\u{ffff}", "a\u{1}"];

const DECIMALS: [&str; 9] = [
    "0",
    "1",
    "2",
    "3",
    "-0.5",
    "1.5",
    "9999999999999999999999999999999999",
    "-9999999999999999999999999999999999",
    "0.0000000000000000000000000000000001",
];

/// What is left of a clock at a precision.
pub(crate) fn instant(at: Timestamp, precision: Precision) -> Timestamp {
    let unit = match precision {
        Precision::Millis => 1_000_000,
        Precision::Micros => 1_000,
        Precision::Nanos => 1,
    };
    Timestamp::from_nanosecond(at.as_nanosecond().div_euclid(unit) * unit).unwrap()
}

/// A value of the type. Of `few` there are six different ones at most, for ids.
pub(crate) fn value(ty: &Type, few: bool, random: &Random) -> Value {
    let at = |length: usize| if few { random.below(length.min(6)) } else { choice(length, random) };
    match ty {
        Type::Text if !few && random.percent(1) => Value::Text("long ".repeat(900)),
        Type::Text => Value::Text(
            TEXTS[if few { *random.pick(&[0, 1, 2, 3, 4, 5]) } else { at(TEXTS.len()) }].to_owned(),
        ),
        Type::Int => Value::Int([0, 1, 2, 3, -1, i64::from(i32::MIN), i64::from(i32::MAX)][at(7)]),
        Type::Long => Value::Int([0, 1, 2, 3, -1, i64::MIN, i64::MAX, 1 << 53][at(8)]),
        Type::Decimal => Value::decimal(&DECIMALS[at(DECIMALS.len())].parse().unwrap()).unwrap(),
        Type::Double => {
            let pool = [0.0, 1.0, 2.0, -1.5, 3.0, 0.1, f64::MAX, f64::MIN, 5e-324, -5e-324];
            Value::double(pool[at(pool.len())]).unwrap()
        }
        Type::Bool => Value::Bool(random.one_in(2)),
        Type::Date => {
            let pool =
                [date(2026, 1, 1), date(2026, 1, 2), Date::MIN, Date::MAX, date(0, 2, 29), date(-1, 12, 31)];
            Value::Date(pool[at(pool.len())])
        }
        Type::Time => {
            let pool = [Time::MIN, Time::MAX, time(12, 0, 0, 0), time(12, 0, 0, 1), time(23, 59, 59, 0)];
            Value::Time(pool[at(pool.len())])
        }
        Type::Timestamp(precision) => {
            let pool = [
                "2026-01-01T00:00:00Z".parse().unwrap(),
                "2026-01-01T00:00:00.001002003Z".parse().unwrap(),
                Timestamp::UNIX_EPOCH,
                "1969-12-31T23:59:59.999999999Z".parse().unwrap(),
                Timestamp::MAX,
                "-009999-01-03T00:00:00Z".parse().unwrap(),
            ];
            Value::timestamp(instant(pool[at(pool.len())], *precision), *precision).unwrap()
        }
        Type::Uuid => Value::Uuid(uuid(at(8))),
        Type::Blob => Value::Blob([&[][..], &[0], &[0, 255], &[255, 0, 1]][at(4)].to_vec()),
        Type::Geo => {
            let pool =
                [(0.0, 0.0), (50.94, 6.96), (48.86, 2.35), (90.0, 180.0), (-90.0, -180.0), (0.0, 179.9)];
            let (latitude, longitude) = pool[at(pool.len())];
            Value::Geo(Geo::new(latitude, longitude).unwrap())
        }
        Type::Json => {
            let pool = ["{}", "[]", "1", "\"a\\u0000\"", "{\"a\":[1,null,{\"b\":1e400}]}", "true"];
            Value::Json(serde_json::from_str(pool[at(pool.len())]).unwrap())
        }
        Type::Enum(values) => Value::Enum(u32::try_from(random.below(values.len())).unwrap()),
    }
}

/// A time from which a time to live of days counts: around the start of a case, so that some live and some do not.
pub(crate) fn start(ty: &Type, random: &Random) -> Value {
    let at: Timestamp = random
        .pick(&[
            "2026-06-01T00:00:00Z",
            "2026-05-31T12:00:00Z",
            "2026-05-30T00:00:00.001Z",
            "2026-06-02T00:00:00Z",
            "2026-06-03T00:00:00Z",
            "2026-05-20T00:00:00Z",
            "9999-01-01T00:00:00Z",
        ])
        .parse()
        .unwrap();
    match ty {
        Type::Timestamp(precision) => Value::timestamp(instant(at, *precision), *precision).unwrap(),
        _date => Value::Date(at.to_zoned(jiff::tz::TimeZone::UTC).date()),
    }
}

/// The first ones of a pool half of the time: they are what rows meet by.
fn choice(length: usize, random: &Random) -> usize {
    if random.one_in(2) { random.below(length.min(3)) } else { random.below(length) }
}

/// One of few ids that are made up by the store.
pub(crate) fn uuid(n: usize) -> uuid::Uuid {
    let bits = [0, 1, u128::MAX, 1 << 127, 2, 3, 4, 5].get(n).copied().unwrap_or(100 + n as u128);
    uuid::Uuid::from_u128(bits)
}

/// The value as a literal of the language, if it has one that is worth writing.
pub(crate) fn literal(ty: &Type, random: &Random) -> Option<String> {
    Some(match ty {
        Type::Text => (*random.pick(&["'a'", "'b'", "''", "'''' ", "'🎲'"])).to_owned(),
        Type::Int | Type::Long | Type::Double => random.below(4).to_string(),
        Type::Decimal => (*random.pick(&["0", "1", "1.5", "-0.5"])).to_owned(),
        Type::Bool => (*random.pick(&["true", "false"])).to_owned(),
        Type::Date => (*random.pick(&["'2026-01-01'", "'2026-01-02'"])).to_owned(),
        Type::Time => "'12:00:00'".to_owned(),
        Type::Timestamp(_) => "'2026-01-01T00:00:00Z'".to_owned(),
        Type::Enum(values) => format!("'{}'", random.pick(values)),
        Type::Uuid => format!("'{}'", uuid(random.below(3))),
        Type::Blob | Type::Geo | Type::Json => return None,
    })
}
