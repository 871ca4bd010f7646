//! The collections of a design.

use super::estimate::{Extent, extents};
use super::{PlanDocument, Sample, Subject};
use crate::words;
use askloom_design::saved::{condition_text, rule_text};
use askloom_model::{ClassId, Collection, Conceptual, Contents, KeyField, Leaf, Origin, Path, Role};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct CollectionDocument {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) origin: Origin,
    /// Who keeps it right: `ours` until stores keep indexes of their own.
    pub(crate) kept_by: &'static str,
    /// One record, or records that share the key of the block.
    pub(crate) block: &'static str,
    pub(crate) source: SourceDocument,
    pub(crate) block_key: Vec<KeyDocument>,
    pub(crate) entry_key: Vec<KeyDocument>,
    pub(crate) value: Vec<FieldDocument>,
    /// How the aggregates of a master are split.
    pub(crate) rules: Vec<String>,
    /// Where a copy holds whole aggregates.
    pub(crate) whole: Vec<String>,
    pub(crate) serves: Vec<String>,
    pub(crate) kept_right_by: Vec<String>,
    pub(crate) estimate: Extent,
    pub(crate) reasons: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sample: Option<Sample>,
    /// In words, for people.
    #[serde(skip)]
    pub(crate) text: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct SourceDocument {
    pub(crate) root: String,
    pub(crate) shape: &'static str,
    pub(crate) paths: Vec<String>,
    pub(crate) condition: Option<String>,
    /// The root of the aggregates that its rows begin in.
    #[serde(skip)]
    pub(crate) aggregate: Option<ClassId>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct KeyDocument {
    pub(crate) name: String,
    pub(crate) path: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    pub(crate) order: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct FieldDocument {
    pub(crate) name: String,
    pub(crate) path: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
}

impl CollectionDocument {
    pub(crate) fn is_added(&self) -> bool {
        self.origin == Origin::Added
    }
}

pub(super) fn collections(subject: &Subject<'_>, plans: &[PlanDocument]) -> Vec<CollectionDocument> {
    let conceptual = &subject.model.conceptual;
    let extents = extents(conceptual, subject.design);
    let all = subject.design.collections.iter().zip(extents);
    all.map(|((_, collection), extent)| document(conceptual, collection, extent, plans)).collect()
}

fn document(
    conceptual: &Conceptual,
    collection: &Collection,
    estimate: Extent,
    plans: &[PlanDocument],
) -> CollectionDocument {
    let positions = &collection.source.positions;
    let path = |path: &Path| words::path(conceptual, positions, path);
    let root = &conceptual.classes[collection.source.root].name;
    let key = |field: &KeyField| KeyDocument {
        name: path(&field.path),
        path: format!("{root}.{}", path(&field.path)),
        ty: type_text(conceptual, field.path.leaf),
        order: if field.descending { "desc" } else { "asc" },
    };
    let field = |held: &Path| FieldDocument {
        name: path(held),
        path: format!("{root}.{}", path(held)),
        ty: type_text(conceptual, held.leaf),
    };
    let (shape, fields, rules) = match &collection.contents {
        Contents::Aggregate(rules) => {
            ("aggregate", Vec::new(), rules.iter().map(|rule| rule_text(conceptual, rule)).collect())
        }
        Contents::Fields(fields) => ("flat", fields.iter().map(field).collect(), Vec::new()),
        Contents::Nested(nodes) => ("nested", nodes.fields.iter().map(field).collect(), Vec::new()),
    };
    let uses = |wanted: fn(&PlanDocument) -> bool| -> Vec<String> {
        let used = plans.iter().filter(|plan| wanted(plan) && plan.uses(&collection.name));
        used.map(|plan| plan.statement.clone()).collect()
    };
    let mut text = String::new();
    words::one(conceptual, collection, &mut text);
    CollectionDocument {
        name: collection.name.clone(),
        role: collection.role,
        origin: collection.origin,
        kept_by: "ours",
        block: "spread",
        source: SourceDocument {
            root: root.clone(),
            aggregate: conceptual.aggregate_root(collection.source.root),
            shape,
            paths: positions
                .ids()
                .skip(1)
                .map(|at| words::position_text(conceptual, positions, at))
                .collect(),
            condition: collection
                .source
                .condition
                .as_ref()
                .map(|condition| condition_text(conceptual, positions, condition)),
        },
        block_key: collection.block_key.iter().map(key).collect(),
        entry_key: collection.entry_key.iter().map(key).collect(),
        value: fields,
        rules,
        whole: collection.whole().iter().map(|&at| words::position_text(conceptual, positions, at)).collect(),
        serves: uses(|plan| !plan.is_write()),
        kept_right_by: uses(PlanDocument::is_write),
        estimate,
        reasons: collection.reasons.clone(),
        sample: None,
        text,
    }
}

fn type_text(conceptual: &Conceptual, leaf: Leaf) -> String {
    match leaf {
        Leaf::Attribute(id) => {
            let attribute = &conceptual.attributes[id];
            let many = if attribute.list { "[*]" } else { "" };
            format!("{}{many}", attribute.ty)
        }
        Leaf::Reference(id) => format!("id of {}", conceptual.classes[conceptual.ends[id].target].name),
        Leaf::Itself => "id".to_owned(),
    }
}
