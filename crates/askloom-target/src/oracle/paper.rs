//! Pairs as figure 4 of "Data Modeling in the NoSQL World" prints them.
//!
//! One pair for an aggregate has its key with a slash before and a dash behind, several have neither (the text of the
//! same paper has the slash); names of fields have no quotes; an id of digits has none where it stands alone.

use super::schema::{Pairs, Root};
use super::write::{Held, Operation, sample};
use crate::generate::Sample;
use askloom_model::{Conceptual, Id, Member, Record, Value};
use askloom_plan::layout::Layout;
use askloom_plan::tree::{Tree, TreeOf, tree};
use std::fmt::Write;

/// A record as lines of the figure: key, then value.
pub(super) fn figure(layout: &Layout, all: &[Pairs], record: &Sample) -> String {
    match record {
        Sample::Block { table, block } => {
            let Some(pairs) = all.get(table.index()) else { return String::new() };
            let Some(root) = &block.fields.root else { return String::new() };
            let id: Vec<String> = block.identity.iter().map(alone).collect();
            let major = format!("{}/{}", pairs.name, id.join("/"));
            let mut text = String::new();
            match pairs.root {
                Root::Together => {
                    let fields = fields(&layout.conceptual, root);
                    let _ = writeln!(text, "/{major}/- {{ {} }}", fields.join(", "));
                }
                Root::Apart => {
                    for (member, value) in members(&layout.conceptual, root) {
                        let shown = shown(&layout.conceptual, member, value, true);
                        let _ = writeln!(text, "{major}/-/{} {shown}", layout.conceptual.member_name(member));
                    }
                }
            }
            for (path, value) in &block.entries {
                let before = if pairs.root == Root::Together { "/" } else { "" };
                let _ = writeln!(text, "{before}{major}/-/{path} {}", entry(layout, value));
            }
            text
        }
        Sample::Row { .. } => plain(layout, all, record),
    }
}

/// The papers have no copies: these as they are.
fn plain(layout: &Layout, all: &[Pairs], record: &Sample) -> String {
    let mut text = String::new();
    for operation in sample(layout, all, record) {
        if let Operation::Put(key, Held::Json(value)) = operation {
            let _ = writeln!(text, "{} {value}", key.text());
        }
    }
    text
}

fn members<'r>(conceptual: &Conceptual, root: &'r Record) -> Vec<(Member, &'r Value)> {
    let all = conceptual.all_members(root.class);
    all.map(|member| (member, root.get(member))).filter(|(_, value)| !is_nothing(value)).collect()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::List(elements) => elements.is_empty(),
        _other => false,
    }
}

fn fields(conceptual: &Conceptual, record: &Record) -> Vec<String> {
    let one = |(member, value): (Member, &Value)| {
        format!("{}: {}", conceptual.member_name(member), shown(conceptual, member, value, false))
    };
    members(conceptual, record).into_iter().map(one).collect()
}

fn entry(layout: &Layout, value: &Value) -> String {
    match value {
        Value::Record(record) => format!("{{ {} }}", fields(&layout.conceptual, record).join(", ")),
        other => alone_quoted(other),
    }
}

fn shown(conceptual: &Conceptual, member: Member, value: &Value, by_itself: bool) -> String {
    match (TreeOf::member(conceptual, member), value) {
        (TreeOf::Identity(class), Value::Reference(id)) => {
            let parts: Vec<String> = id.iter().map(alone).collect();
            format!("\"{}:{}\"", conceptual.classes[class].name, parts.join(","))
        }
        (_, Value::Record(record)) => format!("{{ {} }}", fields(conceptual, record).join(", ")),
        (_, Value::List(elements)) => {
            let items: Vec<String> = elements
                .iter()
                .map(|element| match &element.value {
                    Value::Record(record) => format!("{{ {} }}", fields(conceptual, record).join(", ")),
                    other => alone_quoted(other),
                })
                .collect();
            format!("[ {} ]", items.join(", "))
        }
        (_, Value::Text(text))
            if by_itself && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) =>
        {
            text.clone()
        }
        (of, value) => match tree(conceptual, &of, value) {
            Tree::Nothing => "null".to_owned(),
            leaf @ (Tree::Leaf(..) | Tree::List(_) | Tree::Map(_)) => leaf.to_json().to_string(),
        },
    }
}

fn alone(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Uuid(id) => id.to_string(),
        other => format!("{other:?}"),
    }
}

fn alone_quoted(value: &Value) -> String {
    match value {
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        other => alone(other),
    }
}
