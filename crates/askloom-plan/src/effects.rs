//! What the writes of a model can do: which instances they make and end, which members they change.
//!
//! A copy needs upkeep, and upkeep needs a way back along a reference, only for what some write can do. Everything here
//! errs on the side of more.

use askloom_model::{
    ClassId, Conceptual, EndId, Member, Model, OnDelete, RelationshipKind, Write, WriteStep, Writes,
};
use std::collections::BTreeSet;

/// What the writes of a model can do to stored instances. `load` is none of them: it builds copies after its masters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// Classes whose instances can come into being, parts and value objects included.
    made: BTreeSet<ClassId>,
    /// Classes whose instances can end.
    ended: BTreeSet<ClassId>,
    /// Members that can get another value in an instance that exists before and after; of a relationship, its stored end.
    changed: BTreeSet<Member>,
}

impl Effects {
    /// Of all writes: declared ones, and those that `writes any` adds.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let conceptual = &model.conceptual;
        let mut effects = Self::default();
        for write in &model.workload.writes {
            for step in &write.steps {
                let Self { made, ended, changed } = Self::of_step(conceptual, write, step);
                effects.made.extend(made);
                effects.ended.extend(ended);
                effects.changed.extend(changed);
            }
        }
        for (class, row) in conceptual.classes.iter() {
            let is_root = conceptual.aggregate_root(class).as_ref() == conceptual.lineage(class).last();
            if row.writes != Writes::Any || !is_root {
                continue;
            }
            if conceptual.is_immutable(class) {
                let kinds = std::iter::once(class).chain(conceptual.descendants(class));
                kinds.for_each(|kind| effects.make(conceptual, kind));
            } else {
                effects.replace(conceptual, class);
                effects.end(conceptual, class);
            }
        }
        effects.cascade(conceptual);
        let Self { ended, changed, .. } = Self::of_expiry(conceptual);
        effects.ended.extend(ended);
        effects.changed.extend(changed);
        effects
    }

    /// Of whoever reclaims what has expired: it ends, and no rule is asked.
    #[must_use]
    pub fn of_expiry(conceptual: &Conceptual) -> Self {
        let mut effects = Self::default();
        for class in conceptual.classes.ids().filter(|&class| conceptual.can_expire(class)) {
            effects.ended.insert(class);
            // A part that has expired leaves its owner.
            effects.changed.extend(conceptual.classes[class].held_by.iter().map(|&owner| Member::End(owner)));
        }
        effects
    }

    /// Of one statement of a write, without what checked references make of it. An instance that an earlier statement
    /// ended and this one makes again is there before the write and after it, with other values.
    #[must_use]
    pub fn of_step(conceptual: &Conceptual, write: &Write, step: &WriteStep) -> Self {
        let mut effects = Self::default();
        effects.step(conceptual, step);
        let mut before = Self::default();
        if !write.apart {
            let earlier = write.steps.iter().take_while(|other| !std::ptr::eq(*other, step));
            earlier.for_each(|other| before.step(conceptual, other));
        }
        before.cascade(conceptual);
        let made = effects.made.clone();
        for class in made.into_iter().filter(|&class| before.ends(conceptual, class)) {
            effects.replace(conceptual, class);
        }
        effects
    }

    /// What checked references make of this in other aggregates, or in others of the same class.
    #[must_use]
    pub fn followed(&self, conceptual: &Conceptual) -> Self {
        let mut followed = Self::default();
        while followed.follow(conceptual, self) {}
        followed
    }

    /// Of values that members of an instance get.
    #[must_use]
    pub fn of_members(conceptual: &Conceptual, members: impl IntoIterator<Item = Member>) -> Self {
        let mut effects = Self::default();
        members.into_iter().for_each(|member| effects.change(conceptual, member));
        effects
    }

    /// Of a program that makes an instance.
    #[must_use]
    pub fn of_create(conceptual: &Conceptual, class: ClassId) -> Self {
        let mut effects = Self::default();
        effects.make(conceptual, class);
        effects
    }

    /// Of a program that makes an instance or replaces it.
    #[must_use]
    pub fn of_store(conceptual: &Conceptual, class: ClassId) -> Self {
        let mut effects = Self::default();
        effects.replace(conceptual, class);
        effects
    }

    /// Of a program that ends an instance.
    #[must_use]
    pub fn of_delete(conceptual: &Conceptual, class: ClassId) -> Self {
        let mut effects = Self::default();
        effects.end(conceptual, class);
        effects
    }

    /// Of a program that changes a link.
    #[must_use]
    pub fn of_relink(conceptual: &Conceptual, end: EndId) -> Self {
        Self::of_members(conceptual, [Member::End(end)])
    }

    /// Whether an instance of a class can come into being, or end.
    #[must_use]
    pub fn comes_or_goes(&self, conceptual: &Conceptual, class: ClassId) -> bool {
        let related =
            |&other: &ClassId| conceptual.is_kind_of(other, class) || conceptual.is_kind_of(class, other);
        self.made.iter().chain(&self.ended).any(related)
    }

    /// Whether instances of a class can come into being.
    #[must_use]
    pub fn makes(&self, conceptual: &Conceptual, class: ClassId) -> bool {
        self.made.iter().any(|&made| conceptual.is_kind_of(made, class))
    }

    /// Whether instances of a class can end.
    #[must_use]
    pub fn ends(&self, conceptual: &Conceptual, class: ClassId) -> bool {
        self.ended
            .iter()
            .any(|&other| conceptual.is_kind_of(other, class) || conceptual.is_kind_of(class, other))
    }

    /// Entities whose links change. A value object is written with its owner.
    pub fn relinked<'e>(&'e self, conceptual: &'e Conceptual) -> impl Iterator<Item = ClassId> + 'e {
        let relinked = self.changed.iter().filter_map(|&member| match member {
            Member::End(end) => Some(&conceptual.ends[end])
                .filter(|row| row.kind != RelationshipKind::Composition)
                .map(|row| row.class),
            Member::Attribute(_) => None,
        });
        relinked.filter(|class| conceptual.classes[*class].kind.is_entity())
    }

    /// Whether a member can get another value in an instance that stays.
    #[must_use]
    pub fn changes(&self, conceptual: &Conceptual, member: Member) -> bool {
        self.changed.contains(&stored(conceptual, member))
    }

    /// Whether a write can set a reference, in a new instance or in one that exists.
    #[must_use]
    pub fn sets(&self, conceptual: &Conceptual, end: EndId) -> bool {
        self.makes(conceptual, conceptual.ends[end].class) || self.changed.contains(&Member::End(end))
    }

    fn step(&mut self, conceptual: &Conceptual, step: &WriteStep) {
        match step {
            WriteStep::Insert { class } => self.make(conceptual, *class),
            WriteStep::Upsert { class } | WriteStep::Store { class } => self.replace(conceptual, *class),
            WriteStep::Update { set, .. } | WriteStep::UpdateElements { set, .. } => {
                set.iter().for_each(|assignment| self.change(conceptual, assignment.member));
            }
            WriteStep::Delete { class, .. } => self.end(conceptual, *class),
            WriteStep::Add { list, .. } | WriteStep::Remove { list, .. } => self.change(conceptual, *list),
            WriteStep::Connect { end, .. } | WriteStep::Disconnect { end, .. } => {
                self.change(conceptual, Member::End(*end));
            }
        }
    }

    /// An instance is made, with everything inside it.
    fn make(&mut self, conceptual: &Conceptual, class: ClassId) {
        for class in conceptual.inside(class) {
            self.made.insert(class);
            for member in conceptual.all_members(class) {
                self.take_link(conceptual, member);
            }
        }
    }

    /// An instance ends, with everything inside it.
    fn end(&mut self, conceptual: &Conceptual, class: ClassId) {
        for kind in std::iter::once(class).chain(conceptual.descendants(class)) {
            self.ended.extend(conceptual.inside(kind));
        }
    }

    /// An instance is made, or any of its members changes.
    fn replace(&mut self, conceptual: &Conceptual, class: ClassId) {
        self.make(conceptual, class);
        for kind in std::iter::once(class).chain(conceptual.descendants(class)) {
            let own = conceptual.all_members(kind).filter(|&member| match member {
                Member::End(end) => conceptual.ends[end].stored,
                Member::Attribute(_) => true,
            });
            own.for_each(|member| self.change(conceptual, member));
        }
    }

    /// A member gets another value. What is in a part comes and goes with it.
    fn change(&mut self, conceptual: &Conceptual, member: Member) {
        let member = stored(conceptual, member);
        if !self.changed.insert(member) {
            return;
        }
        if let Member::End(end) = member
            && conceptual.ends[end].kind == RelationshipKind::Composition
        {
            for part in conceptual.inside(conceptual.ends[end].target) {
                self.ended.insert(part);
                for member in conceptual.all_members(part) {
                    self.change(conceptual, member);
                }
            }
            self.make(conceptual, conceptual.ends[end].target);
        }
        self.take_link(conceptual, member);
    }

    /// A link takes the place of another holder's where the target can have only one, and both sides of a symmetric
    /// relationship have it.
    fn take_link(&mut self, conceptual: &Conceptual, member: Member) {
        let Member::End(end) = member else { return };
        let row = &conceptual.ends[end];
        let taken = row
            .inverse
            .is_some_and(|inverse| inverse == end || conceptual.ends[inverse].cardinality.max == Some(1));
        if row.stored && row.kind != RelationshipKind::Composition && taken {
            self.changed.insert(member);
        }
    }

    /// What checked references make of an end: until nothing more follows.
    fn cascade(&mut self, conceptual: &Conceptual) {
        while self.follow(conceptual, &Self::default()) {}
    }

    /// Adds what directly follows from this and from other effects. False if nothing more does.
    fn follow(&mut self, conceptual: &Conceptual, other: &Self) -> bool {
        let before = self.clone();
        for (end, row) in conceptual.ends.iter().filter(|(_, row)| row.stored) {
            if !self.ends(conceptual, row.target) && !other.ends(conceptual, row.target) {
                continue;
            }
            match row.on_delete() {
                Some(OnDelete::Cascade) => self.end_holder(conceptual, row.class),
                Some(OnDelete::Clear) => self.change(conceptual, Member::End(end)),
                Some(OnDelete::Refuse) | None => {}
            }
        }
        *self != before
    }

    /// Whoever holds a reference ends. A part leaves its owner, which ends with it if it needs it.
    fn end_holder(&mut self, conceptual: &Conceptual, holder: ClassId) {
        self.end(conceptual, holder);
        let kinds = conceptual.lineage(holder).into_iter().chain(conceptual.descendants(holder));
        let owners: BTreeSet<EndId> =
            kinds.flat_map(|kind| conceptual.classes[kind].held_by.iter().copied()).collect();
        for owner in owners {
            let row = &conceptual.ends[owner];
            self.changed.insert(Member::End(owner));
            let required = !row.cardinality.is_many() && row.cardinality.min > 0;
            if required && !self.ended.contains(&row.class) {
                self.end_holder(conceptual, row.class);
            }
        }
    }
}

/// A relationship by the end that is stored.
fn stored(conceptual: &Conceptual, member: Member) -> Member {
    match member {
        Member::End(end) => Member::End(conceptual.stored_end(end)),
        Member::Attribute(_) => member,
    }
}
