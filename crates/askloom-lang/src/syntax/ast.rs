//! What a node says, read off the tree: names, paths, literals. Nothing is copied that need not be.

use super::{Keyword, NodeId, NodeKind, TokenId, TokenKind, Tree};
use askloom_model::Span;
use std::borrow::Cow;

/// A name as it stands in the text, without its back-quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ident<'a> {
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

/// `a.b.c` or `a.b.*`
#[derive(Debug, Clone)]
pub(crate) struct PathText<'a> {
    pub(crate) segments: Vec<Ident<'a>>,
    pub(crate) star: bool,
    pub(crate) span: Span,
}

impl PathText<'_> {
    pub(crate) fn joined(&self, with: &str) -> String {
        self.segments.iter().map(|segment| segment.text).collect::<Vec<_>>().join(with)
    }
}

/// A literal, not yet of any type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LiteralText<'a> {
    Null,
    Bool(bool),
    /// With its sign, as written.
    Number {
        negative: bool,
        digits: &'a str,
    },
    Text(Cow<'a, str>),
}

impl<'a> Tree<'a> {
    pub(crate) fn ident(&self, token: TokenId) -> Ident<'a> {
        let text = self.token_text(token);
        let text = match self.token(token).kind {
            TokenKind::QuotedWord => text.trim_matches('`'),
            _word => text,
        };
        Ident { text, span: self.token_span(token) }
    }

    /// The declared name of a node.
    pub(crate) fn name(&self, node: NodeId) -> Option<Ident<'a>> {
        let name = self.child(node, NodeKind::Name)?;
        self.tokens(name).next().map(|token| self.ident(token))
    }

    /// The first word of a node itself, as in a type's name.
    pub(crate) fn word(&self, node: NodeId) -> Option<Ident<'a>> {
        self.own_tokens(node).find(|&token| self.token(token).kind.is_name()).map(|token| self.ident(token))
    }

    pub(crate) fn path(&self, node: NodeId) -> PathText<'a> {
        let mut segments = Vec::new();
        let mut star = false;
        for token in self.own_tokens(node) {
            match self.token(token).kind {
                TokenKind::Word | TokenKind::QuotedWord => segments.push(self.ident(token)),
                TokenKind::Star => star = true,
                _dot => {}
            }
        }
        PathText { segments, star, span: self.span(node) }
    }

    /// The path below a node, if it has one.
    pub(crate) fn path_in(&self, node: NodeId) -> Option<PathText<'a>> {
        self.child(node, NodeKind::Path).map(|path| self.path(path))
    }

    /// What a statement of a write is about, and the value it carries: told apart by their order, since a value that
    /// lacks its colon looks like a path, too.
    pub(crate) fn target_and_value(&self, node: NodeId) -> (Option<NodeId>, Option<NodeId>) {
        let mut children = self.children(node).filter(|&child| self.kind(child) != NodeKind::WhereClause);
        let (first, second) = (children.next(), children.next());
        let is_path = |node: &NodeId| self.kind(*node) == NodeKind::Path;
        match self.kind(node) {
            NodeKind::Add => (second.filter(is_path), first),
            _target_first => (first.filter(is_path), second),
        }
    }

    pub(crate) fn literal(&self, node: NodeId) -> Option<LiteralText<'a>> {
        let mut negative = false;
        for token in self.own_tokens(node) {
            let text = self.token_text(token);
            match self.token(token).kind {
                TokenKind::Minus => negative = true,
                TokenKind::Number => return Some(LiteralText::Number { negative, digits: text }),
                TokenKind::Text | TokenKind::DoubleText => return Some(LiteralText::Text(unquote(text))),
                TokenKind::Word => return literal_word(self.token(token).keyword),
                _other => {}
            }
        }
        None
    }

    /// The text literal below an import or an `as`.
    pub(crate) fn own_text(&self, node: NodeId) -> Option<(Cow<'a, str>, Span)> {
        let is_text = |kind| matches!(kind, TokenKind::Text | TokenKind::DoubleText);
        let token = self.own_tokens(node).find(|&token| is_text(self.token(token).kind))?;
        Some((unquote(self.token_text(token)), self.token_span(token)))
    }

    /// The name of a `:parameter`.
    pub(crate) fn parameter_name(&self, node: NodeId) -> Option<&'a str> {
        self.word(node).map(|word| word.text)
    }
}

fn literal_word<'a>(keyword: Option<Keyword>) -> Option<LiteralText<'a>> {
    match keyword? {
        Keyword::True => Some(LiteralText::Bool(true)),
        Keyword::False => Some(LiteralText::Bool(false)),
        Keyword::Null => Some(LiteralText::Null),
        _other => None,
    }
}

/// Takes the quotes off, and makes doubled ones single.
pub(crate) fn unquote(text: &str) -> Cow<'_, str> {
    let Some(quote) = text.chars().next() else { return Cow::Borrowed(text) };
    let inner = text.strip_prefix(quote).unwrap_or(text);
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    let doubled: String = [quote, quote].iter().collect();
    if inner.contains(&doubled) {
        Cow::Owned(inner.replace(&doubled, &quote.to_string()))
    } else {
        Cow::Borrowed(inner)
    }
}
