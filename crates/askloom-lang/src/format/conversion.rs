//! What of a dialect has to be said otherwise in `.loom`: types, quoted numbers, foreign annotations.

use crate::syntax::{Keyword, NodeId, NodeKind, TokenKind, Tree, lex};
use crate::{Dialect, words};
use askloom_model::{Diagnostics, FileId};
use std::collections::{HashMap, HashSet};

/// Every annotation that means something. Others become comments when a dialect is converted.
pub(super) const ANNOTATIONS: &[&str] = &[
    "count",
    "avg",
    "max",
    "distinct",
    "freq",
    "size",
    "skew",
    "rate",
    "latency",
    "fresh",
    "apart",
    "selects",
    "rows",
    "ttl",
    "store",
    "tree",
    "writes",
    "highlyUpdated",
];

/// What the dialects put in quotes, and `.loom` does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoted {
    Number,
    Bool,
}

/// What the declarations of a dialect's file say about its names. Empty for `.loom`.
#[derive(Debug)]
pub(super) struct Conversion<'a> {
    dialect: Dialect,
    classes: HashSet<&'a str>,
    /// What is quoted beside a field of that name, in lower case. Fields are looked up by the last name of a
    /// path alone: where two fields of one name differ, there is no telling, and the quotes stay.
    fields: HashMap<String, Option<Quoted>>,
}

impl<'a> Conversion<'a> {
    pub(super) fn new(tree: &Tree<'a>) -> Self {
        let mut conversion = Self { dialect: tree.dialect, classes: HashSet::new(), fields: HashMap::new() };
        if conversion.is_needed() {
            let classes: Vec<NodeId> = tree.children_of(tree.root(), NodeKind::Class).collect();
            conversion.classes = classes.iter().filter_map(|&class| Some(tree.name(class)?.text)).collect();
            conversion.read_fields(tree, &classes);
        }
        conversion
    }

    pub(super) fn is_needed(&self) -> bool {
        self.dialect != Dialect::Loom
    }

    fn read_fields(&mut self, tree: &Tree<'a>, classes: &[NodeId]) {
        let mut identifiers = HashMap::new();
        for &class in classes {
            for node in tree.children_of(class, NodeKind::Attribute) {
                let quoted = self.quoted_type(tree, node);
                self.add_field(tree, node, quoted);
                if let Some(name) = tree.name(class).filter(|_| tree.has_keyword(node, Keyword::Id)) {
                    let several = identifiers.contains_key(name.text);
                    identifiers.insert(name.text, quoted.filter(|_| !several));
                }
            }
        }
        // A reference is compared with the only identifier of its target.
        for &class in classes {
            for node in tree.children_of(class, NodeKind::Relationship) {
                let target = tree.child(node, NodeKind::TypeName).and_then(|target| tree.word(target));
                let quoted = target.and_then(|target| identifiers.get(target.text).copied().flatten());
                self.add_field(tree, node, quoted);
            }
        }
    }

    fn add_field(&mut self, tree: &Tree<'a>, node: NodeId, quoted: Option<Quoted>) {
        let Some(name) = tree.name(node) else { return };
        let known = self.fields.entry(name.text.to_lowercase()).or_insert(quoted);
        if *known != quoted {
            *known = None;
        }
    }

    /// What the dialect puts in quotes for a value of this attribute.
    pub(super) fn quoted_type(&self, tree: &Tree<'a>, attribute: NodeId) -> Option<Quoted> {
        let word = tree.child(attribute, NodeKind::TypeName).and_then(|node| tree.word(node))?;
        match self.type_word(word.text) {
            "int" | "long" | "decimal" | "double" => Some(Quoted::Number),
            "bool" => Some(Quoted::Bool),
            _text => None,
        }
    }

    /// What is quoted beside the path below this node.
    pub(super) fn quoted_beside(&self, tree: &Tree<'a>, node: NodeId) -> Option<Quoted> {
        if !self.is_needed() {
            return None;
        }
        let path = tree.path_in(node)?;
        self.fields.get(&path.segments.last()?.text.to_lowercase()).copied().flatten()
    }

    /// The word for a type in `.loom`. A class of that name comes first, as it does in the check.
    pub(super) fn type_word<'w>(&self, word: &'w str) -> &'w str {
        match (self.is_needed(), words::canonical_type(word)) {
            (false, _) => word,
            (true, Some(canonical)) => canonical,
            (true, None) if self.classes.contains(word) => word,
            (true, None) => words::dialect_type(word).unwrap_or(word),
        }
    }

    /// Whether an annotation belongs to another tool: unknown, without arguments, in a dialect.
    pub(super) fn is_foreign(&self, tree: &Tree<'a>, annotation: NodeId) -> bool {
        let known = |name: &str| ANNOTATIONS.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.is_needed()
            && tree.own_token(annotation, TokenKind::LeftParen).is_none()
            && tree.name(annotation).is_some_and(|name| !known(name.text))
    }
}

/// The number in these quotes, as `.loom` writes it: its sign and its digits.
pub(super) fn number(text: &str) -> Option<(bool, &str)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let tokens = lex(digits, FileId::default(), Dialect::Loom, &mut Diagnostics::default());
    let kinds: Vec<TokenKind> = tokens.iter().map(|token| token.kind).collect();
    let plain = kinds == [TokenKind::Number, TokenKind::End] && !digits.contains('_');
    plain.then_some((negative, digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Memory, check};
    use std::path::Path;

    /// The check lists all annotations when it meets one that is like none of them.
    #[test]
    fn every_annotation_is_known() {
        let world = Memory::default().with("model.loom", "@xxxxxxxxxxxxxxxx\nentity A { id a: text }\n");
        let checked = check(&world, Path::new("model.loom"));
        let hint = checked.diagnostics.iter().find_map(|diagnostic| diagnostic.hint.clone()).unwrap();
        let known: Vec<&str> = hint.split_whitespace().filter_map(|word| word.strip_prefix('@')).collect();
        assert_eq!(known, ANNOTATIONS);
    }

    #[test]
    fn only_what_is_a_number_loses_its_quotes() {
        assert_eq!(number("10"), Some((false, "10")));
        assert_eq!(number("-1.5e3"), Some((true, "1.5e3")));
        for text in ["", "-", "1.", ".5", "1 2", "1_000", "x", "--1", "1;"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
