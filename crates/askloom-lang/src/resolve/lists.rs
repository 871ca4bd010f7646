//! ADD, REMOVE and UPDATE: elements of a list.

use super::operands::{Statement, ValueType};
use super::parameters::Parameters;
use super::scope::Scope;
use super::{Resolver, first_position};
use crate::syntax::ast::{Ident, PathText};
use crate::syntax::{NodeId, NodeKind};
use askloom_model::{
    Assignment, ClassId, Code, Constant, Diagnostic, Member, Operand, RelationshipKind, Type, WriteStep,
};

impl<'t, 'a> Resolver<'t, 'a, '_> {
    /// The member after the entity in `Game.rounds`.
    pub(super) fn target_member(
        &mut self,
        st: &Statement<'t, 'a>,
        text: &PathText<'a>,
    ) -> Option<(Member, Ident<'a>)> {
        match text.segments.as_slice() {
            [_, name] => {
                let class = st.scope.main;
                let member =
                    self.member_exactly(class, name.text).or_else(|| self.member_in_any_case(class, *name));
                if member.is_none() {
                    self.unknown_member(class, *name, &[]);
                }
                member.map(|member| (member, *name))
            }
            _too_short_or_long => {
                let message = "name the entity and one member of it, as in `Game.rounds`";
                self.say(Diagnostic::new(Code::NotAList, text.span, message));
                None
            }
        }
    }

    /// A list of values, or a to-many part.
    fn list_member(
        &mut self,
        st: &Statement<'t, 'a>,
        text: &PathText<'a>,
        what: &str,
    ) -> Option<(Member, ValueType)> {
        let (member, name) = self.target_member(st, text)?;
        let conceptual = &self.model.conceptual;
        let (ty, hint) = match member {
            Member::Attribute(id) if conceptual.attributes[id].list => {
                (Some(ValueType::Basic(conceptual.attributes[id].ty.clone())), "")
            }
            Member::Attribute(_) => (None, "UPDATE … SET changes a single value"),
            Member::End(id) => {
                let end = &conceptual.ends[id];
                match (end.kind, end.cardinality.is_many()) {
                    (RelationshipKind::Composition, true) => (Some(ValueType::Whole(end.target)), ""),
                    (RelationshipKind::Composition, false) => (None, "UPDATE … SET changes a to-one part"),
                    (RelationshipKind::Association | RelationshipKind::Aggregation, _) => {
                        (None, "CONNECT and DISCONNECT change references")
                    }
                }
            }
        };
        let declared = self.member_span(member);
        let immutable = match member {
            Member::Attribute(id) => conceptual.attributes[id].immutable,
            Member::End(id) => conceptual.ends[id].immutable,
        };
        if immutable {
            let message = format!("`{}` is immutable", name.text);
            self.say(
                Diagnostic::new(Code::SetOfImmutable, name.span, message).also(declared, "declared here"),
            );
            return None;
        }
        if let Some(ty) = ty {
            return Some((member, ty));
        }
        let message = format!("{what} needs a list, and `{}` is none", name.text);
        self.say(
            Diagnostic::new(Code::NotAList, name.span, message).also(declared, "declared here").hint(hint),
        );
        None
    }

    pub(super) fn add(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        let member = self.list_member(st, text, "ADD");
        let condition = self.condition_of(st, node, "ADD");
        let (list, ty) = member?;
        let (_, value) = st.tree.target_and_value(node);
        let value = self.given(st, value?, &ty)?;
        Some(WriteStep::Add {
            class,
            list,
            value,
            condition: condition?,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

    pub(super) fn remove(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        let tree = st.tree;
        let (list, ty) = self.list_member(st, text, "REMOVE")?;
        let element = match ty {
            ValueType::Whole(class) => Some(class),
            ValueType::Basic(_) | ValueType::Identity(_) => None,
        };
        // In the condition, the list's name means its element.
        st.scope.join(first_position(), list, element, false);
        let (_, at) = tree.target_and_value(node);
        let at = match at {
            Some(at) => Some(self.given(st, at, &ValueType::Basic(Type::Int))?),
            None => None,
        };
        if let Some(Operand::Constant(Constant::Int(position))) = at
            && position < 0
        {
            let message = "positions count from 0";
            self.say(Diagnostic::new(Code::BadLiteral, tree.span(node), message));
            return None;
        }
        let condition = self.condition_of(st, node, "REMOVE")?;
        Some(WriteStep::Remove {
            class,
            list,
            at,
            condition,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

    /// `UPDATE Game.rounds SET …`. What SET names is the element's; WHERE is as that of REMOVE.
    pub(super) fn update_elements(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        let (list, ty) = self.list_member(st, text, "UPDATE of elements")?;
        let (element, set) = match ty {
            ValueType::Whole(class) => (Some(class), self.assignments_inside(st, node, class)),
            ValueType::Basic(_) | ValueType::Identity(_) => {
                (None, self.assignment_of_element(st, node, list, &ty))
            }
        };
        st.scope.join(first_position(), list, element, false);
        let condition = self.condition_of(st, node, "UPDATE");
        Some(WriteStep::UpdateElements {
            class,
            list,
            set: set?,
            condition: condition?,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

    /// The assignments to members of an element, in a scope of its own: there a bare name is the element's.
    fn assignments_inside(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        element: ClassId,
    ) -> Option<Vec<Assignment>> {
        let parameters = std::mem::replace(&mut st.parameters, Parameters::none());
        let mut inside = Statement {
            tree: st.tree,
            scope: Scope::new(element),
            parameters,
            crossing: st.crossing,
            stated: None,
        };
        let set = self.assignments(&mut inside, node, element);
        st.parameters = inside.parameters;
        set
    }

    /// The only assignment to an element that is a plain value: `SET tags = :tag`.
    fn assignment_of_element(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        list: Member,
        ty: &ValueType,
    ) -> Option<Vec<Assignment>> {
        let tree = st.tree;
        let name = self.model.conceptual.member_name(list).to_owned();
        let mut set: Vec<Assignment> = Vec::new();
        let mut first = None;
        for node in tree.children_of(node, NodeKind::Assignment) {
            let field = tree.path(tree.children(node).next()?);
            let [only] = field.segments.as_slice() else {
                let message = format!("an element of `{name}` is a plain value: nothing is inside");
                self.say(
                    Diagnostic::new(Code::PathThroughAttribute, field.span, message)
                        .hint(format!("`SET {name} = …` sets the element itself")),
                );
                return None;
            };
            if only.text != name {
                let message = format!("SET names the element, which is called `{name}` here");
                self.say(
                    Diagnostic::new(Code::UnknownName, only.span, message)
                        .hint(format!("write `SET {name} = …`")),
                );
                return None;
            }
            if let Some(first) = first.replace(tree.span(node)) {
                let message = "this element is set twice";
                self.say(Diagnostic::new(Code::SetTwice, tree.span(node), message).also(first, "first here"));
                return None;
            }
            let value = self.assigned_to(st, node, list, ty)?;
            set.push(Assignment { hops: Vec::new(), member: list, value });
        }
        (!set.is_empty()).then_some(set)
    }
}
