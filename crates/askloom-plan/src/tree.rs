//! Values in their nesting, with a type at every leaf: what stores with documents of their own take as it stands, and
//! what the others keep as JSON.

use askloom_model::{
    AttributeId, ClassId, Conceptual, Element, Identity, Member, Record, RelationshipKind, Type, Value,
    ValueError, from_json, identity_from_json, identity_types, to_json,
};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// A value with what is inside it.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    Nothing,
    Leaf(Value, Type),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// What a nested value is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeOf {
    Basic(Type),
    /// Ids of instances.
    Identity(ClassId),
    /// Instances and value objects themselves.
    Instance(ClassId),
}

/// The class of a record that is not of the declared one.
pub const CLASS: &str = "$class";
/// The id of an entity that declares none.
pub const ID: &str = "$id";
/// A list whose ordinals are not 0, 1, 2…: these beside the elements.
pub const ORDINALS: &str = "$ordinals";
pub const ELEMENTS: &str = "$elements";

impl TreeOf {
    /// What a member holds, or each element of it.
    #[must_use]
    pub fn member(conceptual: &Conceptual, member: Member) -> Self {
        match member {
            Member::Attribute(id) => Self::attribute(conceptual, id),
            Member::End(id) => {
                let end = &conceptual.ends[id];
                match end.kind {
                    RelationshipKind::Composition => Self::Instance(end.target),
                    RelationshipKind::Association | RelationshipKind::Aggregation => {
                        Self::Identity(end.target)
                    }
                }
            }
        }
    }

    fn attribute(conceptual: &Conceptual, id: AttributeId) -> Self {
        Self::Basic(conceptual.attributes[id].ty.clone())
    }
}

/// A value as a tree.
#[must_use]
pub fn tree(conceptual: &Conceptual, of: &TreeOf, value: &Value) -> Tree {
    match (value, of) {
        (Value::Null, _) => Tree::Nothing,
        (Value::List(elements), _) => list(conceptual, of, elements),
        (Value::Set(ids), TreeOf::Identity(class)) => {
            Tree::List(ids.iter().map(|id| identity(conceptual, *class, id)).collect())
        }
        (Value::Reference(id), TreeOf::Identity(class) | TreeOf::Instance(class)) => {
            identity(conceptual, *class, id)
        }
        (Value::Record(record), TreeOf::Instance(declared) | TreeOf::Identity(declared)) => {
            map(conceptual, *declared, record)
        }
        (leaf, TreeOf::Basic(ty)) => Tree::Leaf(leaf.clone(), ty.clone()),
        // What is told apart by where it stands has a number.
        (leaf, TreeOf::Identity(_) | TreeOf::Instance(_)) => Tree::Leaf(leaf.clone(), Type::Long),
    }
}

fn list(conceptual: &Conceptual, of: &TreeOf, elements: &[Element]) -> Tree {
    let all = elements.iter().map(|element| tree(conceptual, of, &element.value)).collect();
    let counted = elements.iter().zip(0..).all(|(element, index)| element.ordinal == index);
    if counted {
        return Tree::List(all);
    }
    let ordinal = |element: &Element| {
        Tree::Leaf(Value::Int(i64::try_from(element.ordinal).unwrap_or(i64::MAX)), Type::Long)
    };
    let ordinals = elements.iter().map(ordinal).collect();
    Tree::Map(vec![(ORDINALS.to_owned(), Tree::List(ordinals)), (ELEMENTS.to_owned(), Tree::List(all))])
}

fn identity(conceptual: &Conceptual, class: ClassId, id: &Identity) -> Tree {
    let types = identity_types(conceptual, class);
    let mut parts: Vec<Tree> = id.iter().zip(types).map(|(part, ty)| Tree::Leaf(part.clone(), ty)).collect();
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            Tree::List(parts)
        }
        (None, _) => Tree::Nothing,
    }
}

fn map(conceptual: &Conceptual, declared: ClassId, record: &Record) -> Tree {
    let mut fields = Vec::new();
    if record.class != declared {
        let name = Value::Text(conceptual.classes[record.class].name.clone());
        fields.push((CLASS.to_owned(), Tree::Leaf(name, Type::Text)));
    }
    if let Some(id) = record.surrogate {
        fields.push((ID.to_owned(), Tree::Leaf(Value::Uuid(id), Type::Uuid)));
    }
    for (&member, value) in &record.fields {
        let of = TreeOf::member(conceptual, member);
        fields.push((conceptual.member_name(member).to_owned(), tree(conceptual, &of, value)));
    }
    Tree::Map(fields)
}

impl Tree {
    /// The tree in the JSON of data files.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Nothing => Json::Null,
            Self::Leaf(value, ty) => to_json(value, ty),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(fields) => {
                Json::Object(fields.iter().map(|(name, field)| (name.clone(), field.to_json())).collect())
            }
        }
    }
}

/// The value that a tree stands for, from the JSON of data files. Members that are not there are absent.
pub fn value_from_json(
    conceptual: &Conceptual,
    of: &TreeOf,
    many: bool,
    json: &Json,
) -> Result<Value, ValueError> {
    if json.is_null() {
        return Ok(Value::Null);
    }
    if many { many_from_json(conceptual, of, json) } else { one_from_json(conceptual, of, json) }
}

fn one_from_json(conceptual: &Conceptual, of: &TreeOf, json: &Json) -> Result<Value, ValueError> {
    match of {
        TreeOf::Basic(ty) => from_json(json, ty),
        TreeOf::Identity(class) => identity_from_json(conceptual, *class, json).map(Value::Reference),
        TreeOf::Instance(class) => {
            record_from_json(conceptual, *class, json).map(|record| Value::Record(Box::new(record)))
        }
    }
}

fn many_from_json(conceptual: &Conceptual, of: &TreeOf, json: &Json) -> Result<Value, ValueError> {
    let (items, ordinals) = elements(json)?;
    if let TreeOf::Identity(class) = of {
        let ids: Result<BTreeSet<Identity>, ValueError> =
            items.iter().map(|item| identity_from_json(conceptual, *class, item)).collect();
        return ids.map(Value::Set);
    }
    let mut elements = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let ordinal = ordinals.get(index).copied().unwrap_or(index as u64);
        elements.push(Element { ordinal, value: one_from_json(conceptual, of, item)? });
    }
    Ok(Value::List(elements))
}

/// The elements of a list, and their ordinals where they are not 0, 1, 2…
fn elements(json: &Json) -> Result<(&[Json], Vec<u64>), ValueError> {
    if let Some(items) = json.as_array() {
        return Ok((items, Vec::new()));
    }
    let items = json.get(ELEMENTS).and_then(Json::as_array);
    let ordinals = json.get(ORDINALS).and_then(Json::as_array);
    match (items, ordinals) {
        (Some(items), Some(ordinals)) => Ok((items, ordinals.iter().filter_map(Json::as_u64).collect())),
        (_, _) => Err(ValueError("this is no list".to_owned())),
    }
}

/// A record or a piece of one.
pub fn record_from_json(
    conceptual: &Conceptual,
    declared: ClassId,
    json: &Json,
) -> Result<Record, ValueError> {
    let object = json.as_object().ok_or_else(|| ValueError("this is no object".to_owned()))?;
    let class = match object.get(CLASS).and_then(Json::as_str) {
        Some(name) => class_named(conceptual, declared, name)?,
        None => declared,
    };
    let mut record = Record::new(class);
    if let Some(id) = object.get(ID)
        && let Value::Uuid(id) = from_json(id, &Type::Uuid)?
    {
        record.surrogate = Some(id);
    }
    for member in conceptual.all_members(class) {
        let Some(json) = object.get(conceptual.member_name(member)) else { continue };
        let of = TreeOf::member(conceptual, member);
        record.set(member, value_from_json(conceptual, &of, is_many(conceptual, member), json)?);
    }
    Ok(record)
}

pub fn class_named(conceptual: &Conceptual, declared: ClassId, name: &str) -> Result<ClassId, ValueError> {
    let mut named = conceptual.classes.iter().filter(|(_, class)| class.name == name).map(|(id, _)| id);
    named
        .find(|&class| conceptual.is_kind_of(class, declared))
        .ok_or_else(|| ValueError(format!("`{name}` is no {}", conceptual.classes[declared].name)))
}

/// Whether a member holds several.
#[must_use]
pub fn is_many(conceptual: &Conceptual, member: Member) -> bool {
    match member {
        Member::Attribute(id) => conceptual.attributes[id].list,
        Member::End(id) => conceptual.ends[id].cardinality.is_many(),
    }
}
