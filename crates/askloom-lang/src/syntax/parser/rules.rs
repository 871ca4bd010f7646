//! Given collections, representations, invariants and workloads.

use super::Parser;
use crate::syntax::{Keyword, NodeKind, TokenKind};
use askloom_model::{Code, Diagnostic};

impl Parser<'_, '_> {
    /// `collection NAME of Entity { master; key …; sort … desc; keep …; where …; as "name" }`
    pub(super) fn collection(&mut self) -> NodeKind {
        self.statement_head("a name for the collection");
        self.expect_keyword(Keyword::Of);
        self.path("the entity that it holds");
        while self.eat(TokenKind::Comma) {
            self.path("another entity that it holds");
        }
        self.braced(Self::collection_member);
        NodeKind::Collection
    }

    fn collection_member(&mut self) -> bool {
        let started = self.start();
        let kind = match self.keyword(0) {
            Some(Keyword::Master) => {
                self.bump();
                NodeKind::CollectionMaster
            }
            Some(Keyword::Key) => {
                self.bump();
                self.comma_separated(Self::key_field);
                NodeKind::CollectionKey
            }
            Some(Keyword::Sort) => {
                self.bump();
                self.comma_separated(Self::sort_field);
                NodeKind::CollectionSort
            }
            Some(Keyword::Keep) => {
                self.bump();
                if !self.eat(TokenKind::Star) {
                    self.comma_separated(|p| p.path("a field to keep"));
                }
                NodeKind::CollectionKeep
            }
            Some(Keyword::Where) => {
                self.bump();
                self.condition();
                NodeKind::WhereClause
            }
            Some(Keyword::As) => {
                self.bump();
                if matches!(self.kind(0), TokenKind::Text | TokenKind::DoubleText) {
                    self.bump();
                } else {
                    self.expected("the name in the store, in quotes");
                }
                NodeKind::CollectionAs
            }
            Some(_) | None => {
                self.builder.abandon(&started);
                self.expected("`master`, `key`, `sort`, `keep`, `where` or `as`");
                return false;
            }
        };
        self.finish(&started, kind);
        true
    }

    /// A path, or a bucket of time: `day(at)`.
    fn key_field(&mut self) -> bool {
        if !(self.is_name(0) && self.kind(1) == TokenKind::LeftParen) {
            return self.path("a field of the key");
        }
        let started = self.start();
        self.bump();
        let open = self.span_here();
        self.bump();
        let ok = self.path("a timestamp");
        if !self.eat(TokenKind::RightParen) {
            self.unclosed(open, ")");
        }
        self.finish(&started, NodeKind::Bucket);
        ok
    }

    fn sort_field(&mut self) -> bool {
        let started = self.start();
        let ok = self.path("a field to sort by");
        if matches!(self.keyword(0), Some(Keyword::Asc | Keyword::Desc)) {
            self.bump();
        }
        self.finish(&started, NodeKind::OrderTerm);
        ok
    }

    /// `{ … }` with members that end with `;`, `,` or their line.
    fn braced(&mut self, mut member: impl FnMut(&mut Self) -> bool) {
        let open = self.span_here();
        if !self.expect(TokenKind::LeftBrace) {
            return;
        }
        loop {
            if self.eat(TokenKind::Semicolon) || self.eat(TokenKind::Comma) {
                continue;
            }
            if self.eat(TokenKind::RightBrace) {
                return;
            }
            if self.at_end() || self.starts_declaration() {
                return self.unclosed(open, "}");
            }
            let before = self.at;
            let ok = member(self);
            if !ok || !self.at_rule_end() {
                if ok {
                    self.expected("`;` or a new line");
                }
                self.skip_until(Self::at_rule_end);
            }
            self.ensure_progress(before);
        }
    }

    fn at_rule_end(&self) -> bool {
        matches!(
            self.kind(0),
            TokenKind::Semicolon
                | TokenKind::Comma
                | TokenKind::RightBrace
                | TokenKind::Slash
                | TokenKind::End
        ) || self.starts_line()
    }

    /// `represent Game as rounds { /Game/*/rounds[*] … }`
    pub(super) fn represent(&mut self) -> NodeKind {
        self.bump();
        if !self.eat(TokenKind::Star) {
            self.path("the entity that is represented, or `*`");
        }
        if self.eat_keyword(Keyword::As) {
            self.name("a name for the representation");
        }
        self.braced(Self::representation_rule);
        NodeKind::Represent
    }

    fn representation_rule(&mut self) -> bool {
        let started = self.start();
        if !self.sees(TokenKind::Slash) {
            self.builder.abandon(&started);
            self.expected("a rule, as in `/Game/*`");
            return false;
        }
        while self.sees(TokenKind::Slash) {
            self.bump();
            if !self.rule_step() {
                self.finish(&started, NodeKind::RepresentRule);
                return true;
            }
            // A slash that stands apart starts another rule.
            if self.starts_line() || self.span_before().end != self.span_here().start {
                break;
            }
        }
        self.finish(&started, NodeKind::RepresentRule);
        true
    }

    /// A name or `*`, each perhaps with `[*]`, or `**`.
    fn rule_step(&mut self) -> bool {
        let started = self.start();
        let step = self.is_name(0) || matches!(self.kind(0), TokenKind::Star | TokenKind::StarStar);
        if !step || self.starts_line() {
            self.builder.abandon(&started);
            self.mark_broken();
            self.error(|p| {
                let message = format!("expected a field, `*` or `**` after `/`, found {}", p.found());
                Diagnostic::new(Code::RuleMalformed, p.place(), message)
                    .hint("a rule is /Class/*/steps, as in `/Game/*/rounds[*]`")
            });
            return false;
        }
        self.bump();
        if self.sees(TokenKind::LeftBracket) {
            self.bump();
            self.expect(TokenKind::Star);
            self.expect(TokenKind::RightBracket);
        }
        self.finish(&started, NodeKind::RuleStep);
        true
    }

    /// `invariant name on Entity: path, path`
    pub(super) fn invariant(&mut self) -> NodeKind {
        self.statement_head("a name for the invariant");
        self.expect_keyword(Keyword::On);
        // The entity is a name, so that the paths are all the paths there are.
        self.name("the entity that it is about");
        self.expect(TokenKind::Colon);
        self.comma_separated(|p| p.path("a path that must change together with the others"));
        if !self.at_statement_end() {
            self.expected("the end of the invariant");
            self.skip_until(|p| p.starts_line() && p.at_statement_end());
        }
        self.eat(TokenKind::Semicolon);
        NodeKind::Invariant
    }

    /// `workload name { query 100, write 5/s }`
    pub(super) fn workload(&mut self) -> NodeKind {
        self.statement_head("a name for the workload");
        self.braced(Self::workload_entry);
        NodeKind::Workload
    }

    fn workload_entry(&mut self) -> bool {
        let started = self.start();
        if !self.name("the name of a query or write") {
            self.builder.abandon(&started);
            return false;
        }
        if self.expect(TokenKind::Number) && self.eat(TokenKind::Slash) {
            if self.is_name(0) {
                self.bump();
            } else {
                self.expected("a unit of time, as in `100/s`");
            }
        }
        self.finish(&started, NodeKind::WorkloadEntry);
        true
    }
}
