//! The top of a file: imports and declarations.

use super::Parser;
use crate::syntax::{Keyword, NodeKind, TokenKind};
use askloom_model::{Code, Diagnostic, Span};

/// What a declaration can start with, for "did you mean".
const DECLARATIONS: [&str; 13] = [
    "entity",
    "immutable",
    "value",
    "abstract",
    "query",
    "ask",
    "write",
    "writes",
    "collection",
    "represent",
    "invariant",
    "workload",
    "import",
];

impl Parser<'_, '_> {
    pub(super) fn file(&mut self) {
        let started = self.start();
        while !self.at_end() {
            if self.block_comment() || self.eat(TokenKind::Semicolon) {
                continue;
            }
            let before = self.at;
            self.declaration();
            self.ensure_progress(before);
        }
        self.finish(&started, NodeKind::File);
    }

    fn declaration(&mut self) {
        let started = self.start();
        let from = self.span_here();
        let annotated = self.annotations();
        let kind = match self.keyword(0) {
            Some(Keyword::Import) => self.import(),
            Some(Keyword::Abstract | Keyword::Entity | Keyword::Value) => self.class(),
            Some(Keyword::Immutable) if self.marks_class() => self.class(),
            Some(Keyword::Query) => self.query(),
            Some(Keyword::Ask) => self.ask(),
            Some(Keyword::Write) => self.write(),
            Some(Keyword::Writes) => self.writes_any(),
            Some(Keyword::Collection) => self.collection(),
            Some(Keyword::Represent) => self.represent(),
            Some(Keyword::Invariant) => self.invariant(),
            Some(Keyword::Workload) => self.workload(),
            Some(_) | None => self.no_declaration(annotated.then_some(from)),
        };
        self.finish(&started, kind);
    }

    fn no_declaration(&mut self, annotated: Option<Span>) -> NodeKind {
        if let Some(from) = annotated.filter(|_| self.at_end()) {
            self.stray_annotation(from);
            return NodeKind::Broken;
        }
        self.error(|p| p.unknown_declaration());
        self.bump();
        self.skip_until(|p| p.starts_line() && (p.looks_like_declaration() || p.sees(TokenKind::At)));
        NodeKind::Broken
    }

    fn unknown_declaration(&self) -> Diagnostic {
        let word = self.text_ahead(0);
        let message = format!("{} does not start a declaration", self.found());
        let diagnostic = Diagnostic::new(Code::UnknownDeclaration, self.span_here(), message)
            .hint("a declaration starts with `entity`, `query`, `write` or another word of AL0106");
        match crate::suggest::closest(&word.to_lowercase(), DECLARATIONS) {
            Some(near) if self.is_name(0) => crate::suggest::did_you_mean(diagnostic, self.span_here(), near),
            _ => diagnostic,
        }
    }

    /// After something unknown, any word that can start a declaration is worth a try.
    fn looks_like_declaration(&self) -> bool {
        self.keyword(0).is_some_and(Keyword::starts_declaration) || self.marks_class()
    }

    fn import(&mut self) -> NodeKind {
        self.bump();
        if matches!(self.kind(0), TokenKind::Text | TokenKind::DoubleText) {
            self.bump();
        } else {
            self.expected("the path of a file in quotes, as in `import \"parts.loom\"`");
        }
        NodeKind::Import
    }

    fn class(&mut self) -> NodeKind {
        self.eat_keyword(Keyword::Immutable);
        if self.eat_keyword(Keyword::Abstract) && !self.sees_keyword(Keyword::Entity) {
            self.expected("`entity` after `abstract`");
        }
        let keyword = match self.keyword(0) {
            Some(Keyword::Value) => "a name for the value object",
            Some(_) | None => "a name for the entity",
        };
        if matches!(self.keyword(0), Some(Keyword::Entity | Keyword::Value)) {
            self.bump();
        }
        self.name(keyword);
        if self.eat_keyword(Keyword::Extends) {
            self.path("the entity that this one extends");
        }
        self.class_body();
        NodeKind::Class
    }

    /// `query NAME:` and its like: the keyword, a name, a colon.
    pub(super) fn statement_head(&mut self, what: &str) {
        self.bump();
        self.name(what);
    }

    fn query(&mut self) -> NodeKind {
        self.statement_head("a name for the query");
        self.expect(TokenKind::Colon);
        self.select();
        self.statement_tail();
        NodeKind::Query
    }

    fn ask(&mut self) -> NodeKind {
        self.statement_head("a name for the tuple query");
        self.expect(TokenKind::Colon);
        self.ask_classes();
        self.expect(TokenKind::Arrow);
        self.ask_classes();
        self.statement_tail();
        NodeKind::Ask
    }

    /// `{Mailbox, Label via labels}`. The classes of both sides are told apart by the arrow between them.
    fn ask_classes(&mut self) {
        let open = self.span_here();
        if !self.expect(TokenKind::LeftBrace) {
            return;
        }
        while !self.sees(TokenKind::RightBrace) && !self.at_statement_end() {
            let started = self.start();
            if !self.name("the name of an entity") {
                self.builder.abandon(&started);
                break;
            }
            if self.eat_keyword(Keyword::Via) {
                self.path("the path that links them");
            }
            self.finish(&started, NodeKind::AskClass);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if !self.eat(TokenKind::RightBrace) {
            self.unclosed(open, "}");
        }
    }

    fn write(&mut self) -> NodeKind {
        self.statement_head("a name for the write");
        let open = self.span_here();
        if self.eat(TokenKind::LeftBrace) {
            self.compound(open);
        } else {
            self.expect(TokenKind::Colon);
            self.write_statement();
            self.statement_tail();
        }
        NodeKind::Write
    }

    /// `writes any`: writes that the model does not declare exist, too.
    fn writes_any(&mut self) -> NodeKind {
        self.bump();
        if !self.eat_keyword(Keyword::Any) {
            self.expected("`any` after `writes`");
        }
        self.statement_tail();
        NodeKind::WritesAny
    }

    fn compound(&mut self, open: Span) {
        loop {
            if self.eat(TokenKind::Semicolon) || self.block_comment() {
                continue;
            }
            if self.eat(TokenKind::RightBrace) {
                return;
            }
            if self.at_end() || self.starts_declaration() {
                return self.unclosed(open, "}");
            }
            let before = self.at;
            self.write_statement();
            if !self.at_statement_end() {
                self.expected("`;` or a new line between two statements");
                self.skip_until(Self::at_statement_end);
            }
            if self.sees(TokenKind::At) {
                self.stray_annotation(self.span_here());
                self.skip_until(|p| !p.sees(TokenKind::At) && p.at_statement_end());
            }
            self.ensure_progress(before);
        }
    }

    /// What may follow a statement: annotations on its last line, a semicolon; nothing else.
    fn statement_tail(&mut self) {
        while self.sees(TokenKind::At) && !self.starts_line() {
            self.annotation();
        }
        if !self.at_statement_end() || self.sees(TokenKind::RightBrace) {
            self.expected("the end of the statement");
            self.skip_until(|p| p.starts_line() && p.at_statement_end());
        }
        self.eat(TokenKind::Semicolon);
    }
}
