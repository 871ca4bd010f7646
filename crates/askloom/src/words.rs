//! Designs in words.

use crate::fit;
use askloom_design::saved::{condition_text, rule_text};
use askloom_model::{
    Collection, Conceptual, Contents, Design, Hop, Keeper, KeyField, Leaf, Member, Model, Path, Position,
    PositionId, Role, Rule, Table, Words,
};

/// Every collection: what it holds, by which key, and why.
pub fn collections(model: &Model, design: &Design, words: &Words) -> String {
    let mut text = String::new();
    for (_, collection) in design.collections.iter() {
        one(&model.conceptual, collection, words, &mut text);
    }
    text
}

/// One collection of a design.
pub fn one(conceptual: &Conceptual, collection: &Collection, words: &Words, text: &mut String) {
    let root = &conceptual.classes[collection.source.root].name;
    let (heading, role) = match (collection.keeper, collection.role) {
        (Keeper::Store, _) => ("INDEX", format!(" ({} of {root})", words.own_index)),
        (Keeper::Ours, Role::Master) => (words.heading, String::new()),
        (Keeper::Ours, Role::Copy) => (words.heading, " (copy)".to_owned()),
        (Keeper::Ours, Role::Index) => (words.heading, " (index)".to_owned()),
        (Keeper::Ours, Role::Carried) => (words.heading, " (in the records of its master)".to_owned()),
    };
    text.push_str(&format!("{heading} {}{role}\n", collection.name));
    let positions = &collection.source.positions;
    let keys = |fields: &[KeyField]| -> String {
        let one = |field: &KeyField| {
            let down = if field.descending { " descending" } else { "" };
            format!("{}{down}", path(conceptual, positions, &field.path))
        };
        fields.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let own_key = words.own_key.filter(|_| collection.keeper == Keeper::Store);
    if let Some(name) = own_key {
        line(name, &keys(&[&collection.block_key[..], &collection.entry_key].concat()), words, text);
    } else {
        if !collection.block_key.is_empty() {
            line(words.block_key, &keys(&collection.block_key), words, text);
        }
        if !collection.entry_key.is_empty() {
            line(words.entry_key, &keys(&collection.entry_key), words, text);
        }
    }
    line("holds", &held(conceptual, collection), words, text);
    for reason in &collection.reasons {
        line("why", reason, words, text);
    }
}

fn held(conceptual: &Conceptual, collection: &Collection) -> String {
    let root = &conceptual.classes[collection.source.root].name;
    let positions = &collection.source.positions;
    let some = match &collection.source.condition {
        Some(condition) => {
            format!("of every {root} where {}", condition_text(conceptual, positions, condition))
        }
        None => format!("of every {root}"),
    };
    let fields = |fields: &[Path]| match fields {
        [] => "the id".to_owned(),
        fields => {
            fields.iter().map(|field| path(conceptual, positions, field)).collect::<Vec<_>>().join(", ")
        }
    };
    match &collection.contents {
        Contents::Aggregate(rules) => format!("every {root}, {}", split(conceptual, rules)),
        Contents::Fields(paths) => format!("{} {some}", fields(paths)),
        Contents::Nested(nodes) => {
            let whole = nodes.whole.iter().map(|&at| match position(conceptual, positions, at) {
                steps if steps.is_empty() => root.clone(),
                steps => steps.join("."),
            });
            let whole: Vec<String> = whole.map(|name| format!("all of {name}")).collect();
            let what = match (whole.is_empty(), nodes.fields.is_empty()) {
                (true, _) => fields(&nodes.fields),
                (false, true) => whole.join(", "),
                (false, false) => format!("{}, {}", whole.join(", "), fields(&nodes.fields)),
            };
            format!("{what} {some}, one entry for each instance and not for each row")
        }
    }
}

/// A line with its label, and those that follow from it below each other.
/// What is said behind a label, below which further lines leave room.
pub fn line(label: &str, says: &str, words: &Words, text: &mut String) {
    let wide = words.label_width();
    for (index, line) in fit::lines(says, fit::WIDTH - wide - 2).iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        text.push_str(&format!("  {label:<wide$}{line}\n"));
    }
}

/// A path as it would stand in a query.
pub fn path(conceptual: &Conceptual, positions: &Table<PositionId, Position>, path: &Path) -> String {
    let mut steps = position(conceptual, positions, path.position);
    steps.extend(path.hops.iter().map(|&hop| conceptual.ends[hop].name.clone()));
    match path.leaf {
        Leaf::Attribute(id) => steps.push(conceptual.attributes[id].name.clone()),
        Leaf::Reference(id) => steps.push(conceptual.ends[id].name.clone()),
        Leaf::Itself if steps.is_empty() => steps.push("id".to_owned()),
        Leaf::Itself => {}
        Leaf::Bucket(of) => steps.push(format!("bucket of {of}")),
        Leaf::TimeBucket(id, unit) => {
            steps.push(format!("{}({})", unit.name(), conceptual.attributes[id].name));
        }
    }
    steps.join(".")
}

fn position(conceptual: &Conceptual, positions: &Table<PositionId, Position>, id: PositionId) -> Vec<String> {
    match positions[id].from {
        None => Vec::new(),
        Some(Hop { parent, step }) => {
            let mut steps = position(conceptual, positions, parent);
            steps.push(match step {
                Member::Attribute(id) => format!("{}[*]", conceptual.attributes[id].name),
                Member::End(id) => conceptual.ends[id].name.clone(),
            });
            steps
        }
    }
}

/// The way to a position; empty for the root.
pub fn position_text(
    conceptual: &Conceptual,
    positions: &Table<PositionId, Position>,
    at: PositionId,
) -> String {
    position(conceptual, positions, at).join(".")
}

/// How the aggregates of a master are split into entries.
fn split(conceptual: &Conceptual, rules: &[Rule]) -> String {
    match rules {
        [Rule { steps, .. }] if steps.is_empty() => "one entry each".to_owned(),
        _several => {
            let rules: Vec<String> = rules.iter().map(|rule| rule_text(conceptual, rule)).collect();
            format!("an entry for each {}", rules.join(", then "))
        }
    }
}
