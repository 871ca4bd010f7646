//! Tokens to tree, with recovery: whatever the text, there is a tree, and each error is said once.
//!
//! Recursive descent. Every function leaves at least one token behind or returns to a caller that does, so
//! that no input makes it loop. Only conditions nest, and they count how deep.

mod annotations;
mod conditions;
mod declarations;
mod members;
mod operands;
mod queries;
mod rules;
mod writes;

use super::tree::Started;
use super::{Keyword, NodeKind, Token, TokenKind, Tree, TreeBuilder, lex};
use crate::Dialect;
use askloom_model::{Code, Diagnostic, Diagnostics, Edit, FileId, Span};

pub(crate) fn parse<'a>(
    text: &'a str,
    file: FileId,
    dialect: Dialect,
    diagnostics: &mut Diagnostics,
) -> Tree<'a> {
    let tokens = lex(text, file, dialect, diagnostics);
    let significant = (0_u32..)
        .zip(&tokens)
        .filter(|(_, t)| !t.kind.is_trivia() && t.kind != TokenKind::Unknown)
        .map(|(i, _)| i)
        .collect();
    let mut parser = Parser {
        text,
        file,
        dialect,
        tokens: &tokens,
        significant,
        at: 0,
        builder: TreeBuilder::new(tokens.len()),
        diagnostics,
        depth: 0,
        last_error: None,
        errors: 0,
    };
    parser.file();
    let builder = parser.builder;
    builder.build(text, file, dialect, tokens)
}

struct Parser<'a, 'd> {
    text: &'a str,
    file: FileId,
    dialect: Dialect,
    tokens: &'d [Token],
    /// Indices of the tokens that are not trivia; the last one is the end of the file.
    significant: Vec<u32>,
    at: usize,
    builder: TreeBuilder,
    diagnostics: &'d mut Diagnostics,
    depth: u32,
    /// Where the last error was said: one a place is enough.
    last_error: Option<usize>,
    /// How many errors were said.
    errors: usize,
}

/// After so many errors the text is none of these languages: the rest of it is one broken part, so that memory does
/// not grow with every further mistake.
const MOST_ERRORS: usize = 100_000;

/// Looking.
impl<'a> Parser<'a, '_> {
    fn token(&self, ahead: usize) -> Token {
        const END: Token = Token { start: u32::MAX, kind: TokenKind::End, keyword: None, starts_line: true };
        let index = self.significant.get(self.at + ahead).copied();
        index.and_then(|index| self.tokens.get(index as usize).copied()).unwrap_or(END)
    }

    fn kind(&self, ahead: usize) -> TokenKind {
        self.token(ahead).kind
    }

    fn keyword(&self, ahead: usize) -> Option<Keyword> {
        self.token(ahead).keyword
    }

    fn is_name(&self, ahead: usize) -> bool {
        self.kind(ahead).is_name()
    }

    /// A name that stands on the same line as the token before it.
    fn is_name_on_line(&self, ahead: usize) -> bool {
        let token = self.token(ahead);
        token.kind.is_name() && !token.starts_line
    }

    fn starts_line(&self) -> bool {
        self.token(0).starts_line
    }

    fn sees(&self, kind: TokenKind) -> bool {
        self.kind(0) == kind
    }

    fn sees_keyword(&self, keyword: Keyword) -> bool {
        self.keyword(0) == Some(keyword)
    }

    fn at_end(&self) -> bool {
        self.sees(TokenKind::End)
    }

    fn span_ahead(&self, ahead: usize) -> Span {
        let index = self.significant.get(self.at + ahead).copied();
        self.token_span(index.unwrap_or_else(|| self.significant.last().copied().unwrap_or_default()))
    }

    fn span_here(&self) -> Span {
        self.span_ahead(0)
    }

    /// The token just before this one; the start of the file if there is none.
    fn span_before(&self) -> Span {
        match self.at.checked_sub(1).and_then(|before| self.significant.get(before)) {
            Some(&index) => self.token_span(index),
            None => Span::new(self.file, 0, 0),
        }
    }

    fn token_span(&self, index: u32) -> Span {
        let start = self.tokens.get(index as usize).map_or(0, |token| token.start);
        let end = self.tokens.get(index as usize + 1).map_or(start, |token| token.start);
        Span::new(self.file, start, end)
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn text_ahead(&self, ahead: usize) -> &'a str {
        self.slice(self.span_ahead(ahead))
    }

    /// Whether the token ahead touches the one before it.
    fn adjacent(&self, ahead: usize) -> bool {
        ahead > 0 && self.span_ahead(ahead - 1).end == self.span_ahead(ahead).start
    }
}

/// Moving.
impl Parser<'_, '_> {
    fn bump(&mut self) {
        if self.at + 1 < self.significant.len() {
            self.at += 1;
        }
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let seen = self.sees(kind);
        if seen {
            self.bump();
        }
        seen
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let seen = self.sees_keyword(keyword);
        if seen {
            self.bump();
        }
        seen
    }

    fn expect(&mut self, kind: TokenKind) -> bool {
        let seen = self.eat(kind);
        if !seen {
            self.expected(kind.describe());
        }
        seen
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> bool {
        let seen = self.eat_keyword(keyword);
        if !seen {
            self.expected(&format!("`{}`", keyword.canonical()));
        }
        seen
    }

    fn start(&mut self) -> Started {
        let token = self.significant.get(self.at).copied().unwrap_or_default();
        self.builder.start(token)
    }

    fn finish(&mut self, started: &Started, kind: NodeKind) {
        let end = self.at.checked_sub(1).and_then(|before| self.significant.get(before)).map_or(0, |i| i + 1);
        self.builder.finish(started, kind, end);
    }

    /// A name stands here, and it is not the first word of something new.
    fn takes_name(&self) -> bool {
        self.is_name(0) && !self.starts_declaration() && !self.starts_write()
    }

    /// A name as a node of its own, unless the word starts something new.
    fn name(&mut self, what: &str) -> bool {
        let takes = self.takes_name();
        self.name_if(takes, what)
    }

    /// A name inside a class, where a line may start with any word: `delete: bool` is a member.
    fn member_name(&mut self, what: &str) -> bool {
        let takes = self.is_name(0);
        self.name_if(takes, what)
    }

    fn name_if(&mut self, takes: bool, what: &str) -> bool {
        let started = self.start();
        if takes {
            self.bump();
            self.finish(&started, NodeKind::Name);
            true
        } else {
            self.builder.abandon(&started);
            self.expected(what);
            false
        }
    }

    /// Steps over tokens until `stop`, as a broken node. Nothing, if it stops at once.
    fn skip_until(&mut self, stop: impl Fn(&Self) -> bool) {
        if self.at_end() || stop(self) {
            return;
        }
        let started = self.start();
        while !self.at_end() && !stop(self) {
            self.bump();
        }
        self.finish(&started, NodeKind::Broken);
    }

    /// Steps to the end of the file if there is no sense in it.
    fn give_up(&mut self) {
        if self.errors >= MOST_ERRORS {
            self.skip_until(Self::at_end);
        }
    }

    /// Steps over one token, as a broken node, if nothing has been taken since: no loop may stand still.
    fn ensure_progress(&mut self, since: usize) {
        self.give_up();
        if self.at == since && !self.at_end() {
            let started = self.start();
            self.bump();
            self.finish(&started, NodeKind::Broken);
        }
    }

    /// An empty broken node: says that something is missing here.
    fn mark_broken(&mut self) {
        let started = self.start();
        self.builder.finish(&started, NodeKind::Broken, 0);
    }
}

/// Saying.
impl Parser<'_, '_> {
    /// Says an error, unless one was said at this token already.
    fn error(&mut self, diagnostic: impl FnOnce(&Self) -> Diagnostic) {
        if self.last_error == Some(self.at) {
            return;
        }
        self.last_error = Some(self.at);
        self.errors += 1;
        let diagnostic = diagnostic(self);
        self.diagnostics.push(diagnostic);
    }

    fn expected(&mut self, what: &str) {
        let place = self.place();
        self.expected_at(place, what);
    }

    /// Where something new has to start: the token itself is wrong, not what is before it.
    fn expected_here(&mut self, what: &str) {
        let place = self.span_here();
        self.expected_at(place, what);
    }

    fn expected_at(&mut self, place: Span, what: &str) {
        self.mark_broken();
        self.error(|p| {
            let message = format!("expected {what}, found {}", p.found());
            Diagnostic::new(Code::Expected, place, message).here(format!("expected {what}"))
        });
    }

    fn found(&self) -> String {
        match self.kind(0) {
            _word if self.starts_declaration() || self.starts_write() => {
                "the start of something new".to_owned()
            }
            TokenKind::Word | TokenKind::QuotedWord | TokenKind::Number => {
                format!("`{}`", shorten(self.text_ahead(0)))
            }
            kind => kind.describe().to_owned(),
        }
    }

    /// Where to point: at the token, or behind the last one when the token is on another line.
    fn place(&self) -> Span {
        let here = self.span_here();
        if (self.starts_line() || self.at_end()) && self.at > 0 { self.span_before().after() } else { here }
    }

    fn unclosed(&mut self, open: Span, close: &str) {
        self.mark_broken();
        self.error(|p| {
            let message = format!("this `{}` is never closed", p.slice(open));
            Diagnostic::new(Code::Unclosed, open, message)
                .here("opened here")
                .also(p.place(), format!("expected `{close}` before this"))
        });
    }
}

/// Statements and declarations end where a line starts something new.
impl Parser<'_, '_> {
    fn starts_declaration(&self) -> bool {
        use Keyword as K;
        if self.starts_line() && self.marks_class() {
            return true;
        }
        let Some(keyword) = self.keyword(0).filter(|k| k.starts_declaration() && self.starts_line()) else {
            return false;
        };
        let next = self.token(1);
        match keyword {
            K::Import => matches!(next.kind, TokenKind::Text | TokenKind::DoubleText),
            K::Abstract => next.keyword == Some(K::Entity),
            K::Writes => next.keyword == Some(K::Any),
            K::Represent if next.kind == TokenKind::Star => true,
            // `value text` is a member in the dialects: there it takes more to start a declaration.
            _declares_a_name => {
                let declares = matches!(self.kind(2), TokenKind::LeftBrace | TokenKind::Colon)
                    || matches!(self.keyword(2), Some(K::As | K::Extends | K::Of | K::On));
                let plain_name = next.keyword.is_none() && self.dialect == Dialect::Loom;
                next.kind.is_name() && (plain_name || declares)
            }
        }
    }

    /// `immutable entity Reading`. A member may be called `entity`: `immutable entity: text`.
    fn marks_class(&self) -> bool {
        use Keyword as K;
        self.dialect == Dialect::Loom
            && self.sees_keyword(K::Immutable)
            && match self.keyword(1) {
                Some(K::Abstract) => self.keyword(2) == Some(K::Entity),
                Some(K::Entity | K::Value) => self.is_name(2),
                Some(_) | None => false,
            }
    }

    fn starts_write(&self) -> bool {
        let is_write = self.keyword(0).is_some_and(Keyword::starts_write) && self.starts_line();
        let has_name_or_parameter = matches!(
            self.kind(1),
            TokenKind::Word | TokenKind::QuotedWord | TokenKind::Colon | TokenKind::Question
        );
        is_write && (has_name_or_parameter || self.adds_a_literal())
    }

    /// `ADD 'x' TO …`, `ADD -1 TO …`. A field called add can stand before a minus, but not before `-1 TO`.
    fn adds_a_literal(&self) -> bool {
        let value = usize::from(self.kind(1) == TokenKind::Minus) + 1;
        self.keyword(0) == Some(Keyword::Add)
            && matches!(self.kind(value), TokenKind::Text | TokenKind::DoubleText | TokenKind::Number)
            && self.keyword(value + 1) == Some(Keyword::To)
    }

    fn at_statement_end(&self) -> bool {
        match self.kind(0) {
            TokenKind::End | TokenKind::RightBrace | TokenKind::Semicolon => true,
            TokenKind::At => self.starts_line(),
            TokenKind::Word => self.starts_declaration() || self.starts_write(),
            _other => false,
        }
    }

    /// `/*` in a `.loom` file: said, with the rewriting as a fix, and stepped over.
    fn block_comment(&mut self) -> bool {
        if !(self.sees(TokenKind::Slash) && self.kind(1) == TokenKind::Star && self.adjacent(1)) {
            return false;
        }
        let started = self.start();
        let open = self.span_here();
        self.bump();
        self.bump();
        let closes = |p: &Self| p.sees(TokenKind::Star) && p.kind(1) == TokenKind::Slash && p.adjacent(1);
        while !self.at_end() && !closes(self) {
            self.bump();
        }
        let closed = !self.at_end();
        self.bump();
        self.bump();
        self.finish(&started, NodeKind::Broken);
        let whole = open.to(self.span_before());
        let mut lines = rewritten_comment(self.slice(whole));
        // What follows on the line must not become part of the comment.
        let behind = self.text.get(whole.end as usize..).unwrap_or_default();
        if behind.lines().next().is_some_and(|rest| !rest.trim().is_empty()) {
            lines.push('\n');
        }
        let diagnostic =
            Diagnostic::new(Code::BlockComment, open, "`/*` does not start a comment in a .loom file")
                .hint("a comment starts with `//` and ends with its line");
        self.diagnostics.push(match closed {
            true => diagnostic.fix("rewrite it with `//`", vec![Edit { span: whole, text: lines }]),
            false => diagnostic,
        });
        true
    }
}

/// The lines of a block comment as `//` lines.
pub(crate) fn rewritten_comment(comment: &str) -> String {
    let body = comment.trim_start_matches("/*").trim_end_matches("*/");
    let lines = body.lines().map(|line| line.trim().trim_matches('*').trim());
    let kept: Vec<String> = lines.filter(|line| !line.is_empty()).map(|line| format!("// {line}")).collect();
    if kept.is_empty() { "//".to_owned() } else { kept.join("\n") }
}

fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.to_owned(),
    }
}
