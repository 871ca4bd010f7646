//! WHERE: predicates with both sides typed.

use super::Resolver;
use super::negation::is_predicate;
use super::operands::{Statement, ValueType};
use super::scope::Crossing;
use crate::syntax::{Keyword, NodeId, NodeKind, TokenKind, Tree};
use askloom_model::{
    Code, Comparison, Condition, Constant, Diagnostic, InSet, Leaf, Operand, ParameterType, Path, Span, Type,
};

impl<'t, 'a> Resolver<'t, 'a, '_> {
    /// The condition of the WHERE below a node. `Ok(None)` if there is none, `Err` if it is wrong.
    pub(super) fn where_clause(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
    ) -> Result<Option<Condition>, ()> {
        let Some(clause) = st.tree.child(node, NodeKind::WhereClause) else { return Ok(None) };
        let condition = st.tree.children(clause).next().and_then(|node| self.condition(st, node));
        condition.map(Some).ok_or(())
    }

    pub(super) fn condition(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let tree = st.tree;
        match tree.kind(node) {
            NodeKind::And => self.terms(st, node).map(Condition::And),
            NodeKind::Or => self.terms(st, node).map(Condition::Or),
            NodeKind::Not => self.negation(st, node),
            NodeKind::Paren => match tree.children(node).next()? {
                inner if is_predicate(tree, inner) => self.predicate(st, inner),
                inner => self.condition(st, inner),
            },
            _predicate => {
                let predicate = self.predicate(st, node)?;
                self.note_negated(tree, node, &predicate);
                Some(predicate)
            }
        }
    }

    /// Every term is resolved, so that every mistake is said.
    fn terms(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Vec<Condition>> {
        let terms: Vec<_> = st.tree.children(node).map(|term| self.condition(st, term)).collect();
        terms.into_iter().collect()
    }

    /// A predicate, and whether NOT stands before its operator.
    pub(super) fn predicate(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let mut predicate = self.plain_predicate(st, node)?;
        if st.tree.has_keyword(node, Keyword::Not) {
            predicate = self.negated(predicate);
        }
        self.state(st, node, &predicate);
        Some(predicate)
    }

    /// A predicate without the NOT before its operator.
    fn plain_predicate(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        match st.tree.kind(node) {
            NodeKind::Compare => self.compare(st, node),
            NodeKind::Between => self.between(st, node),
            NodeKind::In => self.member(st, node),
            NodeKind::StartsWith => self
                .on_text(st, node, "STARTS WITH")
                .map(|(value, prefix)| Condition::StartsWith { value, prefix }),
            NodeKind::Matches => {
                self.on_text(st, node, "MATCHES").map(|(value, words)| Condition::Matches { value, words })
            }
            NodeKind::IsNull => self.is_null(st, node),
            NodeKind::Under => self.on_tree(st, node).map(|(value, of)| Condition::Under { value, of }),
            NodeKind::Above => self.on_tree(st, node).map(|(value, of)| Condition::Above { value, of }),
            NodeKind::Within => self.within(st, node),
            NodeKind::InBox => self.in_box(st, node),
            NodeKind::Path => self.bare(st, node),
            _broken => None,
        }
    }

    /// A path that stands alone: `paid` means `paid = true`.
    fn bare(&mut self, st: &Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let (path, ty, span) = self.subject(st, node)?;
        if ty == ValueType::Basic(Type::Bool) {
            let (left, right) = (Operand::Path(path), Operand::Constant(Constant::Bool(true)));
            return Some(Condition::Compare { left, op: Comparison::Equal, right });
        }
        let text = st.tree.text(node);
        let message = format!("`{text}` is {}, and only a bool is a condition by itself", self.describe(&ty));
        let name = st.tree.path(node).segments.last().map_or("value", |name| name.text);
        self.say(Diagnostic::new(Code::NotACondition, span, message).hint(match &ty {
            ValueType::Whole(_) => "compare one of its attributes".to_owned(),
            ValueType::Identity(_) => format!(
                "compare it with an identifier, as in `{text} = :{name}`; `{text} IS NOT NULL` asks whether \
                 there is one"
            ),
            ValueType::Basic(Type::Json) => format!("`{text} IS NOT NULL` asks whether there is one"),
            ValueType::Basic(Type::Geo) => {
                format!("ask where it lies, as in `{text} WITHIN :km KM OF :point`")
            }
            ValueType::Basic(Type::Enum(values)) => {
                let value = values.first().map_or("", String::as_str);
                format!("compare it with one of its values, as in `{text} = '{value}'`")
            }
            ValueType::Basic(_) if st.crossing == Crossing::Never => "compare it with a literal".to_owned(),
            ValueType::Basic(_) => format!("compare it, as in `{text} = :{name}`"),
        }));
        None
    }

    /// The path that a predicate is about, and its type.
    fn subject(&mut self, st: &Statement<'t, 'a>, node: NodeId) -> Option<(Path, ValueType, Span)> {
        let tree = st.tree;
        let span = tree.span(node);
        match tree.kind(node) {
            NodeKind::Path => {
                let path = self.path(&st.scope, &tree.path(node), st.crossing)?;
                let ty = self.value_type(&st.scope, &path);
                Some((path, ty, span))
            }
            NodeKind::Aggregate => {
                self.misplaced_aggregate(span);
                None
            }
            _literal_or_parameter => {
                self.say(
                    Diagnostic::new(Code::BadOperand, span, "a condition is about a path")
                        .hint("put the attribute on the left"),
                );
                None
            }
        }
    }

    fn compare(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let tree = st.tree;
        let mut children = tree.children(node);
        let (left, right) = (children.next()?, children.next()?);
        let op = comparison(tree, node)?;
        if let Some(condition) = self.compared_with_null(st, node, left, right, op) {
            return condition;
        }
        let left_is_path = tree.kind(left) == NodeKind::Path && !self.is_enum_word(st, left, right);
        let (subject, other) =
            if left_is_path || tree.kind(right) != NodeKind::Path { (left, right) } else { (right, left) };
        let Some((path, ty, span)) = self.subject(st, subject) else {
            // The other side can still be wrong by itself.
            if tree.kind(other) == NodeKind::Path {
                self.path(&st.scope, &tree.path(other), st.crossing);
            }
            return None;
        };
        self.check_operator(&ty, op, span)?;
        let other = self.operand_as(st, other, &ty)?;
        let path = Operand::Path(path);
        Some(match subject == left {
            true => Condition::Compare { left: path, op, right: other },
            false => Condition::Compare { left: other, op, right: path },
        })
    }

    /// `waiting = status`: the left word is a value, not a name.
    fn is_enum_word(&mut self, st: &Statement<'t, 'a>, left: NodeId, right: NodeId) -> bool {
        let tree = st.tree;
        let text = tree.path(left);
        let [word] = text.segments.as_slice() else { return false };
        tree.kind(right) == NodeKind::Path
            && self.member_exactly(st.scope.main, word.text).is_none()
            && st.scope.alias(word.text).is_none()
            && self.class_name(st.scope.main) != word.text
            && tree
                .path(right)
                .segments
                .first()
                .is_some_and(|w| self.member_exactly(st.scope.main, w.text).is_some())
    }

    fn check_operator(&mut self, ty: &ValueType, op: Comparison, span: Span) -> Option<()> {
        let equality = matches!(op, Comparison::Equal | Comparison::NotEqual);
        let fits = match ty {
            ValueType::Basic(Type::Json | Type::Geo) => false,
            ValueType::Basic(ty) => equality || ty.is_ordered(),
            ValueType::Identity(_) => equality,
            ValueType::Whole(_) => false,
        };
        if fits {
            return Some(());
        }
        let message = format!("{} cannot be compared like this", self.describe(ty));
        self.say(Diagnostic::new(Code::BadOperand, span, message).hint(match ty {
            ValueType::Whole(_) => "compare one of its attributes",
            ValueType::Basic(Type::Geo) => "places are asked for by WITHIN … KM OF … or IN BOX (…)",
            ValueType::Basic(_) | ValueType::Identity(_) => {
                "only `=` and `!=` apply, and to json and geo nothing"
            }
        }));
        None
    }

    /// `x = NULL` is never true; IS NULL is what is meant.
    fn compared_with_null(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        left: NodeId,
        right: NodeId,
        op: Comparison,
    ) -> Option<Option<Condition>> {
        let tree = st.tree;
        let is_null =
            |node| tree.kind(node) == NodeKind::Literal && tree.text(node).eq_ignore_ascii_case("null");
        if !is_null(right) && !is_null(left) {
            return None;
        }
        let subject = if is_null(right) { left } else { right };
        let path_text = tree.text(subject);
        let diagnostic =
            Diagnostic::new(Code::ComparedWithNull, tree.span(node), "a comparison with NULL is never true");
        self.say(match op {
            Comparison::Equal => diagnostic.replace(tree.span(node), format!("{path_text} IS NULL")),
            Comparison::NotEqual => diagnostic.replace(tree.span(node), format!("{path_text} IS NOT NULL")),
            Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
                diagnostic.hint("use IS NULL or IS NOT NULL")
            }
        });
        let (path, _, _) = match self.subject(st, subject) {
            Some(subject) => subject,
            None => return Some(None),
        };
        Some(Some(Condition::Compare {
            left: Operand::Path(path),
            op,
            right: Operand::Constant(Constant::Null),
        }))
    }

    fn between(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let mut children = st.tree.children(node);
        let (value, low, high) = (children.next()?, children.next()?, children.next()?);
        let (path, ty, span) = self.subject(st, value)?;
        self.check_operator(&ty, Comparison::Less, span)?;
        let (low, high) = (self.operand_as(st, low, &ty), self.operand_as(st, high, &ty));
        Some(Condition::Between { value: Operand::Path(path), low: low?, high: high? })
    }

    fn member(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let tree = st.tree;
        let mut children = tree.children(node);
        let (value, set) = (children.next()?, children.next()?);
        let (path, ty, span) = self.subject(st, value)?;
        self.check_operator(&ty, Comparison::Equal, span)?;
        let value = Operand::Path(path);
        let set_span = tree.span(set);
        let list = |ty: &ValueType| ParameterType::List(Box::new(ty.parameter()));
        let name = match tree.kind(set) {
            NodeKind::InList => {
                let items: Vec<_> = tree.children(set).map(|item| self.operand_as(st, item, &ty)).collect();
                let items: Option<Vec<_>> = items.into_iter().collect();
                let null = tree.children(set).find(|&item| tree.text(item).eq_ignore_ascii_case("null"));
                if let Some(null) = null {
                    let message = "a comparison with NULL is never true";
                    self.say(
                        Diagnostic::new(Code::ComparedWithNull, tree.span(null), message)
                            .hint("add OR … IS NULL"),
                    );
                }
                return Some(Condition::In { value, set: InSet::List(items?) });
            }
            NodeKind::Parameter => tree.parameter_name(set)?.to_owned(),
            NodeKind::Positional => st.parameters.positional.name(set).to_owned(),
            _other => {
                let message = "IN takes a list in parentheses or one parameter";
                self.say(Diagnostic::new(Code::BadOperand, set_span, message));
                return None;
            }
        };
        let parameter = self.parameter(&mut st.parameters, &name, list(&ty), set_span)?;
        Some(Condition::In { value, set: InSet::Parameter(parameter) })
    }

    fn on_text(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        operator: &str,
    ) -> Option<(Operand, Operand)> {
        let mut children = st.tree.children(node);
        let (value, argument) = (children.next()?, children.next()?);
        let (path, ty, span) = self.subject(st, value)?;
        if ty != ValueType::Basic(Type::Text) {
            let message = format!("{operator} applies to text, and this is {}", self.describe(&ty));
            self.say(Diagnostic::new(Code::BadOperand, span, message));
            return None;
        }
        Some((Operand::Path(path), self.operand_as(st, argument, &ty)?))
    }

    fn is_null(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let value = st.tree.children(node).next()?;
        let (path, _, _) = self.subject(st, value)?;
        Some(Condition::IsNull { value: Operand::Path(path) })
    }

    /// UNDER and ABOVE: about an instance of a class that has a `@tree`.
    fn on_tree(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<(Operand, Operand)> {
        let mut children = st.tree.children(node);
        let (value, of) = (children.next()?, children.next()?);
        let (path, ty, span) = self.subject(st, value)?;
        let class = match ty {
            ValueType::Identity(class) => Some(class),
            ValueType::Basic(_) | ValueType::Whole(_) => None,
        };
        let lineage = class.map(|class| self.model.conceptual.lineage(class)).unwrap_or_default();
        let is_tree = lineage.iter().any(|class| self.trees_of.contains(class));
        if !is_tree {
            let message = "UNDER and ABOVE need a class that is a tree";
            self.say(
                Diagnostic::new(Code::NotATree, span, message)
                    .hint("mark its reference to itself: `ref parent: Category? @tree`"),
            );
            return None;
        }
        Some((Operand::Path(path), self.operand_as(st, of, &ty)?))
    }

    fn geo_subject(&mut self, st: &Statement<'t, 'a>, node: NodeId) -> Option<Operand> {
        let (path, ty, span) = self.subject(st, node)?;
        if ty == ValueType::Basic(Type::Geo) {
            return Some(Operand::Path(path));
        }
        let message = format!("this applies to geo, and here is {}", self.describe(&ty));
        self.say(Diagnostic::new(Code::BadOperand, span, message));
        None
    }

    fn within(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let mut children = st.tree.children(node);
        let (value, km, of) = (children.next()?, children.next()?, children.next()?);
        let value = self.geo_subject(st, value)?;
        let km = self.operand_as(st, km, &ValueType::Basic(Type::Double));
        let of = self.operand_as(st, of, &ValueType::Basic(Type::Geo));
        Some(Condition::Within { value, km: km?, of: of? })
    }

    fn in_box(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Condition> {
        let mut children = st.tree.children(node);
        let (value, corners) = (children.next()?, children.next()?);
        let value = self.geo_subject(st, value)?;
        let corners: Vec<NodeId> = st.tree.children(corners).collect();
        let [low, high] = corners.as_slice() else {
            let message = "IN BOX takes two corners, as in IN BOX (:southWest, :northEast)";
            self.say(Diagnostic::new(Code::BadOperand, st.tree.span(node), message));
            return None;
        };
        let geo = ValueType::Basic(Type::Geo);
        let (low, high) = (self.operand_as(st, *low, &geo), self.operand_as(st, *high, &geo));
        Some(Condition::InBox { value, low: low?, high: high? })
    }

    /// Whether a path is a list's own value, which cannot be ordered or grouped by.
    pub(super) fn is_list(&self, path: &Path) -> bool {
        match path.leaf {
            Leaf::Attribute(id) => self.model.conceptual.attributes[id].list,
            Leaf::Reference(id) => self.model.conceptual.ends[id].cardinality.is_many(),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
    }
}

pub(super) fn comparison(tree: &Tree<'_>, node: NodeId) -> Option<Comparison> {
    tree.own_tokens(node).find_map(|token| match tree.token(token).kind {
        TokenKind::Equal => Some(Comparison::Equal),
        TokenKind::NotEqual => Some(Comparison::NotEqual),
        TokenKind::Less => Some(Comparison::Less),
        TokenKind::LessOrEqual => Some(Comparison::LessOrEqual),
        TokenKind::Greater => Some(Comparison::Greater),
        TokenKind::GreaterOrEqual => Some(Comparison::GreaterOrEqual),
        _other => None,
    })
}
