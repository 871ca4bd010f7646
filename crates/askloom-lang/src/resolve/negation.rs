//! NOT around a condition, and NOT before the operator of a predicate.
//!
//! About a single value both mean the same. About many values, those of a list or along a to-many path, a predicate is
//! true if some value makes it true: `tags NOT IN :list` if some tag is not in the list, `NOT tags IN :list` if no tag
//! is in it. SQL knows no such difference, so a note says which of the two a condition means. Parentheses around the
//! predicate, `NOT (tags IN :list)` or `(tags NOT IN :list)`, show that this is known, and there is no note.

use super::Resolver;
use super::operands::Statement;
use crate::syntax::{Keyword, NodeId, NodeKind, Tree};
use askloom_model::{Code, Comparison, Condition, Diagnostic, Leaf, Path};

impl<'t, 'a> Resolver<'t, 'a, '_> {
    /// `NOT c`: the opposite of the condition as a whole.
    pub(super) fn negation(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let inner = st.tree.children(node).next()?;
        if !is_predicate(st.tree, inner) {
            return Some(Condition::Not(Box::new(self.condition(st, inner)?)));
        }
        let predicate = self.predicate(st, inner)?;
        if let Some(many) = self.many_values(&predicate) {
            let message = format!("true if no element of `{many}` makes the predicate true");
            let diagnostic = Diagnostic::new(Code::NegationOverMany, st.tree.span(node), message);
            let other = opposite(st.tree, inner).unwrap_or_else(|| "…".to_owned());
            self.say(diagnostic.hint(format!(
                "`{other}` asks for some element that does not; `NOT (…)` confirms this form"
            )));
        }
        Some(Condition::Not(Box::new(predicate)))
    }

    /// `x NOT IN …`, from the predicate without its NOT.
    pub(super) fn negated(&self, predicate: Condition) -> Condition {
        match self.many_values(&predicate) {
            Some(_) => Condition::Negated(Box::new(predicate)),
            None => Condition::Not(Box::new(predicate)),
        }
    }

    /// Says what a negated predicate means, if no parentheses show that this is known.
    pub(super) fn note_negated(&mut self, tree: &Tree<'a>, node: NodeId, predicate: &Condition) {
        let Condition::Negated(inner) = predicate else { return };
        let Some(many) = self.many_values(inner) else { return };
        let message = format!("true if some element of `{many}` makes the negated predicate true");
        let diagnostic = Diagnostic::new(Code::NegationOverMany, tree.span(node), message);
        let other = opposite(tree, node).unwrap_or_else(|| "…".to_owned());
        self.say(
            diagnostic.hint(format!("`NOT ({other})` asks for no element; parentheses confirm this form")),
        );
    }

    /// The list or to-many end that gives a predicate many values.
    fn many_values(&self, predicate: &Condition) -> Option<&str> {
        predicate.paths().into_iter().find_map(|path| self.many_on(path))
    }

    fn many_on(&self, path: &Path) -> Option<&str> {
        let conceptual = &self.model.conceptual;
        let leaf = match path.leaf {
            Leaf::Reference(end) => Some(end),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        let mut ends = path.hops.iter().copied().chain(leaf).map(|end| &conceptual.ends[end]);
        if let Some(end) = ends.find(|end| end.cardinality.is_many()) {
            return Some(&end.name);
        }
        match path.leaf {
            Leaf::Attribute(id) if conceptual.attributes[id].list => Some(&conceptual.attributes[id].name),
            Leaf::Attribute(_)
            | Leaf::Reference(_)
            | Leaf::Itself
            | Leaf::Bucket(_)
            | Leaf::TimeBucket(..) => None,
        }
    }
}

/// Whether a condition is neither made of others nor in parentheses.
pub(super) fn is_predicate(tree: &Tree<'_>, node: NodeId) -> bool {
    !matches!(tree.kind(node), NodeKind::And | NodeKind::Or | NodeKind::Not | NodeKind::Paren)
}

/// The text of the predicate that is true of an element where this one is false. Nothing if a comment is in it.
fn opposite(tree: &Tree<'_>, predicate: NodeId) -> Option<String> {
    let text = tree.text(predicate);
    let start = tree.span(predicate).start;
    let cut = |token, new: &str| {
        let span = tree.token_span(token);
        let (before, after) =
            (text.get(..(span.start - start) as usize)?, text.get((span.end - start) as usize..)?);
        Some(format!("{before}{new}{after}"))
    };
    let text = match tree.kind(predicate) {
        NodeKind::Path => format!("{text} = false"),
        NodeKind::Compare => {
            let sign = opposite_sign(super::conditions::comparison(tree, predicate)?);
            cut(tree.own_tokens(predicate).next()?, sign)?
        }
        kind => {
            let first = tree.own_tokens(predicate).next()?;
            let word = tree.token_text(first);
            match tree.own_keyword(predicate, Keyword::Not) {
                Some(not) => cut(not, "")?,
                None if kind == NodeKind::IsNull => cut(first, &format!("{word} NOT"))?,
                None => cut(first, &format!("NOT {word}"))?,
            }
        }
    };
    (!text.contains("//")).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn opposite_sign(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "!=",
        Comparison::NotEqual => "=",
        Comparison::Less => ">=",
        Comparison::LessOrEqual => ">",
        Comparison::Greater => "<=",
        Comparison::GreaterOrEqual => "<",
    }
}
