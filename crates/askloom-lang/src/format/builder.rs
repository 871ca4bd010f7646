//! Collects the atoms of one unit after the other, and every comment on the way.
//!
//! A cursor runs over the tokens of the file and never turns back. What it passes is either printed or, if it
//! is a comment, waits for the next atom; so no comment is lost and none is printed twice.

use super::atom::{Atom, Comment, Gap, Lines, Unit};
use super::conversion::{Conversion, Quoted};
use super::ends::ends_statement;
use crate::positional::Positional;
use crate::syntax::{NodeId, NodeKind, TokenId, TokenKind, Tree, rewritten_comment};
use std::borrow::Cow;
use std::ops::Range;

pub(super) struct Builder<'t, 'a> {
    pub(super) tree: &'t Tree<'a>,
    cursor: u32,
    /// Comments that the cursor has passed and no atom has taken yet.
    pending: Vec<Comment<'a>>,
    /// Whether a blank line was passed since the last comment or token.
    blank: bool,
    atoms: Vec<Atom<'a>>,
    lead: usize,
    /// Comments that cannot stand where they stood: they go before the unit.
    aside: Vec<Comment<'a>>,
    /// How many parentheses are open.
    pub(super) depth: u16,
    /// Inside a `collection`, where clauses are lower case.
    pub(super) given: bool,
    /// Names for parameters by position; none outside of statements.
    pub(super) positional: Option<Positional>,
    pub(super) conversion: Conversion<'a>,
    /// What a quoted number or truth value here really is, in a dialect.
    pub(super) expected: Option<Quoted>,
    /// The next word is that of a dialect's type.
    pub(super) converts_type: bool,
    pub(super) left_broken: bool,
}

impl<'t, 'a> Builder<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>) -> Self {
        Self {
            tree,
            cursor: 0,
            pending: Vec::new(),
            blank: false,
            atoms: Vec::new(),
            lead: 0,
            aside: Vec::new(),
            depth: 0,
            given: false,
            positional: None,
            conversion: Conversion::new(tree),
            expected: None,
            converts_type: false,
            left_broken: false,
        }
    }

    /// How many tokens have been printed or left out.
    pub(super) fn passed(&self) -> u32 {
        self.cursor
    }

    /// Moves the cursor, and keeps the comments that it passes.
    pub(super) fn pass(&mut self, until: u32) {
        if self.cursor >= until {
            return;
        }
        let mut line_ends = 0;
        let mut comments = 0;
        while self.cursor < until {
            let token = TokenId(self.cursor);
            self.cursor += 1;
            match self.tree.token(token).kind {
                TokenKind::LineEnd => line_ends += 1,
                kind if kind.is_comment() => {
                    let text = self.comment_text(token);
                    self.left_broken |= kind == TokenKind::BlockComment && !self.is_ended_comment(token);
                    let trailing = line_ends == 0 && comments == 0;
                    self.pending.push(Comment { text, trailing, blank_before: line_ends > 1 });
                    (line_ends, comments) = (0, comments + 1);
                }
                kind if kind.is_trivia() => {}
                _token => (line_ends, comments) = (0, 0),
            }
        }
        self.blank = line_ends > 1;
    }

    fn comment_text(&self, token: TokenId) -> Cow<'a, str> {
        let text = self.tree.token_text(token);
        match self.tree.token(token).kind {
            // A lone carriage return would end a `//` comment.
            TokenKind::BlockComment => Cow::Owned(rewritten_comment(&text.replace('\r', "\n"))),
            _line => Cow::Borrowed(text.trim_end()),
        }
    }

    /// A `/*` without an end takes the rest of the file, which nobody meant.
    fn is_ended_comment(&self, token: TokenId) -> bool {
        let text = self.tree.token_text(token);
        text.len() >= "/**/".len() && text.ends_with("*/")
    }

    /// Passes an annotation without arguments; a comment says what it was.
    pub(super) fn comment_out(&mut self, annotation: NodeId) {
        let range = self.tree.token_range(annotation);
        self.pass(range.start);
        let before = self.pending.len();
        self.pass(range.end);
        self.pending.iter_mut().skip(before).for_each(|comment| comment.trailing = false);
        let name = self.tree.name(annotation).map_or("", |name| name.text);
        let text = Cow::Owned(format!("// @{name}"));
        let comment = Comment { text, trailing: false, blank_before: false };
        match self.atoms.is_empty() {
            true => self.pending.push(comment),
            false => self.aside.push(comment),
        }
    }

    /// Passes a whole node at once, because its tokens will be printed in another order.
    pub(super) fn reorder(&mut self, node: NodeId) {
        let range = self.tree.token_range(node);
        self.pass(range.start);
        let (before, blank) = (std::mem::take(&mut self.pending), self.blank);
        self.pass(range.end);
        let inside = std::mem::replace(&mut self.pending, before);
        self.aside.extend(inside.into_iter().map(|comment| Comment { trailing: false, ..comment }));
        self.blank = blank;
    }

    /// Whether the body of a reordered node started a line.
    pub(super) fn body_starts_line(&mut self, starts_line: bool) {
        if let Some(atom) = self.atoms.get_mut(self.lead) {
            atom.starts_line = starts_line;
        }
    }

    /// Prints a token, with that text.
    pub(super) fn push(&mut self, token: TokenId, text: impl Into<Cow<'a, str>>, gap: Gap) {
        self.replace(token, text, self.tree.token(token).kind, gap);
    }

    /// Prints another token in place of one.
    pub(super) fn replace(
        &mut self,
        token: TokenId,
        text: impl Into<Cow<'a, str>>,
        kind: TokenKind,
        gap: Gap,
    ) {
        self.pass(token.0);
        self.cursor = self.cursor.max(token.0 + 1);
        self.add(text.into(), kind, gap, self.tree.token(token).starts_line);
    }

    /// Prints a token that is not in the source.
    pub(super) fn insert(&mut self, text: impl Into<Cow<'a, str>>, kind: TokenKind, gap: Gap) {
        self.add(text.into(), kind, gap, false);
    }

    fn add(&mut self, text: Cow<'a, str>, kind: TokenKind, gap: Gap, starts_line: bool) {
        let comments = std::mem::take(&mut self.pending);
        let blank_before = std::mem::take(&mut self.blank);
        self.atoms.push(Atom { text, kind, gap, comments, starts_line, blank_before });
    }

    /// The kind of the last atom.
    pub(super) fn last(&self) -> Option<TokenKind> {
        self.atoms.last().map(|atom| atom.kind)
    }

    /// Everything so far is leading annotations.
    pub(super) fn end_lead(&mut self) {
        self.lead = self.atoms.len();
    }

    /// Whether nothing stands behind the leading annotations yet.
    pub(super) fn is_at_body(&self) -> bool {
        self.atoms.len() == self.lead
    }

    /// The atoms since the last unit, as a unit.
    pub(super) fn unit(&mut self, lines: Lines) -> Unit<'a> {
        let mut atoms = std::mem::take(&mut self.atoms);
        hoist(&mut atoms);
        if let Some(first) = atoms.first_mut() {
            first.comments.append(&mut self.aside);
        }
        let lead = std::mem::take(&mut self.lead);
        Unit { atoms, lead, lines, verbatim: None, separated: false }
    }

    /// Takes the last atom back; its comments wait for the next.
    pub(super) fn take_back(&mut self) {
        if let Some(atom) = self.atoms.pop() {
            self.pending.splice(0..0, atom.comments);
        }
    }

    /// The atom that closes a block.
    pub(super) fn closing(&mut self) -> Option<Atom<'a>> {
        self.atoms.pop()
    }

    /// A part of the source as it stands.
    pub(super) fn verbatim(&mut self, range: Range<u32>) -> Unit<'a> {
        self.left_broken = true;
        let text = self.source(&range);
        let starts_line = self.tree.token(TokenId(range.start)).starts_line;
        self.pass(range.start);
        self.cursor = self.cursor.max(range.end);
        self.add(text, TokenKind::Unknown, Gap::Space, starts_line);
        Unit { verbatim: Some(range), ..self.unit(Lines::Join) }
    }

    fn source(&self, range: &Range<u32>) -> Cow<'a, str> {
        let start = self.tree.token(TokenId(range.start)).start as usize;
        let end = self.tree.token(TokenId(range.end)).start as usize;
        let text = self.tree.text.get(start..end).unwrap_or_default();
        plain_line_ends(text)
    }

    /// Comments behind everything.
    pub(super) fn rest(&mut self) -> Vec<Comment<'a>> {
        self.pass(self.tree.token_count());
        std::mem::take(&mut self.pending)
    }

    /// Whether a node was parsed in full, from characters that all mean something.
    pub(super) fn is_sound(&self, node: NodeId) -> bool {
        let tokens = self.tree.token_range(node);
        !self.tree.is_broken(node) && tokens.map(TokenId).all(|token| self.is_sound_token(token))
    }

    pub(super) fn is_sound_token(&self, token: TokenId) -> bool {
        match self.tree.token(token).kind {
            TokenKind::Unknown => false,
            TokenKind::Text | TokenKind::DoubleText | TokenKind::QuotedWord => {
                is_closed(self.tree.token_text(token))
            }
            _other => true,
        }
    }

    pub(super) fn first_kind(&self, node: NodeId) -> TokenKind {
        self.tree.token(TokenId(self.tree.token_range(node).start)).kind
    }

    pub(super) fn is_kind(&self, node: NodeId, kind: NodeKind) -> bool {
        self.tree.kind(node) == kind
    }
}

/// Text with `\n` as its line ends. What is left of several carriage returns would make another such end.
pub(super) fn plain_line_ends(text: &str) -> Cow<'_, str> {
    if !text.contains("\r\n") {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let last = lines.len() - 1;
    let ended = lines.iter().enumerate();
    let plain: Vec<&str> =
        ended.map(|(at, line)| if at == last { line } else { line.trim_end_matches('\r') }).collect();
    Cow::Owned(plain.join("\n"))
}

/// Whether a quoted token has its closing quote: an odd number of quotes follows the opening one.
fn is_closed(text: &str) -> bool {
    let Some(quote) = text.chars().next() else { return false };
    text.ends_with(quote) && text.chars().skip(1).filter(|c| *c == quote).count() % 2 == 1
}

/// Moves comments that would break a line where none may be to the start of their clause.
///
/// A comment ends its line, so what follows it starts one. If it started one in the source, that is no change;
/// behind a `/* … */` in the midst of a line it would be, and so it would where a rewriting made a name look
/// like the start of a declaration. Comments before it in the clause move along, to keep their order.
fn hoist(atoms: &mut [Atom<'_>]) {
    let mut anchor = 0;
    // Behind the anchor there are no comments before this one.
    let mut from = 1;
    for at in 1..atoms.len() {
        let Some(atom) = atoms.get(at) else { return };
        if matches!(atom.gap, Gap::Clause | Gap::Kept | Gap::Lead) {
            (anchor, from) = (at, at + 1);
        } else if !atom.comments.is_empty() && (!atom.starts_line || ends_statement(atoms, at)) {
            let passed = atoms.get_mut(from..=at).into_iter().flatten();
            let comments: Vec<Comment<'_>> =
                passed.flat_map(|atom| std::mem::take(&mut atom.comments)).collect();
            if let Some(start) = atoms.get_mut(anchor) {
                let own_line = comments.into_iter().map(|comment| Comment { trailing: false, ..comment });
                start.comments.extend(own_line);
            }
            from = at + 1;
        }
    }
}
