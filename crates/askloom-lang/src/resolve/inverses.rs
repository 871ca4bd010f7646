//! `inverse`: two ends that are one relationship.

use super::{Place, Resolver};
use crate::syntax::NodeKind;
use crate::syntax::ast::Ident;
use askloom_model::{
    Cardinality, Code, Diagnostic, End, EndId, Integrity, Member, MemberStatistics, RelationshipKind,
};
use std::collections::HashSet;

/// An `inverse x` clause and the end that carries it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clause {
    pub(super) end: EndId,
    pub(super) place: Place,
}

impl<'a> Resolver<'_, 'a, '_> {
    pub(super) fn link_inverses(&mut self) {
        let clauses = std::mem::take(&mut self.inverses);
        let carriers: HashSet<EndId> = clauses.iter().map(|clause| clause.end).collect();
        for clause in clauses {
            let Some(name) = self.tree(clause.place).name(clause.place.node) else { continue };
            if !self.model.conceptual.classes[self.model.conceptual.ends[clause.end].target].kind.is_entity()
            {
                let message = "a value object has no inverse: it cannot be asked from its side";
                self.say(Diagnostic::new(Code::InverseMismatch, name.span, message));
                continue;
            }
            let (class, target) =
                (self.model.conceptual.ends[clause.end].class, self.model.conceptual.ends[clause.end].target);
            if !self.model.conceptual.classes[class].kind.is_entity() {
                let message = "nothing leads back to a value object: it has no identity of its own";
                self.say(
                    Diagnostic::new(Code::InverseMismatch, name.span, message)
                        .hint("put the reference into the owner"),
                );
                continue;
            }
            let other =
                self.member_exactly(target, name.text).or_else(|| self.member_in_any_case(target, name));
            match other {
                Some(Member::End(other)) => self.link_declared(clause, name, other),
                Some(Member::Attribute(other)) => {
                    let span = self.model.conceptual.attributes[other].span;
                    self.mismatch(clause, name, span, "this is an attribute");
                }
                None => self.create(clause, name),
            }
        }
        self.choose_stored(&carriers);
        self.names.forget_folded();
    }

    fn mismatch(&mut self, clause: Clause, name: Ident<'a>, other: askloom_model::Span, why: &str) {
        let end = &self.model.conceptual.ends[clause.end];
        let message = format!("`{}` does not point back to `{}`", name.text, end.name);
        self.say(Diagnostic::new(Code::InverseMismatch, name.span, message).also(other, why));
    }

    fn link_declared(&mut self, clause: Clause, name: Ident<'a>, other: EndId) {
        let conceptual = &self.model.conceptual;
        let (this, that) = (&conceptual.ends[clause.end], &conceptual.ends[other]);
        let span = that.span;
        if other == clause.end && this.cardinality.is_many() {
            // A symmetric relationship, such as friends.
            self.model.conceptual.ends[clause.end].inverse = Some(other);
            return;
        }
        if other == clause.end {
            return self.mismatch(clause, name, span, "this is the same end");
        }
        if !conceptual.is_kind_of(this.class, that.target) && !conceptual.is_kind_of(that.target, this.class)
        {
            let leads = format!("this leads to `{}`", conceptual.classes[that.target].name);
            return self.mismatch(clause, name, span, &leads);
        }
        match that.inverse {
            Some(back) if back != clause.end => {
                let leads = format!("this is the inverse of `{}`", conceptual.ends[back].name);
                self.mismatch(clause, name, span, &leads);
            }
            Some(_) | None => {
                if that.kind == RelationshipKind::Composition && this.kind == RelationshipKind::Composition {
                    return self.mismatch(clause, name, span, "each would be a part of the other");
                }
                self.model.conceptual.ends[clause.end].inverse = Some(other);
                self.model.conceptual.ends[other].inverse = Some(clause.end);
                self.end_statistics.push((other, clause.place));
                self.check_written_target(clause, other);
            }
        }
    }

    /// `inverse x: E?` beside a declared `x` must agree with it.
    fn check_written_target(&mut self, clause: Clause, other: EndId) {
        let tree = self.tree(clause.place);
        if tree.child(clause.place.node, NodeKind::TypeName).is_none() {
            return;
        }
        let written = self.written_cardinality(clause);
        if written != self.model.conceptual.ends[other].cardinality {
            let span = tree.span(clause.place.node);
            let declared = self.model.conceptual.ends[other].span;
            self.say(
                Diagnostic::new(
                    Code::InverseMismatch,
                    span,
                    "the inverse is declared with another cardinality",
                )
                .also(declared, "declared here"),
            );
        }
    }

    fn written_cardinality(&mut self, clause: Clause) -> Cardinality {
        let tree = self.tree(clause.place);
        match tree.child(clause.place.node, NodeKind::TypeName) {
            None => Cardinality::MANY,
            Some(_) => self.cardinality(tree, clause.place.node).unwrap_or(Cardinality::ONE),
        }
    }

    /// The other end exists only because this one says so: to-many, unless written otherwise.
    fn create(&mut self, clause: Clause, name: Ident<'a>) {
        let tree = self.tree(clause.place);
        let written = tree.child(clause.place.node, NodeKind::TypeName).and_then(|node| tree.word(node));
        let cardinality = self.written_cardinality(clause);
        let this = &self.model.conceptual.ends[clause.end];
        let (from, to) = (this.target, this.class);
        if let Some(word) = written
            && let Some(class) = self.class(word)
            && class != to
        {
            let message = format!("the inverse leads back to `{}`", self.class_name(to));
            let back = self.class_name(to).to_owned();
            self.say(Diagnostic::new(Code::InverseMismatch, word.span, message).replace(word.span, back));
        }
        let kind = match self.model.conceptual.ends[clause.end].kind {
            // The whole, seen from its part, is not a part of it.
            RelationshipKind::Composition | RelationshipKind::Association => RelationshipKind::Association,
            RelationshipKind::Aggregation => RelationshipKind::Aggregation,
        };
        let cardinality = match self.model.conceptual.ends[clause.end].kind {
            RelationshipKind::Composition if written.is_none() => Cardinality::ONE,
            RelationshipKind::Composition | RelationshipKind::Association | RelationshipKind::Aggregation => {
                cardinality
            }
        };
        let id = self.model.conceptual.ends.push(End {
            class: from,
            name: name.text.to_owned(),
            target: to,
            kind,
            cardinality,
            inverse: Some(clause.end),
            stored: false,
            declared: false,
            id: false,
            unique: false,
            immutable: false,
            integrity: Integrity::Trusted,
            tree: false,
            statistics: MemberStatistics::default(),
            span: name.span,
            declaration: tree.span(clause.place.node),
        });
        self.model.conceptual.ends[clause.end].inverse = Some(id);
        self.end_statistics.push((id, clause.place));
        self.add_member(from, name, Member::End(id));
    }

    /// Links live at the to-one end; if both ends are alike, at the one that carries `inverse`, and if
    /// both do, at the first in the text. A part is always stored with its owner.
    fn choose_stored(&mut self, carriers: &HashSet<EndId>) {
        let ids: Vec<EndId> = self.model.conceptual.ends.ids().collect();
        for id in ids {
            let end = &self.model.conceptual.ends[id];
            let Some(other) = end.inverse.filter(|&other| other > id) else { continue };
            let that = &self.model.conceptual.ends[other];
            let this_stored = match (end.kind, that.kind) {
                // What identifies is stored where it identifies.
                _identifies if end.id != that.id => end.id,
                (RelationshipKind::Composition, _) => true,
                (_, RelationshipKind::Composition) => false,
                _both_refer => match (end.cardinality.is_many(), that.cardinality.is_many()) {
                    (true, false) => false,
                    (false, true) => true,
                    // Ids ascend with the text, so of two that carry it the first one is asked.
                    _alike => carriers.contains(&id),
                },
            };
            let is_loose = [end, that].iter().any(|end| end.integrity == Integrity::Loose);
            let (stored, derived) = if this_stored { (id, other) } else { (other, id) };
            let ends = &mut self.model.conceptual.ends;
            (ends[stored].stored, ends[derived].stored) = (true, false);
            // `loose` is about the links, whichever end says it.
            if is_loose && ends[stored].integrity == Integrity::Trusted {
                ends[stored].integrity = Integrity::Loose;
            }
        }
    }
}
