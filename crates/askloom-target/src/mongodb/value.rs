//! Values as MongoDB has them.

use super::bson::{Bson, Document};
use super::names::{CLASS, FIELDS, ID, JSON, escaped};
use super::schema::{Kind, MongoField};
use askloom_model::{ClassId, Conceptual, Element, Identity, Precision, Record, Type, Value};
use askloom_plan::layout::named_identity;
use askloom_plan::ordered_bytes::encode;
use askloom_plan::tree::TreeOf;
use bigdecimal::BigDecimal;
use serde_json::Value as Json;

/// BSON nests a hundred documents; what an aggregate has around it comes on top.
const JSON_DEPTH: usize = 64;
/// Of a Decimal128.
const DECIMAL_DIGITS: usize = 34;
/// So many elements may be missing before an array of them is mostly null.
const HOLES: u64 = 16;

/// Turns values into those of MongoDB.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoder<'e> {
    pub(super) conceptual: &'e Conceptual,
    /// References as `Class:id`.
    pub(super) faithful: bool,
}

impl Encoder<'_> {
    /// The value of a field.
    pub(super) fn field(&self, field: &MongoField, value: &Value) -> Bson {
        match (&field.kind, value) {
            (_, Value::Null) => Bson::Null,
            (Kind::Plain(_), Value::Reference(_)) if self.faithful => self.reference(field, value),
            (Kind::Nested { .. }, _) | (_, Value::List(_) | Value::Set(_) | Value::Record(_)) => {
                self.nested(&nested_of(&field.kind), value)
            }
            (kind, Value::Reference(parts)) => match parts.as_slice() {
                [only] => scalar(kind, only),
                _several => Bson::Null,
            },
            (kind, value) => scalar(kind, value),
        }
    }

    fn reference(&self, field: &MongoField, value: &Value) -> Bson {
        let askloom_plan::layout::Source::Member(member) = field.of.source else { return Bson::Null };
        self.nested(&TreeOf::member(self.conceptual, member), value)
    }

    /// A value with what is inside it.
    pub(super) fn nested(&self, of: &TreeOf, value: &Value) -> Bson {
        match (value, of) {
            (Value::Null, _) => Bson::Null,
            (Value::List(elements), _) => self.list(of, elements),
            (Value::Set(ids), TreeOf::Identity(class)) => {
                Bson::Array(ids.iter().map(|id| self.identity(*class, id)).collect())
            }
            (Value::Reference(id), TreeOf::Identity(class) | TreeOf::Instance(class)) => {
                self.identity(*class, id)
            }
            (Value::Record(record), TreeOf::Instance(declared) | TreeOf::Identity(declared)) => {
                Bson::Document(self.record(*declared, record))
            }
            (leaf, TreeOf::Basic(ty)) => plain(leaf, ty),
            // What is told apart by where it stands has a number.
            (leaf, TreeOf::Identity(_) | TreeOf::Instance(_)) => plain(leaf, &Type::Long),
        }
    }

    /// An array whose places are the ordinals, as long as it is not mostly holes; else the ordinals are names.
    fn list(&self, of: &TreeOf, elements: &[Element]) -> Bson {
        let count = u64::try_from(elements.len()).unwrap_or(u64::MAX);
        let most = count.saturating_mul(2).saturating_add(HOLES);
        let last = elements.last().map_or(0, |element| element.ordinal);
        let one = |element: &Element| self.nested(of, &element.value);
        if last >= most {
            let named = elements.iter().map(|element| (element.ordinal.to_string(), one(element)));
            return Bson::Document(named.collect());
        }
        let mut array = Vec::new();
        for element in elements {
            let place = usize::try_from(element.ordinal).unwrap_or_default();
            array.resize(place.max(array.len()), Bson::Null);
            array.push(one(element));
        }
        Bson::Array(array)
    }

    fn identity(&self, class: ClassId, id: &Identity) -> Bson {
        let parts = named_identity(self.conceptual, class);
        if self.faithful {
            let own = id.iter().zip(&parts).map(|(part, (_, ty))| readable(&plain(part, ty)));
            let name = std::iter::once(self.conceptual.classes[class].name.clone());
            return Bson::Text(name.chain(own).collect::<Vec<_>>().join(":"));
        }
        if let ([only], [(_, ty)]) = (id.as_slice(), parts.as_slice()) {
            return plain(only, ty);
        }
        let names = FIELDS.names(parts.iter().map(|(name, _)| name.as_str()));
        let fields = names.into_iter().zip(id.iter().zip(&parts));
        Bson::Document(fields.map(|(name, (part, (_, ty)))| (name, plain(part, ty))).collect())
    }

    fn record(&self, declared: ClassId, record: &Record) -> Document {
        let mut fields = Vec::new();
        if record.class != declared {
            fields.push((CLASS.to_owned(), Bson::text(&self.conceptual.classes[record.class].name)));
        }
        if let Some(id) = record.surrogate {
            fields.push((ID.to_owned(), Bson::Uuid(id)));
        }
        for (&member, value) in &record.fields {
            let of = TreeOf::member(self.conceptual, member);
            fields.push((escaped(self.conceptual.member_name(member)), self.nested(&of, value)));
        }
        fields
    }
}

fn nested_of(kind: &Kind) -> TreeOf {
    match kind {
        Kind::Nested { of, .. } => of.clone(),
        Kind::Plain(ty) => TreeOf::Basic(ty.clone()),
        Kind::Letters | Kind::Digits | Kind::Ordered | Kind::Number => TreeOf::Basic(Type::Text),
    }
}

fn scalar(kind: &Kind, value: &Value) -> Bson {
    match (kind, value) {
        (Kind::Letters, Value::Uuid(id)) => Bson::Text(id.to_string()),
        (Kind::Digits, Value::Blob(bytes)) => Bson::Text(digits(bytes)),
        (Kind::Number, Value::Enum(index)) => i32::try_from(*index).map_or(Bson::Null, Bson::Int),
        (Kind::Ordered, value) => {
            let mut bytes = Vec::new();
            encode(value, &mut bytes);
            Bson::Text(digits(&bytes))
        }
        (Kind::Plain(ty), value) => plain(value, ty),
        // What is no value of the field equals none of them.
        (Kind::Letters | Kind::Digits | Kind::Number | Kind::Nested { .. }, value) => {
            plain(value, &Type::Text)
        }
    }
}

pub(super) fn plain(value: &Value, ty: &Type) -> Bson {
    match (value, ty) {
        (Value::Text(text), _) => Bson::Text(text.clone()),
        (Value::Enum(index), Type::Enum(names)) => {
            names.get(*index as usize).map_or(Bson::Null, |name| Bson::text(name))
        }
        (Value::Int(number), Type::Decimal) => Bson::Decimal(BigDecimal::from(*number)),
        (Value::Int(number), Type::Int) => i32::try_from(*number).map_or(Bson::Long(*number), Bson::Int),
        (Value::Int(number), _) => Bson::Long(*number),
        (Value::Decimal(number), _) => Bson::Decimal(number.clone()),
        (Value::Double(number), _) => Bson::Double(*number),
        (Value::Bool(truth), _) => Bson::Bool(*truth),
        (Value::Date(date), _) => Bson::Date(midnight(*date)),
        // Without zeros at the end of its fraction, it sorts as text does.
        (Value::Time(time), _) => Bson::Text(time.to_string()),
        (Value::Timestamp(at), Type::Timestamp(Precision::Micros)) => Bson::Long(at.as_microsecond()),
        (Value::Timestamp(at), Type::Timestamp(Precision::Nanos)) => {
            let nanoseconds = at.as_nanosecond();
            // Numbers of the two types are compared by what they are.
            i64::try_from(nanoseconds)
                .map_or_else(|_| Bson::Decimal(BigDecimal::from(nanoseconds)), Bson::Long)
        }
        (Value::Timestamp(at), _) => Bson::Date(at.as_millisecond()),
        (Value::Uuid(id), _) => Bson::Uuid(*id),
        (Value::Blob(bytes), _) => Bson::Binary(bytes.clone()),
        // As in GeoJSON: the longitude first.
        (Value::Geo(place), _) => Bson::Document(vec![
            ("type".to_owned(), Bson::text("Point")),
            (
                "coordinates".to_owned(),
                Bson::Array(vec![Bson::Double(place.longitude), Bson::Double(place.latitude)]),
            ),
        ]),
        (Value::Json(json), _) => {
            if is_deeper(json, JSON_DEPTH) {
                raw(json)
            } else {
                self::json(json)
            }
        }
        (
            Value::Null
            | Value::Enum(_)
            | Value::Reference(_)
            | Value::List(_)
            | Value::Set(_)
            | Value::Record(_),
            _,
        ) => Bson::Null,
    }
}

/// Milliseconds from 1970 to the start of a day.
fn midnight(date: jiff::civil::Date) -> i64 {
    const DAY: i64 = 86_400_000;
    let first = jiff::civil::date(1970, 1, 1);
    date.since(first).map(|span| i64::from(span.get_days()) * DAY).unwrap_or_default()
}

fn json(json: &Json) -> Bson {
    match json {
        Json::Null => Bson::Null,
        Json::Bool(truth) => Bson::Bool(*truth),
        Json::String(text) => Bson::Text(text.clone()),
        Json::Array(items) => Bson::Array(items.iter().map(self::json).collect()),
        Json::Object(fields) => {
            Bson::Document(fields.iter().map(|(name, field)| (escaped(name), self::json(field))).collect())
        }
        Json::Number(number) => number_of(&number.to_string()).unwrap_or_else(|| raw(json)),
    }
}

/// A number of the same digits: `1`, `1.0` and `1e0` are three in JSON.
fn number_of(digits: &str) -> Option<Bson> {
    let whole: Option<i64> = digits.parse().ok().filter(|number: &i64| number.to_string() == digits);
    if let Some(whole) = whole {
        return Some(Bson::Long(whole));
    }
    let decimal: BigDecimal = digits.parse().ok()?;
    let fits = digits.chars().filter(char::is_ascii_digit).count() <= DECIMAL_DIGITS;
    (fits && decimal.to_plain_string() == digits).then_some(Bson::Decimal(decimal))
}

fn raw(json: &Json) -> Bson {
    Bson::Document(vec![(JSON.to_owned(), Bson::Text(json.to_string()))])
}

fn is_deeper(json: &Json, than: usize) -> bool {
    let inside = |inner: &Json| than == 0 || is_deeper(inner, than - 1);
    match json {
        Json::Array(items) => items.iter().any(inside),
        Json::Object(fields) => fields.values().any(inside),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Number(_) => false,
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn readable(value: &Bson) -> String {
    match value {
        Bson::Text(text) => text.clone(),
        Bson::Int(number) => number.to_string(),
        Bson::Long(number) => number.to_string(),
        Bson::Uuid(id) => id.to_string(),
        other => other.literal(),
    }
}
