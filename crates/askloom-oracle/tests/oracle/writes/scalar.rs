//! Single values in both languages. SQLite has no decimals, enums, bools, timestamps or uuids: they are stored as
//! hundredths, positions, 0 and 1, milliseconds and text, so that its own operators give the order and the sums of
//! the language.

use askloom_oracle::Random;
use rusqlite::types::Value as Sql;
use serde_json::{Value as Json, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Int,
    Long,
    Text,
    Bool,
    Enum,
    Double,
    Decimal,
    Stamp,
    Uuid,
}

const TEXTS: [&str; 7] = ["", "a", "ab", "b", "B", "é", "it's"];
const ENUM: [&str; 3] = ["x", "y", "z"];
const DOUBLES: [f64; 6] = [0.0, 0.5, 0.1, -1.5, 2.0, 1.5e308];
const DECIMALS: [f64; 6] = [0.0, 0.25, 1.5, -3.0, 2.75, 10.0];

impl Scalar {
    pub(super) fn random(random: &mut Random) -> Self {
        use Scalar::{Bool, Decimal, Double, Enum, Int, Long, Stamp, Text, Uuid};
        *random
            .pick(&[
                Int, Int, Int, Int, Text, Text, Text, Long, Long, Bool, Enum, Double, Decimal, Stamp, Uuid,
            ])
            .unwrap()
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Long => "long",
            Self::Text => "text",
            Self::Bool => "bool",
            Self::Enum => "enum(x, y, z)",
            Self::Double => "double",
            Self::Decimal => "decimal",
            Self::Stamp => "timestamp",
            Self::Uuid => "uuid",
        }
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Long | Self::Double | Self::Decimal)
    }

    /// A value that is not null, from so few that there are duplicates; at times one at the edge of the type.
    pub(super) fn value(self, random: &mut Random) -> Json {
        match self {
            Self::Int if random.chance(0.06) => json!(*random.pick(&[i32::MIN, i32::MAX]).unwrap()),
            Self::Long if random.chance(0.1) => json!(*random.pick(&[i64::MIN, i64::MAX]).unwrap()),
            Self::Int | Self::Long => json!(random.between(-2, 3)),
            Self::Text => json!(random.pick(&TEXTS).unwrap()),
            Self::Bool => json!(random.chance(0.5)),
            Self::Enum => json!(random.pick(&ENUM).unwrap()),
            Self::Double => json!(random.pick(&DOUBLES).unwrap()),
            Self::Decimal => json!(random.pick(&DECIMALS).unwrap()),
            Self::Stamp => json!(format!("2026-01-01T00:00:{:02}Z", random.below(6))),
            Self::Uuid => json!(format!("00000000-0000-4000-8000-00000000000{}", random.below(6))),
        }
    }

    /// A value that hardly occurs twice, if the type has so many.
    pub(super) fn rare_value(self, random: &mut Random) -> Json {
        let number = random.below(1_000);
        match self {
            Self::Int | Self::Long => json!(number),
            Self::Text => json!(format!("u{number}")),
            Self::Double | Self::Decimal => json!(number as f64 / 4.0),
            Self::Stamp => json!(format!("2026-01-01T00:{:02}:{:02}Z", number / 60, number % 60)),
            Self::Uuid => json!(format!("00000000-0000-4000-8000-000000000{number:03}")),
            Self::Bool | Self::Enum => self.value(random),
        }
    }

    /// A JSON value that a parameter of this type cannot have.
    pub(super) fn misfit(self) -> Json {
        match self {
            Self::Int => json!(2_147_483_648_i64),
            Self::Long => json!(1.5),
            Self::Text => json!(1),
            Self::Bool | Self::Enum | Self::Double | Self::Decimal | Self::Stamp | Self::Uuid => json!("?"),
        }
    }

    pub(super) fn fits(self, value: &Json) -> bool {
        match self {
            Self::Int => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            Self::Long => value.as_i64().is_some(),
            Self::Text => value.is_string(),
            Self::Bool => value.is_boolean(),
            Self::Enum => value.as_str().is_some_and(|name| ENUM.contains(&name)),
            Self::Double | Self::Decimal => value.is_number(),
            Self::Stamp => value.as_str().is_some_and(|text| text.parse::<jiff::Timestamp>().is_ok()),
            Self::Uuid => value.as_str().is_some_and(|text| text.parse::<uuid::Uuid>().is_ok()),
        }
    }

    /// As SQLite holds it.
    pub(super) fn sql(self, value: &Json) -> Sql {
        if value.is_null() {
            return Sql::Null;
        }
        match self {
            Self::Int | Self::Long => Sql::Integer(value.as_i64().unwrap()),
            Self::Text | Self::Uuid => Sql::Text(value.as_str().unwrap().to_owned()),
            Self::Bool => Sql::Integer(i64::from(value.as_bool().unwrap())),
            Self::Enum => {
                let position = ENUM.iter().position(|name| value.as_str() == Some(name));
                Sql::Integer(i64::try_from(position.unwrap()).unwrap())
            }
            Self::Double => Sql::Real(value.as_f64().unwrap()),
            Self::Decimal => Sql::Integer(hundredths(value.as_f64().unwrap())),
            Self::Stamp => {
                Sql::Integer(value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond())
            }
        }
    }

    /// As JSON, from what SQLite holds.
    pub(super) fn json(self, value: &Sql) -> Json {
        match (self, value) {
            (_, Sql::Null | Sql::Blob(_)) => Json::Null,
            (Self::Bool, Sql::Integer(number)) => json!(*number != 0),
            (Self::Enum, Sql::Integer(number)) => json!(ENUM[usize::try_from(*number).unwrap()]),
            (Self::Decimal, Sql::Integer(number)) => json!(*number as f64 / 100.0),
            (Self::Stamp, Sql::Integer(number)) => {
                json!(jiff::Timestamp::from_millisecond(*number).unwrap().to_string())
            }
            (_, Sql::Integer(number)) => json!(number),
            (_, Sql::Real(number)) => json!(number),
            (_, Sql::Text(text)) => json!(text),
        }
    }

    /// As a literal of SQL.
    pub(super) fn sql_literal(self, value: &Json) -> String {
        match self.sql(value) {
            Sql::Null => "NULL".to_owned(),
            Sql::Integer(number) => number.to_string(),
            Sql::Real(number) => format!("{number:?}"),
            Sql::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Sql::Blob(_) => unreachable!("no type is stored as a blob"),
        }
    }

    /// As a literal of a statement.
    pub(super) fn literal(self, value: &Json) -> String {
        match value {
            Json::String(text) => format!("'{}'", text.replace('\'', "''")),
            other => other.to_string(),
        }
    }

    /// As a default behind `=` in a class.
    pub(super) fn default(self, value: &Json) -> String {
        match self {
            Self::Enum => value.as_str().unwrap().to_owned(),
            _any => self.literal(value),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the generator's decimals are small")]
pub(super) fn hundredths(number: f64) -> i64 {
    (number * 100.0).round() as i64
}
