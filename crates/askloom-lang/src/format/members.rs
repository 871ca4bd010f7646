//! Attributes and relationships. In `.loom` they stand in their order already; a dialect's are put into it.

use super::atom::{Gap, Lines, Unit};
use super::builder::Builder;
use super::nodes::is_statement;
use crate::syntax::{Element, Keyword, NodeId, NodeKind, TokenId, TokenKind};

/// The parts of a dialect's member, wherever they stood.
#[derive(Default)]
struct Parts {
    annotations: Vec<NodeId>,
    /// Modifiers, and `ref`, `has` or `part`.
    words: Vec<TokenId>,
    name: Option<NodeId>,
    target: Option<NodeId>,
    cardinalities: Vec<NodeId>,
    tail: Vec<NodeId>,
    unique_behind: bool,
}

impl<'a> Builder<'_, 'a> {
    /// A member of a block, which has to be sound.
    pub(super) fn member(&mut self, node: NodeId) -> Unit<'a> {
        let kind = self.tree.kind(node);
        if matches!(kind, NodeKind::Attribute | NodeKind::Relationship) && self.conversion.is_needed() {
            self.converted(node);
        } else {
            self.annotated(node);
        }
        self.unit(if is_statement(kind) { Lines::Keep } else { Lines::Join })
    }

    /// A node that may start with annotations.
    pub(super) fn annotated(&mut self, node: NodeId) {
        let mut leading = true;
        for element in self.tree.elements(node) {
            self.after_annotations(node, element, &mut leading);
        }
    }

    /// One element of such a node; `leading` as long as there were only annotations.
    pub(super) fn after_annotations(&mut self, node: NodeId, element: Element, leading: &mut bool) {
        let annotation = matches!(element, Element::Node(node) if self.is_kind(node, NodeKind::Annotation));
        let gap = match (*leading, annotation) {
            (true, true) => Gap::Lead,
            (true, false) => {
                *leading = false;
                self.end_lead();
                Gap::Kept
            }
            (false, _) => self.gap(node, element),
        };
        self.element(node, element, gap);
    }

    fn converted(&mut self, node: NodeId) {
        let parts = self.parts(node);
        self.expected = self.conversion.quoted_type(self.tree, node);
        // Reordering sets the comments aside; the annotations in front have kept their place.
        for &annotation in &parts.annotations {
            self.node(annotation, Gap::Lead);
        }
        self.end_lead();
        self.reorder(node);
        self.modifiers(node, &parts);
        if let Some(name) = parts.name {
            self.node(name, self.gap_in_head());
        }
        self.insert(":", TokenKind::Colon, Gap::Tight);
        self.converts_type = self.is_kind(node, NodeKind::Attribute);
        match parts.target {
            Some(target) => self.node(target, Gap::Space),
            None => self.insert("text", TokenKind::Word, Gap::Space),
        }
        self.converts_type = false;
        for &cardinality in &parts.cardinalities {
            if !self.is_plain_one(node, cardinality) {
                self.node(cardinality, Gap::Tight);
            }
        }
        for &part in &parts.tail {
            self.node(part, self.gap(node, Element::Node(part)));
        }
        self.expected = None;
        let lead_end = parts.annotations.last().map(|&last| self.tree.token_range(last).end);
        let body = self.tree.token_range(node);
        let mut tokens =
            (lead_end.unwrap_or(body.start)..body.end).map(|index| self.tree.token(TokenId(index)));
        let first = tokens.find(|token| !token.kind.is_trivia());
        self.body_starts_line(first.is_some_and(|token| token.starts_line));
    }

    fn parts(&self, node: NodeId) -> Parts {
        let mut parts = Parts::default();
        for element in self.tree.elements(node) {
            let begun = parts.name.is_some() || parts.target.is_some();
            match element {
                Element::Token(token) => match self.tree.token(token).keyword {
                    Some(Keyword::Unique) if begun => parts.unique_behind = true,
                    Some(_) if !begun => parts.words.push(token),
                    _colon => {}
                },
                Element::Node(child) => match self.tree.kind(child) {
                    NodeKind::Annotation if !begun && parts.words.is_empty() => parts.annotations.push(child),
                    NodeKind::Name => parts.name = Some(child),
                    NodeKind::TypeName => parts.target = Some(child),
                    NodeKind::Cardinality => parts.cardinalities.push(child),
                    _tail => parts.tail.push(child),
                },
            }
        }
        parts
    }

    /// The modifiers. An identifier is unique as it is.
    fn modifiers(&mut self, node: NodeId, parts: &Parts) {
        let identifies = self.tree.has_keyword(node, Keyword::Id);
        for &token in &parts.words {
            let Some(keyword) = self.tree.token(token).keyword else { continue };
            self.push(token, keyword.canonical(), self.gap_in_head());
        }
        let said = parts.words.iter().any(|&word| self.tree.token(word).keyword == Some(Keyword::Unique));
        let by_type = self.is_kind(node, NodeKind::Attribute)
            && parts.target.and_then(|ty| self.tree.word(ty)).is_some_and(|word| is_unique(word.text));
        if (by_type || parts.unique_behind) && !identifies && !said {
            self.insert("unique", TokenKind::Word, self.gap_in_head());
        }
    }

    fn gap_in_head(&self) -> Gap {
        if self.is_at_body() { Gap::Kept } else { Gap::Space }
    }

    /// `[1]` of a relationship, which goes without saying.
    fn is_plain_one(&self, member: NodeId, cardinality: NodeId) -> bool {
        let mut tokens = self.tree.own_tokens(cardinality).map(|token| self.tree.token_text(token));
        self.is_kind(member, NodeKind::Relationship)
            && [tokens.next(), tokens.next(), tokens.next()] == [Some("["), Some("1"), Some("]")]
    }
}

fn is_unique(word: &str) -> bool {
    word.eq_ignore_ascii_case("unique")
}
