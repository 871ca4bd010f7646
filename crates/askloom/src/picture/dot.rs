//! A diagram for Graphviz.

use super::diagram::{Diagram, Shape};
use crate::document::Document;
use std::fmt::Write;

pub fn dot(document: &Document) -> String {
    let diagram = Diagram::of(document);
    let mut text =
        String::from("digraph design {\n  rankdir=LR;\n  node [shape=record, fontname=\"Helvetica\"];\n");
    for (index, shape) in diagram.shapes.iter().enumerate() {
        let style = if shape.added { ", style=dashed" } else { "" };
        let _ = writeln!(text, "  c{index} [label=\"{}\"{style}];", label(shape));
    }
    for edge in &diagram.edges {
        let _ = writeln!(text, "  c{} -> c{};", edge.from, edge.to);
    }
    text.push_str("}\n");
    text
}

fn label(shape: &Shape) -> String {
    let lines =
        |lines: &[String]| -> String { lines.iter().map(|line| format!("{}\\l", escaped(line))).collect() };
    let mut label = format!("{{{} ({})|{}", escaped(&shape.name), shape.role, lines(&shape.keys));
    if !shape.fields.is_empty() {
        let _ = write!(label, "|{}", lines(&shape.fields));
    }
    label.push('}');
    label
}

/// Everything that means something in a record label.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '{' | '}' | '|' | '<' | '>' | '"' | '\\' | ' ') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
