//! A digest of a sequence of tokens, to compare what was meant with what was written.

use crate::syntax::{TokenId, TokenKind, Tree};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Separators are left out: the style of a block decides about them.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    hasher: DefaultHasher,
}

impl Tokens {
    pub(super) fn add(&mut self, kind: TokenKind, text: &str) {
        if !matches!(kind, TokenKind::Comma | TokenKind::Semicolon | TokenKind::End) {
            text.hash(&mut self.hasher);
        }
    }

    pub(super) fn add_range(&mut self, tree: &Tree<'_>, range: Range<u32>) {
        for token in range.map(TokenId) {
            let kind = tree.token(token).kind;
            if !kind.is_trivia() {
                self.add(kind, tree.token_text(token));
            }
        }
    }

    pub(super) fn digest(&self) -> u64 {
        self.hasher.finish()
    }
}
