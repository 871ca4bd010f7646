//! Whether a value is one of a type, in the one form that equal values have.

use crate::{
    ClassId, Conceptual, Element, Geo, Identity, Member, ParameterType, Record, RelationshipKind, Type,
    Value, identity_types,
};
use bigdecimal::BigDecimal;
use std::collections::BTreeSet;

/// The exact value of a number.
#[must_use]
pub fn exact(value: &Value) -> Option<BigDecimal> {
    match value {
        Value::Int(n) => Some(BigDecimal::from(*n)),
        Value::Decimal(n) => Some(n.clone()),
        Value::Double(n) => BigDecimal::try_from(*n).ok(),
        _not_a_number => None,
    }
}

/// The double nearest to an exact number. Nothing if that is not finite.
#[must_use]
pub fn nearest_double(number: &BigDecimal) -> Option<f64> {
    // Reading digits is correctly rounded; arithmetic on the way to a double would not be.
    let (digits, scale) = number.as_bigint_and_exponent();
    let text = format!("{digits}e{}", scale.checked_neg()?);
    text.parse::<f64>().ok().filter(|double| double.is_finite()).map(|double| double + 0.0)
}

/// The value as one of the type. Null is one of every type.
#[must_use]
pub fn fitting(conceptual: &Conceptual, value: &Value, ty: &ParameterType) -> Option<Value> {
    match (value, ty) {
        // JSON's null in a json attribute is no value either, as it could not come back from a file.
        (Value::Null | Value::Json(serde_json::Value::Null), _) => Some(Value::Null),
        (value, ParameterType::Basic(ty)) => basic(value, ty),
        (value, ParameterType::Identity(class)) => reference(conceptual, value, *class),
        (Value::Record(record), ParameterType::Whole(class)) => {
            whole(conceptual, record, *class).map(|record| Value::Record(Box::new(record)))
        }
        (Value::List(elements), ParameterType::List(of)) => {
            list(elements, |value| fitting(conceptual, value, of)).map(Value::List)
        }
        (_, ParameterType::Whole(_) | ParameterType::List(_)) => None,
    }
}

/// The value that INSERT is given for a member, as it is stored. A set of links is given as a list of ids, too.
#[must_use]
pub fn inserted(conceptual: &Conceptual, member: Member, value: &Value) -> Option<Value> {
    let (ty, _) = conceptual.insertable(member)?;
    match (ty, value, member) {
        (ParameterType::List(of), Value::List(elements), Member::End(end)) if is_identity(&of) => {
            let target = conceptual.ends[end].target;
            let id = |element: &Element| match reference(conceptual, &element.value, target) {
                Some(Value::Reference(id)) => Some(id),
                _another_type => None,
            };
            elements.iter().map(id).collect::<Option<_>>().map(Value::Set)
        }
        (ParameterType::List(_), value, member) => member_value(conceptual, member, value),
        (single, value, _) => fitting(conceptual, value, &single),
    }
}

fn is_identity(ty: &ParameterType) -> bool {
    match ty {
        ParameterType::Identity(_) => true,
        ParameterType::Basic(_) | ParameterType::Whole(_) | ParameterType::List(_) => false,
    }
}

/// A value that is not null, as one of a basic type. A whole number is as good as a decimal of the same value;
/// numbers are converted when nothing is lost.
#[must_use]
pub fn basic(value: &Value, ty: &Type) -> Option<Value> {
    match (ty, value) {
        (Type::Text, Value::Text(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Date, Value::Date(_))
        | (Type::Time, Value::Time(_))
        | (Type::Uuid, Value::Uuid(_))
        | (Type::Blob, Value::Blob(_))
        | (Type::Json, Value::Json(_)) => Some(value.clone()),
        (Type::Int | Type::Long | Type::Decimal | Type::Double, _) => number(value, ty),
        (Type::Timestamp(precision), Value::Timestamp(at)) => Value::timestamp(*at, *precision).ok(),
        (Type::Geo, Value::Geo(place)) => Geo::new(place.latitude, place.longitude).ok().map(Value::Geo),
        (Type::Enum(values), Value::Enum(index)) => {
            ((*index as usize) < values.len()).then_some(Value::Enum(*index))
        }
        _another_type => None,
    }
}

/// A number as one of another type, if it is exactly one.
fn number(value: &Value, ty: &Type) -> Option<Value> {
    let exact = exact(value)?;
    match ty {
        Type::Int | Type::Long => {
            let whole: i64 = exact.normalized().to_plain_string().parse().ok()?;
            let fits = *ty == Type::Long || i32::try_from(whole).is_ok();
            fits.then_some(Value::Int(whole))
        }
        Type::Decimal => Value::decimal(&exact).ok(),
        Type::Double => {
            let double = Value::double(nearest_double(&exact)?).ok()?;
            (self::exact(&double)? == exact).then_some(double)
        }
        _not_a_number => None,
    }
}

/// An id of a class, from all its parts or from its only one.
#[must_use]
pub fn reference(conceptual: &Conceptual, value: &Value, class: ClassId) -> Option<Value> {
    match value {
        Value::Reference(parts) => identity(conceptual, parts, class).map(Value::Reference),
        single => identity(conceptual, std::slice::from_ref(single), class).map(Value::Reference),
    }
}

#[must_use]
pub fn identity(conceptual: &Conceptual, parts: &[Value], class: ClassId) -> Option<Identity> {
    let types = identity_types(conceptual, class);
    if types.len() != parts.len() {
        return None;
    }
    parts.iter().zip(&types).map(|(part, ty)| basic(part, ty)).collect()
}

fn list(elements: &[Element], fit: impl Fn(&Value) -> Option<Value>) -> Option<Vec<Element>> {
    let element = |element: &Element| Some(Element { ordinal: element.ordinal, value: fit(&element.value)? });
    elements.iter().map(element).collect()
}

/// A record of a class or a subclass of it, every member of it of its type. What is missing is not looked at.
#[must_use]
pub fn whole(conceptual: &Conceptual, record: &Record, class: ClassId) -> Option<Record> {
    let row = &conceptual.classes[record.class];
    if !conceptual.is_kind_of(record.class, class) || (record.surrogate.is_some() && !row.surrogate) {
        return None;
    }
    let members: BTreeSet<Member> = conceptual.all_members(record.class).collect();
    let mut fitted = Record { class: record.class, surrogate: record.surrogate, fields: Default::default() };
    for (&member, value) in &record.fields {
        if !members.contains(&member) {
            return None;
        }
        fitted.set(member, member_value(conceptual, member, value)?);
    }
    Some(fitted)
}

/// A value of a member as it is stored: with ordinals that ascend if it is a list.
#[must_use]
pub fn member_value(conceptual: &Conceptual, member: Member, value: &Value) -> Option<Value> {
    if matches!(value, Value::Null | Value::Json(serde_json::Value::Null)) {
        return Some(Value::Null);
    }
    match member {
        Member::Attribute(id) => {
            let attribute = &conceptual.attributes[id];
            match (attribute.list, value) {
                (false, value) => basic(value, &attribute.ty),
                (true, Value::List(elements)) => ascending(elements)
                    .then(|| list(elements, |value| basic(value, &attribute.ty)).map(Value::List))?,
                (true, _) => None,
            }
        }
        Member::End(id) => {
            let end = &conceptual.ends[id];
            if !end.stored {
                return None;
            }
            let part = |value: &Value| match value {
                Value::Record(record) => {
                    whole(conceptual, record, end.target).map(|record| Value::Record(Box::new(record)))
                }
                _not_a_part => None,
            };
            match (end.kind, end.cardinality.is_many(), value) {
                (RelationshipKind::Composition, false, value) => part(value),
                (RelationshipKind::Composition, true, Value::List(elements)) => {
                    ascending(elements).then(|| list(elements, part).map(Value::List))?
                }
                (RelationshipKind::Composition, true, _) => None,
                (_, false, Value::Reference(parts)) => {
                    identity(conceptual, parts, end.target).map(Value::Reference)
                }
                (_, true, Value::Set(ids)) => {
                    let ids: Option<_> = ids.iter().map(|id| identity(conceptual, id, end.target)).collect();
                    ids.map(Value::Set)
                }
                (_, _, _) => None,
            }
        }
    }
}

fn ascending(elements: &[Element]) -> bool {
    elements.iter().zip(elements.iter().skip(1)).all(|(a, b)| a.ordinal < b.ordinal)
}
