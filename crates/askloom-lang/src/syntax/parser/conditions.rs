//! WHERE: junctions, predicates, parentheses. The only part of the language that nests.

use super::Parser;
use crate::syntax::{Keyword, MAX_DEPTH, NodeKind, TokenKind};
use askloom_model::{Code, Diagnostic, Edit, Span};

/// AND and OR by how tightly they bind; in GDM it is the other way round.
#[derive(Clone, Copy)]
struct Junction {
    keyword: Keyword,
    kind: NodeKind,
}

const AND: Junction = Junction { keyword: Keyword::And, kind: NodeKind::And };
const OR: Junction = Junction { keyword: Keyword::Or, kind: NodeKind::Or };

impl Parser<'_, '_> {
    pub(super) fn condition(&mut self) {
        let (loose, tight) = if self.dialect.or_binds_tighter() { (AND, OR) } else { (OR, AND) };
        let started = self.start();
        let mut inner: Vec<Span> = self.tight_junction(tight).into_iter().collect();
        if !self.sees_keyword(loose.keyword) {
            return self.builder.abandon(&started);
        }
        while self.eat_keyword(loose.keyword) {
            inner.extend(self.tight_junction(tight));
        }
        self.finish(&started, loose.kind);
        if !inner.is_empty() {
            self.mixed(&inner);
        }
    }

    /// The span, if it joins more than one term.
    fn tight_junction(&mut self, tight: Junction) -> Option<Span> {
        let started = self.start();
        let from = self.span_here();
        self.unary();
        if !self.sees_keyword(tight.keyword) {
            self.builder.abandon(&started);
            return None;
        }
        while self.eat_keyword(tight.keyword) {
            self.unary();
        }
        self.finish(&started, tight.kind);
        Some(from.to(self.span_before()))
    }

    fn mixed(&mut self, inner: &[Span]) {
        let Some(&first) = inner.first() else { return };
        let edits = inner.iter().flat_map(|span| {
            let open = Edit { span: span.before(), text: "(".to_owned() };
            [open, Edit { span: span.after(), text: ")".to_owned() }]
        });
        self.diagnostics.push(
            Diagnostic::new(Code::MixedAndOr, first, "AND and OR are mixed without parentheses")
                .here("this is one term")
                .fix("write the parentheses", edits.collect()),
        );
    }

    fn unary(&mut self) {
        if self.depth >= MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        if self.sees_keyword(Keyword::Not) && !self.is_name_operand() {
            let started = self.start();
            self.bump();
            self.unary();
            self.finish(&started, NodeKind::Not);
        } else if self.sees(TokenKind::LeftParen) {
            self.parenthesis();
        } else {
            self.predicate();
        }
        self.depth -= 1;
    }

    /// A field called `not`: a comparison follows it.
    fn is_name_operand(&self) -> bool {
        !self.is_reserved_here()
    }

    fn parenthesis(&mut self) {
        let started = self.start();
        let open = self.span_here();
        self.bump();
        self.condition();
        if !self.eat(TokenKind::RightParen) {
            self.unclosed(open, ")");
        }
        self.finish(&started, NodeKind::Paren);
    }

    fn too_deep(&mut self) {
        self.mark_broken();
        self.error(|p| {
            let message = format!("conditions nest deeper than {MAX_DEPTH}");
            Diagnostic::new(Code::TooDeep, p.span_here(), message).hint("split the condition, or use IN (…)")
        });
        self.skip_until(Self::at_statement_end);
        // The parentheses that are open here are closed in what was stepped over.
        self.last_error = Some(self.at);
    }

    fn predicate(&mut self) {
        let started = self.start();
        let is_path = self.sees_path();
        if !self.operand() {
            self.skip_until(|p| p.at_condition_end());
            return self.finish(&started, NodeKind::Broken);
        }
        let negated = self.sees_keyword(Keyword::Not);
        let operator = usize::from(negated);
        let kind = match (self.kind(operator), self.keyword(operator)) {
            (_, Some(Keyword::Between)) => self.between(operator),
            (_, Some(Keyword::In)) => self.member_of(operator),
            (_, Some(Keyword::Starts)) => self.starts_with(operator),
            (_, Some(Keyword::Matches)) => self.word_operator(operator, NodeKind::Matches),
            (_, Some(Keyword::Under)) => self.word_operator(operator, NodeKind::Under),
            (_, Some(Keyword::Above)) => self.word_operator(operator, NodeKind::Above),
            (_, Some(Keyword::Within)) => self.within(operator),
            (_, Some(Keyword::Is)) if !negated => self.is_null(),
            (kind, _) if is_comparison(kind) && !negated => {
                self.bump();
                self.operand();
                NodeKind::Compare
            }
            // A path alone is a condition: only what it leads to tells whether it is a bool.
            _end if is_path && !negated && self.at_condition_end() && self.last_error != Some(self.at) => {
                return self.builder.abandon(&started);
            }
            _no_operator => {
                self.expected("a comparison, as in `= :value`");
                self.skip_until(|p| p.at_condition_end());
                NodeKind::Broken
            }
        };
        while self.says_how_many() {
            self.annotation();
        }
        self.finish(&started, kind);
    }

    /// Whether the operand that starts here is a path, not a literal or a call.
    fn sees_path(&self) -> bool {
        let word = matches!(self.kind(0), TokenKind::Word | TokenKind::QuotedWord);
        let literal = matches!(self.keyword(0), Some(Keyword::True | Keyword::False | Keyword::Null));
        word && self.kind(1) != TokenKind::LeftParen && (!literal || self.kind(1) == TokenKind::Dot)
    }

    /// `@rows` and `@selects` behind a comparison describe it; any other annotation describes the statement.
    fn says_how_many(&self) -> bool {
        let known = |name: &str| name.eq_ignore_ascii_case("rows") || name.eq_ignore_ascii_case("selects");
        self.sees(TokenKind::At) && !self.starts_line() && known(self.text_ahead(1))
    }

    /// Steps over an optional NOT and the operator's first word.
    fn take_operator(&mut self, operator: usize) {
        for _ in 0..=operator {
            self.bump();
        }
    }

    fn word_operator(&mut self, operator: usize, kind: NodeKind) -> NodeKind {
        self.take_operator(operator);
        self.operand();
        kind
    }

    fn between(&mut self, operator: usize) -> NodeKind {
        self.take_operator(operator);
        self.operand();
        self.expect_keyword(Keyword::And);
        self.operand();
        NodeKind::Between
    }

    fn starts_with(&mut self, operator: usize) -> NodeKind {
        self.take_operator(operator);
        self.expect_keyword(Keyword::With);
        self.operand();
        NodeKind::StartsWith
    }

    fn within(&mut self, operator: usize) -> NodeKind {
        self.take_operator(operator);
        self.operand();
        self.expect_keyword(Keyword::Km);
        self.expect_keyword(Keyword::Of);
        self.operand();
        NodeKind::Within
    }

    fn is_null(&mut self) -> NodeKind {
        self.bump();
        self.eat_keyword(Keyword::Not);
        self.expect_keyword(Keyword::Null);
        NodeKind::IsNull
    }

    /// `IN (a, b)`, `IN :list`, `IN BOX (:corner, :corner)`
    fn member_of(&mut self, operator: usize) -> NodeKind {
        self.take_operator(operator);
        if self.eat_keyword(Keyword::Box) {
            self.operand_list();
            return NodeKind::InBox;
        }
        if self.sees(TokenKind::LeftParen) {
            self.operand_list();
        } else {
            self.operand();
        }
        NodeKind::In
    }

    fn operand_list(&mut self) {
        let started = self.start();
        let open = self.span_here();
        if self.expect(TokenKind::LeftParen) {
            while !self.sees(TokenKind::RightParen) && self.operand() && self.eat(TokenKind::Comma) {}
            if !self.eat(TokenKind::RightParen) {
                self.unclosed(open, ")");
            }
        }
        self.finish(&started, NodeKind::InList);
    }

    fn at_condition_end(&self) -> bool {
        self.at_statement_end()
            || self.sees(TokenKind::RightParen)
            || self.keyword(0).is_some_and(|k| k.is_clause() || matches!(k, Keyword::And | Keyword::Or))
    }
}

fn is_comparison(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Equal
            | TokenKind::NotEqual
            | TokenKind::Less
            | TokenKind::LessOrEqual
            | TokenKind::Greater
            | TokenKind::GreaterOrEqual
    )
}
