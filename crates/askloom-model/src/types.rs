use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// The type of an attribute or of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Text,
    Int,
    Long,
    Decimal,
    Double,
    Bool,
    Date,
    Time,
    Timestamp(Precision),
    Uuid,
    Blob,
    Geo,
    Json,
    /// The values in declared order, which is also their order in comparisons.
    Enum(Arc<[String]>),
}

/// How fine a timestamp is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    #[default]
    Millis,
    Micros,
    Nanos,
}

impl Type {
    /// The types that are written as one word, for "did you mean" and for the reference.
    pub const NAMES: [&str; 13] = [
        "text",
        "int",
        "long",
        "decimal",
        "double",
        "bool",
        "date",
        "time",
        "timestamp",
        "uuid",
        "blob",
        "geo",
        "json",
    ];

    /// The type of that canonical name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Self::Text,
            "int" => Self::Int,
            "long" => Self::Long,
            "decimal" => Self::Decimal,
            "double" => Self::Double,
            "bool" => Self::Bool,
            "date" => Self::Date,
            "time" => Self::Time,
            "timestamp" => Self::Timestamp(Precision::Millis),
            "uuid" => Self::Uuid,
            "blob" => Self::Blob,
            "geo" => Self::Geo,
            "json" => Self::Json,
            _ => return None,
        })
    }

    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Long | Self::Decimal | Self::Double)
    }

    /// Whether `<` and ORDER BY mean something for it.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        !matches!(self, Self::Blob | Self::Geo | Self::Json)
    }

    /// Whether values of the two types can be compared with each other.
    #[must_use]
    pub fn comparable_with(&self, other: &Self) -> bool {
        match (self, other) {
            (a, b) if a.is_number() && b.is_number() => true,
            (Self::Timestamp(_), Self::Timestamp(_)) => true,
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::Int => f.write_str("int"),
            Self::Long => f.write_str("long"),
            Self::Decimal => f.write_str("decimal"),
            Self::Double => f.write_str("double"),
            Self::Bool => f.write_str("bool"),
            Self::Date => f.write_str("date"),
            Self::Time => f.write_str("time"),
            Self::Timestamp(Precision::Millis) => f.write_str("timestamp"),
            Self::Timestamp(Precision::Micros) => f.write_str("timestamp(6)"),
            Self::Timestamp(Precision::Nanos) => f.write_str("timestamp(9)"),
            Self::Uuid => f.write_str("uuid"),
            Self::Blob => f.write_str("blob"),
            Self::Geo => f.write_str("geo"),
            Self::Json => f.write_str("json"),
            Self::Enum(values) => write!(f, "enum({})", values.join(", ")),
        }
    }
}
