//! What of a model and its design decides how data lies in a store, by names: what a store keeps about itself, and
//! what a model that is applied later is compared with. Statistics, defaults and statements leave no trace in data.

use askloom_design::saved;
use askloom_model::{
    AttributeId, ClassId, ClassKind, Conceptual, Design, EndId, Integrity, Member, Model, OnDelete,
    RelationshipKind, Type,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) classes: BTreeMap<String, ClassShape>,
    /// The design as it is saved.
    pub(super) design: Json,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClassShape {
    pub(super) kind: String,
    pub(super) parent: Option<String>,
    pub(super) identifier: Vec<String>,
    pub(super) part: bool,
    pub(super) ttl_ms: Option<u64>,
    /// The attribute from which the time to live counts, if not from creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ttl_from: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) immutable: bool,
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
    /// Whether a reference may name what does not exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) loose: bool,
}

impl Shape {
    pub(super) fn of(model: &Model, design: &Design) -> Self {
        let conceptual = &model.conceptual;
        let classes = conceptual.classes.ids().map(|id| class(conceptual, id)).collect();
        // What was just written can be read.
        let design = serde_json::from_str(&saved::to_json(model, design)).unwrap_or_default();
        Self { classes, design }
    }

    /// The definition of each collection: which rows it holds and how they lie in it. Why it is there does not matter.
    pub(super) fn collections(&self) -> BTreeMap<String, Json> {
        let collections = self.design.get("collections").and_then(Json::as_array);
        let definition = |collection: &Json| {
            let mut definition = collection.as_object()?.clone();
            definition.remove("reasons");
            // Each class has a range of keys of its own, whoever's partitions it lies in.
            definition.remove("partition_of");
            let name = definition.remove("name")?.as_str()?.to_owned();
            Some((name, Json::Object(definition)))
        };
        collections.into_iter().flatten().filter_map(definition).collect()
    }

    /// Whether data of the one is data of the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.classes == other.classes && self.collections() == other.collections()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
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
        ttl_ms: class.ttl.map(|ttl| ttl.ms),
        ttl_from: class.ttl.and_then(|ttl| ttl.from).map(|id| conceptual.attributes[id].name.clone()),
        immutable: class.immutable,
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
        loose: false,
    }
}

fn end(conceptual: &Conceptual, id: EndId) -> MemberShape {
    let end = &conceptual.ends[id];
    let on_delete = end.on_delete().map(|on_delete| match on_delete {
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
        loose: end.integrity == Integrity::Loose,
    }
}
