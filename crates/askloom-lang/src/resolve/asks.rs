//! Tuple queries: which links join the key classes and the result classes.

use super::annotations::Target;
use super::{Place, Resolver};
use crate::syntax::ast::{Ident, PathText};
use crate::syntax::{Element, NodeKind, TokenKind};
use askloom_model::{Ask, AskLink, ClassId, Code, Diagnostic, EndId, Member};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

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
        if !wrong && !tree.is_broken(place.node) && !named.iter().any(|n| n.result) {
            let span = tree.span(place.node);
            self.say(Diagnostic::new(
                Code::NoSinglePath,
                span,
                "this asks for nothing: name at least one result class",
            ));
            return None;
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
            if let Some(via) = class.via.as_ref().filter(|_| placed.is_empty()) {
                let message = "the first class has nothing before it to be linked with";
                self.say(
                    Diagnostic::new(Code::NoSinglePath, via.span, message)
                        .hint("`via` belongs to a later class"),
                );
                wrong = true;
            }
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
                    let paths: Vec<Vec<AskLink>> = several.iter().map(|link| vec![*link]).collect();
                    self.several_paths(class.name, before.name.text, &paths);
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
                let paths = several.to_vec();
                self.several_paths(class.name, before.name.text, &paths);
                None
            }
        }
    }

    fn several_paths(&mut self, name: Ident<'a>, other: &str, paths: &[Vec<AskLink>]) {
        let message = format!("several paths lead from `{other}` to `{}`", name.text);
        let example = paths.first().map(|path| self.path_name(path)).unwrap_or_default();
        let ends: Vec<EndId> = paths.iter().filter_map(|path| path.last()).map(|link| link.end).collect();
        let spans: Vec<_> = ends.iter().map(|&end| self.model.conceptual.ends[end].span).collect();
        let mut diagnostic = Diagnostic::new(Code::NoSinglePath, name.span, message)
            .hint(format!("name one: `{{{} via {example}}}`", name.text));
        for span in spans.into_iter().take(4) {
            diagnostic = diagnostic.also(span, "one of them");
        }
        self.say(diagnostic);
    }

    /// A path as `via` can name it: forwards if every link has a name in that direction, else backwards.
    fn path_name(&self, path: &[AskLink]) -> String {
        let conceptual = &self.model.conceptual;
        let name = |end: EndId, stored: bool| {
            let end = if stored { Some(end) } else { conceptual.ends[end].inverse };
            end.map(|end| conceptual.ends[end].name.as_str())
        };
        let forwards: Option<Vec<&str>> = path.iter().map(|link| name(link.end, !link.reversed)).collect();
        let backwards =
            || path.iter().rev().map(|link| name(link.end, link.reversed)).collect::<Option<Vec<&str>>>();
        forwards.or_else(backwards).map(|names| names.join(".")).unwrap_or_default()
    }

    /// `{Flight via origin}`, `{Country via origin.country}`: a path from this class to one before it, or the other way.
    fn link_via(
        &mut self,
        class: &Named<'a>,
        via: &PathText<'a>,
        placed: &[&Named<'a>],
    ) -> Option<Vec<AskLink>> {
        for before in placed {
            if let Some(links) = self.walk(before.class, via, class.class) {
                return Some(links);
            }
            if let Some(links) = self.walk(class.class, via, before.class) {
                let turned = |link: AskLink| AskLink {
                    from: link.to,
                    to: link.from,
                    reversed: !link.reversed,
                    ..link
                };
                return Some(links.into_iter().rev().map(turned).collect());
            }
        }
        let path = via.joined(".");
        let message = format!("`{path}` does not link `{}` with the classes before it", class.name.text);
        self.say(
            Diagnostic::new(Code::NoSinglePath, via.span, message)
                .hint("`via` names the relationships on the way, from either of the two classes"),
        );
        None
    }

    /// The links along a path of relationships, if it leads from one class to the other.
    fn walk(&self, from: ClassId, path: &PathText<'a>, to: ClassId) -> Option<Vec<AskLink>> {
        let conceptual = &self.model.conceptual;
        let mut links = Vec::new();
        let mut at = from;
        for name in &path.segments {
            let Some(Member::End(end)) = self.member_exactly(at, name.text) else { return None };
            let row = &conceptual.ends[end];
            let next = row.target;
            links.push(AskLink {
                from: at,
                end: conceptual.stored_end(end),
                reversed: !row.stored,
                to: next,
            });
            at = next;
        }
        let arrives = conceptual.is_kind_of(at, to) || conceptual.is_kind_of(to, at);
        if let Some(last) = links.last_mut() {
            last.to = to;
        }
        arrives.then_some(links)
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
    fn shortest(&mut self, from: ClassId, to: ClassId) -> Vec<Vec<AskLink>> {
        /// Further than this nobody means a path that is not named.
        const FURTHEST: usize = 16;
        let neighbours = self.neighbours();
        let mut reached: HashMap<ClassId, (usize, Vec<AskLink>)> = HashMap::from([(from, (0, Vec::new()))]);
        let mut queue = VecDeque::from([from]);
        while let Some(class) = queue.pop_front() {
            let distance = reached.get(&class).map_or(0, |(distance, _)| *distance);
            if distance >= FURTHEST {
                break;
            }
            // A class has the links of its ancestors, too.
            let lineage = self.model.conceptual.lineage(class);
            let links = lineage.iter().flat_map(|ancestor| neighbours.get(ancestor).into_iter().flatten());
            for link in links.map(|link| AskLink { from: class, ..*link }) {
                let entry = reached.entry(link.to).or_insert_with(|| {
                    queue.push_back(link.to);
                    (distance + 1, Vec::new())
                });
                if entry.0 == distance + 1 {
                    entry.1.push(link);
                }
            }
        }
        let mut paths = Vec::new();
        collect_paths(&reached, from, to, &mut Vec::new(), &mut paths);
        paths
    }

    /// The stored links of each class, in both directions; worked out once.
    fn neighbours(&mut self) -> Rc<HashMap<ClassId, Vec<AskLink>>> {
        if let Some(known) = &self.neighbours {
            return Rc::clone(known);
        }
        let mut neighbours: HashMap<ClassId, Vec<AskLink>> = HashMap::new();
        for (end, row) in self.model.conceptual.ends.iter().filter(|(_, row)| row.stored) {
            let forward = AskLink { from: row.class, end, reversed: false, to: row.target };
            let back = AskLink { from: row.target, end, reversed: true, to: row.class };
            neighbours.entry(row.class).or_default().push(forward);
            neighbours.entry(row.target).or_default().push(back);
        }
        let neighbours = Rc::new(neighbours);
        self.neighbours = Some(Rc::clone(&neighbours));
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
