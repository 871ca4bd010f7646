//! Paths, literals, parameters, calls: what conditions and assignments are made of.

use super::Parser;
use crate::syntax::{Keyword, NodeKind, TokenKind};

impl Parser<'_, '_> {
    /// `a.b.c`, with `.*` at the end where the caller allows it.
    pub(super) fn path(&mut self, what: &str) -> bool {
        let started = self.start();
        if !self.takes_name() {
            self.builder.abandon(&started);
            self.expected(what);
            return false;
        }
        self.bump();
        while self.sees(TokenKind::Dot) {
            self.bump();
            if self.is_name(0) || self.sees(TokenKind::Star) {
                self.bump();
            } else {
                self.expected("a name after the dot");
                break;
            }
        }
        self.finish(&started, NodeKind::Path);
        true
    }

    /// One value. False, with an error said, if there is none.
    pub(super) fn operand(&mut self) -> bool {
        let started = self.start();
        let kind = match self.kind(0) {
            TokenKind::Number | TokenKind::Text => self.one(NodeKind::Literal),
            TokenKind::DoubleText if is_positional(self.text_ahead(0)) => self.one(NodeKind::Positional),
            TokenKind::DoubleText => self.one(NodeKind::Literal),
            TokenKind::Minus if self.kind(1) == TokenKind::Number => {
                self.bump();
                self.one(NodeKind::Literal)
            }
            TokenKind::Question => self.question(),
            TokenKind::Colon => self.parameter(),
            TokenKind::Word | TokenKind::QuotedWord => {
                self.builder.abandon(&started);
                return self.word_operand();
            }
            _no_operand => {
                self.builder.abandon(&started);
                self.expected("a value, a path or a parameter");
                return false;
            }
        };
        self.finish(&started, kind);
        true
    }

    fn one(&mut self, kind: NodeKind) -> NodeKind {
        self.bump();
        kind
    }

    /// `?` or `?1`
    fn question(&mut self) -> NodeKind {
        self.bump();
        if self.sees(TokenKind::Number) && self.span_before().end == self.span_here().start {
            self.bump();
        }
        NodeKind::Positional
    }

    fn parameter(&mut self) -> NodeKind {
        self.bump();
        if self.is_name(0) {
            self.bump();
        } else {
            self.expected("the name of a parameter after `:`");
        }
        NodeKind::Parameter
    }

    fn word_operand(&mut self) -> bool {
        let literal = matches!(self.keyword(0), Some(Keyword::True | Keyword::False | Keyword::Null));
        if literal && self.kind(1) != TokenKind::Dot {
            let started = self.start();
            self.bump();
            self.finish(&started, NodeKind::Literal);
            return true;
        }
        if self.kind(1) == TokenKind::LeftParen {
            return match self.keyword(0).is_some_and(Keyword::is_aggregate) {
                true => self.aggregate(),
                false => self.call(),
            };
        }
        if self.is_reserved_here() {
            self.expected("a value, a path or a parameter");
            return false;
        }
        self.path("a value, a path or a parameter")
    }

    /// A clause keyword where a value is due is a clause, unless what follows shows that it is a name.
    pub(super) fn is_reserved_here(&self) -> bool {
        let Some(keyword) = self.keyword(0) else { return false };
        let reserved = keyword.is_clause()
            || matches!(keyword, Keyword::And | Keyword::Or | Keyword::Not | Keyword::As | Keyword::By);
        if !reserved {
            return false;
        }
        let follows_name = match self.kind(1) {
            TokenKind::Dot | TokenKind::Comma | TokenKind::RightParen => true,
            TokenKind::Equal | TokenKind::NotEqual | TokenKind::Less => true,
            TokenKind::LessOrEqual | TokenKind::Greater | TokenKind::GreaterOrEqual => true,
            _other => matches!(
                self.keyword(1),
                Some(
                    Keyword::As
                        | Keyword::From
                        | Keyword::Asc
                        | Keyword::Desc
                        | Keyword::Between
                        | Keyword::In
                        | Keyword::Is
                        | Keyword::Starts
                )
            ),
        };
        !follows_name
    }

    /// `now()`, `uuid()`
    fn call(&mut self) -> bool {
        let started = self.start();
        self.bump();
        let open = self.span_here();
        self.bump();
        if !self.eat(TokenKind::RightParen) {
            self.unclosed(open, ")");
        }
        self.finish(&started, NodeKind::Call);
        true
    }

    /// `COUNT(*)`, `SUM(x)`, `COUNT(DISTINCT x)`
    pub(super) fn aggregate(&mut self) -> bool {
        let started = self.start();
        self.bump();
        let open = self.span_here();
        self.bump();
        if self.sees_keyword(Keyword::Distinct) && self.is_name(1) {
            self.bump();
        }
        if !self.eat(TokenKind::Star) {
            self.path("a path or `*`");
        }
        if !self.eat(TokenKind::RightParen) {
            self.unclosed(open, ")");
        }
        self.finish(&started, NodeKind::Aggregate);
        true
    }
}

/// `"?"` and `"?1"` are parameters, as the published dialects write them.
pub(crate) fn is_positional(text: &str) -> bool {
    let inner = text.trim_matches('"');
    inner.strip_prefix('?').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}
