//! SET: which field, to which value.

use super::Resolver;
use super::operands::{Statement, ValueType};
use super::scope::Crossing;
use crate::syntax::ast::PathText;
use crate::syntax::{NodeId, NodeKind, TokenKind};
use askloom_model::{
    Assigned, Assignment, ClassId, Code, Constant, Diagnostic, EndId, Leaf, Member, Operand, Path,
    RelationshipKind, Span, Type,
};
use std::collections::HashMap;

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn assignments(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
    ) -> Option<Vec<Assignment>> {
        let tree = st.tree;
        let mut assignments: Vec<Assignment> = Vec::new();
        let mut seen: HashMap<(Vec<EndId>, Member), Span> = HashMap::new();
        let mut wrong = false;
        for node in tree.children_of(node, NodeKind::Assignment) {
            let Some(assignment) = self.assignment(st, node, class) else {
                wrong = true;
                continue;
            };
            let span = tree.span(node);
            if let Some(first) = seen.insert((assignment.hops.clone(), assignment.member), span) {
                let message = "this field is set twice";
                self.say(Diagnostic::new(Code::SetTwice, span, message).also(first, "first here"));
                wrong = true;
            }
            assignments.push(assignment);
        }
        (!wrong).then_some(assignments)
    }

    fn assignment(&mut self, st: &mut Statement<'t, 'a>, node: NodeId, class: ClassId) -> Option<Assignment> {
        let tree = st.tree;
        let text = tree.path(tree.children(node).next()?);
        let path = self.path(&st.scope, &text, Crossing::Some)?;
        let (member, ty) = self.settable(st, &path, &text, class)?;
        let value = self.assigned_to(st, node, member, &ty)?;
        Some(Assignment { hops: path.hops, member, value })
    }

    /// What the right side of an assignment gives to the field on its left.
    pub(super) fn assigned_to(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        member: Member,
        ty: &ValueType,
    ) -> Option<Assigned> {
        let tree = st.tree;
        let operands: Vec<NodeId> = tree.children(node).collect();
        let (field, value) = (*operands.first()?, *operands.get(1)?);
        let plus =
            [TokenKind::Plus, TokenKind::Minus].into_iter().find_map(|kind| tree.own_token(node, kind));
        match (plus, operands.get(2)) {
            (Some(sign), Some(&amount)) => {
                let negative = tree.token(sign).kind == TokenKind::Minus;
                let field = self.path(&st.scope, &tree.path(field), Crossing::Some)?;
                self.increment(st, &field, ty, value, amount, negative)
            }
            _plain => self.assigned(st, value, member, ty),
        }
    }

    /// The member that a path of SET names, if it can be set.
    fn settable(
        &mut self,
        st: &Statement<'t, 'a>,
        path: &Path,
        text: &PathText<'a>,
        class: ClassId,
    ) -> Option<(Member, ValueType)> {
        let conceptual = &self.model.conceptual;
        let ty = match path.leaf {
            // A part is set as a whole; elsewhere a part entity is known by its id.
            Leaf::Reference(id) if conceptual.ends[id].kind == RelationshipKind::Composition => {
                ValueType::Whole(conceptual.ends[id].target)
            }
            Leaf::Reference(_)
            | Leaf::Attribute(_)
            | Leaf::Itself
            | Leaf::Bucket(_)
            | Leaf::TimeBucket(..) => self.value_type(&st.scope, path),
        };
        let crosses_reference = path.hops.iter().find(|&&hop| {
            conceptual.ends[hop].kind != RelationshipKind::Composition
                || conceptual.ends[hop].cardinality.is_many()
        });
        if let Some(&hop) = crosses_reference {
            let end = &conceptual.ends[hop];
            let message = format!(
                "SET does not reach beyond `{}`: it changes `{}` alone",
                end.name, conceptual.classes[class].name
            );
            self.say(
                Diagnostic::new(Code::SetOfMany, text.span, message)
                    .hint("UPDATE the entity that has the field, or REMOVE and ADD an element"),
            );
            return None;
        }
        let sealed = path.hops.iter().any(|&hop| conceptual.ends[hop].immutable);
        let (member, id, immutable, many, declared) = match path.leaf {
            Leaf::Attribute(id) => {
                let a = &conceptual.attributes[id];
                (Member::Attribute(id), a.id, a.immutable, a.list, a.span)
            }
            Leaf::Reference(id) => {
                // A write on either end is the same write: it changes where the links live.
                let e = &conceptual.ends[conceptual.stored_end(id)];
                (Member::End(id), e.id, e.immutable, conceptual.ends[id].cardinality.is_many(), e.span)
            }
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => {
                let message = "an instance as a whole cannot be set";
                self.say(Diagnostic::new(Code::SetOfMany, text.span, message).hint("name a field"));
                return None;
            }
        };
        let name = text.joined(".");
        let (code, message, hint) = if id {
            (
                Code::SetOfIdentifier,
                format!("`{name}` identifies: it never changes"),
                "DELETE the instance and INSERT another",
            )
        } else if immutable || sealed {
            (Code::SetOfImmutable, format!("`{name}` is immutable"), "drop `immutable` if it has to change")
        } else if many {
            (
                Code::SetOfMany,
                format!("`{name}` is many: SET replaces one value"),
                "use ADD and REMOVE, or CONNECT and DISCONNECT",
            )
        } else {
            return Some((member, ty));
        };
        self.say(Diagnostic::new(code, text.span, message).also(declared, "declared here").hint(hint));
        None
    }

    /// `n = n + :d`: the field itself plus or minus something.
    fn increment(
        &mut self,
        st: &mut Statement<'t, 'a>,
        field: &Path,
        ty: &ValueType,
        base: NodeId,
        amount: NodeId,
        negative: bool,
    ) -> Option<Assigned> {
        let tree = st.tree;
        let same = tree.kind(base) == NodeKind::Path
            && self.path(&st.scope, &tree.path(base), Crossing::Some).as_ref() == Some(field);
        let number = matches!(ty, ValueType::Basic(ty) if ty.is_number());
        if !same || !number {
            let message = match number {
                true => "arithmetic has the form `n = n + :d` or `n = n - :d`".to_owned(),
                false => format!("{} has no arithmetic", self.describe(ty)),
            };
            self.say(Diagnostic::new(Code::BadArithmetic, tree.span(base).to(tree.span(amount)), message));
            return None;
        }
        let amount = self.operand_as(st, amount, ty)?;
        Some(Assigned::Plus { amount, negative })
    }

    fn assigned(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        member: Member,
        ty: &ValueType,
    ) -> Option<Assigned> {
        let tree = st.tree;
        let span = tree.span(node);
        if tree.kind(node) == NodeKind::Call {
            return self.assigned_call(st, node, ty);
        }
        if tree.kind(node) == NodeKind::Path && !matches!(ty, ValueType::Basic(Type::Enum(_))) {
            self.set_to_field(span);
            return None;
        }
        let operand = self.operand_as(st, node, ty)?;
        // A bare word was taken for an enum's value; it is the name of a field.
        if matches!(operand, Operand::Path(_)) {
            self.set_to_field(span);
            return None;
        }
        if operand == Operand::Constant(Constant::Null) && !self.is_optional(member) {
            let name = self.model.conceptual.member_name(member).to_owned();
            let declared = self.member_span(member);
            self.say(
                Diagnostic::new(Code::NullForRequired, span, format!("`{name}` must have a value"))
                    .also(declared, "declared without `?`"),
            );
            return None;
        }
        Some(Assigned::To(operand))
    }

    fn set_to_field(&mut self, span: Span) {
        let message = "a field is set to a parameter or a literal, not to another field";
        self.say(
            Diagnostic::new(Code::BadArithmetic, span, message)
                .hint("read it first, and pass it as a parameter"),
        );
    }

    fn assigned_call(&mut self, st: &Statement<'t, 'a>, node: NodeId, ty: &ValueType) -> Option<Assigned> {
        let word = st.tree.word(node)?;
        match (word.text.to_ascii_lowercase().as_str(), ty) {
            ("now", ValueType::Basic(Type::Timestamp(_) | Type::Date | Type::Time)) => Some(Assigned::Now),
            ("uuid", ValueType::Basic(Type::Uuid)) => Some(Assigned::NewUuid),
            _other => {
                let message = format!("`{}()` does not give {}", word.text, self.describe(ty));
                self.say(
                    Diagnostic::new(Code::BadArithmetic, st.tree.span(node), message)
                        .hint("`now()` is for timestamp, date and time, `uuid()` for uuid"),
                );
                None
            }
        }
    }

    fn is_optional(&self, member: Member) -> bool {
        match member {
            Member::Attribute(id) => self.model.conceptual.attributes[id].optional,
            Member::End(id) => {
                let conceptual = &self.model.conceptual;
                let optional = |end: askloom_model::EndId| conceptual.ends[end].cardinality.min == 0;
                optional(id) && optional(conceptual.stored_end(id))
            }
        }
    }
}
