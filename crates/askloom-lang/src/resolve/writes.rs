//! Writes: what they touch, what they set, under which condition.

use super::annotations::Target;
use super::operands::Statement;
use super::parameters::Parameters;
use super::scope::{Crossing, Scope};
use super::{Place, Resolver};
use crate::positional::positional;
use crate::syntax::ast::{Ident, PathText};
use crate::syntax::{NodeId, NodeKind, TokenKind};
use askloom_model::{ClassId, ClassKind, Code, Condition, Diagnostic, Member, Parameter, Write, WriteStep};

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
        let write =
            Write { header, steps, compound, apart: found.apart, parameters, latency_ms: found.latency_ms };
        self.model.workload.writes.push(write);
    }

    fn step(&mut self, place: Place, parameters: &mut Parameters) -> Option<WriteStep> {
        let tree = self.tree(place);
        let kind = tree.kind(place.node);
        if kind == NodeKind::Broken {
            return None;
        }
        let (target, _) = tree.target_and_value(place.node);
        let text = tree.path(target?);
        let first = *text.segments.first()?;
        let whole = match kind {
            NodeKind::Insert | NodeKind::Upsert | NodeKind::Store | NodeKind::Delete => true,
            // Of an entity, or of the elements of a list.
            NodeKind::Update => text.segments.len() != 2,
            _of_a_member => false,
        };
        if whole {
            self.only_a_name(&text)?;
        }
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
                self.refuse_surrogate(class, first)?;
                return Some(WriteStep::Upsert { class });
            }
            NodeKind::Store => {
                self.insert(class, first)?;
                self.refuse_surrogate(class, first)?;
                return Some(WriteStep::Store { class });
            }
            _with_condition => {}
        }
        let taken = std::mem::replace(parameters, Parameters::none());
        let mut st = Statement {
            tree,
            scope: Scope::new(class),
            parameters: taken,
            crossing: Crossing::Some,
            stated: None,
        };
        let step = self.conditional_step(&mut st, place.node, class, &text);
        *parameters = st.parameters;
        let step = step?;
        self.refuse_immutable(&step, text.span)?;
        Some(step)
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
            NodeKind::Update if text.segments.len() == 2 => self.update_elements(st, node, class, text),
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
    pub(super) fn condition_of(
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

    /// UPSERT and STORE find an instance by the id they are given; a surrogate is not given.
    fn refuse_surrogate(&mut self, class: ClassId, name: Ident<'a>) -> Option<()> {
        if !self.model.conceptual.classes[class].surrogate {
            return Some(());
        }
        let message = format!("`{}` has no identifier to be found by", name.text);
        self.say(
            Diagnostic::new(Code::UpsertWithoutId, name.span, message)
                .hint("give the entity an `id`, or use INSERT"),
        );
        None
    }

    /// A field of an INSERT and a parameter of the same name in another statement are one parameter; so are
    /// fields of one name in two INSERTs.
    fn check_implied(&mut self, steps: &[WriteStep], mut parameters: Parameters) -> Vec<Parameter> {
        let inserts: Vec<ClassId> = steps.iter().filter_map(WriteStep::fields_of).collect();
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
}
