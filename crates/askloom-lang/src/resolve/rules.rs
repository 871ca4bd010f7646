//! Representations, invariants and workloads.

use super::names::Declared;
use super::{Place, Resolver, owned, units};
use crate::suggest::{closest, did_you_mean};
use crate::syntax::ast::Ident;
use crate::syntax::{Keyword, NodeId, NodeKind, TokenKind, Tree};
use askloom_model::{
    ClassId, Code, Diagnostic, Invariant, Member, Mix, MixEntry, Representation, Rule, RuleStep, Share,
};
use std::collections::HashMap;

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn rules(&mut self) {
        let mut collections = Declared::default();
        self.each(NodeKind::Collection, |resolver, place| resolver.collection(place, &mut collections));
        let mut representations: HashMap<Option<ClassId>, Declared<'a>> = HashMap::new();
        self.each(NodeKind::Represent, |resolver, place| resolver.represent(place, &mut representations));
        let mut invariants = Declared::default();
        self.each(NodeKind::Invariant, |resolver, place| resolver.invariant(place, &mut invariants));
        let mut workloads = Declared::default();
        self.each(NodeKind::Workload, |resolver, place| resolver.workload(place, &mut workloads));
    }

    pub(super) fn declare(&mut self, place: Place, declared: &mut Declared<'a>) -> Option<Ident<'a>> {
        let name = self.tree(place).name(place.node)?;
        let before = declared.declare(name);
        self.declared_before(name, before);
        Some(name)
    }

    fn represent(&mut self, place: Place, declared: &mut HashMap<Option<ClassId>, Declared<'a>>) {
        let tree = self.tree(place);
        let class = if tree.own_token(place.node, TokenKind::Star).is_some() {
            None
        } else {
            match self.class_at(tree, place.node) {
                Some((class, _)) => Some(class),
                None => return,
            }
        };
        let keyword = tree.own_keyword(place.node, Keyword::Represent).map(|token| tree.token_span(token));
        let default = Ident { text: "default", span: keyword.unwrap_or(tree.span(place.node)) };
        let name = tree.name(place.node).unwrap_or(default);
        let before = declared.entry(class).or_default().declare(name);
        self.declared_before(name, before);
        let rules: Vec<_> =
            tree.children_of(place.node, NodeKind::RepresentRule).map(|node| self.rule(tree, node)).collect();
        let Some(rules) = rules.into_iter().collect::<Option<Vec<_>>>() else { return };
        if tree.is_broken(place.node) {
            return;
        }
        let span = tree.path_in(place.node).map_or(name.span, |path| path.span);
        self.model.representations.push(Representation { name: name.text.to_owned(), class, rules, span });
    }

    /// `/Class/*/steps`
    fn rule(&mut self, tree: &Tree<'a>, node: NodeId) -> Option<Rule> {
        let span = tree.span(node);
        let steps: Vec<NodeId> = tree.children_of(node, NodeKind::RuleStep).collect();
        let [class_step, id_step, rest @ ..] = steps.as_slice() else {
            self.malformed_rule(span, "a rule names a class, then `*` for its instances");
            return None;
        };
        let class = match tree.word(*class_step) {
            Some(name) => Some(self.class(name)?),
            None => None,
        };
        let star = |node: NodeId| tree.text(node) == "*";
        if !star(*id_step) || (class.is_none() && !star(*class_step)) {
            self.malformed_rule(tree.span(*id_step), "the second step is `*`: each instance");
            return None;
        }
        let mut rule = Rule { class, steps: Vec::with_capacity(rest.len()), span };
        for (index, &step) in rest.iter().enumerate() {
            let each = tree.own_token(step, TokenKind::LeftBracket).is_some();
            let is_last = index + 1 == rest.len();
            rule.steps.push(match tree.word(step) {
                Some(name) => RuleStep::Field { name: name.text.to_owned(), each },
                None if tree.own_token(step, TokenKind::StarStar).is_none() => RuleStep::AnyField { each },
                None if is_last && !each => RuleStep::EachAtom,
                None => {
                    self.malformed_rule(tree.span(step), "`**` is the last step of a rule");
                    return None;
                }
            });
        }
        Some(rule)
    }

    fn malformed_rule(&mut self, span: askloom_model::Span, message: &str) {
        self.say(
            Diagnostic::new(Code::RuleMalformed, span, message)
                .hint("a rule is /Class/*/steps, as in `/Game/*/rounds[*]`"),
        );
    }

    fn invariant(&mut self, place: Place, declared: &mut Declared<'a>) {
        let tree = self.tree(place);
        let Some(name) = self.declare(place, declared) else { return };
        let mut names = tree.children_of(place.node, NodeKind::Name).skip(1);
        let class = names.next().and_then(|node| tree.tokens(node).next()).map(|token| tree.ident(token));
        let Some(class) = class.and_then(|name| self.class(name)) else { return };
        let paths: Vec<_> = tree
            .children_of(place.node, NodeKind::Path)
            .map(|node| self.member_path(class, &tree.path(node).segments))
            .collect();
        let Some(paths) = paths.into_iter().collect::<Option<Vec<_>>>() else { return };
        self.model.invariants.push(Invariant { name: name.text.to_owned(), class, paths, span: name.span });
    }

    /// Members from a class on, to-many or not. An invariant that leaves its aggregate is said here, where
    /// the place of each step is known.
    fn member_path(&mut self, class: ClassId, segments: &[Ident<'a>]) -> Option<Vec<Member>> {
        let mut members = Vec::with_capacity(segments.len());
        let mut current = Some(class);
        for (index, &name) in segments.iter().enumerate() {
            let Some(at) = current else {
                let message = format!("nothing is inside a plain value: `{}` leads nowhere", name.text);
                self.say(Diagnostic::new(Code::PathThroughAttribute, name.span, message));
                return None;
            };
            let member = self.member_exactly(at, name.text).or_else(|| self.member_in_any_case(at, name));
            let Some(member) = member else {
                self.unknown_member(at, name, &[]);
                return None;
            };
            current = match member {
                Member::Attribute(_) => None,
                Member::End(end) => {
                    let row = &self.model.conceptual.ends[end];
                    let leaves = index + 1 < segments.len()
                        && row.kind != askloom_model::RelationshipKind::Composition;
                    if leaves || !row.stored {
                        self.spans_aggregates(class, name, end);
                        return None;
                    }
                    Some(row.target)
                }
            };
            members.push(member);
        }
        Some(members)
    }

    fn spans_aggregates(&mut self, class: ClassId, name: Ident<'a>, end: askloom_model::EndId) {
        let row = &self.model.conceptual.ends[end];
        let (target, span) = (row.target, row.span);
        let conceptual = &self.model.conceptual;
        let message = format!(
            "this invariant spans two aggregates: `{}` and `{}`",
            conceptual.classes[class].name, conceptual.classes[target].name
        );
        let (own, other) = (conceptual.classes[class].span, conceptual.classes[target].span);
        self.say(
            Diagnostic::new(Code::InvariantSpans, name.span, message)
                .also(own, "one aggregate")
                .also(other, "the other")
                .also(span, "linked by a reference")
                .hint("only a `part` changes atomically with its owner"),
        );
    }

    fn workload(&mut self, place: Place, declared: &mut Declared<'a>) {
        let tree = self.tree(place);
        let name = self.declare(place, declared);
        let mut seen = Declared::default();
        let mut entries = Vec::new();
        for node in tree.children_of(place.node, NodeKind::WorkloadEntry) {
            let Some(statement) = tree.name(node) else { continue };
            if let Some(before) = seen.declare(statement) {
                let message = format!("`{}` stands twice in this workload", statement.text);
                self.say(
                    Diagnostic::new(Code::RepeatedEntry, statement.span, message).also(before, "first here"),
                );
                continue;
            }
            let Some(found) = self.statements.find(statement.text) else {
                self.unknown_statement(statement);
                continue;
            };
            if found != statement.text {
                self.wrong_case(statement, found);
            }
            if let Some(share) = self.share(tree, node) {
                entries.push(MixEntry { statement: found.to_owned(), share });
            }
        }
        let (name, span) = owned(name);
        self.model.mixes.push(Mix { name, entries, span });
    }

    fn unknown_statement(&mut self, name: Ident<'a>) {
        let message = format!("no query or write is called `{}`", name.text);
        let diagnostic = Diagnostic::new(Code::UnknownStatement, name.span, message);
        if self.diagnostics.is_full() {
            return self.say(diagnostic);
        }
        self.say(match closest(name.text, self.statements.iter()) {
            Some(near) => did_you_mean(diagnostic, name.span, near),
            None => diagnostic,
        });
    }

    fn share(&mut self, tree: &Tree<'a>, node: NodeId) -> Option<Share> {
        let token = tree.own_token(node, TokenKind::Number)?;
        let number = units::number(tree.token_text(token))?;
        if tree.own_token(node, TokenKind::Slash).is_none() {
            return Some(Share::Weight(number));
        }
        let factor = self.factor(tree.word(node), units::RATES)?;
        Some(Share::PerSecond(number * factor))
    }
}
