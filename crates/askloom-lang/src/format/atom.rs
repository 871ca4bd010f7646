//! What is printed: tokens with the gaps and comments before them, in units that start on lines of their own.

use crate::syntax::{Keyword, TokenKind};
use std::borrow::Cow;
use std::ops::Range;

/// A comment as it is printed: one `//` line, or several that were one `/* … */`.
#[derive(Debug, Clone)]
pub(super) struct Comment<'a> {
    pub(super) text: Cow<'a, str>,
    /// Stands behind something, on its line.
    pub(super) trailing: bool,
    pub(super) blank_before: bool,
}

/// What stands between a token and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Tight,
    Space,
    /// A space that stays one; what follows it does not count for where the line ends.
    Apart,
    /// Before another leading annotation: a line end where the line is full.
    Lead,
    /// Before what leading annotations describe: on their line only if it was.
    Kept,
    /// Before a clause: a line end, unless the whole statement is on one line.
    Clause,
    /// Before a part that shares the line of its clause if all of it fits there.
    Soft,
    /// A line end where the line is full; the lower the number, the rather here.
    Fill(u16),
}

impl Gap {
    /// The order in which lines are broken. None: never.
    pub(super) fn level(self, flat: bool) -> Option<u16> {
        match self {
            Self::Kept | Self::Apart => Some(0),
            Self::Clause if !flat => Some(0),
            Self::Lead => Some(1),
            Self::Soft => Some(2),
            Self::Fill(level) => Some(level.saturating_add(3)),
            Self::Tight | Self::Space | Self::Clause => None,
        }
    }

    /// How wide it is without a line end.
    pub(super) fn width(self) -> usize {
        usize::from(self != Self::Tight)
    }
}

/// One token of the output.
#[derive(Debug)]
pub(super) struct Atom<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) kind: TokenKind,
    pub(super) gap: Gap,
    /// All comments between this token and the one before it.
    pub(super) comments: Vec<Comment<'a>>,
    /// It started a line in the source, too.
    pub(super) starts_line: bool,
    pub(super) blank_before: bool,
}

impl Atom<'_> {
    pub(super) fn width(&self) -> usize {
        if self.text.is_ascii() { self.text.len() } else { self.text.chars().count() }
    }

    pub(super) fn keyword(&self) -> Option<Keyword> {
        match self.kind == TokenKind::Word {
            true => Keyword::of(self.text.as_bytes()),
            false => None,
        }
    }
}

/// Whether two tokens, the first of that kind, would be read as something else without a space between them.
pub(super) fn would_merge(kind: TokenKind, left: &str, right: &str) -> bool {
    let (Some(last), Some(first)) = (left.chars().next_back(), right.chars().next()) else { return false };
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    match (last, first) {
        (a, b) if in_word(a) && in_word(b) => true,
        ('/', '/') | ('.', '.') | ('*', '*') | ('-', '>') | ('<', '=' | '>') | ('>' | '!', '=') => true,
        ('\'', '\'') | ('"', '"') | ('`', '`') => true,
        (_, '.') => kind == TokenKind::Number && right == ".",
        _ => false,
    }
}

/// How the lines of a unit were, as far as that decides how they will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// One if it fits.
    Join,
    /// One if it was one and fits.
    Keep,
}

/// What starts on a line of its own: a declaration, a member, a statement.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    pub(super) atoms: Vec<Atom<'a>>,
    /// How many of the atoms are leading annotations.
    pub(super) lead: usize,
    pub(super) lines: Lines,
    /// Stands as it was: the tokens of the source that it is made of.
    pub(super) verbatim: Option<Range<u32>>,
    /// A comma or semicolon followed it.
    pub(super) separated: bool,
}

impl<'a> Unit<'a> {
    pub(super) fn first(&self) -> Option<&Atom<'a>> {
        self.atoms.first()
    }

    pub(super) fn body(&self) -> &[Atom<'a>] {
        self.atoms.get(self.lead..).unwrap_or_default()
    }
}

/// What the members of a block are separated by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) may_be_one_line: bool,
    /// Between members on one line.
    pub(super) separator: &'static str,
    /// The separator stands behind the last one as well.
    pub(super) ends: bool,
    /// The separator stands in several lines, too.
    pub(super) always: bool,
}

/// A declaration, ready to be printed.
#[derive(Debug)]
pub(super) enum Item<'a> {
    Line(Unit<'a>),
    Block { head: Unit<'a>, members: Vec<Unit<'a>>, close: Atom<'a>, style: Style },
}

impl<'a> Item<'a> {
    pub(super) fn head(&self) -> &Unit<'a> {
        match self {
            Self::Line(unit) | Self::Block { head: unit, .. } => unit,
        }
    }

    pub(super) fn is_verbatim(&self) -> bool {
        self.head().verbatim.is_some()
    }

    /// Whether anything in it stands as it was.
    pub(super) fn has_verbatim(&self) -> bool {
        let in_block = match self {
            Self::Line(_) => false,
            Self::Block { members, .. } => members.iter().any(|member| member.verbatim.is_some()),
        };
        in_block || self.is_verbatim()
    }
}
