//! `@name(arguments)`, and what it belongs to: one that starts a line, or follows a brace or a comma,
//! describes what follows; any other describes what it stands behind.

use super::Parser;
use crate::syntax::{NodeKind, TokenKind};
use askloom_model::{Code, Diagnostic, Span};

impl Parser<'_, '_> {
    /// Annotations of what follows. True if there was one.
    pub(super) fn annotations(&mut self) -> bool {
        let any = self.sees(TokenKind::At);
        while self.sees(TokenKind::At) {
            self.annotation();
            self.give_up();
        }
        any
    }

    /// Annotations behind something, on its line.
    pub(super) fn trailing_annotations(&mut self) {
        while self.sees(TokenKind::At) && !self.starts_line() {
            self.annotation();
        }
    }

    pub(super) fn annotation(&mut self) {
        let started = self.start();
        self.bump();
        self.name("the name of an annotation");
        let open = self.span_here();
        if self.sees(TokenKind::LeftParen) && !self.starts_line() {
            self.bump();
            self.arguments();
            if !self.eat(TokenKind::RightParen) {
                self.unclosed(open, ")");
            }
        }
        self.finish(&started, NodeKind::Annotation);
    }

    /// Comma-separated runs of tokens; what they mean depends on the annotation.
    fn arguments(&mut self) {
        loop {
            let started = self.start();
            let from = self.at;
            while self.is_argument_token() {
                self.bump();
            }
            if self.at == from {
                self.builder.abandon(&started);
            } else {
                self.finish(&started, NodeKind::AnnotationArgument);
            }
            if !self.eat(TokenKind::Comma) {
                return;
            }
        }
    }

    fn is_argument_token(&self) -> bool {
        use TokenKind as T;
        match self.kind(0) {
            T::Word | T::QuotedWord | T::Number | T::Text | T::DoubleText => !self.starts_declaration(),
            T::Slash | T::Percent | T::Minus | T::Plus | T::Dot | T::Question | T::Star => true,
            _closing_or_foreign => false,
        }
    }

    pub(super) fn stray_annotation(&mut self, place: Span) {
        self.mark_broken();
        self.error(|_| {
            Diagnostic::new(Code::StrayAnnotation, place, "this annotation belongs to nothing")
                .hint("at the start of a line it describes what follows, elsewhere what it stands behind")
        });
    }
}
