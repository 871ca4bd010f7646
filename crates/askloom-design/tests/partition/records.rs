//! Random aggregates of any model. Anything may be absent, also what the model requires: rules must not lean on it.

use askloom_model::{
    ClassId, ClassKind, Conceptual, Element, Identity, Member, Record, RelationshipKind, Type, Value,
};
use fastrand::Rng;

pub(crate) fn concrete(conceptual: &Conceptual, class: ClassId) -> Vec<ClassId> {
    let is_concrete = |id: &ClassId| {
        conceptual.is_kind_of(*id, class) && conceptual.classes[*id].kind != ClassKind::AbstractEntity
    };
    conceptual.classes.ids().filter(is_concrete).collect()
}

pub(crate) fn record(conceptual: &Conceptual, declared: ClassId, random: &mut Rng) -> Record {
    let classes = concrete(conceptual, declared);
    let class = classes[random.usize(..classes.len())];
    let mut record = Record::new(class);
    if conceptual.classes[class].surrogate {
        record.surrogate = Some(uuid::Uuid::from_u128(random.u128(..)));
    }
    if random.u8(..6) == 0 {
        return record;
    }
    for member in conceptual.all_members(class) {
        if random.u8(..3) > 0 {
            record.set(member, value(conceptual, member, random));
        }
    }
    record
}

pub(crate) fn value(conceptual: &Conceptual, member: Member, random: &mut Rng) -> Value {
    match member {
        Member::Attribute(id) => {
            let attribute = &conceptual.attributes[id];
            match attribute.list {
                true => list(random, |random| atom(&attribute.ty, random)),
                false => atom(&attribute.ty, random),
            }
        }
        Member::End(id) => {
            let end = &conceptual.ends[id];
            let part = |random: &mut Rng| Value::Record(Box::new(record(conceptual, end.target, random)));
            match (end.stored, end.kind == RelationshipKind::Composition, end.cardinality.is_many()) {
                (false, ..) => Value::Null,
                (true, true, true) => list(random, part),
                (true, true, false) => part(random),
                (true, false, true) => Value::Set((0..random.usize(..4)).map(|_| identity(random)).collect()),
                (true, false, false) => Value::Reference(identity(random)),
            }
        }
    }
}

/// Of `T`, to which all references are.
fn identity(random: &mut Rng) -> Identity {
    vec![atom(&Type::Text, random), Value::Int(random.i64(0..3))]
}

fn atom(ty: &Type, random: &mut Rng) -> Value {
    const TEXTS: [&str; 6] = ["", "x", "'", "\0", "🎲", "a.b"];
    match ty {
        Type::Text => Value::Text(TEXTS[random.usize(..TEXTS.len())].to_owned()),
        Type::Int => Value::Int(random.i64(-3..3)),
        Type::Json => Value::Json(["{}", "[]", "null", r#"{"a": 1}"#][random.usize(..4)].parse().unwrap()),
        other => panic!("no values of {other} are made up"),
    }
}

/// Ordinals have gaps, and pass the places where texts of numbers sort otherwise.
fn list(random: &mut Rng, mut value: impl FnMut(&mut Rng) -> Value) -> Value {
    let mut ordinal = [0, 8, 98, u64::MAX - 40][random.usize(..4)];
    let elements = (0..random.usize(..4)).map(|_| {
        ordinal += random.u64(1..5);
        Element { ordinal, value: value(random) }
    });
    Value::List(elements.collect())
}
