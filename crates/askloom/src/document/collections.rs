//! The collections of a design.

use super::estimate::{Extent, extents};
use super::note::SourceLine;
use super::{PlanDocument, Sample, Subject};
use crate::words;
use askloom_design::saved::{condition_text, rule_text};
use askloom_model::{
    ClassId, Collection, Conceptual, Contents, Keeper, KeyField, Leaf, Origin, Path, PositionId, Role, Rule,
    Words,
};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct CollectionDocument {
    pub name: String,
    pub role: Role,
    pub origin: Origin,
    /// Who keeps it right.
    pub kept_by: Keeper,
    /// The class in whose partitions a master lies, if those are not its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_of: Option<String>,
    /// One record, or records that share the key of the block.
    pub block: &'static str,
    pub source: SourceDocument,
    pub block_key: Vec<KeyDocument>,
    pub entry_key: Vec<KeyDocument>,
    pub value: Vec<FieldDocument>,
    /// How the aggregates of a master are split.
    pub rules: Vec<String>,
    /// Where a copy holds whole aggregates.
    pub whole: Vec<String>,
    pub serves: Vec<String>,
    pub kept_right_by: Vec<String>,
    pub estimate: Extent,
    pub reasons: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// In words, for people.
    #[serde(skip)]
    pub text: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct SourceDocument {
    pub root: String,
    pub shape: &'static str,
    pub paths: Vec<String>,
    pub condition: Option<String>,
    /// The root of the aggregates that its rows begin in.
    #[serde(skip)]
    pub aggregate: Option<ClassId>,
    /// Where the class of its rows is declared.
    #[serde(skip)]
    pub(super) place: SourceLine,
}

#[derive(Debug, Clone, Serialize)]
pub struct KeyDocument {
    pub name: String,
    pub path: String,
    #[serde(rename = "type")]
    pub ty: String,
    pub order: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub struct FieldDocument {
    pub name: String,
    pub path: String,
    #[serde(rename = "type")]
    pub ty: String,
}

impl CollectionDocument {
    pub fn is_added(&self) -> bool {
        self.origin == Origin::Added
    }
}

pub(super) fn collections(subject: &Subject<'_>, plans: &[PlanDocument]) -> Vec<CollectionDocument> {
    let conceptual = &subject.model.conceptual;
    let extents = extents(conceptual, subject.design);
    let all = subject.design.collections.iter().zip(extents);
    let one = |((_, collection), extent): ((_, &Collection), Extent)| {
        let place = subject.place(conceptual.classes[collection.source.root].span);
        document(conceptual, collection, extent, plans, place, &subject.target.capability.words)
    };
    all.map(one).collect()
}

fn document(
    conceptual: &Conceptual,
    collection: &Collection,
    estimate: Extent,
    plans: &[PlanDocument],
    place: SourceLine,
    called: &Words,
) -> CollectionDocument {
    let described = Described { conceptual, collection };
    let uses = |wanted: fn(&PlanDocument) -> bool| -> Vec<String> {
        let used = plans.iter().filter(|plan| wanted(plan) && plan.uses(&collection.name));
        used.map(|plan| plan.statement.clone()).collect()
    };
    let mut text = String::new();
    words::one(conceptual, collection, called, &mut text);
    CollectionDocument {
        name: collection.name.clone(),
        role: collection.role,
        origin: collection.origin,
        kept_by: collection.keeper,
        partition_of: collection.partition_of.map(|class| conceptual.classes[class].name.clone()),
        block: "spread",
        source: described.source(place),
        block_key: collection.block_key.iter().map(|field| described.key(field)).collect(),
        entry_key: collection.entry_key.iter().map(|field| described.key(field)).collect(),
        value: described.value(),
        rules: described.rules(),
        whole: described.positions(collection.whole().iter().copied()),
        serves: uses(|plan| !plan.is_write()),
        kept_right_by: uses(PlanDocument::is_write),
        estimate,
        reasons: collection.reasons.clone(),
        sample: None,
        text,
    }
}

/// Puts the parts of a collection into words.
struct Described<'d> {
    conceptual: &'d Conceptual,
    collection: &'d Collection,
}

impl Described<'_> {
    fn root(&self) -> &str {
        &self.conceptual.classes[self.collection.source.root].name
    }

    fn source(&self, place: SourceLine) -> SourceDocument {
        let source = &self.collection.source;
        let condition = source.condition.as_ref();
        SourceDocument {
            root: self.root().to_owned(),
            aggregate: self.conceptual.aggregate_root(source.root),
            shape: match &self.collection.contents {
                Contents::Aggregate(_) => "aggregate",
                Contents::Fields(_) => "flat",
                Contents::Nested(_) => "nested",
            },
            paths: self.positions(source.positions.ids().skip(1)),
            condition: condition.map(|one| condition_text(self.conceptual, &source.positions, one)),
            place,
        }
    }

    fn positions(&self, positions: impl Iterator<Item = PositionId>) -> Vec<String> {
        let all = &self.collection.source.positions;
        positions.map(|at| words::position_text(self.conceptual, all, at)).collect()
    }

    fn key(&self, field: &KeyField) -> KeyDocument {
        let FieldDocument { name, path, ty } = self.field(&field.path);
        KeyDocument { name, path, ty, order: if field.descending { "desc" } else { "asc" } }
    }

    fn field(&self, path: &Path) -> FieldDocument {
        let name = words::path(self.conceptual, &self.collection.source.positions, path);
        let ty = type_text(self.conceptual, path.leaf);
        FieldDocument { path: format!("{}.{name}", self.root()), name, ty }
    }

    fn value(&self) -> Vec<FieldDocument> {
        let fields: &[Path] = match &self.collection.contents {
            Contents::Aggregate(_) => &[],
            Contents::Fields(fields) => fields,
            Contents::Nested(nodes) => &nodes.fields,
        };
        fields.iter().map(|path| self.field(path)).collect()
    }

    fn rules(&self) -> Vec<String> {
        let rules: &[Rule] = match &self.collection.contents {
            Contents::Aggregate(rules) => rules,
            Contents::Fields(_) | Contents::Nested(_) => &[],
        };
        rules.iter().map(|rule| rule_text(self.conceptual, rule)).collect()
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
        Leaf::Bucket(_) => "int".to_owned(),
        Leaf::TimeBucket(..) => "text".to_owned(),
    }
}
