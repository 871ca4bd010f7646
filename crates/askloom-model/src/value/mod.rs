//! Values at run time: what instances hold, what parameters carry, what rows return.
//!
//! A value is normalised when it is made, so that equal values are equal bytes everywhere: decimals have no
//! trailing zeros, doubles are finite and never -0, timestamps are as fine as their type and no finer. The
//! order of values is the order of the language on every store: null first, text by code point, uuid by bytes,
//! enums as declared, false before true.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is one of eighteen things, and most functions know one or two of them"
)]

mod bucket;
mod json;
mod parse;
mod place;
mod record;
mod statement;
#[cfg(test)]
mod tests;
mod time_bucket;
pub mod typed;

pub use bucket::{MAX_BUCKETS, bucket};
pub use json::{from_json, identity_from_json, identity_to_json, identity_types, member_to_json, to_json};
pub use parse::from_text;
pub use record::FieldError;
pub use statement::{column_to_json, parameter_from_json, row_to_json};

use crate::{ClassId, Constant, Member, Precision, Type};
use bigdecimal::BigDecimal;
use json::end_to_json;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};

/// What identifies an instance: the values of its identifier, references in it flattened into theirs.
pub type Identity = Vec<Value>;

#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Bool(bool),
    /// Of `int` and `long`.
    Int(i64),
    Decimal(BigDecimal),
    Double(f64),
    Text(String),
    /// The position among the declared values.
    Enum(u32),
    Date(jiff::civil::Date),
    Time(jiff::civil::Time),
    Timestamp(jiff::Timestamp),
    Uuid(uuid::Uuid),
    Blob(Vec<u8>),
    Geo(Geo),
    Json(serde_json::Value),
    /// A reference: the id it holds, whether such an instance exists or not.
    Reference(Identity),
    /// A list, in the order of its ordinals.
    List(Vec<Element>),
    /// A to-many reference: a set of ids.
    Set(BTreeSet<Identity>),
    /// A part, or a whole aggregate.
    Record(Box<Record>),
}

/// An element of a list. Its ordinal never changes while it lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element {
    pub ordinal: u64,
    pub value: Value,
}

/// The stored members of one instance or value object. Null members and empty lists are left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    pub class: ClassId,
    /// The id of an entity that declares none. A part keeps it here, as nothing else could.
    pub surrogate: Option<uuid::Uuid>,
    pub fields: BTreeMap<Member, Value>,
}

/// Degrees; both finite, never -0.
#[derive(Debug, Clone, Copy)]
pub struct Geo {
    pub latitude: f64,
    pub longitude: f64,
}

/// Why something is not a value of a type: the end of a sentence that names the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError(pub String);

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ValueError {}

/// A decimal has at most this many digits.
pub const MAX_DECIMAL_DIGITS: u64 = 34;

impl Value {
    /// Null, or an empty list or set: what is not stored.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        match self {
            Self::Null => true,
            Self::List(elements) => elements.is_empty(),
            Self::Set(ids) => ids.is_empty(),
            Self::Bool(_)
            | Self::Int(_)
            | Self::Decimal(_)
            | Self::Double(_)
            | Self::Text(_)
            | Self::Enum(_)
            | Self::Date(_)
            | Self::Time(_)
            | Self::Timestamp(_)
            | Self::Uuid(_)
            | Self::Blob(_)
            | Self::Geo(_)
            | Self::Json(_)
            | Self::Reference(_)
            | Self::Record(_) => false,
        }
    }

    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A double of the language: finite, and -0 is 0.
    pub fn double(number: f64) -> Result<Self, ValueError> {
        if number.is_finite() {
            Ok(Self::Double(number + 0.0))
        } else {
            Err(ValueError(format!("`{number}` is not finite")))
        }
    }

    /// A decimal of the language: at most 34 digits, without trailing zeros.
    pub fn decimal(number: &BigDecimal) -> Result<Self, ValueError> {
        let normal = number.normalized();
        let (digits, scale) = normal.as_bigint_and_exponent();
        let whole_zeros = if scale < 0 { scale.unsigned_abs() } else { 0 };
        let length = digits.magnitude().to_string().len() as u64 + whole_zeros;
        let behind_point = u64::try_from(scale.max(0)).unwrap_or(0);
        if length > MAX_DECIMAL_DIGITS || behind_point > MAX_DECIMAL_DIGITS {
            return Err(ValueError(format!("a decimal has at most {MAX_DECIMAL_DIGITS} digits")));
        }
        Ok(Self::Decimal(normal))
    }

    /// A timestamp no finer than its type.
    pub fn timestamp(at: jiff::Timestamp, precision: Precision) -> Result<Self, ValueError> {
        let unit = match precision {
            Precision::Millis => 1_000_000,
            Precision::Micros => 1_000,
            Precision::Nanos => 1,
        };
        if at.as_nanosecond() % unit == 0 {
            Ok(Self::Timestamp(at))
        } else {
            Err(ValueError(format!("`{at}` is finer than {}", Type::Timestamp(precision))))
        }
    }

    /// The run-time value of a constant in a model.
    pub fn of_constant(constant: &Constant) -> Result<Self, ValueError> {
        Ok(match constant {
            Constant::Null => Self::Null,
            Constant::Bool(value) => Self::Bool(*value),
            Constant::Int(value) => Self::Int(*value),
            Constant::Decimal(digits) => {
                let number =
                    digits.parse().map_err(|_| ValueError(format!("`{digits}` is not a decimal")))?;
                Self::decimal(&number)?
            }
            Constant::Double(value) => Self::double(*value)?,
            Constant::Text(text) => Self::Text(text.clone()),
            Constant::Enum(index) => Self::Enum(*index),
            Constant::Date(date) => Self::Date(*date),
            Constant::Time(time) => Self::Time(*time),
            Constant::Timestamp(at) => Self::Timestamp(*at),
            Constant::Uuid(uuid) => Self::Uuid(*uuid),
        })
    }

    /// Which kind of value it is, for comparing values of different kinds, which the language never does.
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Decimal(_) => 3,
            Self::Double(_) => 4,
            Self::Text(_) => 5,
            Self::Enum(_) => 6,
            Self::Date(_) => 7,
            Self::Time(_) => 8,
            Self::Timestamp(_) => 9,
            Self::Uuid(_) => 10,
            Self::Blob(_) => 11,
            Self::Geo(_) => 12,
            Self::Json(_) => 13,
            Self::Reference(_) => 14,
            Self::List(_) => 15,
            Self::Set(_) => 16,
            Self::Record(_) => 17,
        }
    }
}

/// Compares numbers of any two types exactly. Nothing if one of them is no number.
#[must_use]
pub fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    let exact = |value: &Value| {
        if let Value::Int(n) = value {
            Some(BigDecimal::from(*n))
        } else if let Value::Decimal(n) = value {
            Some(n.clone())
        } else if let Value::Double(n) = value {
            BigDecimal::try_from(*n).ok()
        } else {
            None
        }
    };
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => Some(a.total_cmp(b)),
        _mixed => Some(exact(a)?.cmp(&exact(b)?)),
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Double(a), Self::Double(b)) => a.total_cmp(b),
            // UTF-8 sorts as code points do.
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Enum(a), Self::Enum(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Timestamp(a), Self::Timestamp(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Blob(a), Self::Blob(b)) => a.cmp(b),
            (Self::Geo(a), Self::Geo(b)) => a.cmp(b),
            (Self::Json(a), Self::Json(b)) => a.to_string().cmp(&b.to_string()),
            (Self::Reference(a), Self::Reference(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => a.cmp(b),
            (Self::Set(a), Self::Set(b)) => a.cmp(b),
            (Self::Record(a), Self::Record(b)) => a.cmp(b),
            _different_kinds => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Self::Null => {}
            Self::Bool(value) => value.hash(state),
            Self::Int(value) => value.hash(state),
            Self::Decimal(value) => value.hash(state),
            Self::Double(value) => value.to_bits().hash(state),
            Self::Text(value) => value.hash(state),
            Self::Enum(value) => value.hash(state),
            Self::Date(value) => value.hash(state),
            Self::Time(value) => value.hash(state),
            Self::Timestamp(value) => value.hash(state),
            Self::Uuid(value) => value.hash(state),
            Self::Blob(value) => value.hash(state),
            Self::Geo(value) => value.hash(state),
            Self::Json(value) => value.to_string().hash(state),
            Self::Reference(value) => value.hash(state),
            Self::List(value) => value.hash(state),
            Self::Set(value) => value.hash(state),
            Self::Record(value) => value.hash(state),
        }
    }
}

impl Geo {
    pub fn new(latitude: f64, longitude: f64) -> Result<Self, ValueError> {
        if (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude) {
            Ok(Self { latitude: latitude + 0.0, longitude: longitude + 0.0 })
        } else {
            Err(ValueError(format!(
                "({latitude}, {longitude}) is no place: latitude is within 90, longitude within 180"
            )))
        }
    }
}

impl Ord for Geo {
    fn cmp(&self, other: &Self) -> Ordering {
        self.latitude.total_cmp(&other.latitude).then(self.longitude.total_cmp(&other.longitude))
    }
}

impl PartialOrd for Geo {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Geo {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Geo {}

impl Hash for Geo {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.latitude.to_bits().hash(state);
        self.longitude.to_bits().hash(state);
    }
}

impl Record {
    #[must_use]
    pub fn new(class: ClassId) -> Self {
        Self { class, surrogate: None, fields: BTreeMap::new() }
    }

    /// The member's value; null if there is none.
    #[must_use]
    pub fn get(&self, member: Member) -> &Value {
        const NULL: &Value = &Value::Null;
        self.fields.get(&member).unwrap_or(NULL)
    }

    /// Sets a member; what is absent is not stored.
    pub fn set(&mut self, member: Member, value: Value) {
        if value.is_absent() {
            self.fields.remove(&member);
        } else {
            self.fields.insert(member, value);
        }
    }

    /// The elements of a list member.
    #[must_use]
    pub fn list(&self, member: Member) -> &[Element] {
        if let Value::List(elements) = self.get(member) { elements } else { &[] }
    }

    /// The elements of a list member, to be changed where they are.
    pub fn elements_mut(&mut self, member: Member) -> &mut [Element] {
        if let Some(Value::List(elements)) = self.fields.get_mut(&member) { elements } else { &mut [] }
    }

    /// Takes the element of that ordinal out of a list. An empty list is not stored.
    pub fn remove_element(&mut self, member: Member, ordinal: u64) {
        let Some(Value::List(elements)) = self.fields.get_mut(&member) else { return };
        elements.retain(|element| element.ordinal != ordinal);
        if elements.is_empty() {
            self.fields.remove(&member);
        }
    }
}
