//! Which paths of a query have the same values: an entity is its id, what is joined along a reference is what the
//! reference stores, and so is what a path ends in if the reference is relied on.

use askloom_model::{Conceptual, Leaf, Member, Path, Position, PositionId, RelationshipKind, Table};

/// One component of an identity, or one plain value, by the path that is nearest to where it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Atom {
    path: Path,
    component: usize,
}

/// What paths are compared in.
#[derive(Clone, Copy)]
pub(super) struct Same<'s> {
    pub conceptual: &'s Conceptual,
    pub positions: &'s Table<PositionId, Position>,
}

impl Same<'_> {
    /// What the value of a path is made of. Paths with the same atoms have the same value.
    pub(super) fn atoms(&self, path: &Path) -> Vec<Atom> {
        let within = |of: &Path, from: usize, length: usize| {
            self.atoms(of).into_iter().skip(from).take(length).collect::<Vec<Atom>>()
        };
        if let Some(part) = self.conceptual.identity_part(path) {
            return within(&part.of, part.from, part.length);
        }
        if path.hops.is_empty()
            && path.leaf != Leaf::Itself
            && let Some((from, length)) = self.own_component(path)
        {
            let itself = Path { leaf: Leaf::Itself, ..path.clone() };
            return within(&itself, from, length);
        }
        if let Some(reference) = self.joined_by(path) {
            return self.atoms(&reference);
        }
        let atom = |component| Atom { path: path.clone(), component };
        (0..self.length(path)).map(atom).collect()
    }

    /// What a part of the identity of a row is made of. An element of a list is told from the others by where it is, which is
    /// no path of its own.
    pub(super) fn identity_atoms(&self, path: &Path) -> Vec<Atom> {
        let class = self.positions[path.position].class;
        let entity = class.is_some_and(|class| self.conceptual.classes[class].kind.is_entity());
        let own = path.leaf == Leaf::Itself && path.hops.is_empty();
        match own && !entity {
            true => vec![Atom { path: path.clone(), component: usize::MAX }],
            false => self.atoms(path),
        }
    }

    /// Whether a path is an identity of the row or a part of one: whoever has the row has its value. The value of an element
    /// of a list is none: its ordinal tells it apart.
    pub(super) fn is_of_identity(&self, path: &Path) -> bool {
        let is_element = self.positions[path.position].class.is_none();
        let itself = path.leaf == Leaf::Itself && !is_element;
        path.hops.is_empty() && (itself || self.own_component(path).is_some())
    }

    /// Where the value of a member is in the identity of its position.
    fn own_component(&self, path: &Path) -> Option<(usize, usize)> {
        let class = self.positions[path.position].class?;
        self.conceptual.classes[class]
            .kind
            .is_entity()
            .then(|| self.conceptual.component(class, path.leaf))?
    }

    /// The reference that stores the identity of a joined position: each row has the instance that it names.
    fn joined_by(&self, path: &Path) -> Option<Path> {
        let here = self.positions[path.position]
            .from
            .filter(|_| path.hops.is_empty() && path.leaf == Leaf::Itself)?;
        let Member::End(end) = here.step else { return None };
        let row = &self.conceptual.ends[end];
        let stored = row.stored && row.inverse != Some(end) && row.kind != RelationshipKind::Composition;
        // Where an outer join finds nothing, the reference may name something all the same.
        let there = !self.positions[path.position].outer || self.conceptual.is_relied_on(end);
        let one = stored && !row.cardinality.is_many() && there;
        one.then_some(Path { position: here.parent, hops: Vec::new(), leaf: Leaf::Reference(end) })
    }

    fn length(&self, path: &Path) -> usize {
        let class = match path.leaf {
            Leaf::Attribute(_) | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
            Leaf::Reference(end) => Some(self.conceptual.ends[end].target),
            Leaf::Itself => match path.hops.last() {
                Some(&hop) => Some(self.conceptual.ends[hop].target),
                None => self.positions[path.position].class,
            },
        };
        let entity = class.filter(|&class| self.conceptual.classes[class].kind.is_entity());
        entity.map_or(1, |class| self.conceptual.identity_length(class))
    }
}

/// Whether the values of a path follow from these.
pub(super) fn is_given(conceptual: &Conceptual, path: &Path, held: &dyn Fn(&Path) -> bool) -> bool {
    held(path) || conceptual.derivations(path).iter().any(|way| way.paths().iter().all(held))
}
