//! Random instances of any model, from small pools of values so that rows meet, with ugly ones among them.

use askloom_model::{
    AttributeId, ClassId, ClassKind, Conceptual, Element, EndId, Geo, Identity, Member, ParameterType,
    Precision, Record, RelationshipKind, Type, Value, identity_types,
};
use askloom_oracle::Random;

pub(crate) fn pick<'a, T>(random: &mut Random, from: &'a [T]) -> &'a T {
    &from[below(random, from.len())]
}

pub(crate) fn below(random: &mut Random, limit: usize) -> usize {
    usize::try_from(random.below(limit as u64)).unwrap()
}

pub(crate) fn one_in(random: &mut Random, n: usize) -> bool {
    below(random, n) == 0
}

const TEXTS: [&str; 12] =
    ["", "a", "b", "ab", "a\0", "\0", "é", "🎲", "Fresh bread", "bread, FRESH", "breadcrumbs", "É b"];

pub(crate) fn value(ty: &Type, random: &mut Random) -> Value {
    match ty {
        Type::Text => Value::Text((*pick(random, &TEXTS)).to_owned()),
        Type::Int => Value::Int(*pick(random, &[0, 1, 2, 3, -1, i64::from(i32::MIN), i64::from(i32::MAX)])),
        Type::Long => Value::Int(*pick(random, &[0, 1, 2, 3, i64::MIN, i64::MAX])),
        Type::Decimal => {
            let digits = ["0", "1", "2", "3", "-0.5", "0.1", "2.5", "9999999999999999999999999999999999"];
            Value::decimal(&pick(random, &digits).parse().unwrap()).unwrap()
        }
        Type::Double => {
            Value::double(*pick(random, &[0.0, 1.0, 2.0, 0.1, -1.5, 1e16, 5e-324, 1e308])).unwrap()
        }
        Type::Bool => Value::Bool(one_in(random, 2)),
        Type::Date => Value::Date(*pick(
            random,
            &[jiff::civil::date(2026, 1, 1), jiff::civil::date(2026, 1, 2), jiff::civil::Date::MIN],
        )),
        Type::Time => Value::Time(*pick(
            random,
            &[jiff::civil::time(0, 0, 0, 0), jiff::civil::time(23, 59, 59, 999_999_999)],
        )),
        Type::Timestamp(precision) => {
            let unit = match precision {
                Precision::Millis => 1_000_000,
                Precision::Micros => 1_000,
                Precision::Nanos => 1,
            };
            let at = i128::from(*pick(random, &[0, 1, 2, -5])) * unit;
            Value::timestamp(jiff::Timestamp::from_nanosecond(at).unwrap(), *precision).unwrap()
        }
        Type::Uuid => Value::Uuid(uuid::Uuid::from_u128(u128::from(random.below(3)))),
        Type::Blob => Value::Blob(vec![0; below(random, 3)]),
        Type::Geo => {
            let (lat, long) = *pick(
                random,
                &[(0.0, 0.0), (0.0, 180.0), (0.0, -179.5), (51.5, 7.5), (90.0, 0.0), (51.6, 7.4)],
            );
            Value::Geo(Geo::new(lat, long).unwrap())
        }
        Type::Json => Value::Json(serde_json::json!({ "n": random.below(3) })),
        Type::Enum(values) => Value::Enum(u32::try_from(below(random, values.len())).unwrap()),
    }
}

/// An id of a class, whether such an instance exists or not.
pub(crate) fn identity(conceptual: &Conceptual, class: ClassId, random: &mut Random) -> Identity {
    let part = |ty: &Type, random: &mut Random| match ty {
        Type::Int | Type::Long => Value::Int(i64::try_from(random.below(5)).unwrap()),
        Type::Text => Value::Text((*pick(random, &["", "a", "b", "a\0"])).to_owned()),
        other => value(other, random),
    };
    identity_types(conceptual, class).iter().map(|ty| part(ty, random)).collect()
}

/// A class that instances of the class can be of.
fn concrete(conceptual: &Conceptual, class: ClassId, random: &mut Random) -> ClassId {
    let kinds: Vec<ClassId> = conceptual
        .classes
        .ids()
        .filter(|&c| {
            conceptual.is_kind_of(c, class) && conceptual.classes[c].kind != ClassKind::AbstractEntity
        })
        .collect();
    *pick(random, &kinds)
}

pub(crate) fn record(conceptual: &Conceptual, class: ClassId, random: &mut Random) -> Record {
    let class = concrete(conceptual, class, random);
    let mut record = Record::new(class);
    let members: Vec<Member> = conceptual.all_members(class).collect();
    for member in members {
        let made = match member {
            Member::Attribute(id) => attribute(conceptual, id, random),
            Member::End(id) => end(conceptual, id, random),
        };
        record.set(member, made);
    }
    if conceptual.classes[class].kind.is_entity() {
        identify(conceptual, &mut record, random);
    }
    record
}

fn identify(conceptual: &Conceptual, record: &mut Record, random: &mut Random) {
    let row = &conceptual.classes[record.class];
    if row.surrogate {
        record.surrogate = Some(uuid::Uuid::from_u128(u128::from(random.below(6))));
    }
    for &member in &row.identifier {
        let value = match member {
            Member::Attribute(id) => match conceptual.attributes[id].ty {
                Type::Int | Type::Long => Value::Int(i64::try_from(random.below(5)).unwrap()),
                Type::Text => Value::Text((*pick(random, &["", "a", "b", "a\0"])).to_owned()),
                ref other => value(other, random),
            },
            Member::End(id) => Value::Reference(identity(conceptual, conceptual.ends[id].target, random)),
        };
        record.set(member, value);
    }
}

pub(crate) fn list(values: impl IntoIterator<Item = Value>) -> Value {
    Value::List((0..).step_by(3).zip(values).map(|(ordinal, value)| Element { ordinal, value }).collect())
}

fn attribute(conceptual: &Conceptual, id: AttributeId, random: &mut Random) -> Value {
    let attribute = &conceptual.attributes[id];
    if attribute.list {
        let length = below(random, 4);
        return list((0..length).map(|_| value(&attribute.ty, random)).collect::<Vec<_>>());
    }
    if attribute.optional && one_in(random, 4) { Value::Null } else { value(&attribute.ty, random) }
}

fn end(conceptual: &Conceptual, id: EndId, random: &mut Random) -> Value {
    let end = &conceptual.ends[id];
    if !end.stored {
        return Value::Null;
    }
    let optional = end.cardinality.min == 0;
    match (end.kind, end.cardinality.is_many()) {
        (RelationshipKind::Composition, true) => {
            let length = below(random, 4);
            list(
                (0..length)
                    .map(|_| Value::Record(Box::new(record(conceptual, end.target, random))))
                    .collect::<Vec<_>>(),
            )
        }
        (RelationshipKind::Composition, false) if optional && one_in(random, 3) => Value::Null,
        (RelationshipKind::Composition, false) => {
            Value::Record(Box::new(record(conceptual, end.target, random)))
        }
        (_, true) => {
            let length = below(random, 4);
            Value::Set((0..length).map(|_| identity(conceptual, end.target, random)).collect())
        }
        (_, false) if optional && one_in(random, 4) => Value::Null,
        (_, false) => Value::Reference(identity(conceptual, end.target, random)),
    }
}

pub(crate) fn argument(conceptual: &Conceptual, ty: &ParameterType, random: &mut Random) -> Value {
    match ty {
        ParameterType::Basic(_) | ParameterType::Identity(_) if one_in(random, 12) => Value::Null,
        ParameterType::Basic(ty) => value(ty, random),
        ParameterType::Identity(class) => Value::Reference(identity(conceptual, *class, random)),
        ParameterType::List(_) if one_in(random, 12) => Value::Null,
        ParameterType::List(of) => {
            let length = below(random, 5);
            list((0..length).map(|_| argument(conceptual, of, random)).collect::<Vec<_>>())
        }
        ParameterType::Whole(class) => Value::Record(Box::new(record(conceptual, *class, random))),
    }
}
