//! A Mermaid class diagram.

use super::diagram::Diagram;
use crate::document::Document;
use std::fmt::Write;

pub fn mermaid(document: &Document) -> String {
    let diagram = Diagram::of(document);
    let mut text = String::from("classDiagram\n");
    for (index, shape) in diagram.shapes.iter().enumerate() {
        let added = if shape.added { ", added" } else { "" };
        let _ = writeln!(text, "  class c{index}[\"{}\"] {{", quoted(&shape.name));
        let _ = writeln!(text, "    <<{}{added}>>", shape.role);
        for key in &shape.keys {
            let _ = writeln!(text, "    +{}", member(key));
        }
        for field in &shape.fields {
            let _ = writeln!(text, "    {}", member(field));
        }
        text.push_str("  }\n");
    }
    for edge in &diagram.edges {
        let _ = writeln!(text, "  c{} ..> c{}", edge.from, edge.to);
    }
    text
}

/// Mermaid has no escapes but for entities.
fn quoted(name: &str) -> String {
    name.replace('#', "#35;").replace('"', "#quot;").replace('`', "#96;")
}

/// A line of a class: braces would end it, and parentheses would make it a method.
fn member(name: &str) -> String {
    let entity = |c: char| match c {
        '{' => "#123;".to_owned(),
        '}' => "#125;".to_owned(),
        '(' => "#40;".to_owned(),
        ')' => "#41;".to_owned(),
        '*' => "#42;".to_owned(),
        '#' => "#35;".to_owned(),
        '"' => "#quot;".to_owned(),
        ':' => "#58;".to_owned(),
        other => other.to_string(),
    };
    name.chars().map(entity).collect()
}
