//! What of a model and its design decides how data lies in a store, by names: what a store keeps about itself, and
//! what a model that is applied later is compared with. Statistics, defaults and statements leave no trace in data.

use askloom_model::{
    AttributeId, ClassId, ClassKind, Collection, Conceptual, Design, EndId, Id, Member, Model, OnDelete,
    RelationshipKind, Type,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) classes: BTreeMap<String, ClassShape>,
    /// The definition of each collection.
    pub(super) collections: BTreeMap<String, Json>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClassShape {
    pub(super) kind: String,
    pub(super) parent: Option<String>,
    pub(super) identifier: Vec<String>,
    pub(super) part: bool,
    pub(super) ttl_ms: Option<u64>,
    pub(super) members: BTreeMap<String, MemberShape>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MemberShape {
    /// `attribute`, `ref`, `has`, `part`.
    pub(super) kind: String,
    /// The type of an attribute, without the values of an enum, or the target of an end.
    #[serde(rename = "type")]
    pub(super) ty: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<String>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) unique: bool,
    /// False for an end that is computed from its inverse.
    pub(super) stored: bool,
    pub(super) inverse: Option<String>,
    pub(super) on_delete: Option<String>,
}

impl Shape {
    pub(super) fn of(model: &Model, design: &Design) -> Self {
        let conceptual = &model.conceptual;
        let classes = conceptual.classes.ids().map(|id| class(conceptual, id)).collect();
        let collections = design.collections.iter();
        let collections =
            collections.map(|(_, collection)| (collection.name.clone(), definition(conceptual, collection)));
        Self { classes, collections: collections.collect() }
    }

    /// A short name for the whole: equal for equal shapes. Not a guard against somebody who wants two to be equal.
    pub(super) fn fingerprint(&self) -> String {
        // FNV-1a of 128 bits.
        const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let text = json!(self).to_string();
        let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
        format!("{hash:032x}")
    }
}

fn class(conceptual: &Conceptual, id: ClassId) -> (String, ClassShape) {
    let class = &conceptual.classes[id];
    let name = |&member: &Member| conceptual.member_name(member).to_owned();
    let shape = ClassShape {
        kind: match class.kind {
            ClassKind::Entity => "entity",
            ClassKind::AbstractEntity => "abstract entity",
            ClassKind::Value => "value",
        }
        .to_owned(),
        parent: class.parent.map(|parent| conceptual.classes[parent].name.clone()),
        identifier: class.identifier.iter().map(name).collect(),
        part: class.owner.is_some(),
        ttl_ms: class.ttl_ms,
        members: class
            .members
            .iter()
            .map(|member| (name(member), self::member(conceptual, *member)))
            .collect(),
    };
    (class.name.clone(), shape)
}

fn member(conceptual: &Conceptual, member: Member) -> MemberShape {
    match member {
        Member::Attribute(id) => attribute(conceptual, id),
        Member::End(id) => end(conceptual, id),
    }
}

fn attribute(conceptual: &Conceptual, id: AttributeId) -> MemberShape {
    let attribute = &conceptual.attributes[id];
    let (ty, values) = match &attribute.ty {
        Type::Enum(values) => ("enum".to_owned(), values.to_vec()),
        other => (other.to_string(), Vec::new()),
    };
    MemberShape {
        kind: "attribute".to_owned(),
        ty,
        values,
        min: u32::from(!attribute.optional && !attribute.list),
        max: (!attribute.list).then_some(1),
        unique: attribute.unique,
        stored: true,
        inverse: None,
        on_delete: None,
    }
}

fn end(conceptual: &Conceptual, id: EndId) -> MemberShape {
    let end = &conceptual.ends[id];
    let on_delete = end.on_delete.map(|on_delete| match on_delete {
        OnDelete::Refuse => "refuse",
        OnDelete::Cascade => "cascade",
        OnDelete::Clear => "clear",
    });
    let min = match end.kind {
        // A list of parts is stored even if it is empty; only a single one can be missing.
        RelationshipKind::Composition if end.cardinality.is_many() => 0,
        RelationshipKind::Composition | RelationshipKind::Association | RelationshipKind::Aggregation => {
            end.cardinality.min
        }
    };
    MemberShape {
        kind: end.kind.keyword().to_owned(),
        ty: conceptual.classes[end.target].name.clone(),
        values: Vec::new(),
        min,
        max: end.cardinality.max,
        unique: end.unique,
        stored: end.stored,
        inverse: end.inverse.map(|inverse| conceptual.ends[inverse].name.clone()),
        on_delete: on_delete.map(str::to_owned),
    }
}

/// Which rows a collection holds and how they lie in it. Why it is there does not matter.
fn definition(conceptual: &Conceptual, collection: &Collection) -> Json {
    let mut json = json!(collection);
    if let Json::Object(fields) = &mut json {
        fields.remove("reasons");
        fields.remove("name");
    }
    named(conceptual, json)
}

/// Ids are of one reading of a model; names stay.
fn named(conceptual: &Conceptual, json: Json) -> Json {
    match json {
        Json::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| {
                let value = name(conceptual, &key, &value).unwrap_or_else(|| named(conceptual, value));
                (key, value)
            });
            Json::Object(fields.collect::<Map<_, _>>())
        }
        Json::Array(items) => items.into_iter().map(|item| named(conceptual, item)).collect(),
        other => other,
    }
}

fn name(conceptual: &Conceptual, key: &str, value: &Json) -> Option<Json> {
    let index = |value: &Json| value.as_u64().and_then(|index| usize::try_from(index).ok());
    let end = |value: &Json| {
        let id = index(value).filter(|&index| index < conceptual.ends.len()).map(EndId::from_index)?;
        let end = &conceptual.ends[id];
        Some(Json::from(format!("{}.{}", conceptual.classes[end.class].name, end.name)))
    };
    match key {
        "root" | "class" => {
            let index = index(value).filter(|&index| index < conceptual.classes.len())?;
            Some(Json::from(conceptual.classes[ClassId::from_index(index)].name.as_str()))
        }
        "attribute" => {
            let index = index(value).filter(|&index| index < conceptual.attributes.len())?;
            let attribute = &conceptual.attributes[AttributeId::from_index(index)];
            Some(Json::from(format!("{}.{}", conceptual.classes[attribute.class].name, attribute.name)))
        }
        "reference" | "end" => end(value),
        "hops" => value.as_array()?.iter().map(end).collect(),
        _other => None,
    }
}
