//! `extends`, the owners of parts, and identifiers.

use super::Resolver;
use crate::syntax::Keyword;
use askloom_model::{ClassId, Code, Diagnostic, EndId, Id, MAX_NESTING, Member, RelationshipKind, Severity};
use std::collections::HashMap;

impl Resolver<'_, '_, '_> {
    pub(super) fn hierarchy(&mut self) {
        for (index, place) in self.places.classes.clone().into_iter().enumerate() {
            let class = ClassId::from_index(index);
            let Some((parent, name)) = self.class_at(self.tree(place), place.node) else { continue };
            let classes = &mut self.model.conceptual.classes;
            if classes[class].kind.is_entity() == classes[parent].kind.is_entity() && class != parent {
                classes[class].parent = Some(parent);
                continue;
            }
            if class == parent {
                // A circle of one; the check for circles cannot see what is not linked.
                let message = format!("`{}` extends itself", name.text);
                self.say(Diagnostic::new(Code::ExtendsCycle, name.span, message));
                continue;
            }
            let message = format!("`{}` cannot be extended by `{}`", name.text, classes[class].name);
            let parent_span = classes[parent].span;
            self.say(
                Diagnostic::new(Code::BadParent, name.span, message)
                    .also(parent_span, "declared here")
                    .hint("an entity extends an entity, a value object a value object"),
            );
        }
        self.cut_circles();
    }

    /// Cuts the link that closes a circle, and one that makes a chain too long, so that every later walk
    /// upwards ends.
    fn cut_circles(&mut self) {
        let classes = &self.model.conceptual.classes;
        let mut depths: Vec<Option<usize>> = vec![None; classes.len()];
        let mut chain_of: Vec<Option<ClassId>> = vec![None; classes.len()];
        let mut cuts: Vec<(ClassId, Code)> = Vec::new();
        for start in classes.ids() {
            let mut chain = Vec::new();
            let mut current = Some(start);
            let mut depth = 0;
            while let Some(class) = current {
                if let Some(known) = depths.get(class.index()).copied().flatten() {
                    depth = known;
                    break;
                }
                if chain_of.get(class.index()).copied().flatten() == Some(start) {
                    cuts.extend(chain.last().map(|&last| (last, Code::ExtendsCycle)));
                    break;
                }
                if let Some(slot) = chain_of.get_mut(class.index()) {
                    *slot = Some(start);
                }
                chain.push(class);
                current = classes[class].parent;
            }
            for class in chain.into_iter().rev() {
                depth += 1;
                if depth > MAX_NESTING {
                    cuts.push((class, Code::TooDeep));
                    depth = 1;
                }
                if let Some(slot) = depths.get_mut(class.index()) {
                    *slot = Some(depth);
                }
            }
        }
        for (class, code) in cuts {
            self.cut(class, code);
        }
    }

    fn cut(&mut self, class: ClassId, code: Code) {
        let row = &mut self.model.conceptual.classes[class];
        row.parent = None;
        let (span, name) = (row.span, row.name.clone());
        self.say(match code {
            Code::TooDeep => {
                let message = format!("`{name}` extends more than {MAX_NESTING} classes");
                Diagnostic::new(code, span, message).hint("give the hierarchy fewer levels")
            }
            _circle => Diagnostic::new(code, span, format!("`{name}` extends itself in a circle"))
                .hint("take `extends` away from one of the classes in the circle"),
        });
    }

    /// Which end owns each part entity.
    pub(super) fn owners(&mut self) {
        // For each class, an end that owns one of its subclasses.
        let mut owned_below: HashMap<ClassId, EndId> = HashMap::new();
        for end_id in self.model.conceptual.ends.ids() {
            let end = &self.model.conceptual.ends[end_id];
            let (target, span) = (end.target, end.span);
            let owns = end.kind == RelationshipKind::Composition && end.declared;
            if !owns || !self.model.conceptual.classes[target].kind.is_entity() {
                continue;
            }
            let owner = self.model.conceptual.ends[end_id].class;
            let conceptual = &self.model.conceptual;
            let lineage = conceptual.lineage(target);
            let inherited = lineage.iter().find_map(|&class| conceptual.classes[class].owner);
            match inherited.or_else(|| owned_below.get(&target).copied()) {
                None => {
                    for class in lineage {
                        owned_below.entry(class).or_insert(end_id);
                    }
                    self.model.conceptual.classes[target].owner = Some(end_id);
                }
                // Several ends of one owner class are fine.
                Some(first) if self.model.conceptual.ends[first].class == owner => {
                    self.model.conceptual.classes[target].owner.get_or_insert(end_id);
                }
                Some(first) => {
                    let message = format!("`{}` is a part of two classes", self.class_name(target));
                    let first = self.model.conceptual.ends[first].span;
                    self.say(
                        Diagnostic::new(Code::TwoOwners, span, message)
                            .here("a second owner")
                            .also(first, "the first owner")
                            .hint("a part lives and dies with one owner: use `ref` for the other, or a value object"),
                    );
                }
            }
        }
    }

    /// A member may not be called like an inherited one, wherever the two are declared.
    pub(super) fn inherited_names(&mut self) {
        for class in self.model.conceptual.classes.ids() {
            let Some(parent) = self.model.conceptual.classes[class].parent else { continue };
            for member in self.model.conceptual.classes[class].members.clone() {
                let name = self.model.conceptual.member_name(member).to_owned();
                let Some(inherited) = self.member_exactly(parent, &name) else { continue };
                let message = format!("`{}` already has a member `{name}`", self.class_name(class));
                let (span, before) = (self.member_span(member), self.member_span(inherited));
                self.say(
                    Diagnostic::new(Code::DuplicateMember, span, message)
                        .here("again here")
                        .also(before, "inherited from here"),
                );
            }
        }
    }

    /// Own identifiers, inherited ones, surrogates.
    pub(super) fn identifiers(&mut self) {
        for class in self.model.conceptual.classes.ids() {
            let lineage = self.model.conceptual.lineage(class);
            let top = lineage.last().copied().unwrap_or(class);
            let identifier: Vec<Member> = self.own_identifier(top);
            if class == top {
                self.note_surrogate(class, identifier.is_empty());
            } else {
                self.refuse_own_identifier(class, top);
            }
            let surrogate = self.model.conceptual.classes[top].surrogate;
            let row = &mut self.model.conceptual.classes[class];
            row.identifier = identifier;
            row.surrogate = surrogate;
        }
    }

    fn own_identifier(&self, class: ClassId) -> Vec<Member> {
        let conceptual = &self.model.conceptual;
        let identifies = |member: &Member| match *member {
            Member::Attribute(id) => conceptual.attributes[id].id,
            Member::End(id) => conceptual.ends[id].id,
        };
        conceptual.classes[class].members.iter().copied().filter(identifies).collect()
    }

    fn note_surrogate(&mut self, class: ClassId, without: bool) {
        let row = &mut self.model.conceptual.classes[class];
        if !row.kind.is_entity() || !without {
            return;
        }
        row.surrogate = true;
        // What is broken may well have had one, and so may a parent that was taken away.
        let place = self.places.classes.get(class.index()).copied();
        let doubtful = |place: super::Place| {
            let tree = self.tree(place);
            tree.is_broken(place.node) || tree.has_keyword(place.node, Keyword::Extends)
        };
        if place.is_some_and(doubtful) {
            return;
        }
        let row = &self.model.conceptual.classes[class];
        let message = format!("`{}` has no identifier and gets a surrogate", row.name);
        let span = row.span;
        self.say(
            Diagnostic::new(Code::Surrogate, span, message)
                .severity(Severity::Note)
                .hint("mark the members that identify it with `id`"),
        );
    }

    fn refuse_own_identifier(&mut self, class: ClassId, top: ClassId) {
        let top_span = self.model.conceptual.classes[top].span;
        for member in self.own_identifier(class) {
            let message = format!("`{}` inherits its identifier", self.class_name(class));
            let span = self.member_span(member);
            self.say(
                Diagnostic::new(Code::IdentifierInSubclass, span, message)
                    .here("cannot be part of the identifier")
                    .also(top_span, "identified here")
                    .hint("ids are unique in a whole hierarchy; use `unique` for another key"),
            );
        }
    }
}
