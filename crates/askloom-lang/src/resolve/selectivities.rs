//! `@selects(1%)` and `@rows(15)`: how many rows a comparison, or a whole query, keeps.

use super::Resolver;
use super::annotations::{Found, Target};
use super::operands::Statement;
use crate::syntax::{NodeId, NodeKind};
use askloom_model::{Code, Condition, Diagnostic, Kept, Span, Stated};

impl<'t, 'a> Resolver<'t, 'a, '_> {
    /// What stands behind a comparison.
    pub(super) fn state(&mut self, st: &mut Statement<'t, 'a>, node: NodeId, condition: &Condition) {
        let Some(first) = st.tree.child(node, NodeKind::Annotation) else { return };
        let span = st.tree.span(first);
        if st.stated.is_none() {
            let message = "only the WHERE of a query says how many rows its comparisons keep";
            self.say(Diagnostic::new(Code::MisplacedAnnotation, span, message));
            return;
        }
        let found = self.annotations_of(st.tree, node, Target::Comparison);
        let kept = self.only_kept(&found);
        if let (Some((kept, _)), Some(stated)) = (kept, st.stated.as_mut()) {
            stated.push(Stated { condition: Some(condition.clone()), kept });
        }
    }

    /// What stands on a query.
    pub(super) fn state_query(&mut self, found: &Found<'a>, condition: Option<&Condition>) -> Option<Stated> {
        let (kept, span) = self.only_kept(found)?;
        if condition.is_none() {
            let message = "this query has no WHERE: it selects everything";
            self.say(
                Diagnostic::new(Code::BadSelectivity, span, message)
                    .hint("`@count` on the entity says how many rows there are"),
            );
            return None;
        }
        Some(Stated { condition: None, kept })
    }

    fn only_kept(&mut self, found: &Found<'a>) -> Option<(Kept, Span)> {
        if let [(_, first), (_, second), ..] = found.kept.as_slice() {
            let message = "`@selects` and `@rows` say the same thing in two ways";
            self.say(
                Diagnostic::new(Code::BadSelectivity, *second, message)
                    .also(*first, "said here already")
                    .hint("keep the one that you know"),
            );
        }
        found.kept.first().copied()
    }
}
