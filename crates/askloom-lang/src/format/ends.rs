//! Where a line would end the statement before it: the parser's rule, asked of what is about to be printed.

use super::atom::Atom;
use crate::syntax::{Keyword, TokenId, TokenKind, Tree};

/// A token as far as the rule looks at it.
#[derive(Clone, Copy)]
struct Seen {
    kind: TokenKind,
    keyword: Option<Keyword>,
}

/// Whether a statement would end before this atom if it started a line. What follows the last atom is not
/// known, so that there anything that might end one does.
pub(super) fn ends_statement(atoms: &[Atom<'_>], at: usize) -> bool {
    let seen =
        |ahead: usize| atoms.get(at + ahead).map(|atom| Seen { kind: atom.kind, keyword: atom.keyword() });
    seen(0).is_some_and(|first| ends(first, seen(1), seen(2)))
}

/// Whether a statement ends before the next token that counts, if that starts a line.
pub(super) fn ends_before(tree: &Tree<'_>, token: u32) -> bool {
    let mut significant = (token..tree.token_count())
        .map(|index| tree.token(TokenId(index)))
        .filter(|token| !token.kind.is_trivia() && token.kind != TokenKind::Unknown)
        .map(|token| Seen { kind: token.kind, keyword: token.keyword })
        .skip_while(|seen| seen.kind == TokenKind::Semicolon);
    let first = significant.next();
    let (second, third) = (significant.next(), significant.next());
    first.is_none_or(|first| ends(first, second, third))
}

fn ends(first: Seen, second: Option<Seen>, third: Option<Seen>) -> bool {
    match first.kind {
        TokenKind::End | TokenKind::RightBrace | TokenKind::Semicolon | TokenKind::At => true,
        TokenKind::Word => {
            let Some(keyword) = first.keyword else { return false };
            (keyword.starts_declaration() && declares(keyword, second, third))
                || (keyword == Keyword::Immutable && marks_class(second, third))
                || (keyword.starts_write() && second.is_none_or(|next| writes(next.kind)))
        }
        _other => false,
    }
}

fn declares(keyword: Keyword, second: Option<Seen>, third: Option<Seen>) -> bool {
    let Some(next) = second else { return true };
    match keyword {
        Keyword::Import => matches!(next.kind, TokenKind::Text | TokenKind::DoubleText),
        Keyword::Abstract => next.keyword == Some(Keyword::Entity),
        Keyword::Writes => next.keyword == Some(Keyword::Any),
        Keyword::Represent if next.kind == TokenKind::Star => true,
        _declares_a_name => next.kind.is_name() && (next.keyword.is_none() || third.is_none_or(opens)),
    }
}

/// `immutable entity Reading`
fn marks_class(second: Option<Seen>, third: Option<Seen>) -> bool {
    match second.and_then(|next| next.keyword) {
        Some(Keyword::Abstract) => third.is_none_or(|third| third.keyword == Some(Keyword::Entity)),
        Some(Keyword::Entity | Keyword::Value) => third.is_none_or(|third| third.kind.is_name()),
        Some(_) | None => false,
    }
}

/// What follows the name of a declaration.
fn opens(seen: Seen) -> bool {
    matches!(seen.kind, TokenKind::LeftBrace | TokenKind::Colon)
        || matches!(seen.keyword, Some(Keyword::As | Keyword::Extends | Keyword::Of | Keyword::On))
}

/// What follows the first word of a write.
fn writes(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Word | TokenKind::QuotedWord | TokenKind::Colon | TokenKind::Question)
}
