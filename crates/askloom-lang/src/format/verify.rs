//! Whether the text is read as what it was made from.

use super::tokens::Tokens;
use super::{Written, parsed};
use crate::Dialect;
use crate::syntax::{NodeId, NodeKind, Tree};
use std::collections::HashSet;

impl Written {
    /// The tokens are those that were printed, and the tree has the same nodes in the same order.
    pub(super) fn is_faithful(&self, source: &Tree<'_>) -> bool {
        let result = parsed(&self.writer.text, Dialect::Loom);
        let mut tokens = Tokens::default();
        tokens.add_range(&result, 0..result.token_count());
        let as_printed = tokens.digest() == self.writer.tokens.digest();
        match source.dialect {
            Dialect::Loom => as_printed && is_same(source, source.root(), &result),
            // What could not be converted is read as anything, so each declaration is compared by itself.
            Dialect::Pidm | Dialect::Gdm => {
                (as_printed || self.left_broken) && self.misread(source).is_empty()
            }
        }
    }

    /// Declarations that would be read as something else, each by itself.
    pub(super) fn misread(&self, source: &Tree<'_>) -> HashSet<NodeId> {
        let differs = |node: NodeId, text: &str| !is_same(source, node, &parsed(text, Dialect::Loom));
        let declarations = self.declarations.iter();
        declarations
            .filter(|(node, range)| differs(*node, self.writer.text.get(range.clone()).unwrap_or_default()))
            .map(|(node, _)| *node)
            .collect()
    }
}

/// Whether a whole tree has the nodes of another's subtree.
fn is_same(source: &Tree<'_>, node: NodeId, result: &Tree<'_>) -> bool {
    let converted = source.dialect != Dialect::Loom;
    let counts = |kind: &NodeKind| *kind != NodeKind::File && (!converted || !is_converted(*kind));
    let expected = source.subtree(node).map(|node| read_as(source.kind(node))).filter(counts);
    let actual = result.subtree(result.root()).map(|node| read_as(result.kind(node))).filter(counts);
    expected.eq(actual)
}

/// Parameters by position get names.
fn read_as(kind: NodeKind) -> NodeKind {
    match kind {
        NodeKind::Positional => NodeKind::Parameter,
        kind => kind,
    }
}

/// What a conversion moves, adds or leaves out.
fn is_converted(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Name
            | NodeKind::TypeName
            | NodeKind::Cardinality
            | NodeKind::Paren
            | NodeKind::Annotation
            | NodeKind::AnnotationArgument
    )
}
