//! Type names in all three languages.

use super::Resolver;
use crate::Dialect;
use crate::suggest::{closest, did_you_mean};
use crate::syntax::ast::{Ident, unquote};
use crate::syntax::{NodeId, TokenKind, Tree};
use crate::words;
use askloom_model::{Code, Diagnostic, Edit, Precision, Span, Type};

/// More than that is data, not a type.
const MAX_ENUM_VALUES: usize = 4096;

impl<'t, 'a> Resolver<'t, 'a, '_> {
    /// The type that a node names. `member` is where the member's name stands: a class in place of a type
    /// wants `ref` or `part` before it.
    pub(super) fn type_of(&mut self, tree: &'t Tree<'a>, node: NodeId, member: Span) -> Option<Type> {
        let word = tree.word(node)?;
        let arguments = tree.own_token(node, TokenKind::LeftParen).is_some();
        let canonical = self.canonical_word(tree, word, member)?;
        if canonical == "enum" {
            return Some(self.enumeration(tree, node, word));
        }
        let ty = Type::named(canonical)?;
        match (ty, arguments) {
            (Type::Timestamp(_), true) => Some(Type::Timestamp(self.precision(tree, node, word))),
            (ty, true) => {
                let message = format!("`{ty}` takes no arguments");
                self.say(
                    Diagnostic::new(Code::UnknownType, tree.span(node), message)
                        .replace(tree.span(node), word.text),
                );
                Some(ty)
            }
            (ty, false) => Some(ty),
        }
    }

    fn canonical_word(&mut self, tree: &Tree<'a>, word: Ident<'a>, member: Span) -> Option<&'static str> {
        if let Some(canonical) = words::canonical_type(word.text) {
            // Dialects write their keywords in any case.
            if canonical != word.text && tree.dialect == Dialect::Loom {
                self.wrong_case(word, canonical);
            }
            return Some(canonical);
        }
        if let Some(&class) = self.names.classes.get(word.text) {
            self.class_as_type(word, class, member);
            return None;
        }
        match words::dialect_type(word.text) {
            Some(canonical) if tree.dialect != Dialect::Loom => Some(canonical),
            Some(canonical) => {
                let message = format!("`{}` is a type of the dialects; here it is `{canonical}`", word.text);
                self.say(
                    Diagnostic::new(Code::UnknownType, word.span, message).replace(word.span, canonical),
                );
                Some(canonical)
            }
            None => {
                self.unknown_type(word);
                None
            }
        }
    }

    fn class_as_type(&mut self, word: Ident<'a>, class: askloom_model::ClassId, member: Span) {
        let (what, keyword) = match self.model.conceptual.classes[class].kind.is_entity() {
            true => ("an entity", "ref"),
            false => ("a value object", "part"),
        };
        let message = format!("`{}` is {what}, not a type", word.text);
        self.say(
            Diagnostic::new(Code::ClassAsType, word.span, message)
                .hint(format!("`{keyword}` before the name makes it a relationship"))
                .fix(
                    format!("insert `{keyword}`"),
                    vec![Edit { span: member.before(), text: format!("{keyword} ") }],
                ),
        );
    }

    fn unknown_type(&mut self, word: Ident<'a>) {
        let diagnostic =
            Diagnostic::new(Code::UnknownType, word.span, format!("no type is called `{}`", word.text));
        if self.diagnostics.is_full() {
            return self.say(diagnostic);
        }
        let classes = self.model.conceptual.classes.iter().map(|(_, class)| class.name.as_str());
        let near = closest(&word.text.to_lowercase(), Type::NAMES).or_else(|| closest(word.text, classes));
        let diagnostic = match near {
            Some(near) => did_you_mean(diagnostic, word.span, near),
            None => diagnostic.hint("`askloom explain AL0205` lists the types"),
        };
        self.say(diagnostic);
    }

    fn precision(&mut self, tree: &Tree<'a>, node: NodeId, word: Ident<'a>) -> Precision {
        let digits = tree.own_token(node, TokenKind::Number).map(|token| tree.token_text(token));
        match digits {
            Some("6") => Precision::Micros,
            Some("9") => Precision::Nanos,
            Some(_) | None => {
                let message = "a timestamp is in ms, or `timestamp(6)` or `timestamp(9)`";
                self.say(
                    Diagnostic::new(Code::UnknownType, tree.span(node), message)
                        .replace(tree.span(node), word.text),
                );
                Precision::Millis
            }
        }
    }

    fn enumeration(&mut self, tree: &Tree<'a>, node: NodeId, word: Ident<'a>) -> Type {
        let mut values: Vec<String> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for token in tree.own_tokens(node).skip(1) {
            let value = match tree.token(token).kind {
                TokenKind::Word | TokenKind::QuotedWord => tree.ident(token).text.to_owned(),
                TokenKind::Text | TokenKind::DoubleText => unquote(tree.token_text(token)).into_owned(),
                TokenKind::Number => tree.token_text(token).to_owned(),
                _punctuation => continue,
            };
            if seen.insert(value.clone()) {
                values.push(value);
            } else {
                let message = format!("`{value}` stands twice in this enum");
                self.say(Diagnostic::new(Code::BadEnum, tree.token_span(token), message));
            }
        }
        if values.is_empty() {
            self.say(
                Diagnostic::new(Code::BadEnum, word.span, "an enum needs at least one value")
                    .hint("list its values in order: `enum(waiting, playing, over)`"),
            );
        }
        if values.len() > MAX_ENUM_VALUES {
            self.too_many(word.span, "values in an enum", MAX_ENUM_VALUES);
            values.truncate(MAX_ENUM_VALUES);
        }
        Type::Enum(values.into())
    }
}
