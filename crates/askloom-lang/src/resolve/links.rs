//! CONNECT and DISCONNECT: links of a relationship.

use super::Resolver;
use super::operands::{Statement, ValueType};
use crate::syntax::NodeId;
use crate::syntax::ast::PathText;
use askloom_model::{
    Cardinality, ClassId, Code, Diagnostic, EndId, Member, Operand, RelationshipKind, WriteStep,
};

impl<'t, 'a> Resolver<'t, 'a, '_> {
    fn reference(&mut self, st: &Statement<'t, 'a>, text: &PathText<'a>, what: &str) -> Option<EndId> {
        let (member, name) = self.target_member(st, text)?;
        let end = match member {
            Member::End(id) if self.model.conceptual.ends[id].kind != RelationshipKind::Composition => {
                Some(id)
            }
            Member::End(_) | Member::Attribute(_) => None,
        };
        let declared = self.member_span(member);
        let Some(id) = end else {
            let message = format!("{what} needs a reference, and `{}` is none", name.text);
            self.say(
                Diagnostic::new(Code::NotAReference, name.span, message).also(declared, "declared here"),
            );
            return None;
        };
        // A write on either end is the same write: it changes where the links live.
        let end = &self.model.conceptual.ends[self.model.conceptual.stored_end(id)];
        let declared = end.span;
        let (code, message) = if end.id {
            (Code::SetOfIdentifier, format!("`{}` identifies: it never changes", name.text))
        } else if end.immutable {
            (Code::SetOfImmutable, format!("`{}` is immutable", name.text))
        } else {
            return Some(id);
        };
        self.say(Diagnostic::new(code, name.span, message).also(declared, "declared here"));
        None
    }

    pub(super) fn connect(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        let end = self.reference(st, text, "CONNECT")?;
        let condition = self.condition_of(st, node, "CONNECT");
        let to = self.linked(st, node, end)??;
        Some(WriteStep::Connect {
            class,
            end,
            to,
            condition: condition?,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

    /// The other instance, as an operand. Outer `None`: it is wrong; inner: there is none.
    fn linked(&mut self, st: &mut Statement<'t, 'a>, node: NodeId, end: EndId) -> Option<Option<Operand>> {
        let tree = st.tree;
        let (_, value) = tree.target_and_value(node);
        let Some(value) = value else { return Some(None) };
        let target = ValueType::Identity(self.model.conceptual.ends[end].target);
        self.given(st, value, &target).map(Some)
    }

    pub(super) fn disconnect(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        let end = self.reference(st, text, "DISCONNECT")?;
        let condition = self.condition_of(st, node, "DISCONNECT");
        let from = self.linked(st, node, end)?;
        self.check_disconnect(text, end, from.is_some())?;
        Some(WriteStep::Disconnect {
            class,
            end,
            from,
            condition: condition?,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

    fn check_disconnect(&mut self, text: &PathText<'a>, end: EndId, single: bool) -> Option<()> {
        let row = &self.model.conceptual.ends[end];
        let other_requires = row
            .inverse
            .map(|id| &self.model.conceptual.ends[id])
            .filter(|e| e.cardinality == Cardinality::ONE);
        let (required, span) = match other_requires {
            _own if row.cardinality == Cardinality::ONE => (&row.name, row.span),
            // All links of an end that must keep some.
            _own if row.cardinality.min > 0 && !single => (&row.name, row.span),
            Some(other) => (&other.name, other.span),
            None => return Some(()),
        };
        let message = format!("`{required}` is required: it cannot be disconnected");
        self.say(
            Diagnostic::new(Code::DisconnectRequired, text.span, message)
                .also(span, "declared without `?`")
                .hint("CONNECT it to another instance instead"),
        );
        None
    }
}
