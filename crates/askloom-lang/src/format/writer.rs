//! The text, line by line.

use super::atom::{Atom, Comment, would_merge};
use super::tokens::Tokens;
use crate::syntax::TokenKind;

/// What a unit wants above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blank {
    /// No blank line: the first in a block.
    Never,
    /// One where there was one.
    Kept,
    /// One in any case.
    Always,
}

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) text: String,
    pub(super) tokens: Tokens,
    indent: usize,
    /// How wide the line is so far.
    pub(super) column: usize,
    /// Nothing stands on the line yet.
    fresh: bool,
    after_comment: bool,
    /// What was printed last.
    last: TokenKind,
}

impl Writer {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            text: String::with_capacity(capacity),
            tokens: Tokens::default(),
            indent: 0,
            column: 0,
            fresh: true,
            after_comment: false,
            last: TokenKind::End,
        }
    }

    /// Starts a line, unless this one is empty.
    pub(super) fn line(&mut self, indent: usize) {
        if !self.fresh {
            self.text.push('\n');
        }
        (self.indent, self.column) = (indent, indent);
        (self.fresh, self.after_comment) = (true, false);
    }

    fn blank_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn put(&mut self, text: &str, width: usize) {
        if self.after_comment {
            self.line(self.indent);
        }
        if self.fresh {
            self.text.extend(std::iter::repeat_n(' ', self.indent));
            self.fresh = false;
        }
        self.text.push_str(text);
        self.column += width;
    }

    pub(super) fn separator(&mut self, text: &str) {
        self.put(text, text.len());
    }

    /// An atom, behind a space if it wants one.
    pub(super) fn atom(&mut self, atom: &Atom<'_>, space: bool) {
        let begun = !self.fresh && !self.after_comment;
        if begun && (space || would_merge(self.last, &self.text, &atom.text)) {
            self.text.push(' ');
            self.column += 1;
        }
        self.put(&atom.text, atom.width());
        self.last = atom.kind;
        self.tokens.add(atom.kind, &atom.text);
    }

    /// A part of the source, of several lines perhaps.
    pub(super) fn verbatim(&mut self, atom: &Atom<'_>) {
        self.put(&atom.text, 0);
    }

    /// Comments, each on its own line but those that stand behind something.
    pub(super) fn comments(&mut self, comments: &[Comment<'_>], indent: usize) {
        for comment in comments {
            self.comment(comment, indent, false);
        }
    }

    fn comment(&mut self, comment: &Comment<'_>, indent: usize, blank: bool) {
        if comment.trailing && !self.fresh && !self.after_comment {
            self.text.push(' ');
        } else {
            self.line(indent);
            if blank {
                self.blank_line();
            }
        }
        for line in comment.text.lines() {
            if self.after_comment {
                self.line(indent);
            }
            self.put(line, 0);
            self.after_comment = true;
        }
    }

    /// The start of a unit: the comments above it, then a new line.
    pub(super) fn start(
        &mut self,
        comments: &[Comment<'_>],
        blank_before: bool,
        indent: usize,
        blank: Blank,
    ) {
        let has_blank = blank_before || comments.iter().any(|comment| comment.blank_before);
        let mut wanted = blank == Blank::Always && !has_blank;
        let mut never = blank == Blank::Never;
        for comment in comments {
            let own_line = !comment.trailing || self.fresh || self.after_comment;
            let above = own_line && !never && (wanted || comment.blank_before);
            self.comment(comment, indent, above);
            if own_line {
                (wanted, never) = (false, false);
            }
        }
        self.line(indent);
        if !never && (wanted || blank_before) {
            self.blank_line();
        }
    }

    pub(super) fn finish(&mut self) {
        if !self.fresh {
            self.text.push('\n');
            self.fresh = true;
        }
        // There a mark would be read as one of the byte order.
        if self.text.starts_with('\u{feff}') {
            self.text.insert(0, '\n');
        }
    }
}
