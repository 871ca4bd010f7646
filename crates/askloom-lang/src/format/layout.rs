//! Where lines end.

use super::atom::{Atom, Gap, Item, Lines, Style, Unit};
use super::ends::ends_statement;
use super::writer::{Blank, Writer};
use crate::syntax::{TokenKind, Tree};

/// How wide a line may be.
const WIDTH: usize = 100;
const INDENT: usize = 2;
/// How far what is broken off a line is indented.
const CONTINUATION: usize = 2 * INDENT;

pub(super) fn print(writer: &mut Writer, tree: &Tree<'_>, item: &Item<'_>, blank: Blank) {
    match item {
        Item::Line(unit) => print_unit(writer, tree, unit, Place { indent: 0, blank, rest: 0 }),
        Item::Block { head, members, close, style } => {
            let rest = one_line_rest(head, members, close, *style);
            print_unit(writer, tree, head, Place { indent: 0, blank, rest: rest.unwrap_or(0) });
            match rest {
                Some(_) => print_on_line(writer, members, close, *style),
                None => print_lines(writer, tree, members, close, *style),
            }
        }
    }
}

/// Whether a declaration takes one line: such may stand together without blank lines.
pub(super) fn is_one_line(item: &Item<'_>) -> bool {
    let (unit, rest) = match item {
        Item::Line(unit) => (unit, Some(0)),
        Item::Block { head, members, close, style } => (head, one_line_rest(head, members, close, *style)),
    };
    let Some(rest) = rest else { return false };
    if unit.verbatim.is_some() {
        return unit.first().is_none_or(|atom| !atom.text.contains('\n'));
    }
    let kept = unit.lead > 0 && unit.atoms.get(unit.lead).is_some_and(|atom| atom.starts_line);
    is_flat(unit, 0, rest) && !kept && !has_comments(&unit.atoms) && flat_width(&unit.atoms) + rest <= WIDTH
}

fn print_lines(writer: &mut Writer, tree: &Tree<'_>, members: &[Unit<'_>], close: &Atom<'_>, style: Style) {
    let mut blank = Blank::Never;
    for member in members {
        print_unit(writer, tree, member, Place { indent: INDENT, blank, rest: 0 });
        if style.always || member.separated {
            writer.separator(style.separator);
        }
        blank = Blank::Kept;
    }
    writer.start(&close.comments, false, INDENT, blank);
    writer.line(0);
    writer.atom(close, false);
}

fn print_on_line(writer: &mut Writer, members: &[Unit<'_>], close: &Atom<'_>, style: Style) {
    for (at, member) in members.iter().enumerate() {
        for (index, atom) in member.atoms.iter().enumerate() {
            writer.atom(atom, index == 0 || atom.gap.width() > 0);
        }
        if style.ends || at + 1 < members.len() {
            writer.separator(style.separator);
        }
    }
    writer.atom(close, !members.is_empty());
}

/// How much of a block follows its head, if it is to stand on one line.
fn one_line_rest(head: &Unit<'_>, members: &[Unit<'_>], close: &Atom<'_>, style: Style) -> Option<usize> {
    if members.is_empty() && close.comments.is_empty() {
        return Some(close.width());
    }
    let on_line = |atom: &Atom<'_>| !atom.starts_line && atom.comments.is_empty();
    let was_one_line = head.body().iter().skip(1).all(on_line)
        && members.iter().all(|unit| unit.verbatim.is_none() && unit.atoms.iter().all(on_line))
        && on_line(close);
    if !was_one_line || !style.may_be_one_line {
        return None;
    }
    let inner: usize = members.iter().map(|unit| flat_width(&unit.atoms) + 1).sum();
    let separators = style.separator.len() * (members.len() - usize::from(!style.ends));
    let rest = inner + separators + close.width() + 1;
    (flat_width(head.body()) + rest <= WIDTH).then_some(rest)
}

/// Where a unit goes.
struct Place {
    indent: usize,
    blank: Blank,
    /// How much follows it on its last line.
    rest: usize,
}

fn print_unit(writer: &mut Writer, tree: &Tree<'_>, unit: &Unit<'_>, place: Place) {
    let Some(first) = unit.first() else { return };
    writer.start(&first.comments, first.blank_before, place.indent, place.blank);
    if unit.verbatim.is_some() {
        return print_verbatim(writer, tree, unit);
    }
    writer.atom(first, false);
    let flat = is_flat(unit, place.indent, place.rest);
    let chunks = Chunks::new(&unit.atoms, flat, place.rest);
    for (at, atom) in unit.atoms.iter().enumerate().skip(1) {
        let indent = indent_of(atom, unit.lines, place.indent);
        if !atom.comments.is_empty() {
            writer.comments(&atom.comments, indent);
            writer.line(indent);
        } else if breaks(&unit.atoms, at, flat, || writer.column + chunks.width(at) > WIDTH) {
            writer.line(indent);
        }
        writer.atom(atom, atom.gap.width() > 0);
    }
}

/// A part of the source, wherever the line is.
pub(super) fn print_verbatim(writer: &mut Writer, tree: &Tree<'_>, unit: &Unit<'_>) {
    for atom in &unit.atoms {
        writer.verbatim(atom);
    }
    if let Some(range) = &unit.verbatim {
        writer.tokens.add_range(tree, range.clone());
    }
}

/// How far a line is indented that starts with this atom.
fn indent_of(atom: &Atom<'_>, lines: Lines, indent: usize) -> usize {
    let closes = matches!(atom.kind, TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace);
    match (atom.gap, lines) {
        (Gap::Lead | Gap::Kept, _) => indent,
        (Gap::Clause | Gap::Soft, _) => indent + INDENT,
        (Gap::Tight | Gap::Space | Gap::Apart | Gap::Fill(_), Lines::Join) if closes => indent,
        (Gap::Tight | Gap::Space | Gap::Apart | Gap::Fill(_), Lines::Keep) if closes => indent + INDENT,
        (Gap::Tight | Gap::Space | Gap::Apart | Gap::Fill(_), Lines::Join) => CONTINUATION,
        (Gap::Tight | Gap::Space | Gap::Apart | Gap::Fill(_), Lines::Keep) => indent + 2 * INDENT,
    }
}

fn breaks(atoms: &[Atom<'_>], at: usize, flat: bool, is_full: impl FnOnce() -> bool) -> bool {
    let Some(atom) = atoms.get(at) else { return false };
    match atom.gap {
        Gap::Tight | Gap::Space | Gap::Apart => false,
        Gap::Kept => atom.starts_line || is_full(),
        Gap::Lead => is_full(),
        Gap::Clause => !flat,
        Gap::Soft | Gap::Fill(_) => is_full() && !ends_statement(atoms, at),
    }
}

/// Whether what the leading annotations describe goes on one line.
fn is_flat(unit: &Unit<'_>, indent: usize, rest: usize) -> bool {
    let body = unit.body();
    let was_one_line = body.iter().skip(1).all(|atom| !atom.starts_line);
    (unit.lines == Lines::Join || was_one_line)
        && !has_comments(body)
        && indent + flat_width(body) + rest <= WIDTH
}

/// Comments behind the first atom: those before it stand above.
fn has_comments(atoms: &[Atom<'_>]) -> bool {
    atoms.iter().skip(1).any(|atom| !atom.comments.is_empty())
}

/// How wide atoms are on one line, the gap before the first left out.
fn flat_width(atoms: &[Atom<'_>]) -> usize {
    let gaps: usize = atoms.iter().skip(1).map(|atom| atom.gap.width()).sum();
    gaps + atoms.iter().map(Atom::width).sum::<usize>()
}

/// How much stands between one place where a line can end and the next that would be taken before it.
struct Chunks {
    widths: Vec<usize>,
}

impl Chunks {
    /// From the last atom to the first, with the places that are still of interest on a stack.
    fn new(atoms: &[Atom<'_>], flat: bool, rest: usize) -> Self {
        let total = atoms.iter().map(|atom| atom.gap.width() + atom.width()).sum::<usize>() + rest;
        let mut widths = vec![0; atoms.len()];
        let mut stack: Vec<(u16, usize)> = Vec::new();
        let mut start = total - rest;
        for (at, atom) in atoms.iter().enumerate().rev() {
            start -= atom.gap.width() + atom.width();
            let level = match atom.comments.is_empty() {
                true => atom.gap.level(flat),
                false => Some(0),
            };
            let Some(level) = level else { continue };
            while stack.pop_if(|(other, _)| *other > level).is_some() {}
            let end = stack.last().map_or(total, |(_, start)| *start);
            if let Some(width) = widths.get_mut(at) {
                *width = end - start;
            }
            stack.push((level, start));
        }
        Self { widths }
    }

    /// Of the gap and all that goes on the line with it.
    fn width(&self, at: usize) -> usize {
        self.widths.get(at).copied().unwrap_or_default()
    }
}
