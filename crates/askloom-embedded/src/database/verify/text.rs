//! Keys in words.

use crate::KeyedSchema;
use crate::codec::{block_prefix, split_entry};
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Contents, Id, Identity, Leaf, Path, PositionId, Type,
    Value, identity_to_json, to_json,
};
use askloom_plan::ordered_bytes::decode;

/// `Game 019a…`
pub(super) fn instance(conceptual: &Conceptual, class: ClassId, identity: &Identity) -> String {
    format!("{} {}", conceptual.classes[class].name, plain(&identity_to_json(conceptual, class, identity)))
}

/// The name of a member and a value of it.
pub(super) fn held(conceptual: &Conceptual, leaf: Leaf, value: &Value) -> (String, String) {
    match (leaf, value) {
        (Leaf::Attribute(id), value) => {
            let attribute = &conceptual.attributes[id];
            (attribute.name.clone(), plain(&to_json(value, &attribute.ty)))
        }
        (Leaf::Reference(id), Value::Reference(identity)) => {
            let end = &conceptual.ends[id];
            (end.name.clone(), plain(&identity_to_json(conceptual, end.target, identity)))
        }
        (Leaf::Reference(id), other) => {
            (conceptual.ends[id].name.clone(), plain(&to_json(other, &Type::Text)))
        }
        (Leaf::Itself, Value::Reference(parts)) => {
            let parts: Vec<String> = parts.iter().map(|part| plain(&to_json(part, &Type::Text))).collect();
            ("id".to_owned(), parts.join(", "))
        }
        (Leaf::Bucket(_), value) => ("bucket".to_owned(), plain(&to_json(value, &Type::Int))),
        (Leaf::TimeBucket(_, unit), value) => (unit.name().to_owned(), plain(&to_json(value, &Type::Text))),
        (Leaf::Itself, other) => ("id".to_owned(), plain(&to_json(other, &Type::Text))),
    }
}

/// The key of an entry of a copy: its fields, and the instances of its row.
pub(super) fn entry(schema: &KeyedSchema, id: CollectionId, key: &[u8]) -> String {
    let conceptual = &schema.model.conceptual;
    let collection = &schema.design.collections[id];
    let field = |(path, value): (&Path, &Value)| {
        let (name, value) = held(conceptual, path.leaf, value);
        let hops: String = path.hops.iter().map(|&hop| format!("{}.", conceptual.ends[hop].name)).collect();
        format!("{hops}{name} {value}")
    };
    let master = schema.design.stored_in(id);
    if master != id {
        let aggregate = schema.master_key(master).split(key).ok();
        let said = aggregate.map(|(identity, _)| instance(conceptual, collection.source.root, &identity));
        return said.unwrap_or_else(|| format!("the key {}", bytes(key)));
    }
    let Some((fields, row)) = parts(collection, key) else { return format!("the key {}", bytes(key)) };
    let paths = collection.block_key.iter().chain(&collection.entry_key).map(|field| &field.path);
    let mut said: Vec<String> = paths.zip(&fields).map(field).collect();
    for (position, value) in row {
        match (collection.source.positions[position].class, value) {
            (Some(class), Value::Reference(identity)) => said.push(instance(conceptual, class, &identity)),
            (_, Value::Int(ordinal)) => said.push(format!("element {ordinal}")),
            (_, _nothing) => {}
        }
    }
    said.join(", ")
}

type Parts = (Vec<Value>, Vec<(PositionId, Value)>);

/// The values of the key's fields, and what stands at the positions.
fn parts(collection: &Collection, key: &[u8]) -> Option<Parts> {
    let positions = &collection.source.positions;
    let block = collection.block_key.len();
    if let Contents::Nested(_) = collection.contents {
        let mut rest = key.get(block_prefix(0, &[]).len()..)?;
        let fields = (0..block).map(|_| decode(&mut rest).ok()).collect::<Option<Vec<_>>>()?;
        let Value::Int(at) = decode(&mut rest).ok()? else { return None };
        let at = usize::try_from(at).ok().filter(|&at| at < positions.len())?;
        let chain = collection.chain(PositionId::from_index(at));
        let row = chain.into_iter().map(|position| Some((position, decode(&mut rest).ok()?)));
        return Some((fields, row.collect::<Option<Vec<_>>>()?));
    }
    let parts = split_entry(key, block, &collection.entry_key, positions.len()).ok()?;
    Some(([parts.block, parts.fields].concat(), positions.ids().zip(parts.row).collect()))
}

fn plain(json: &serde_json::Value) -> String {
    match json {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(super) fn bytes(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}
