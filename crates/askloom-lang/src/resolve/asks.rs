//! Tuple queries: which links join the key classes and the result classes.

use super::annotations::Target;
use super::{Place, Resolver};
use crate::syntax::ast::{Ident, PathText};
use crate::syntax::{Element, NodeKind, TokenKind};
use askloom_model::{Ask, AskLink, ClassId, Code, Diagnostic, EndId, Member};
use std::collections::{HashMap, VecDeque};

/// A class of an `ask`, as written.
struct Named<'a> {
    class: ClassId,
    name: Ident<'a>,
    via: Option<PathText<'a>>,
    result: bool,
}

impl<'a> Resolver<'_, 'a, '_> {
    pub(super) fn ask(&mut self, place: Place) {
        let found = self.annotations(place, Target::Query);
        let header = self.header(place, &found);
        let Some(named) = self.ask_classes(place) else { return };
        if self.tree(place).is_broken(place.node) {
            return;
        }
        let Some(links) = self.ask_links(&named) else { return };
        let classes = |result| named.iter().filter(|n| n.result == result).map(|n| n.class).collect();
        self.model.workload.asks.push(Ask {
            header,
            fresh: found.fresh,
            latency_ms: found.latency_ms,
            keys: classes(false),
            results: classes(true),
            links,
        });
    }

    fn ask_classes(&mut self, place: Place) -> Option<Vec<Named<'a>>> {
        let tree = self.tree(place);
        let mut named: Vec<Named<'a>> = Vec::new();
        let mut result = false;
        let mut wrong = false;
        for element in tree.elements(place.node) {
            match element {
                Element::Token(token) => result |= tree.token(token).kind == TokenKind::Arrow,
                Element::Node(node) if tree.kind(node) == NodeKind::AskClass => {
                    let Some(name) = tree.name(node) else { continue };
                    let Some(class) = self.entity(name) else {
                        wrong = true;
                        continue;
                    };
                    named.push(Named { class, name, via: tree.path_in(node), result });
                }
                Element::Node(_) => {}
            }
        }
        (!wrong && named.iter().any(|n| n.result)).then_some(named)
    }

    fn entity(&mut self, name: Ident<'a>) -> Option<ClassId> {
        let class = self.class(name)?;
        if self.model.conceptual.classes[class].kind.is_entity() {
            return Some(class);
        }
        let message = format!("`{}` is a value object: name the entity that owns it", name.text);
        self.say(Diagnostic::new(Code::UnknownClass, name.span, message));
        None
    }

    /// Each class is linked to those before it: directly to every one it has a link with (a circle is
    /// joined on all its links), else along the only shortest path.
    fn ask_links(&mut self, named: &[Named<'a>]) -> Option<Vec<AskLink>> {
        let mut links = Vec::new();
        let mut placed: Vec<&Named<'a>> = Vec::new();
        let mut wrong = false;
        for class in named {
            let known = placed.iter().any(|before| before.class == class.class);
            if !placed.is_empty() && !known {
                match self.link(class, &placed) {
                    Some(found) => links.extend(found),
                    None => wrong = true,
                }
            }
            placed.push(class);
        }
        (!wrong).then_some(links)
    }

    fn link(&mut self, class: &Named<'a>, placed: &[&Named<'a>]) -> Option<Vec<AskLink>> {
        if let Some(via) = &class.via {
            return self.link_via(class, via, placed);
        }
        let mut links = Vec::new();
        for before in placed {
            let direct = self.direct(before.class, class.class);
            match direct.as_slice() {
                [] => {}
                [link] => links.push(*link),
                several => {
                    let ends: Vec<EndId> = several.iter().map(|link| link.end).collect();
                    self.several_paths(class.name, before.name.text, &ends);
                    return None;
                }
            }
        }
        if !links.is_empty() {
            return Some(links);
        }
        let before = placed.first()?;
        match self.shortest(before.class, class.class).as_slice() {
            [] => {
                let message = format!("nothing links `{}` with `{}`", before.name.text, class.name.text);
                self.say(
                    Diagnostic::new(Code::NoSinglePath, class.name.span, message)
                        .hint("declare the relationship, or ask for two tuples"),
                );
                None
            }
            [path] => Some(path.clone()),
            several => {
                let ends: Vec<EndId> =
                    several.iter().filter_map(|path| path.last()).map(|link| link.end).collect();
                self.several_paths(class.name, before.name.text, &ends);
                None
            }
        }
    }

    fn several_paths(&mut self, name: Ident<'a>, other: &str, ends: &[EndId]) {
        let message = format!("several paths lead from `{other}` to `{}`", name.text);
        let names: Vec<String> =
            ends.iter().map(|&end| self.model.conceptual.ends[end].name.clone()).collect();
        let example = names.first().cloned().unwrap_or_default();
        let spans: Vec<_> = ends.iter().map(|&end| self.model.conceptual.ends[end].span).collect();
        let mut diagnostic = Diagnostic::new(Code::NoSinglePath, name.span, message)
            .hint(format!("name one: `{{{} via {example}}}`", name.text));
        for span in spans.into_iter().take(4) {
            diagnostic = diagnostic.also(span, "one of them");
        }
        self.say(diagnostic);
    }

    /// `{Flight via origin}`: the end is a member of either class.
    fn link_via(
        &mut self,
        class: &Named<'a>,
        via: &PathText<'a>,
        placed: &[&Named<'a>],
    ) -> Option<Vec<AskLink>> {
        let [name] = via.segments.as_slice() else {
            let message = "`via` names one relationship";
            self.say(Diagnostic::new(Code::NoSinglePath, via.span, message));
            return None;
        };
        for before in placed {
            for (owner, other) in [(class.class, before.class), (before.class, class.class)] {
                let Some(Member::End(end)) = self.member_exactly(owner, name.text) else { continue };
                let found = self.direct(before.class, class.class).into_iter().find(|link| {
                    link.end == end || self.model.conceptual.ends[link.end].inverse == Some(end)
                });
                if let Some(link) = found.filter(|_| owner != other) {
                    return Some(vec![link]);
                }
            }
        }
        let message =
            format!("`{}` does not link `{}` with the classes before it", name.text, class.name.text);
        self.say(
            Diagnostic::new(Code::NoSinglePath, name.span, message)
                .hint("`via` names a relationship of either class"),
        );
        None
    }

    /// Stored ends between two classes, whichever of them has it.
    fn direct(&self, from: ClassId, to: ClassId) -> Vec<AskLink> {
        let conceptual = &self.model.conceptual;
        let of = |class, other, reversed| {
            conceptual.all_members(class).filter_map(move |member| match member {
                Member::End(end) => {
                    let row = &conceptual.ends[end];
                    let leads =
                        conceptual.is_kind_of(other, row.target) || conceptual.is_kind_of(row.target, other);
                    (row.stored && leads).then_some(AskLink { from, end, reversed, to })
                }
                Member::Attribute(_) => None,
            })
        };
        let mut links: Vec<AskLink> = of(from, to, false).collect();
        if from != to {
            links.extend(of(to, from, true));
        }
        links
    }

    /// All shortest paths, up to two: one is an answer, two are a question.
    fn shortest(&self, from: ClassId, to: ClassId) -> Vec<Vec<AskLink>> {
        let neighbours = self.neighbours();
        let mut reached: HashMap<ClassId, (usize, Vec<AskLink>)> = HashMap::from([(from, (0, Vec::new()))]);
        let mut queue = VecDeque::from([from]);
        while let Some(class) = queue.pop_front() {
            let distance = reached.get(&class).map_or(0, |(distance, _)| *distance);
            for link in neighbours.get(&class).into_iter().flatten() {
                let entry = reached.entry(link.to).or_insert_with(|| {
                    queue.push_back(link.to);
                    (distance + 1, Vec::new())
                });
                if entry.0 == distance + 1 {
                    entry.1.push(*link);
                }
            }
        }
        let mut paths = Vec::new();
        collect_paths(&reached, from, to, &mut Vec::new(), &mut paths);
        paths
    }

    fn neighbours(&self) -> HashMap<ClassId, Vec<AskLink>> {
        let mut neighbours: HashMap<ClassId, Vec<AskLink>> = HashMap::new();
        for (end, row) in self.model.conceptual.ends.iter().filter(|(_, row)| row.stored) {
            let forward = AskLink { from: row.class, end, reversed: false, to: row.target };
            let back = AskLink { from: row.target, end, reversed: true, to: row.class };
            neighbours.entry(row.class).or_default().push(forward);
            neighbours.entry(row.target).or_default().push(back);
        }
        neighbours
    }
}

fn collect_paths(
    reached: &HashMap<ClassId, (usize, Vec<AskLink>)>,
    from: ClassId,
    to: ClassId,
    tail: &mut Vec<AskLink>,
    paths: &mut Vec<Vec<AskLink>>,
) {
    if to == from {
        if !tail.is_empty() {
            paths.push(tail.iter().rev().copied().collect());
        }
        return;
    }
    for link in reached.get(&to).map(|(_, links)| links.as_slice()).unwrap_or_default() {
        if paths.len() > 1 {
            return;
        }
        tail.push(*link);
        collect_paths(reached, from, link.from, tail, paths);
        tail.pop();
    }
}
