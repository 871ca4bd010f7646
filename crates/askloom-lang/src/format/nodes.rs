//! Any node, token by token: how each is spelled and what stands before it.

use super::atom::Gap;
use super::builder::Builder;
use super::conversion::{Quoted, number};
use crate::syntax::ast::unquote;
use crate::syntax::{Element, Keyword, NodeId, NodeKind, TokenId, TokenKind};
use std::borrow::Cow;

impl<'a> Builder<'_, 'a> {
    pub(super) fn node(&mut self, node: NodeId, gap: Gap) {
        match self.tree.kind(node) {
            NodeKind::Annotation if self.conversion.is_foreign(self.tree, node) => self.comment_out(node),
            NodeKind::Positional => self.by_position(node, gap),
            NodeKind::Or | NodeKind::And => self.junction(node, gap),
            NodeKind::Paren | NodeKind::InList => {
                self.depth += 1;
                self.elements(node, gap);
                self.depth -= 1;
            }
            NodeKind::Compare | NodeKind::Between | NodeKind::In | NodeKind::Assignment => {
                let beside = self.conversion.quoted_beside(self.tree, node);
                let outer = std::mem::replace(&mut self.expected, beside);
                self.elements(node, gap);
                self.expected = outer;
            }
            _other => self.elements(node, gap),
        }
    }

    /// The children and tokens of a node, in order.
    pub(super) fn elements(&mut self, node: NodeId, first: Gap) {
        let mut first = Some(first);
        for element in self.tree.elements(node) {
            let gap = first.take().unwrap_or_else(|| self.gap(node, element));
            self.element(node, element, gap);
        }
    }

    pub(super) fn element(&mut self, parent: NodeId, element: Element, gap: Gap) {
        match element {
            Element::Token(token) => self.token(parent, token, gap),
            Element::Node(node) => self.node(node, gap),
        }
    }

    fn token(&mut self, parent: NodeId, token: TokenId, gap: Gap) {
        let parent = self.tree.kind(parent);
        let text = self.tree.token_text(token);
        let facts = self.tree.token(token);
        match (facts.kind, facts.keyword) {
            (TokenKind::Word, Some(Keyword::OrderBy)) if is_keyword_place(parent) => {
                self.push(token, "ORDER", gap);
                self.insert("BY", TokenKind::Word, Gap::Space);
            }
            (TokenKind::Word, Some(keyword)) if is_keyword_place(parent) => {
                self.push(token, self.keyword_text(parent, keyword), gap);
            }
            (TokenKind::Word, Some(_)) if parent == NodeKind::Literal => {
                self.push(token, text.to_ascii_lowercase(), gap);
            }
            (TokenKind::Word | TokenKind::QuotedWord, _) if self.converts_type => {
                self.type_word(token, gap);
            }
            (TokenKind::Text | TokenKind::DoubleText, _) => self.quoted(parent, token, gap),
            (TokenKind::NotEqual, _) => self.push(token, "!=", gap),
            _as_it_is => self.push(token, text, gap),
        }
    }

    fn keyword_text(&self, parent: NodeKind, keyword: Keyword) -> Cow<'a, str> {
        let lower = match parent {
            NodeKind::OnDelete | NodeKind::CollectionAs | NodeKind::Represent => true,
            NodeKind::OrderTerm | NodeKind::WhereClause => self.given,
            _other => false,
        };
        match keyword {
            Keyword::Of if parent == NodeKind::Within => Cow::Borrowed("OF"),
            keyword if lower => Cow::Owned(keyword.canonical().to_ascii_lowercase()),
            keyword => Cow::Borrowed(keyword.canonical()),
        }
    }

    /// The word of a type; if it is an enum, names follow.
    fn type_word(&mut self, token: TokenId, gap: Gap) {
        self.converts_type = false;
        let word = self.tree.ident(token).text;
        match self.conversion.type_word(word) {
            same if same == word => self.push(token, self.tree.token_text(token), gap),
            canonical => self.push(token, canonical, gap),
        }
    }

    /// A text in the quotes of its place: paths of files and names in a store are in double quotes.
    fn quoted(&mut self, parent: NodeKind, token: TokenId, gap: Gap) {
        let text = self.tree.token_text(token);
        let double = matches!(parent, NodeKind::Import | NodeKind::CollectionAs);
        let inner = unquote(text);
        match (self.expected, double) {
            (Some(Quoted::Number), _) if number(&inner).is_some() => self.unquoted_number(token, &inner, gap),
            (Some(Quoted::Bool), _) if is_bool(&inner) => {
                self.replace(token, inner.to_ascii_lowercase(), TokenKind::Word, gap);
            }
            (_, true) if text.starts_with('\'') => {
                self.push(token, format!("\"{}\"", inner.replace('"', "\"\"")), gap);
            }
            (_, false) if text.starts_with('"') => {
                self.push(token, format!("'{}'", inner.replace('\'', "''")), gap);
            }
            _right => self.push(token, text, gap),
        }
    }

    fn unquoted_number(&mut self, token: TokenId, text: &str, gap: Gap) {
        match number(text) {
            Some((true, digits)) => {
                self.replace(token, "-", TokenKind::Minus, gap);
                self.insert(digits.to_owned(), TokenKind::Number, Gap::Tight);
            }
            _positive => self.replace(token, text.to_owned(), TokenKind::Number, gap),
        }
    }

    /// `?`, `"?"` and `"?1"` by the names that they have.
    fn by_position(&mut self, node: NodeId, gap: Gap) {
        let Some(positional) = &self.positional else { return self.elements_as_they_are(node, gap) };
        let name = quote_name(positional.name(node));
        let tokens = self.tree.token_range(node);
        self.replace(TokenId(tokens.start), ":", TokenKind::Colon, gap);
        self.pass(tokens.end);
        self.insert(name, TokenKind::Word, Gap::Tight);
    }

    /// Outside of a statement nothing is a parameter, and the check says so.
    fn elements_as_they_are(&mut self, node: NodeId, gap: Gap) {
        let mut gap = gap;
        for token in self.tree.own_tokens(node) {
            self.push(token, self.tree.token_text(token), gap);
            gap = Gap::Tight;
        }
    }

    /// AND and OR. In GDM it is OR that binds tighter, which here takes parentheses.
    fn junction(&mut self, node: NodeId, gap: Gap) {
        let mut gap = gap;
        for element in self.tree.elements(node) {
            match element {
                Element::Node(child) if self.needs_parentheses(node, child) => {
                    self.insert("(", TokenKind::LeftParen, gap);
                    self.depth += 1;
                    self.node(child, Gap::Tight);
                    self.depth -= 1;
                    self.insert(")", TokenKind::RightParen, Gap::Tight);
                }
                Element::Node(child) => self.node(child, gap),
                Element::Token(token) => {
                    self.token(node, token, self.fill(self.is_kind(node, NodeKind::And)))
                }
            }
            gap = Gap::Space;
        }
    }

    fn needs_parentheses(&self, parent: NodeId, child: NodeId) -> bool {
        self.tree.dialect.or_binds_tighter()
            && self.is_kind(parent, NodeKind::And)
            && self.is_kind(child, NodeKind::Or)
    }

    /// Lines break at OR rather than at AND, at AND rather than in a list, outside of parentheses rather than inside.
    fn fill(&self, and: bool) -> Gap {
        Gap::Fill(self.depth.saturating_mul(3).saturating_add(u16::from(and)))
    }

    /// What stands before an element that is not the first of its node.
    pub(super) fn gap(&self, parent: NodeId, element: Element) -> Gap {
        let kind = self.tree.kind(parent);
        match element {
            Element::Token(token) => match self.tree.token(token).keyword {
                Some(Keyword::Set) if kind == NodeKind::Update => Gap::Soft,
                Some(_) | None => self.gap_before(kind, self.tree.token(token).kind, true),
            },
            Element::Node(node) => match self.tree.kind(node) {
                NodeKind::Cardinality | NodeKind::RuleStep => Gap::Tight,
                // At the start of a line it would describe what follows.
                NodeKind::Annotation if is_predicate(kind) => Gap::Space,
                NodeKind::Annotation | NodeKind::DefaultValue => Gap::Apart,
                NodeKind::SelectClause
                | NodeKind::FromClause
                | NodeKind::JoinClause
                | NodeKind::WhereClause
                | NodeKind::GroupByClause
                | NodeKind::OrderByClause
                | NodeKind::PerGroupClause
                | NodeKind::LimitClause
                | NodeKind::PageClause => Gap::Clause,
                child if is_statement(child) => Gap::Clause,
                _other => self.gap_before(kind, self.first_kind(node), false),
            },
        }
    }

    /// `own`: the token belongs to the parent itself, so that a colon is not that of a parameter.
    fn gap_before(&self, parent: NodeKind, next: TokenKind, own: bool) -> Gap {
        use TokenKind as T;
        match self.last() {
            Some(T::LeftParen | T::LeftBracket | T::LeftBrace | T::Dot | T::DotDot | T::At | T::Slash) => {
                return Gap::Tight;
            }
            Some(T::Colon) if parent == NodeKind::Parameter => return Gap::Tight,
            Some(T::Minus | T::Plus)
                if matches!(parent, NodeKind::Literal | NodeKind::AnnotationArgument) =>
            {
                return Gap::Tight;
            }
            Some(T::Comma) if parent == NodeKind::Annotation => return Gap::Space,
            Some(T::Comma) => return Gap::Fill(self.depth.saturating_mul(3).saturating_add(2)),
            Some(_) | None => {}
        }
        match next {
            T::Comma | T::RightParen | T::RightBracket | T::RightBrace | T::Dot | T::DotDot => Gap::Tight,
            T::Semicolon | T::LeftBracket | T::Percent | T::Slash => Gap::Tight,
            T::Colon if own => Gap::Tight,
            T::Arrow => Gap::Fill(0),
            T::LeftParen if own && is_called(parent) => Gap::Tight,
            _other => Gap::Space,
        }
    }
}

/// Whether a bare word among the tokens of such a node is a keyword, not a name.
fn is_keyword_place(parent: NodeKind) -> bool {
    !matches!(
        parent,
        NodeKind::Name
            | NodeKind::Path
            | NodeKind::TypeName
            | NodeKind::Parameter
            | NodeKind::RuleStep
            | NodeKind::WorkloadEntry
            | NodeKind::AnnotationArgument
            | NodeKind::Call
            | NodeKind::Bucket
            | NodeKind::Literal
    )
}

fn is_predicate(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Compare
            | NodeKind::Between
            | NodeKind::In
            | NodeKind::StartsWith
            | NodeKind::IsNull
            | NodeKind::Matches
            | NodeKind::Under
            | NodeKind::Above
            | NodeKind::Within
            | NodeKind::InBox
    )
}

/// The statements of a write.
pub(super) fn is_statement(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Insert
            | NodeKind::Upsert
            | NodeKind::Store
            | NodeKind::Update
            | NodeKind::Delete
            | NodeKind::Add
            | NodeKind::Remove
            | NodeKind::Connect
            | NodeKind::Disconnect
    )
}

/// Whether a parenthesis belongs to the word before it.
fn is_called(parent: NodeKind) -> bool {
    matches!(
        parent,
        NodeKind::Annotation | NodeKind::TypeName | NodeKind::Call | NodeKind::Aggregate | NodeKind::Bucket
    )
}

fn is_bool(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

/// A name, in back-quotes if it is not a word.
fn quote_name(name: &str) -> String {
    let word = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if word { name.to_owned() } else { format!("`{name}`") }
}
