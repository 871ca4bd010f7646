//! Random rows of any model, from small pools of values, so that they collide; some are wrong.

use askloom_model::{ClassId, Conceptual, Member, Model, RelationshipKind, Type, identity_types};
use fastrand::Rng;
use serde_json::{Map, Value as Json, json};

/// A row of a root class that has instances.
pub(crate) fn row(model: &Model, random: &mut Rng) -> (ClassId, Json) {
    let conceptual = &model.conceptual;
    let roots: Vec<ClassId> = conceptual
        .classes
        .ids()
        .filter(|&class| {
            let lineage = conceptual.lineage(class);
            let part = lineage.iter().any(|&c| conceptual.classes[c].owner.is_some());
            conceptual.classes[class].kind == askloom_model::ClassKind::Entity && !part
        })
        .collect();
    let class = roots[random.usize(..roots.len())];
    let mut object = object(conceptual, class, random);
    if random.u8(..20) == 0 {
        object.insert("nonsense".to_owned(), json!(1));
    }
    if random.u8(..20) == 0
        && let Some(key) = object.keys().next().cloned()
    {
        object.insert(key, json!({"of": "another type"}));
    }
    (class, Json::Object(object))
}

fn object(conceptual: &Conceptual, class: ClassId, random: &mut Rng) -> Map<String, Json> {
    let mut object = Map::new();
    for member in conceptual.all_members(class) {
        let value = match member {
            Member::Attribute(id) => {
                let attribute = &conceptual.attributes[id];
                match (attribute.list, attribute.optional || attribute.default.is_some()) {
                    (true, _) => (0..random.usize(..3)).map(|_| value(&attribute.ty, random)).collect(),
                    (false, true) if random.u8(..3) == 0 => continue,
                    (false, _) => value(&attribute.ty, random),
                }
            }
            Member::End(id) => {
                let end = &conceptual.ends[id];
                if !end.stored {
                    continue;
                }
                let part = end.kind == RelationshipKind::Composition;
                match (end.cardinality.is_many(), part) {
                    (true, true) => (0..random.usize(..3))
                        .map(|_| Json::Object(self::object(conceptual, end.target, random)))
                        .collect(),
                    (true, false) => {
                        let mut ids: Vec<Json> = (0..random.usize(..3))
                            .map(|_| identity(conceptual, end.target, random))
                            .collect();
                        ids.dedup();
                        Json::Array(ids)
                    }
                    (false, _) if end.cardinality.min == 0 && random.bool() => continue,
                    (false, true) => Json::Object(self::object(conceptual, end.target, random)),
                    (false, false) => identity(conceptual, end.target, random),
                }
            }
        };
        object.insert(conceptual.member_name(member).to_owned(), value);
    }
    object
}

fn value(ty: &Type, random: &mut Rng) -> Json {
    match ty {
        Type::Text => json!(["", "a", "b", "ab", "a\0", "é"][random.usize(..6)]),
        Type::Int | Type::Long => json!(random.i32(..8).rem_euclid(8)),
        Type::Decimal => json!(1.5),
        Type::Enum(values) => json!(values[random.usize(..values.len())]),
        other => panic!("no values of {other} are made up"),
    }
}

fn identity(conceptual: &Conceptual, class: ClassId, random: &mut Rng) -> Json {
    let types = identity_types(conceptual, class);
    match types.as_slice() {
        [only] => value(only, random),
        several => several.iter().map(|ty| value(ty, random)).collect(),
    }
}
