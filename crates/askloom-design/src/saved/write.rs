//! A design as canonical JSON.

use super::path::Paths;
use super::{FORMAT, rules};
use askloom_model::{
    Attribute, Collection, Conceptual, Condition, Contents, Design, End, Id, Keeper, KeyField, Member, Model,
    Origin, Path, Position, PositionId, Role, Table,
};
use serde::Serialize;
use serde_json::Value as Json;

// The order of the fields is the order of the text.

#[derive(Debug, Serialize)]
struct SavedDesign<'d> {
    format: u64,
    method: &'d str,
    collections: Vec<SavedCollection<'d>>,
}

#[derive(Debug, Serialize)]
struct SavedCollection<'d> {
    name: &'d str,
    role: Role,
    origin: Origin,
    /// Left out where it is ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    keeper: Option<Keeper>,
    /// The root class in whose master's partitions a master lies; left out where it has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    partition_of: Option<&'d str>,
    source: SavedSource<'d>,
    block_key: Vec<SavedKey>,
    entry_key: Vec<SavedKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Vec<String>>,
    /// The value of a nested copy, whose entries are nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<String>>,
    /// Positions whose nodes hold the whole aggregate.
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<Vec<String>>,
    reasons: &'d [String],
}

#[derive(Debug, Serialize)]
struct SavedSource<'d> {
    root: &'d str,
    paths: Vec<SavedPosition<'d>>,
    condition: Option<SavedCondition>,
}

#[derive(Debug, Serialize)]
struct SavedPosition<'d> {
    path: String,
    join: &'static str,
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    alias: Option<&'d str>,
}

#[derive(Debug, Serialize)]
struct SavedCondition {
    text: String,
    tree: Json,
}

#[derive(Debug, Serialize)]
struct SavedKey {
    path: String,
    order: &'static str,
}

/// The design as text: names in place of numbers, two spaces a level, a line end at the end.
#[must_use]
pub fn to_json(model: &Model, design: &Design) -> String {
    let collections = design.collections.iter().map(|(_, collection)| saved(&model.conceptual, collection));
    let design = SavedDesign { format: FORMAT, method: &design.method, collections: collections.collect() };
    // Names and numbers are all there is: nothing in it can fail to be written.
    let mut text = serde_json::to_string_pretty(&design).unwrap_or_default();
    text.push('\n');
    text
}

fn saved<'d>(conceptual: &'d Conceptual, collection: &'d Collection) -> SavedCollection<'d> {
    let source = &collection.source;
    let paths = Paths::of(conceptual, &source.positions);
    let keys = |fields: &[KeyField]| {
        let key = |field: &KeyField| SavedKey {
            path: paths.write(&field.path),
            order: if field.descending { "desc" } else { "asc" },
        };
        fields.iter().map(key).collect()
    };
    let position = |(text, position): (&String, &'d Position)| SavedPosition {
        path: text.clone(),
        join: if position.outer { "left" } else { "inner" },
        alias: position.alias.as_deref(),
    };
    let positions = source.positions.iter().map(|(_, position)| position);
    let texts = |fields: &[Path]| Some(fields.iter().map(|path| paths.write(path)).collect());
    let (rules, value, nodes, whole) = match &collection.contents {
        Contents::Aggregate(rules) => {
            (Some(rules.iter().map(|rule| rules::write(conceptual, rule)).collect()), None, None, None)
        }
        Contents::Fields(fields) => (None, texts(fields), None, None),
        Contents::Nested(nodes) => {
            let text = |position: &PositionId| paths.texts.get(position.index()).cloned().unwrap_or_default();
            let whole = nodes.whole.iter().map(text).collect();
            (None, None, texts(&nodes.fields), Some(whole))
        }
    };
    SavedCollection {
        name: &collection.name,
        role: collection.role,
        origin: collection.origin,
        keeper: (collection.keeper != Keeper::Ours).then_some(collection.keeper),
        partition_of: collection.partition_of.map(|root| conceptual.classes[root].name.as_str()),
        source: SavedSource {
            root: &conceptual.classes[source.root].name,
            paths: paths.texts.iter().zip(positions).skip(1).map(position).collect(),
            condition: source.condition.as_ref().map(|condition| SavedCondition {
                text: paths.condition_text(condition),
                tree: paths.condition(condition),
            }),
        },
        block_key: keys(&collection.block_key),
        entry_key: keys(&collection.entry_key),
        rules,
        value,
        nodes,
        whole,
        reasons: &collection.reasons,
    }
}

/// The condition of a collection as a person would write it.
#[must_use]
pub fn condition_text(
    conceptual: &Conceptual,
    positions: &Table<PositionId, Position>,
    condition: &Condition,
) -> String {
    Paths::of(conceptual, positions).condition_text(condition)
}

/// A number for what a store holds by a design: what is stored of the model, and the collections. Methods, reasons and
/// statements may change without changing it.
#[must_use]
pub fn fingerprint(model: &Model, design: &Design) -> String {
    let mut hash = Fnv::default();
    for (_, collection) in design.collections.iter() {
        let saved = SavedCollection { reasons: &[], ..saved(&model.conceptual, collection) };
        hash.line(&serde_json::to_string(&saved).unwrap_or_default());
    }
    let conceptual = &model.conceptual;
    for (id, class) in conceptual.classes.iter() {
        let parent = class.parent.map(|parent| conceptual.classes[parent].name.as_str());
        hash.line(&format!("{} {:?} {parent:?} {}", class.name, class.kind, class.surrogate));
        for &member in &class.members {
            match member {
                Member::Attribute(id) => hash.line(&attribute(&conceptual.attributes[id])),
                Member::End(id) => hash.line(&end(conceptual, &conceptual.ends[id])),
            }
        }
        let identifier: Vec<&str> =
            conceptual.classes[id].identifier.iter().map(|&member| conceptual.member_name(member)).collect();
        hash.line(&identifier.join(","));
    }
    hash.finish()
}

fn attribute(attribute: &Attribute) -> String {
    format!("{} {} {} {}", attribute.name, attribute.ty, attribute.list, attribute.unique)
}

fn end(conceptual: &Conceptual, end: &End) -> String {
    let target = &conceptual.classes[end.target].name;
    let many = end.cardinality.is_many();
    format!("{} {target} {} {many} {} {}", end.name, end.kind.keyword(), end.stored, end.unique)
}

/// FNV-1a of 128 bits: the same number in every version and on every machine, which is all that is asked of it.
#[derive(Debug)]
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn line(&mut self, text: &str) {
        for byte in text.bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    fn finish(self) -> String {
        format!("{:032x}", self.0)
    }
}
