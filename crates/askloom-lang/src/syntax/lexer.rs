//! Text to tokens. Never fails: what has no meaning becomes a token that says so, with a diagnostic.

use super::{Keyword, Token, TokenKind};
use crate::Dialect;
use askloom_model::{Code, Diagnostic, Diagnostics, Edit, FileId, Span};

/// All tokens of a file, trivia included, closed by one [`TokenKind::End`].
pub(crate) fn lex(text: &str, file: FileId, dialect: Dialect, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), file, dialect, at: 0, diagnostics };
    let mut tokens = Vec::with_capacity(text.len() / 3);
    let mut starts_line = true;
    while lexer.at < lexer.bytes.len() {
        let start = lexer.at;
        let kind = lexer.token();
        let keyword = match kind {
            TokenKind::Word => Keyword::of(lexer.bytes.get(start..lexer.at).unwrap_or_default()),
            _other => None,
        };
        tokens.push(Token { start: offset(start), kind, keyword, starts_line });
        starts_line = kind == TokenKind::LineEnd || (starts_line && kind.is_trivia());
        if kind == TokenKind::BlockComment && lexer.slice(start).contains('\n') {
            starts_line = true;
        }
    }
    tokens.push(Token { start: offset(text.len()), kind: TokenKind::End, keyword: None, starts_line: true });
    tokens
}

/// Files are at most 64 MiB, so that an offset always fits.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    file: FileId,
    dialect: Dialect,
    at: usize,
    diagnostics: &'a mut Diagnostics,
}

impl Lexer<'_> {
    fn token(&mut self) -> TokenKind {
        let Some(first) = self.peek(0) else { return TokenKind::End };
        match first {
            b' ' | b'\t' => self.while_bytes(TokenKind::Space, |b| b == b' ' || b == b'\t'),
            b'\n' => self.take(1, TokenKind::LineEnd),
            b'\r' if self.peek(1) == Some(b'\n') => self.take(2, TokenKind::LineEnd),
            b'\r' => self.take(1, TokenKind::Space),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'\'' => self.quoted(b'\'', TokenKind::Text),
            b'"' => self.quoted(b'"', TokenKind::DoubleText),
            b'`' => self.quoted(b'`', TokenKind::QuotedWord),
            b'/' => self.slash(),
            0x80.. => self.beyond_ascii(),
            _ => self.punctuation(first),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn take(&mut self, bytes: usize, kind: TokenKind) -> TokenKind {
        self.at += bytes;
        kind
    }

    fn while_bytes(&mut self, kind: TokenKind, more: impl Fn(u8) -> bool) -> TokenKind {
        while self.peek(0).is_some_and(&more) {
            self.at += 1;
        }
        kind
    }

    fn slice(&self, start: usize) -> &str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, offset(start), offset(self.at))
    }

    /// Letters of any script make a name, as long as the first one is a letter.
    fn word(&mut self) -> TokenKind {
        loop {
            self.while_bytes(TokenKind::Word, |b| b.is_ascii_alphanumeric() || b == b'_');
            match self.next_char() {
                Some(c) if !c.is_ascii() && c.is_alphanumeric() => self.at += c.len_utf8(),
                _ => return TokenKind::Word,
            }
        }
    }

    fn next_char(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn beyond_ascii(&mut self) -> TokenKind {
        let Some(c) = self.next_char() else { return self.take(1, TokenKind::Unknown) };
        if c == '\u{feff}' && self.at == 0 {
            return self.take(c.len_utf8(), TokenKind::ByteOrderMark);
        }
        if c.is_alphabetic() {
            return self.word();
        }
        if c.is_whitespace() {
            return self.take(c.len_utf8(), TokenKind::Space);
        }
        self.unknown(c)
    }

    /// `100_000`, `0.1`, `1e6`. A point belongs to the number only if a digit follows: `2..4` is a range.
    fn number(&mut self) -> TokenKind {
        let digits = |b: u8| b.is_ascii_digit() || b == b'_';
        self.while_bytes(TokenKind::Number, digits);
        if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
            self.while_bytes(TokenKind::Number, digits);
        }
        let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
        if matches!(self.peek(0), Some(b'e' | b'E'))
            && self.peek(1 + sign).is_some_and(|b| b.is_ascii_digit())
        {
            self.at += 1 + sign;
            self.while_bytes(TokenKind::Number, digits);
        }
        TokenKind::Number
    }

    /// A doubled quote stands for one. A literal ends with its line, so that a forgotten quote spoils one
    /// line and not the rest of the file.
    fn quoted(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(b) if b == quote && self.peek(1) == Some(quote) && quote != b'`' => self.at += 2,
                Some(b) if b == quote => return self.take(1, kind),
                None | Some(b'\n' | b'\r') => break,
                Some(_) => self.at += 1,
            }
        }
        let span = self.span(start);
        let (what, close) = match kind {
            TokenKind::QuotedWord => ("name", "`"),
            TokenKind::DoubleText => ("text", "\""),
            _text => ("text", "'"),
        };
        let diagnostic =
            Diagnostic::new(Code::UnterminatedText, span, format!("this {what} has no closing {close}"))
                .here("ends with its line");
        self.diagnostics.push(match kind {
            TokenKind::QuotedWord => diagnostic,
            _text => diagnostic.hint("a quote inside a text is written twice: 'it''s'"),
        });
        kind
    }

    fn slash(&mut self) -> TokenKind {
        match self.peek(1) {
            Some(b'/') => self.while_bytes(TokenKind::LineComment, |b| b != b'\n' && b != b'\r'),
            Some(b'*') if self.dialect.has_block_comments() => self.block_comment(),
            _ => self.take(1, TokenKind::Slash),
        }
    }

    fn block_comment(&mut self) -> TokenKind {
        let start = self.at;
        let body = self.text.get(start + 2..).unwrap_or_default();
        if let Some(end) = body.find("*/") {
            return self.take(end + 4, TokenKind::BlockComment);
        }
        self.at = self.bytes.len();
        let open = Span::new(self.file, offset(start), offset(start + 2));
        self.diagnostics.push(
            Diagnostic::new(Code::UnterminatedComment, open, "this comment has no end")
                .here("opened here")
                .fix("close it", vec![Edit { span: self.span(start).after(), text: " */".to_owned() }]),
        );
        TokenKind::BlockComment
    }

    fn punctuation(&mut self, first: u8) -> TokenKind {
        use TokenKind as T;
        let (bytes, kind) = match (first, self.peek(1)) {
            (b'.', Some(b'.')) => (2, T::DotDot),
            (b'*', Some(b'*')) => (2, T::StarStar),
            (b'-', Some(b'>')) => (2, T::Arrow),
            (b'!', Some(b'=')) | (b'<', Some(b'>')) => (2, T::NotEqual),
            (b'<', Some(b'=')) => (2, T::LessOrEqual),
            (b'>', Some(b'=')) => (2, T::GreaterOrEqual),
            (b'{', _) => (1, T::LeftBrace),
            (b'}', _) => (1, T::RightBrace),
            (b'(', _) => (1, T::LeftParen),
            (b')', _) => (1, T::RightParen),
            (b'[', _) => (1, T::LeftBracket),
            (b']', _) => (1, T::RightBracket),
            (b',', _) => (1, T::Comma),
            (b';', _) => (1, T::Semicolon),
            (b':', _) => (1, T::Colon),
            (b'.', _) => (1, T::Dot),
            (b'@', _) => (1, T::At),
            (b'?', _) => (1, T::Question),
            (b'%', _) => (1, T::Percent),
            (b'*', _) => (1, T::Star),
            (b'+', _) => (1, T::Plus),
            (b'-', _) => (1, T::Minus),
            (b'=', _) => (1, T::Equal),
            (b'<', _) => (1, T::Less),
            (b'>', _) => (1, T::Greater),
            _ => return self.unknown(char::from(first)),
        };
        self.take(bytes, kind)
    }

    /// A run of the same meaningless character is one token and one diagnostic.
    fn unknown(&mut self, c: char) -> TokenKind {
        let start = self.at;
        while self.next_char() == Some(c) {
            self.at += c.len_utf8();
        }
        let shown = if c.is_control() { format!("U+{:04X}", u32::from(c)) } else { format!("`{c}`") };
        let span = self.span(start);
        self.diagnostics.push(
            Diagnostic::new(Code::UnexpectedCharacter, span, format!("{shown} has no meaning here"))
                .hint("inside a text or a comment any character may stand"),
        );
        TokenKind::Unknown
    }
}
