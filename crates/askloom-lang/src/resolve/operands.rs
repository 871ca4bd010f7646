//! Values of a statement: what type a path has, and what a literal or parameter beside it must be.

use super::Resolver;
use super::parameters::Parameters;
use super::scope::{Crossing, Scope};
use crate::syntax::ast::{Ident, LiteralText, PathText};
use crate::syntax::{NodeId, NodeKind, Tree};
use askloom_model::{
    ClassId, Code, Constant, Diagnostic, Leaf, Member, Operand, ParameterType, Path, RelationshipKind, Span,
    Stated, Type,
};

/// A statement while it is resolved.
pub(super) struct Statement<'t, 'a> {
    pub(super) tree: &'t Tree<'a>,
    pub(super) scope: Scope<'a>,
    pub(super) parameters: Parameters,
    /// What a to-many hop means in its conditions.
    pub(super) crossing: Crossing,
    /// What is said about how many rows its comparisons keep. `None` where that cannot be said.
    pub(super) stated: Option<Vec<Stated>>,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueType {
    Basic(Type),
    Identity(ClassId),
    /// A value object, or the list of a part: it can be selected, not compared.
    Whole(ClassId),
}

impl ValueType {
    pub(super) fn parameter(&self) -> ParameterType {
        match self {
            Self::Basic(ty) => ParameterType::Basic(ty.clone()),
            Self::Identity(class) => ParameterType::Identity(*class),
            Self::Whole(class) => ParameterType::Whole(*class),
        }
    }

    pub(super) fn is_ordered(&self) -> bool {
        match self {
            Self::Basic(ty) => ty.is_ordered(),
            Self::Identity(_) | Self::Whole(_) => false,
        }
    }
}

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn value_type(&self, scope: &Scope<'a>, path: &Path) -> ValueType {
        let conceptual = &self.model.conceptual;
        match path.leaf {
            Leaf::Attribute(id) => ValueType::Basic(conceptual.attributes[id].ty.clone()),
            Leaf::Reference(id) => self.end_type(id),
            Leaf::Bucket(_) => ValueType::Basic(Type::Int),
            Leaf::TimeBucket(..) => ValueType::Basic(Type::Text),
            Leaf::Itself => {
                let position = &scope.positions[path.position];
                match (position.class, position.from) {
                    (Some(class), _) if conceptual.classes[class].kind.is_entity() => {
                        ValueType::Identity(class)
                    }
                    (Some(class), _) => ValueType::Whole(class),
                    (None, Some(hop)) => match hop.step {
                        Member::Attribute(id) => ValueType::Basic(conceptual.attributes[id].ty.clone()),
                        Member::End(id) => self.end_type(id),
                    },
                    // Only a list's element has no class, and it hangs on its list.
                    (None, None) => ValueType::Basic(Type::Json),
                }
            }
        }
    }

    fn end_type(&self, id: askloom_model::EndId) -> ValueType {
        let end = &self.model.conceptual.ends[id];
        let entity = self.model.conceptual.classes[end.target].kind.is_entity();
        match end.kind {
            RelationshipKind::Composition if !entity => ValueType::Whole(end.target),
            RelationshipKind::Composition | RelationshipKind::Association | RelationshipKind::Aggregation => {
                ValueType::Identity(end.target)
            }
        }
    }

    pub(super) fn describe(&self, ty: &ValueType) -> String {
        self.parameter_type(&ty.parameter())
    }

    /// The type of the only attribute that identifies a class, if there is exactly one.
    pub(super) fn single_id_type(&self, class: ClassId) -> Option<&Type> {
        match self.model.conceptual.classes[class].identifier.as_slice() {
            [Member::Attribute(id)] => Some(&self.model.conceptual.attributes[*id].ty),
            _composite_or_surrogate => None,
        }
    }

    /// The operand at a node, which has to be of the given type.
    pub(super) fn operand_as(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        expected: &ValueType,
    ) -> Option<Operand> {
        let tree = st.tree;
        let span = tree.span(node);
        match tree.kind(node) {
            NodeKind::Literal => self.literal_as(tree, node, expected).map(Operand::Constant),
            NodeKind::Parameter => {
                let name = tree.parameter_name(node)?;
                self.parameter(&mut st.parameters, name, expected.parameter(), span).map(Operand::Parameter)
            }
            NodeKind::Positional => {
                let name = st.parameters.positional.name(node).to_owned();
                self.parameter(&mut st.parameters, &name, expected.parameter(), span).map(Operand::Parameter)
            }
            NodeKind::Path => self.path_as(st, node, expected),
            NodeKind::Aggregate => {
                self.misplaced_aggregate(span);
                None
            }
            _call_or_broken => {
                if tree.kind(node) == NodeKind::Call {
                    let message = "a call stands only in a default or after SET";
                    self.say(
                        Diagnostic::new(Code::BadOperand, span, message)
                            .hint("give the value as a parameter"),
                    );
                }
                None
            }
        }
    }

    /// A value that a write is given: a parameter or a literal, never a path.
    pub(super) fn given(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        expected: &ValueType,
    ) -> Option<Operand> {
        let is_enum = matches!(expected, ValueType::Basic(Type::Enum(_)));
        if st.tree.kind(node) == NodeKind::Path && !is_enum {
            let span = st.tree.span(node);
            let name = st.tree.text(node);
            self.say(
                Diagnostic::new(Code::BadOperand, span, "a value is a parameter or a literal, not a field")
                    .hint(format!("`:{name}` is the parameter of that name")),
            );
            return None;
        }
        self.operand_as(st, node, expected)
    }

    pub(super) fn misplaced_aggregate(&mut self, span: Span) {
        self.say(
            Diagnostic::new(
                Code::MisplacedAggregate,
                span,
                "an aggregate can be selected or ordered by, nothing else",
            )
            .hint("WHERE is about single rows, before they are grouped"),
        );
    }

    fn literal_as(&mut self, tree: &Tree<'a>, node: NodeId, expected: &ValueType) -> Option<Constant> {
        let literal = tree.literal(node)?;
        let span = tree.span(node);
        if literal == LiteralText::Null {
            return Some(Constant::Null);
        }
        let ty = match expected {
            ValueType::Basic(ty) => Some(ty.clone()),
            ValueType::Identity(class) => self.single_id_type(*class).cloned(),
            ValueType::Whole(_) => None,
        };
        match ty {
            Some(ty) => self.constant(tree, &literal, &ty, span),
            None => {
                let message = format!("no literal can be {}", self.describe(expected));
                self.say(Diagnostic::new(Code::BadLiteral, span, message).hint("give it as a parameter"));
                None
            }
        }
    }

    fn path_as(&mut self, st: &mut Statement<'t, 'a>, node: NodeId, expected: &ValueType) -> Option<Operand> {
        let text = st.tree.path(node);
        if let Some(constant) = self.bare_enum_value(st, &text, expected) {
            return constant.map(Operand::Constant);
        }
        let path = self.path(&st.scope, &text, st.crossing)?;
        let actual = self.value_type(&st.scope, &path);
        if self.comparable(&actual, expected) {
            return Some(Operand::Path(path));
        }
        let message =
            format!("this is {}, the other side {}", self.describe(&actual), self.describe(expected));
        self.say(Diagnostic::new(Code::TypeMismatch, text.span, message));
        None
    }

    /// `status = waiting`: a bare word is an enum's value if nothing in scope has that name.
    fn bare_enum_value(
        &mut self,
        st: &Statement<'t, 'a>,
        text: &PathText<'a>,
        expected: &ValueType,
    ) -> Option<Option<Constant>> {
        let (ValueType::Basic(Type::Enum(values)), [word]) = (expected, text.segments.as_slice()) else {
            return None;
        };
        if self.in_scope(&st.scope, *word) {
            return None;
        }
        match super::constants::enum_value(word.text, values) {
            Ok(constant) => Some(Some(constant)),
            Err(_) => {
                self.unknown_enum_value(word.text, values, word.span);
                Some(None)
            }
        }
    }

    fn in_scope(&self, scope: &Scope<'a>, word: Ident<'a>) -> bool {
        scope.alias(word.text).is_some()
            || self.member_exactly(scope.main, word.text).is_some()
            || self.class_name(scope.main) == word.text
    }

    pub(super) fn comparable(&self, a: &ValueType, b: &ValueType) -> bool {
        let conceptual = &self.model.conceptual;
        match (a, b) {
            (ValueType::Basic(a), ValueType::Basic(b)) => a.comparable_with(b),
            (ValueType::Identity(a), ValueType::Identity(b)) => {
                conceptual.is_kind_of(*a, *b) || conceptual.is_kind_of(*b, *a)
            }
            (ValueType::Identity(class), ValueType::Basic(ty))
            | (ValueType::Basic(ty), ValueType::Identity(class)) => {
                self.single_id_type(*class).is_some_and(|id| id.comparable_with(ty))
            }
            (ValueType::Whole(_), _) | (_, ValueType::Whole(_)) => false,
        }
    }
}
