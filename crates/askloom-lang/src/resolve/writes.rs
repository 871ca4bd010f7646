//! Writes: what they touch, what they set, under which condition.

use super::annotations::Target;
use super::operands::{Statement, ValueType};
use super::parameters::Parameters;
use super::scope::{Crossing, Scope};
use super::{Place, Resolver, first_position};
use crate::positional::positional;
use crate::syntax::ast::{Ident, PathText};
use crate::syntax::{NodeId, NodeKind, TokenKind};
use askloom_model::{
    Assigned, Assignment, Cardinality, ClassId, ClassKind, Code, Condition, Constant, Diagnostic, EndId,
    Leaf, Member, Operand, Parameter, Path, RelationshipKind, Span, Type, Write, WriteStep,
};
use std::collections::HashMap;

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn write(&mut self, place: Place) {
        let tree = self.tree(place);
        let found = self.annotations(place, Target::Write);
        let header = self.header(place, &found);
        let compound = tree.own_token(place.node, TokenKind::LeftBrace).is_some();
        let mut parameters = Parameters::new(positional(tree, place.node));
        let mut steps = Vec::new();
        let mut wrong = tree.is_broken(place.node);
        let mut any = false;
        for node in tree.children(place.node) {
            if matches!(tree.kind(node), NodeKind::Annotation | NodeKind::Name) {
                continue;
            }
            any = true;
            match self.step(Place { node, ..place }, &mut parameters) {
                Some(step) => steps.push(step),
                None => wrong = true,
            }
        }
        if !any && compound {
            let message = "this write does nothing";
            self.say(
                Diagnostic::new(Code::EmptyWrite, tree.span(place.node), message)
                    .hint("put at least one statement between the braces"),
            );
        }
        if wrong || steps.is_empty() {
            return;
        }
        let parameters = self.check_implied(&steps, parameters);
        self.model.workload.writes.push(Write { header, steps, compound, parameters });
    }

    fn step(&mut self, place: Place, parameters: &mut Parameters) -> Option<WriteStep> {
        let tree = self.tree(place);
        let kind = tree.kind(place.node);
        if kind == NodeKind::Broken {
            return None;
        }
        let text = tree.path_in(place.node)?;
        let first = *text.segments.first()?;
        let class = self.class(first)?;
        if !self.model.conceptual.classes[class].kind.is_entity() {
            self.write_on_value(first);
            return None;
        }
        match kind {
            NodeKind::Insert => {
                self.insert(class, first)?;
                return Some(WriteStep::Insert { class });
            }
            NodeKind::Upsert => {
                self.insert(class, first)?;
                return Some(WriteStep::Upsert { class });
            }
            _with_condition => {}
        }
        let taken = std::mem::replace(parameters, Parameters::none());
        let mut st =
            Statement { tree, scope: Scope::new(class), parameters: taken, crossing: Crossing::Some };
        let step = self.conditional_step(&mut st, place.node, class, &text);
        *parameters = st.parameters;
        step
    }

    fn write_on_value(&mut self, name: Ident<'a>) {
        let message = format!("`{}` is a value object: it is written with its owner", name.text);
        self.say(
            Diagnostic::new(Code::WriteOnValue, name.span, message)
                .hint("UPDATE the owner, or ADD to and REMOVE FROM the owner's list"),
        );
    }

    fn conditional_step(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        match st.tree.kind(node) {
            NodeKind::Update => {
                let set = self.assignments(st, node, class);
                let condition = self.condition_of(st, node, "UPDATE");
                Some(WriteStep::Update {
                    class,
                    set: set?,
                    condition: condition?,
                    positions: std::mem::take(&mut st.scope.positions),
                })
            }
            NodeKind::Delete => {
                let part = self.refuse_part(class, text.segments.first().copied()?);
                let condition = self.condition_of(st, node, "DELETE");
                part?;
                Some(WriteStep::Delete {
                    class,
                    condition: condition?,
                    positions: std::mem::take(&mut st.scope.positions),
                })
            }
            NodeKind::Add => self.add(st, node, class, text),
            NodeKind::Remove => self.remove(st, node, class, text),
            NodeKind::Connect => self.connect(st, node, class, text),
            NodeKind::Disconnect => self.disconnect(st, node, class, text),
            _broken => None,
        }
    }

    /// The condition, with a warning if there is none.
    fn condition_of(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        what: &str,
    ) -> Option<Option<Condition>> {
        if st.tree.child(node, NodeKind::WhereClause).is_none() {
            let name = self.class_name(st.scope.main).to_owned();
            let message = format!("this {what} has no WHERE: it touches every `{name}`");
            self.say(Diagnostic::new(Code::NoCondition, st.tree.span(node), message));
        }
        self.where_clause(st, node).ok()
    }

    fn refuse_part(&mut self, class: ClassId, name: Ident<'a>) -> Option<()> {
        let owner = self
            .model
            .conceptual
            .lineage(class)
            .into_iter()
            .find_map(|c| self.model.conceptual.classes[c].owner);
        let Some(end) = owner else { return Some(()) };
        let end = &self.model.conceptual.ends[end];
        let owner = &self.model.conceptual.classes[end.class].name;
        let hint = format!(
            "`ADD :{} TO {owner}.{} WHERE …` makes one, `REMOVE FROM {owner}.{}` ends it",
            end.name, end.name, end.name
        );
        let message =
            format!("`{}` is a part of `{owner}`: it is made by ADD and ended by REMOVE", name.text);
        let span = end.span;
        self.say(Diagnostic::new(Code::InsertOfPart, name.span, message).also(span, "owned here").hint(hint));
        None
    }

    fn insert(&mut self, class: ClassId, name: Ident<'a>) -> Option<()> {
        if self.model.conceptual.classes[class].kind == ClassKind::AbstractEntity {
            let message = format!("`{}` is abstract: only its subclasses have instances", name.text);
            self.say(Diagnostic::new(Code::InsertOfAbstract, name.span, message));
            return None;
        }
        self.refuse_part(class, name)
    }

    /// A field of an INSERT and a parameter of the same name in another statement are one parameter; so are
    /// fields of one name in two INSERTs.
    fn check_implied(&mut self, steps: &[WriteStep], mut parameters: Parameters) -> Vec<Parameter> {
        let inserts: Vec<ClassId> = steps.iter().filter_map(inserted).collect();
        for &class in &inserts {
            for name in parameters.names() {
                let Some(member) = self.member_exactly(class, &name) else { continue };
                let Some((ty, _)) = self.model.conceptual.insertable(member) else { continue };
                self.parameter(&mut parameters, &name, ty, self.member_span(member));
            }
        }
        let named = parameters.clone();
        if let [_, _, ..] = inserts.as_slice() {
            for class in inserts {
                let members: Vec<Member> = self.model.conceptual.all_members(class).collect();
                for member in members {
                    let Some((ty, _)) = self.model.conceptual.insertable(member) else { continue };
                    let name = self.model.conceptual.member_name(member).to_owned();
                    self.parameter(&mut parameters, &name, ty, self.member_span(member));
                }
            }
        }
        named.into_list()
    }

    fn assignments(
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
        let operands: Vec<NodeId> = tree.children(node).collect();
        let (field, value) = (*operands.first()?, *operands.get(1)?);
        let text = tree.path(field);
        let path = self.path(&st.scope, &text, Crossing::Some)?;
        let (member, ty) = self.settable(st, &path, &text, class)?;
        let plus =
            [TokenKind::Plus, TokenKind::Minus].into_iter().find_map(|kind| tree.own_token(node, kind));
        let assigned = match (plus, operands.get(2)) {
            (Some(sign), Some(&amount)) => {
                let negative = tree.token(sign).kind == TokenKind::Minus;
                self.increment(st, &path, &ty, value, amount, negative)?
            }
            _plain => self.assigned(st, value, member, &ty)?,
        };
        Some(Assignment { hops: path.hops, member, value: assigned })
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
        let ty = self.value_type(&st.scope, path);
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
        let (member, id, immutable, many, declared) = match path.leaf {
            Leaf::Attribute(id) => {
                let a = &conceptual.attributes[id];
                (Member::Attribute(id), a.id, a.immutable, a.list, a.span)
            }
            Leaf::Reference(id) => {
                let e = &conceptual.ends[id];
                (Member::End(id), e.id, e.immutable, e.cardinality.is_many(), e.span)
            }
            Leaf::Itself => {
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
        } else if immutable {
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
            let message = "a field is set to a parameter or a literal, not to another field";
            self.say(
                Diagnostic::new(Code::BadArithmetic, span, message)
                    .hint("read it first, and pass it as a parameter"),
            );
            return None;
        }
        let operand = self.operand_as(st, node, ty)?;
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
            Member::End(id) => self.model.conceptual.ends[id].cardinality.min == 0,
        }
    }

    /// The member after the entity in `Game.rounds`.
    fn target_member(&mut self, st: &Statement<'t, 'a>, text: &PathText<'a>) -> Option<(Member, Ident<'a>)> {
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
        if let Some(ty) = ty {
            return Some((member, ty));
        }
        let declared = self.member_span(member);
        let message = format!("{what} needs a list, and `{}` is none", name.text);
        self.say(
            Diagnostic::new(Code::NotAList, name.span, message).also(declared, "declared here").hint(hint),
        );
        None
    }

    fn add(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        let member = self.list_member(st, text, "ADD");
        let condition = self.condition_of(st, node, "ADD");
        let (list, ty) = member?;
        let value = st.tree.children(node).next()?;
        let value = self.operand_as(st, value, &ty)?;
        Some(WriteStep::Add {
            class,
            list,
            value,
            condition: condition?,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

    fn remove(
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
        let is_value = |&child: &NodeId| !matches!(tree.kind(child), NodeKind::Path | NodeKind::WhereClause);
        let at = tree.children(node).find(is_value);
        let at = match at {
            Some(at) => Some(self.operand_as(st, at, &ValueType::Basic(Type::Int))?),
            None => None,
        };
        let condition = self.condition_of(st, node, "REMOVE")?;
        Some(WriteStep::Remove {
            class,
            list,
            at,
            condition,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

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
        let end = &self.model.conceptual.ends[id];
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

    fn connect(
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
        let is_value = |&child: &NodeId| !matches!(tree.kind(child), NodeKind::Path | NodeKind::WhereClause);
        let Some(value) = tree.children(node).find(is_value) else { return Some(None) };
        let target = ValueType::Identity(self.model.conceptual.ends[end].target);
        self.operand_as(st, value, &target).map(Some)
    }

    fn disconnect(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        class: ClassId,
        text: &PathText<'a>,
    ) -> Option<WriteStep> {
        let end = self.reference(st, text, "DISCONNECT")?;
        let condition = self.condition_of(st, node, "DISCONNECT");
        self.check_disconnect(text, end)?;
        let from = self.linked(st, node, end)?;
        Some(WriteStep::Disconnect {
            class,
            end,
            from,
            condition: condition?,
            positions: std::mem::take(&mut st.scope.positions),
        })
    }

    fn check_disconnect(&mut self, text: &PathText<'a>, end: EndId) -> Option<()> {
        let row = &self.model.conceptual.ends[end];
        let other_requires = row
            .inverse
            .map(|id| &self.model.conceptual.ends[id])
            .filter(|e| e.cardinality == Cardinality::ONE);
        let (required, span) = match other_requires {
            _own if row.cardinality == Cardinality::ONE => (&row.name, row.span),
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

fn inserted(step: &WriteStep) -> Option<ClassId> {
    match step {
        WriteStep::Insert { class } | WriteStep::Upsert { class } => Some(*class),
        WriteStep::Update { .. }
        | WriteStep::Delete { .. }
        | WriteStep::Add { .. }
        | WriteStep::Remove { .. }
        | WriteStep::Connect { .. }
        | WriteStep::Disconnect { .. } => None,
    }
}
