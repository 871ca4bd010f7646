//! What evaluation needs beside the steps of a plan: what stands at positions, what derived ends and trees lead to.

use super::client::is_narrower;
use super::lookups::Owners;
use super::read::{Reads, reference};
use super::{IdentityIn, Note};
use crate::planner::{is_lasting, looked_at};
use askloom_model::{
    CollectionId, Condition, Contents, EndId, HomePlace, Id, Leaf, Member, Operand, Path, PositionId,
    RelationshipKind,
};

impl Reads<'_> {
    /// What stands at a position, by its own identity or, inside an aggregate, by what stands above it.
    pub(super) fn load(&mut self, position: PositionId, note: &Note, owners: Owners) {
        let row = &self.positions[position];
        let entity = row.class.filter(|class| self.conceptual().classes[*class].kind.is_entity());
        match (entity, row.from) {
            (Some(class), None) => self.instances(class, note, IdentityIn::Position(position), owners),
            (Some(class), Some(_)) if self.is_root_at(position) => {
                self.instances(class, note, IdentityIn::Position(position), owners);
            }
            (_, Some(hop)) => {
                self.load(hop.parent, note, owners);
                if let Member::End(end) = hop.step {
                    self.lead(hop.parent, &[], end, note);
                }
            }
            (None, None) => {}
        }
    }

    /// Whether all instances that can stand at a position are roots of aggregates.
    pub(super) fn is_root_at(&self, position: PositionId) -> bool {
        let class = self.positions[position].class;
        let entity = class.filter(|class| self.conceptual().classes[*class].kind.is_entity());
        let is_root = |class| self.conceptual().homes(class).iter().all(|home| home.place == HomePlace::Root);
        entity.is_some_and(is_root)
    }

    /// Rows of a copy may be of more classes than are asked for, or have expired, and so may what it took its values from:
    /// the masters tell.
    pub(super) fn looked_at(&mut self) {
        let conceptual = &self.given.layout.conceptual;
        let access = &self.plan.access;
        let collection = &self.given.layout.design.collections[access.collection];
        let narrower = is_narrower(self.given.layout, self.positions, self.plan);
        let note = if narrower { Note::Class } else { Note::Expiry };
        let mut positions = looked_at(conceptual, collection, self.positions, &access.positions);
        let main = access.positions.first().copied().flatten();
        if matches!(collection.contents, Contents::Aggregate(_)) {
            positions.clear();
        }
        positions.retain(|position| !self.brings_aggregates() || Some(*position) != main);
        positions.into_iter().for_each(|position| self.load(position, &note, Owners::AsPlanned));
        for path in self.plan.paths().into_iter().filter(|path| !is_lasting(conceptual, path)) {
            for (at, &end) in path.hops.iter().enumerate() {
                let before = path.hops.get(..at).unwrap_or_default();
                self.lead(path.position, before, end, &Note::Expiry);
            }
        }
    }

    /// Where one end leads from what hops lead to. A part is in its owner, and the owner around it.
    pub(super) fn lead(&mut self, position: PositionId, before: &[EndId], end: EndId, note: &Note) {
        let row = &self.conceptual().ends[end];
        let stored = self.conceptual().stored_end(end);
        if self.conceptual().ends[stored].kind == RelationshipKind::Composition {
            return;
        }
        let (target, holds, symmetric) = (row.target, row.stored, row.inverse == Some(end));
        if holds {
            let to = IdentityIn::Path(reference(position, before, end));
            self.instances(target, note, to, Owners::AsPlanned);
        }
        if !holds || symmetric {
            self.refer(position, before, end);
        }
    }

    /// Finds those that a derived end leads to, unless the plan does already.
    fn refer(&mut self, position: PositionId, before: &[EndId], end: EndId) {
        let stored = self.conceptual().stored_end(end);
        if self.rows.ways.referrers.iter().any(|(known, _, _)| *known == stored) {
            return;
        }
        let from = match before.split_last() {
            Some((&last, before)) => reference(position, before, last),
            None => Path { position, hops: Vec::new(), leaf: Leaf::Itself },
        };
        self.referrers(Member::End(end), &from, true);
    }

    /// What paths and conditions need that no step of the plan is about: those that derived ends of a path lead to, the
    /// owners of parts that are referred to, and what is above or below in a tree.
    pub(super) fn beyond_plan(&mut self) {
        for path in self.plan.paths() {
            if self.is_given(path) && !self.is_nested_value(path) {
                continue;
            }
            let joined = self.plan.joins.iter().any(|join| join.position == path.position);
            if !joined && !self.brings_aggregates() {
                self.load(path.position, &Note::Aggregate, Owners::AsPlanned);
            }
            for (at, &end) in path.hops.iter().enumerate() {
                let before = path.hops.get(..at).unwrap_or_default();
                let target = self.conceptual().ends[end].target;
                let inside =
                    self.conceptual().homes(target).iter().any(|home| home.place == HomePlace::Inside);
                if !self.conceptual().ends[end].stored || self.is_symmetric(end) || inside {
                    self.lead(path.position, before, end, &Note::Target(Member::End(end)));
                }
            }
            if let Leaf::Reference(end) = path.leaf
                && (!self.conceptual().ends[end].stored || self.is_symmetric(end))
            {
                self.lead(path.position, &path.hops, end, &Note::Target(Member::End(end)));
            }
        }
        let filter = self.plan.filter.as_ref();
        for path in filter.map(trees).unwrap_or_default() {
            self.climb(path);
        }
    }

    /// Whether a path ends in value objects, which only their aggregate has.
    fn is_nested_value(&self, path: &Path) -> bool {
        let conceptual = self.conceptual();
        match path.leaf {
            Leaf::Itself if path.hops.is_empty() => {
                let class = self.positions[path.position].class;
                class.is_some_and(|class| !conceptual.classes[class].kind.is_entity())
            }
            Leaf::Reference(end) => conceptual.ends[end].kind == RelationshipKind::Composition,
            Leaf::Itself | Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
    }

    fn is_symmetric(&self, end: EndId) -> bool {
        self.conceptual().ends[end].inverse == Some(end)
    }

    /// Whether the value of a path comes with the rows, or follows from values that do.
    fn is_given(&self, path: &Path) -> bool {
        let at_hand = |path: &Path| self.is_held(path) || self.is_known_id(path);
        let derived = || {
            let ways = self.conceptual().derivations(path);
            ways.iter().any(|way| way.paths().iter().all(&at_hand))
        };
        at_hand(path) || derived()
    }

    /// Whether an entry of the rows, or one with their identity, has the value of a path.
    fn is_held(&self, path: &Path) -> bool {
        let held = |collection: CollectionId, positions: &[Option<PositionId>]| {
            let collection = &self.given.layout.design.collections[collection];
            let same = |own: &Path| {
                positions.get(own.position.index()).copied().flatten() == Some(path.position)
                    && own.hops == path.hops
                    && own.leaf == path.leaf
            };
            !matches!(collection.contents, Contents::Aggregate(_)) && collection.held().any(same)
        };
        let access = &self.plan.access;
        is_lasting(self.conceptual(), path)
            && (held(access.collection, &access.positions)
                || self.plan.fetches.iter().any(|fetch| held(fetch.collection, &fetch.positions)))
    }

    /// Whether a path is the identity of what stands at its position, or a part of it.
    fn is_known_id(&self, path: &Path) -> bool {
        let conceptual = self.conceptual();
        let class = self.positions[path.position].class.filter(|_| path.hops.is_empty());
        let Some(class) = class.filter(|class| conceptual.classes[*class].kind.is_entity()) else {
            return false;
        };
        let identifier = &conceptual.classes[class].identifier;
        match path.leaf {
            Leaf::Itself => true,
            Leaf::Attribute(id) => identifier.contains(&Member::Attribute(id)),
            Leaf::Reference(id) => identifier.contains(&Member::End(id)),
            Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
    }

    /// A walk towards the root of a tree: each instance names the one above it, or an index leads there.
    fn climb(&mut self, path: &Path) {
        let conceptual = self.conceptual();
        let class = match (path.leaf, path.hops.last()) {
            (Leaf::Reference(end), _) => Some(conceptual.ends[end].target),
            (Leaf::Itself, Some(&hop)) => Some(conceptual.ends[hop].target),
            (Leaf::Itself, None) => self.positions[path.position].class,
            (Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..), _) => None,
        };
        let Some(class) = class else { return };
        let end = conceptual.all_members(class).find_map(|member| match member {
            Member::End(end) if conceptual.ends[end].tree => Some(end),
            Member::End(_) | Member::Attribute(_) => None,
        });
        let Some(end) = end else { return };
        self.instances(class, &Note::Ancestor(end), IdentityIn::Path(path.clone()), Owners::AsPlanned);
        let many = self.conceptual().ends[end].cardinality.is_many();
        let stored = self.conceptual().ends[end].stored;
        // Of a to-many tree the child is asked: for who holds it, or for whom it holds.
        if (many && stored) || (!many && !stored) || self.is_symmetric(end) {
            let known = self.conceptual().stored_end(end);
            if self.rows.ways.referrers.iter().all(|(own, _, _)| *own != known) {
                self.referrers(Member::End(end), path, true);
            }
        }
    }
}

/// The paths of those whose place in a tree a condition is about.
fn trees(condition: &Condition) -> Vec<&Path> {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().flat_map(trees).collect(),
        Condition::Not(inner) | Condition::Negated(inner) => trees(inner),
        Condition::Under { value: Operand::Path(path), .. }
        | Condition::Above { value: Operand::Path(path), .. } => vec![path],
        Condition::Under { .. }
        | Condition::Above { .. }
        | Condition::Compare { .. }
        | Condition::Between { .. }
        | Condition::In { .. }
        | Condition::StartsWith { .. }
        | Condition::IsNull { .. }
        | Condition::Matches { .. }
        | Condition::Within { .. }
        | Condition::InBox { .. } => Vec::new(),
    }
}
