//! A picture that needs no other program: masters on the left, what is made of each beside it.

use super::diagram::{Diagram, Shape};
use crate::document::Document;
use crate::fit;
use std::fmt::Write;

const LINE: usize = 18;
const CHARACTER: usize = 8;
const PADDING: usize = 12;
const GAP: usize = 24;
const BETWEEN: usize = 72;
/// Longer lines are cut: a picture is looked at.
const LONGEST: usize = 40;

/// A box and where it is.
struct Placed<'s> {
    shape: &'s Shape,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

pub fn svg(document: &Document) -> String {
    let diagram = Diagram::of(document);
    let placed = place(&diagram);
    let width = placed.iter().map(|one| one.x + one.width).max().unwrap_or(0) + GAP;
    let height = placed.iter().map(|one| one.y + one.height).max().unwrap_or(0) + GAP;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n",
        escaped(&document.sentence)
    );
    let _ = writeln!(text, "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>");
    for edge in &diagram.edges {
        if let (Some(from), Some(to)) = (placed.get(edge.from), placed.get(edge.to)) {
            arrow(from, to, &mut text);
        }
    }
    for one in &placed {
        draw(one, &mut text);
    }
    text.push_str("</svg>\n");
    text
}

const STYLE: &str = ".paper{fill:#fff}.box{fill:#fafaf7;stroke:#3b3f46}.added{stroke-dasharray:5 4}\
.head{fill:#e8ecf4}.copy .head{fill:#eaf3ea}.index .head{fill:#f6efdf}.name{font-weight:bold}text{fill:#1d2026}\
.role{fill:#5d636e}.key{font-weight:bold}.edge{fill:none;stroke:#8a919e;stroke-width:1.5}.tip{fill:#8a919e}\
@media(prefers-color-scheme:dark){.paper{fill:#16181c}.box{fill:#1f2227;stroke:#8d95a3}.head{fill:#2a3040}\
.copy .head{fill:#26342a}.index .head{fill:#38311f}text{fill:#e6e8ec}.role{fill:#a3abb8}}";

/// Each master with what is made of it in a row of its own; what has no master here at the end.
fn place(diagram: &Diagram) -> Vec<Placed<'_>> {
    let width = |shape: &Shape| {
        let lines = shape.keys.iter().chain(&shape.fields).map(|line| fit::width(line).min(LONGEST));
        let head = fit::width(&shape.name).min(LONGEST) + fit::width(shape.role) + 3;
        lines.chain([head]).max().unwrap_or(0) * CHARACTER + 2 * PADDING
    };
    let height = |shape: &Shape| (1 + shape.keys.len() + shape.fields.len()) * LINE + 2 * PADDING;
    let is_copy = |index: usize| diagram.edges.iter().any(|edge| edge.to == index);
    let left = diagram.shapes.iter().enumerate().filter(|(index, _)| !is_copy(*index));
    let column = left.map(|(_, shape)| width(shape)).max().unwrap_or(0);
    let mut places: Vec<Option<(usize, usize)>> = vec![None; diagram.shapes.len()];
    let mut y = GAP;
    for (index, shape) in diagram.shapes.iter().enumerate().filter(|(index, _)| !is_copy(*index)) {
        set(&mut places, index, (GAP, y));
        let mut below = y;
        for edge in diagram.edges.iter().filter(|edge| edge.from == index) {
            set(&mut places, edge.to, (GAP + column + BETWEEN, below));
            below += diagram.shapes.get(edge.to).map_or(0, height) + GAP;
        }
        y = below.max(y + height(shape) + GAP);
    }
    let placed = diagram.shapes.iter().zip(places).map(|(shape, place)| {
        let (x, y) = place.unwrap_or_default();
        Placed { shape, x, y, width: width(shape), height: height(shape) }
    });
    placed.collect()
}

fn set(places: &mut [Option<(usize, usize)>], index: usize, place: (usize, usize)) {
    if let Some(slot) = places.get_mut(index) {
        *slot = Some(place);
    }
}

fn draw(one: &Placed<'_>, text: &mut String) {
    let Placed { shape, x, y, width, height } = one;
    let head = LINE + PADDING;
    let added = if shape.added { " added" } else { "" };
    let _ = writeln!(text, "<g class=\"{}\">", shape.role);
    let _ = writeln!(
        text,
        "<rect class=\"box{added}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"
    );
    let (inner, high) = (width.saturating_sub(2), head.saturating_sub(2));
    let _ = writeln!(
        text,
        "<rect class=\"head\" x=\"{}\" y=\"{}\" width=\"{inner}\" height=\"{high}\" rx=\"5\"/>",
        x + 1,
        y + 1
    );
    let mut line = y + LINE;
    let _ = writeln!(
        text,
        "<text class=\"name\" x=\"{}\" y=\"{line}\">{} <tspan class=\"role\" font-weight=\"normal\">{}</tspan></text>",
        x + PADDING,
        escaped(&fit::cut(&shape.name, LONGEST)),
        shape.role
    );
    line += PADDING / 2;
    let classes =
        shape.keys.iter().map(|key| ("key", key)).chain(shape.fields.iter().map(|field| ("field", field)));
    for (class, words) in classes {
        line += LINE;
        let _ = writeln!(
            text,
            "<text class=\"{class}\" x=\"{}\" y=\"{line}\">{}</text>",
            x + PADDING,
            escaped(&fit::cut(words, LONGEST))
        );
    }
    text.push_str("</g>\n");
}

fn arrow(from: &Placed<'_>, to: &Placed<'_>, text: &mut String) {
    let (x1, y1) = (from.x + from.width, from.y + LINE);
    let (x2, y2) = (to.x, to.y + LINE);
    let middle = usize::midpoint(x1, x2);
    let _ = writeln!(text, "<path class=\"edge\" d=\"M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}\"/>");
    let back = x2.saturating_sub(8);
    let (above, below) = (y2.saturating_sub(4), y2 + 4);
    let _ = writeln!(text, "<path class=\"tip\" d=\"M{x2} {y2} L{back} {above} L{back} {below} Z\"/>");
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
