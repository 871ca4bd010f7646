//! `immutable entity`: instances are created, expire by `@ttl`, and otherwise never change.

use super::Resolver;
use askloom_model::{
    ClassId, Code, Diagnostic, EndId, Member, Occurrence, OnDelete, RelationshipKind, Span, WriteStep,
};

impl Resolver<'_, '_, '_> {
    /// Says where `immutable` cannot stand, hands it down to subclasses, and refuses references that other writes would
    /// change.
    pub(super) fn immutable_entities(&mut self) {
        for class in self.model.conceptual.classes.ids() {
            if self.model.conceptual.classes[class].immutable {
                self.check_immutable(class);
            }
        }
        for class in self.model.conceptual.classes.ids() {
            let top = self.model.conceptual.lineage(class).last().copied().unwrap_or(class);
            let immutable = self.model.conceptual.classes[top].immutable;
            self.model.conceptual.classes[class].immutable = immutable;
        }
        for end in self.model.conceptual.ends.ids() {
            self.check_immutable_end(end);
        }
    }

    /// A class that cannot be immutable by itself is treated as if it were not marked.
    fn check_immutable(&mut self, class: ClassId) {
        let conceptual = &self.model.conceptual;
        let row = &conceptual.classes[class];
        let (name, span) = (&row.name, row.span);
        let top = conceptual.lineage(class).last().copied().unwrap_or(class);
        let owner = conceptual.lineage(class).into_iter().find_map(|class| conceptual.classes[class].owner);
        let diagnostic = if !row.kind.is_entity() {
            let message = format!("`{name}` is a value object: it changes with its owner");
            Diagnostic::new(Code::BadImmutable, span, message).hint("mark the entity that it is part of")
        } else if let Some(end) = owner {
            let owner = &conceptual.classes[conceptual.ends[end].class];
            let message = format!("`{name}` is a part of `{}`: it changes with its owner", owner.name);
            Diagnostic::new(Code::BadImmutable, span, message)
                .also(conceptual.ends[end].span, "owned here")
                .hint(format!("mark the owner: `immutable entity {}`", owner.name))
        } else if !conceptual.classes[top].immutable {
            let parent = &conceptual.classes[top];
            let message = format!("`{name}` is immutable, and `{}`, which it extends, is not", parent.name);
            Diagnostic::new(Code::BadImmutable, span, message)
                .also(parent.span, "declared here")
                .hint("all classes of a hierarchy agree: mark the topmost one, or none")
        } else {
            return;
        };
        self.say(diagnostic);
        self.model.conceptual.classes[class].immutable = false;
    }

    /// A stored reference of an immutable entity never changes, whatever happens to its target.
    fn check_immutable_end(&mut self, id: EndId) {
        let conceptual = &self.model.conceptual;
        let end = &conceptual.ends[id];
        let stays = |place: &Occurrence| conceptual.classes[place.root].immutable;
        if end.kind == RelationshipKind::Composition || !conceptual.occurrences(end.class).iter().any(stays) {
            return;
        }
        let (name, class) = (&end.name, &conceptual.classes[end.class].name);
        let target = &conceptual.classes[end.target].name;
        let inverse = end.inverse.map(|inverse| &conceptual.ends[inverse]);
        let (message, hint) = if let Some(OnDelete::Clear | OnDelete::Cascade) = end.on_delete() {
            let message =
                format!("deleting a `{target}` would change or delete a `{class}`, which is immutable");
            (message, "use `on delete refuse`, or do not check the reference")
        } else if !end.stored {
            return;
        } else if end.inverse == Some(id) {
            let message =
                format!("`{name}` is symmetric: a new `{class}` would change another, which is immutable");
            (message, "drop `inverse`: the links are then those that the new instance has")
        } else if inverse.is_some_and(|inverse| !inverse.cardinality.is_many()) && !end.id {
            let message = format!(
                "`{name}` is one-to-one: a new `{class}` would take the link from another, which is immutable"
            );
            (message, "make the inverse to-many: `inverse x` without a class")
        } else {
            return;
        };
        let span = end.span;
        self.say(Diagnostic::new(Code::ImmutableReference, span, message).hint(hint));
    }

    /// Refuses a statement that would change or delete an instance of an immutable entity.
    pub(super) fn refuse_immutable(&mut self, step: &WriteStep, span: Span) -> Option<()> {
        let conceptual = &self.model.conceptual;
        let holder = |end: EndId| conceptual.ends[conceptual.stored_end(end)].class;
        let immutable = |class: &ClassId| conceptual.is_immutable(*class);
        let (what, changed) = match step {
            WriteStep::Insert { .. } | WriteStep::Upsert { .. } => return Some(()),
            WriteStep::Update { class, set, .. } => {
                let changed = set.iter().map(|assignment| match assignment.member {
                    Member::End(end) if assignment.hops.is_empty() => holder(end),
                    Member::End(_) | Member::Attribute(_) => *class,
                });
                ("UPDATE", changed.into_iter().find(immutable))
            }
            WriteStep::Store { class } => ("STORE", Some(*class).filter(immutable)),
            WriteStep::UpdateElements { class, .. } => ("UPDATE", Some(*class).filter(immutable)),
            WriteStep::Delete { class, .. } => ("DELETE", Some(*class).filter(immutable)),
            WriteStep::Add { class, .. } => ("ADD", Some(*class).filter(immutable)),
            WriteStep::Remove { class, .. } => ("REMOVE", Some(*class).filter(immutable)),
            WriteStep::Connect { end, .. } => ("CONNECT", Some(holder(*end)).filter(immutable)),
            WriteStep::Disconnect { end, .. } => ("DISCONNECT", Some(holder(*end)).filter(immutable)),
        };
        let Some(changed) = changed else { return Some(()) };
        let root = conceptual.aggregate_root(changed).unwrap_or(changed);
        let (name, declared) = (&conceptual.classes[root].name, conceptual.classes[root].span);
        let verb = if what == "DELETE" { "delete" } else { "change" };
        let message = format!("this {what} would {verb} a `{name}`, which is immutable");
        self.say(
            Diagnostic::new(Code::WriteOnImmutable, span, message)
                .also(declared, "declared here")
                .hint("instances are made by INSERT or UPSERT and end by `@ttl`; else drop `immutable`"),
        );
        None
    }
}
