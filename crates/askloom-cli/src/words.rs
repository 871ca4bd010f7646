//! Designs in words.

use askloom_model::{
    Collection, Conceptual, Contents, Design, Hop, KeyField, Leaf, Member, Model, Path, Position, PositionId,
    Role, Table,
};
use std::fmt::Write;

/// Every collection: what it holds, by which key, and why.
pub(crate) fn collections(model: &Model, design: &Design) -> String {
    let mut text = String::new();
    for (_, collection) in design.collections.iter() {
        one(&model.conceptual, collection, &mut text);
    }
    text
}

fn one(conceptual: &Conceptual, collection: &Collection, text: &mut String) {
    let role = match collection.role {
        Role::Master => "",
        Role::Copy => " (copy)",
        Role::Index => " (index)",
    };
    let root = &conceptual.classes[collection.source.root].name;
    let positions = &collection.source.positions;
    let _ = writeln!(text, "COLLECTION {}{role}", collection.name);
    let keys = |fields: &[KeyField]| -> String {
        let one = |field: &KeyField| {
            let down = if field.descending { " descending" } else { "" };
            format!("{}{down}", path(conceptual, positions, &field.path))
        };
        fields.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    if !collection.block_key.is_empty() {
        let _ = writeln!(text, "  block     {}", keys(&collection.block_key));
    }
    if !collection.entry_key.is_empty() {
        let _ = writeln!(text, "  entries   by {}", keys(&collection.entry_key));
    }
    match &collection.contents {
        Contents::Aggregate(_) => {
            let _ = writeln!(text, "  holds     every {root}, whole");
        }
        Contents::Fields(fields) => {
            let of: Vec<String> = fields.iter().map(|field| path(conceptual, positions, field)).collect();
            let fields = if of.is_empty() { "the id alone".to_owned() } else { of.join(", ") };
            let some = if collection.source.condition.is_some() { " that its condition takes" } else { "" };
            let _ = writeln!(text, "  holds     {fields}, of every {root}{some}");
        }
    }
    for reason in &collection.reasons {
        let _ = writeln!(text, "  why       {reason}");
    }
}

/// A path as it would stand in a query.
pub(crate) fn path(conceptual: &Conceptual, positions: &Table<PositionId, Position>, path: &Path) -> String {
    let mut steps = position(conceptual, positions, path.position);
    steps.extend(path.hops.iter().map(|&hop| conceptual.ends[hop].name.clone()));
    match path.leaf {
        Leaf::Attribute(id) => steps.push(conceptual.attributes[id].name.clone()),
        Leaf::Reference(id) => steps.push(conceptual.ends[id].name.clone()),
        Leaf::Itself if steps.is_empty() => steps.push("id".to_owned()),
        Leaf::Itself => {}
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
