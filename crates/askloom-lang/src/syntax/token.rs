use super::Keyword;

/// A piece of text with one meaning. Its end is the start of the next one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) kind: TokenKind,
    /// What a bare word may mean where a keyword can stand.
    pub(crate) keyword: Option<Keyword>,
    /// A line end lies between this token and the last one that is not trivia.
    pub(crate) starts_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TokenKind {
    // Trivia.
    Space,
    LineEnd,
    LineComment,
    BlockComment,
    ByteOrderMark,
    // Words and literals.
    Word,
    /// In back-quotes: always a name.
    QuotedWord,
    Number,
    /// `'…'`
    Text,
    /// `"…"`
    DoubleText,
    // Punctuation.
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    Comma,
    Semicolon,
    Colon,
    Dot,
    DotDot,
    At,
    Question,
    Percent,
    Slash,
    Star,
    StarStar,
    Plus,
    Minus,
    Arrow,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    // Neither.
    Unknown,
    End,
}

impl TokenKind {
    pub(crate) fn is_trivia(self) -> bool {
        matches!(
            self,
            Self::Space | Self::LineEnd | Self::LineComment | Self::BlockComment | Self::ByteOrderMark
        )
    }

    pub(crate) fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }

    /// Can be a name: every word can, keywords being contextual.
    pub(crate) fn is_name(self) -> bool {
        matches!(self, Self::Word | Self::QuotedWord)
    }

    /// In words, for "expected …, found …".
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Space => "a space",
            Self::LineEnd => "the end of the line",
            Self::LineComment | Self::BlockComment => "a comment",
            Self::ByteOrderMark => "a byte order mark",
            Self::Word | Self::QuotedWord => "a name",
            Self::Number => "a number",
            Self::Text | Self::DoubleText => "a text",
            Self::LeftBrace => "`{`",
            Self::RightBrace => "`}`",
            Self::LeftParen => "`(`",
            Self::RightParen => "`)`",
            Self::LeftBracket => "`[`",
            Self::RightBracket => "`]`",
            Self::Comma => "`,`",
            Self::Semicolon => "`;`",
            Self::Colon => "`:`",
            Self::Dot => "`.`",
            Self::DotDot => "`..`",
            Self::At => "`@`",
            Self::Question => "`?`",
            Self::Percent => "`%`",
            Self::Slash => "`/`",
            Self::Star => "`*`",
            Self::StarStar => "`**`",
            Self::Plus => "`+`",
            Self::Minus => "`-`",
            Self::Arrow => "`->`",
            Self::Equal => "`=`",
            Self::NotEqual => "`!=`",
            Self::Less => "`<`",
            Self::LessOrEqual => "`<=`",
            Self::Greater => "`>`",
            Self::GreaterOrEqual => "`>=`",
            Self::Unknown => "a character without meaning",
            Self::End => "the end of the file",
        }
    }
}
