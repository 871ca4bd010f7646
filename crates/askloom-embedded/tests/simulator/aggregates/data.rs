//! Random instances of any model, from a small pool of values so that rows meet, with ugly ones among them.

use crate::random::Random;
use askloom_model::{
    ClassId, Conceptual, Element, EndId, Identity, Member, ParameterType, Record, RelationshipKind, Type,
    Value,
};
use std::collections::{BTreeMap, BTreeSet};

const TEXTS: [&str; 10] = ["", "a", "b", "ab", "a\0", "\0", "é", "🎲", "/", ":"];

pub(crate) fn value(ty: &Type, random: &mut Random) -> Value {
    match ty {
        Type::Text => Value::Text((*random.pick(&TEXTS)).to_owned()),
        Type::Int => Value::Int(*random.pick(&[0, 1, 2, 3, i64::from(i32::MIN), i64::from(i32::MAX)])),
        Type::Long => Value::Int(*random.pick(&[0, 1, 2, 3, i64::MIN, i64::MAX])),
        Type::Decimal => {
            let digits = random.pick(&["0", "1", "2", "3", "-0.5", "9999999999999999999999999999999999"]);
            Value::decimal(&digits.parse().unwrap()).unwrap()
        }
        Type::Double => Value::double(*random.pick(&[0.0, 1.0, 2.0, 3.0, -1.5, f64::MAX, 5e-324])).unwrap(),
        Type::Bool => Value::Bool(random.one_in(2)),
        Type::Date => Value::Date(*random.pick(&[
            jiff::civil::date(2026, 1, 1),
            jiff::civil::date(2026, 1, 2),
            jiff::civil::Date::MIN,
            jiff::civil::Date::MAX,
        ])),
        Type::Enum(values) => Value::Enum(u32::try_from(random.below(values.len())).unwrap()),
        other => panic!("no values of {other} are made up yet"),
    }
}

/// An id of a class, whether such an instance exists or not.
pub(crate) fn identity(conceptual: &Conceptual, class: ClassId, random: &mut Random) -> Identity {
    let is_part = conceptual.classes[class].owner.is_some();
    let id = |member: &Member| match *member {
        Member::Attribute(id) => match &conceptual.attributes[id].ty {
            // Parts have more ids: each can be in one owner only.
            Type::Int if is_part => Value::Int(random_small(random) * 3 + random_small(random)),
            Type::Int => Value::Int(random_small(random)),
            _text if is_part => Value::Text((*random.pick(&TEXTS)).to_owned()),
            _text => Value::Text((*random.pick(&["", "a", "b", "a\0"])).to_owned()),
        },
        Member::End(_) => panic!("composite ids are not made up yet"),
    };
    conceptual.classes[class].identifier.iter().map(id).collect()
}

fn random_small(random: &mut Random) -> i64 {
    i64::try_from(random.below(4)).unwrap()
}

/// The ids of entities that live, by class.
pub(crate) type Living = BTreeMap<ClassId, Vec<Identity>>;

/// Mostly to something that lives.
fn reference(conceptual: &Conceptual, class: ClassId, living: &Living, random: &mut Random) -> Identity {
    match living.get(&class) {
        Some(ids) if random.below(20) > 0 => random.pick(ids).clone(),
        Some(_) | None => identity(conceptual, class, random),
    }
}

pub(crate) fn record(
    conceptual: &Conceptual,
    class: ClassId,
    living: &Living,
    random: &mut Random,
) -> Record {
    let mut record = Record::new(class);
    let members: Vec<Member> = conceptual.all_members(class).collect();
    for member in members {
        let made = match member {
            Member::Attribute(id) => attribute(conceptual, id, random),
            Member::End(id) => end(conceptual, id, living, random),
        };
        record.set(member, made);
    }
    if conceptual.classes[class].kind.is_entity() {
        let identity = identity(conceptual, class, random);
        for (member, part) in conceptual.classes[class].identifier.clone().into_iter().zip(identity) {
            record.set(member, part);
        }
    }
    record
}

fn list(values: Vec<Value>) -> Value {
    Value::List((0..).zip(values).map(|(ordinal, value)| Element { ordinal, value }).collect())
}

fn attribute(conceptual: &Conceptual, id: askloom_model::AttributeId, random: &mut Random) -> Value {
    let attribute = &conceptual.attributes[id];
    if attribute.list {
        return list((0..random.below(4)).map(|_| value(&attribute.ty, random)).collect());
    }
    if attribute.optional && random.one_in(4) { Value::Null } else { value(&attribute.ty, random) }
}

fn end(conceptual: &Conceptual, id: EndId, living: &Living, random: &mut Random) -> Value {
    let end = &conceptual.ends[id];
    if !end.stored {
        return Value::Null;
    }
    let many = end.cardinality.is_many();
    // What cannot lead to anything yet mostly leads nowhere, or no checked reference would ever come to be.
    let is_idle = !living.contains_key(&end.target) && random.below(6) > 0;
    let part = |random: &mut Random| Value::Record(Box::new(record(conceptual, end.target, living, random)));
    match (end.kind, many) {
        (RelationshipKind::Composition, true) => list((0..random.below(3)).map(|_| part(random)).collect()),
        (RelationshipKind::Composition, false) if end.cardinality.min == 0 && random.one_in(3) => Value::Null,
        (RelationshipKind::Composition, false) => part(random),
        (_, true) if is_idle => Value::Set(BTreeSet::new()),
        (_, true) => {
            let ids = 0..random.below(3);
            Value::Set(ids.map(|_| reference(conceptual, end.target, living, random)).collect())
        }
        (_, false) if is_idle || random.one_in(4) => Value::Null,
        (_, false) => Value::Reference(reference(conceptual, end.target, living, random)),
    }
}

pub(crate) fn argument(conceptual: &Conceptual, ty: &ParameterType, random: &mut Random) -> Value {
    match ty {
        ParameterType::Basic(_) if random.one_in(12) => Value::Null,
        ParameterType::Basic(ty) => value(ty, random),
        ParameterType::Identity(class) => Value::Reference(identity(conceptual, *class, random)),
        ParameterType::List(of) => {
            list((0..random.below(3)).map(|_| argument(conceptual, of, random)).collect())
        }
        ParameterType::Whole(class) => {
            Value::Record(Box::new(record(conceptual, *class, &Living::new(), random)))
        }
    }
}
