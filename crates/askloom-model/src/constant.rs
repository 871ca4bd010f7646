use serde::Serialize;

/// A value written in a model, already of the type that its place asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Constant {
    Null,
    Bool(bool),
    /// For `int` and `long`.
    Int(i64),
    /// Canonical digits: no leading zeros, no trailing zeros after the point.
    Decimal(String),
    Double(f64),
    Text(String),
    /// The position in the enum's declared values.
    Enum(u32),
    Date(jiff::civil::Date),
    Time(jiff::civil::Time),
    Timestamp(jiff::Timestamp),
    Uuid(uuid::Uuid),
}
