//! The inside of an entity or a value object.

use super::super::tree::Started;
use super::Parser;
use crate::Dialect;
use crate::syntax::{Keyword, NodeKind, TokenKind};
use crate::words;
use askloom_model::{Code, Diagnostic, Edit, Span};

impl Parser<'_, '_> {
    pub(super) fn class_body(&mut self) {
        let open = self.span_here();
        if !self.expect(TokenKind::LeftBrace) {
            return;
        }
        loop {
            if self.eat(TokenKind::Comma) || self.block_comment() {
                continue;
            }
            if self.eat(TokenKind::RightBrace) {
                return;
            }
            if self.at_end() || self.starts_declaration() {
                return self.unclosed(open, "}");
            }
            let before = self.at;
            self.member();
            self.separator();
            self.ensure_progress(before);
        }
    }

    /// Members are separated by line ends or commas.
    fn separator(&mut self) {
        while self.block_comment() {}
        if matches!(self.kind(0), TokenKind::Comma | TokenKind::RightBrace | TokenKind::End)
            || self.starts_line()
        {
            return;
        }
        if self.is_name(0) {
            self.error(|p| {
                let place = p.span_before().after();
                Diagnostic::new(Code::MissingSeparator, p.span_here(), "a new member on the same line")
                    .hint("members are separated by line ends or commas")
                    .replace(place, ",")
            });
            return;
        }
        self.expected("a comma, a new line or `}` after a member");
        self.skip_until(Self::at_member_end);
    }

    fn at_member_end(&self) -> bool {
        matches!(self.kind(0), TokenKind::Comma | TokenKind::RightBrace) || self.starts_line()
    }

    fn member(&mut self) {
        let started = self.start();
        let from = self.span_here();
        let annotated = self.annotations();
        if annotated && (self.sees(TokenKind::RightBrace) || self.at_end()) {
            self.stray_annotation(from);
            return self.finish(&started, NodeKind::Broken);
        }
        self.modifiers();
        let relationship = matches!(self.keyword(0), Some(Keyword::Ref | Keyword::Has | Keyword::Part));
        let kind = if relationship && self.is_name_on_line(1) {
            self.bump();
            self.relationship()
        } else if self.is_name(0) {
            self.attribute()
        } else {
            self.expected_here("a member, as in `name: text`");
            self.bump();
            self.skip_until(Self::at_member_end);
            NodeKind::Broken
        };
        self.finish(&started, kind);
    }

    /// A modifier is one only if another name follows; the same word again is a name.
    fn modifiers(&mut self) {
        let mut seen = Vec::new();
        while let Some(keyword) = self.keyword(0) {
            let modifier = matches!(
                keyword,
                Keyword::Id | Keyword::Unique | Keyword::Immutable | Keyword::Checked | Keyword::Loose
            );
            if !modifier || seen.contains(&keyword) || !self.is_name_on_line(1) {
                return;
            }
            // `unique text` in a dialect is a field called unique.
            if self.dialect != Dialect::Loom && keyword != Keyword::Id && self.token(2).starts_line {
                return;
            }
            seen.push(keyword);
            self.bump();
        }
    }

    fn relationship(&mut self) -> NodeKind {
        if self.kind(1) == TokenKind::Colon {
            self.member_name("a name for the relationship");
            self.bump();
            self.target();
        } else {
            self.target_first();
        }
        self.relationship_tail();
        NodeKind::Relationship
    }

    fn target(&mut self) {
        let started = self.start();
        if self.is_name(0) {
            self.bump();
            self.finish(&started, NodeKind::TypeName);
        } else {
            self.builder.abandon(&started);
            self.expected("the name of an entity or value object");
        }
        self.cardinality();
    }

    /// `ref Flight[*] flights`: the dialects' order.
    fn target_first(&mut self) {
        let from = self.span_here();
        let alone =
            self.token(1).starts_line || matches!(self.kind(1), TokenKind::RightBrace | TokenKind::Comma);
        if self.dialect == Dialect::Loom && (alone || self.kind(1) == TokenKind::At) {
            self.member_name("a name for the relationship");
            return self.expected("`:` and the entity that this leads to");
        }
        self.target();
        let target = from.to(self.span_before());
        let name = self.span_here();
        if !self.is_name_on_line(0) {
            return self.expected("a name for the relationship");
        }
        self.member_name("a name for the relationship");
        if self.dialect == Dialect::Loom {
            self.mark_broken();
            let fixed = format!("{}: {}", self.slice(name), self.slice(target));
            self.diagnostics.push(
                Diagnostic::new(
                    Code::TargetBeforeName,
                    target,
                    "the name comes first, then a colon and the target",
                )
                .hint("this order belongs to .pidm and .gdm files")
                .replace(target.to(name), fixed),
            );
        }
    }

    /// `[*]`, `[1]`, `[2..4]`, `?`
    fn cardinality(&mut self) {
        let started = self.start();
        let open = self.span_here();
        if self.starts_line() {
            return self.builder.abandon(&started);
        }
        if self.eat(TokenKind::Question) {
            return self.finish(&started, NodeKind::Cardinality);
        }
        // The paper's prose has `ref Airport (1) origin`.
        if self.dialect != Dialect::Loom && self.sees(TokenKind::LeftParen) {
            return self.parenthesised(&started);
        }
        if !self.eat(TokenKind::LeftBracket) {
            return self.builder.abandon(&started);
        }
        self.bound();
        if self.eat(TokenKind::DotDot) {
            self.bound();
        }
        if !self.eat(TokenKind::RightBracket) {
            self.unclosed(open, "]");
        }
        self.finish(&started, NodeKind::Cardinality);
    }

    fn parenthesised(&mut self, started: &Started) {
        let open = self.span_here();
        self.bump();
        self.bound();
        if !self.eat(TokenKind::RightParen) {
            self.unclosed(open, ")");
        }
        self.finish(started, NodeKind::Cardinality);
    }

    fn bound(&mut self) {
        if matches!(self.kind(0), TokenKind::Number | TokenKind::Star) {
            self.bump();
        } else {
            self.expected("a number or `*`");
        }
    }

    fn relationship_tail(&mut self) {
        loop {
            let continues = !self.starts_line() || (self.is_name(1) && self.kind(2) != TokenKind::Colon);
            match self.keyword(0) {
                Some(Keyword::Inverse) if continues => self.inverse(),
                Some(Keyword::On) if continues => self.on_delete(),
                Some(_) | None if self.sees(TokenKind::At) && !self.starts_line() => self.annotation(),
                Some(_) | None => return,
            }
        }
    }

    /// `inverse hosted`, `inverse best: Player?`; annotations behind it describe that end.
    fn inverse(&mut self) {
        let started = self.start();
        self.bump();
        self.member_name("a name for the other end");
        if self.eat(TokenKind::Colon) {
            self.target();
        }
        self.trailing_annotations();
        self.finish(&started, NodeKind::Inverse);
    }

    fn on_delete(&mut self) {
        let started = self.start();
        self.bump();
        self.expect_keyword(Keyword::Delete);
        match self.keyword(0) {
            Some(Keyword::Refuse | Keyword::Cascade | Keyword::Clear) => self.bump(),
            Some(_) | None => self.expected("`refuse`, `cascade` or `clear`"),
        }
        self.finish(&started, NodeKind::OnDelete);
    }

    fn attribute(&mut self) -> NodeKind {
        match self.kind(1) {
            TokenKind::Colon => self.name_colon_type(),
            TokenKind::Word | TokenKind::QuotedWord if !self.token(1).starts_line => self.two_words(),
            TokenKind::LeftBracket if !self.token(1).starts_line => self.type_first(),
            _nothing_more => self.lone_name(),
        }
        self.attribute_tail();
        NodeKind::Attribute
    }

    fn name_colon_type(&mut self) {
        self.member_name("a name for the attribute");
        self.bump();
        self.type_name();
    }

    /// `name type` or `type name`: the dialects' forms, told apart by which of the two is a type.
    fn two_words(&mut self) {
        let (first, second) = (self.text_ahead(0), self.text_ahead(1));
        let type_first = match (words::is_type(first), words::is_type(second)) {
            (true, false) => true,
            (false, true) => false,
            _both_or_none => self.dialect == Dialect::Gdm,
        };
        match type_first {
            true => self.type_first(),
            false => self.name_type(),
        }
    }

    fn name_type(&mut self) {
        let name = self.span_here();
        self.member_name("a name for the attribute");
        if self.dialect == Dialect::Loom {
            self.mark_broken();
            self.error(|p| {
                Diagnostic::new(Code::MissingColon, p.span_here(), "a colon is missing between name and type")
                    .replace(name.after(), ":")
            });
        }
        self.type_name();
    }

    fn type_first(&mut self) {
        let from = self.span_here();
        self.type_name();
        let ty = from.to(self.span_before());
        let name = self.span_here();
        if !self.is_name_on_line(0) {
            return self.expected("a name for the attribute");
        }
        self.member_name("a name for the attribute");
        if self.dialect == Dialect::Loom {
            self.mark_broken();
            self.said_type_first(ty, name);
        }
    }

    fn said_type_first(&mut self, ty: Span, name: Span) {
        let fixed = format!("{}: {}", self.slice(name), self.slice(ty));
        self.diagnostics.push(
            Diagnostic::new(Code::TypeBeforeName, ty, "the name comes first, then a colon and the type")
                .hint("this order belongs to .gdm files")
                .fix(format!("write `{fixed}`"), vec![Edit { span: ty.to(name), text: fixed.clone() }]),
        );
    }

    /// In a dialect an identifier needs no type: `id clientId`.
    fn lone_name(&mut self) {
        self.member_name("a name for the attribute");
        let identifies = self.at >= 2 && matches!(self.tokens_before_name(), Some(Keyword::Id));
        if self.dialect == Dialect::Loom || !identifies {
            self.expected("`:` and a type");
            self.skip_until(Self::at_member_end);
        }
    }

    fn tokens_before_name(&self) -> Option<Keyword> {
        let index = self.at.checked_sub(2).and_then(|before| self.significant.get(before)).copied()?;
        self.tokens.get(index as usize).and_then(|token| token.keyword)
    }

    fn type_name(&mut self) {
        let started = self.start();
        if !self.is_name(0) || (self.starts_line() && self.kind(1) == TokenKind::Colon) {
            self.builder.abandon(&started);
            return self.expected("a type");
        }
        self.bump();
        let open = self.span_here();
        if self.sees(TokenKind::LeftParen) && !self.starts_line() {
            self.bump();
            self.type_arguments();
            if !self.eat(TokenKind::RightParen) {
                self.unclosed(open, ")");
            }
        }
        self.finish(&started, NodeKind::TypeName);
        self.cardinality();
    }

    fn type_arguments(&mut self) {
        while matches!(
            self.kind(0),
            TokenKind::Word
                | TokenKind::QuotedWord
                | TokenKind::Text
                | TokenKind::DoubleText
                | TokenKind::Number
        ) {
            self.bump();
            if !self.eat(TokenKind::Comma) {
                return;
            }
        }
    }

    /// A literal, a call, or an enum's value, which may be any word.
    fn default_value(&mut self) {
        let literal = matches!(self.keyword(0), Some(Keyword::True | Keyword::False | Keyword::Null));
        if self.is_name(0) && !literal && self.kind(1) != TokenKind::LeftParen {
            self.path("a default");
        } else {
            self.operand();
        }
    }

    fn attribute_tail(&mut self) {
        // The dialects put it behind: `text email unique`.
        if self.dialect != Dialect::Loom && self.sees_keyword(Keyword::Unique) && !self.starts_line() {
            self.bump();
        }
        // A list of optional elements is not a thing; the check says so.
        if !self.starts_line() {
            self.cardinality();
        }
        if self.sees(TokenKind::Equal) && !self.starts_line() {
            let started = self.start();
            self.bump();
            self.default_value();
            self.finish(&started, NodeKind::DefaultValue);
        }
        self.trailing_annotations();
    }
}
