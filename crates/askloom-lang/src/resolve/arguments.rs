//! The arguments of an annotation, token by token.

use crate::syntax::ast::Ident;
use crate::syntax::{Keyword, NodeId, TokenId, TokenKind, Tree};

/// One argument: an optional value, a number, an optional unit.
pub(super) struct Argument<'a> {
    pub(super) node: NodeId,
    pub(super) value: Option<TokenId>,
    pub(super) number: Option<&'a str>,
    pub(super) negative: bool,
    /// A minus before the value, as in `@freq(-1 2%)`.
    pub(super) negative_value: bool,
    /// `/` before the unit, as in a rate.
    pub(super) per: bool,
    pub(super) percent: bool,
    pub(super) unit: Option<Ident<'a>>,
    /// The name after `from`.
    pub(super) from: Option<Ident<'a>>,
    /// `from` without one name behind it.
    pub(super) dangling: bool,
}

impl Argument<'_> {
    /// Without `from`, which only a time to live has.
    pub(super) fn is_simple(&self) -> bool {
        self.from.is_none() && !self.dangling
    }
}

pub(super) fn argument<'a>(tree: &Tree<'a>, node: NodeId) -> Argument<'a> {
    let mut argument = Argument {
        node,
        value: None,
        number: None,
        negative: false,
        negative_value: false,
        per: false,
        percent: false,
        unit: None,
        from: None,
        dangling: false,
    };
    let mut from = false;
    for token in tree.own_tokens(node) {
        match tree.token(token).kind {
            TokenKind::Number if argument.number.is_none() => argument.number = Some(tree.token_text(token)),
            TokenKind::Number => {
                // `@freq(3 10%)`: the first number was the value.
                argument.value = tree.own_token(node, TokenKind::Number);
                argument.negative_value = std::mem::take(&mut argument.negative);
                argument.number = Some(tree.token_text(token));
            }
            TokenKind::Minus => argument.negative = true,
            TokenKind::Slash => argument.per = true,
            TokenKind::Percent => argument.percent = true,
            TokenKind::Word | TokenKind::QuotedWord | TokenKind::Text | TokenKind::DoubleText => {
                let is_from = tree.token(token).keyword == Some(Keyword::From);
                if from {
                    argument.dangling = argument.from.is_some();
                    argument.from = Some(tree.ident(token));
                } else if is_from && argument.number.is_some() {
                    from = true;
                    argument.dangling = true;
                } else if argument.number.is_none() {
                    argument.value = Some(token);
                } else {
                    argument.unit = Some(tree.ident(token));
                }
            }
            _other => {}
        }
    }
    argument
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be finite and not negative"
)]
pub(super) fn whole_of(number: f64) -> u64 {
    number.round() as u64
}
