//! Paths that end in the id of what a reference names: their values are components of the identity that the reference
//! stores, so nothing has to be read of what it names.

use crate::{
    ClassId, Conceptual, EndId, Leaf, MAX_NESTING, Member, Path, RelationshipKind, Value, identity_types,
};

/// Components of the identity that another path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityPart {
    /// Leads to the whole identity.
    pub of: Path,
    /// The first of the components.
    pub from: usize,
    pub length: usize,
    /// An id of its own, as that of a reference within an id; else one plain value.
    pub identity: bool,
}

impl IdentityPart {
    /// The components of an identity, as the value of the path. Null has none.
    #[must_use]
    pub fn of_value(&self, identity: &Value) -> Value {
        let Value::Reference(parts) = identity else { return Value::Null };
        let Some(own) = parts.get(self.from..self.from + self.length) else { return Value::Null };
        match (self.identity, own) {
            (true, _) => Value::Reference(own.to_vec()),
            (false, [only]) => only.clone(),
            (false, _) => Value::Null,
        }
    }
}

/// How the value of a path follows from the values of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Derivation {
    /// It is a part of the value of another.
    Part(IdentityPart),
    /// It is the identity that these make, component by component.
    Whole(Vec<Path>),
}

impl Derivation {
    /// The paths whose values it takes.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        match self {
            Self::Part(part) => std::slice::from_ref(&part.of),
            Self::Whole(components) => components,
        }
    }

    /// The value by those of the paths, in their order.
    #[must_use]
    pub fn value(&self, values: Vec<Value>) -> Value {
        match self {
            Self::Part(part) => values.first().map_or(Value::Null, |identity| part.of_value(identity)),
            Self::Whole(_) if values.iter().any(Value::is_null) => Value::Null,
            Self::Whole(_) => Value::Reference(values),
        }
    }
}

impl Conceptual {
    /// How many components an identity of the class has.
    #[must_use]
    pub fn identity_length(&self, class: ClassId) -> usize {
        identity_types(self, class).len()
    }

    /// Whether the reference stores the identities of instances that exist: it is relied on, and only its own side holds
    /// them.
    #[must_use]
    pub fn stores_relied_on(&self, end: EndId) -> bool {
        let row = &self.ends[end];
        let stored = row.stored && row.inverse != Some(end) && row.kind != RelationshipKind::Composition;
        stored && self.is_relied_on(end)
    }

    /// Where the value of a leaf is among the components of an identity of the class: the first of them, and how many.
    #[must_use]
    pub fn component(&self, class: ClassId, leaf: Leaf) -> Option<(usize, usize)> {
        let wanted = match leaf {
            Leaf::Itself => return Some((0, self.identity_length(class))),
            Leaf::Attribute(id) => Member::Attribute(id),
            Leaf::Reference(id) => Member::End(id),
            Leaf::Bucket(_) | Leaf::TimeBucket(..) => return None,
        };
        let mut from = 0;
        for &member in &self.classes[class].identifier {
            let length = match member {
                Member::Attribute(_) => 1,
                Member::End(id) => self.identity_length(self.ends[id].target),
            };
            if member == wanted {
                return Some((from, length));
            }
            from += length;
        }
        None
    }

    /// What the value of a path in the id of an instance is of that id.
    #[must_use]
    pub fn known_part(&self, class: ClassId, path: &Path) -> Option<IdentityPart> {
        let (from, length) = self.component(class, path.leaf)?;
        let identity = matches!(path.leaf, Leaf::Reference(_) | Leaf::Itself);
        Some(IdentityPart { of: Path { leaf: Leaf::Itself, ..path.clone() }, from, length, identity })
    }

    /// The identity that the value of a path is a part of: the path goes over a reference that is relied on, and ends in
    /// what it names or in a member of its id.
    #[must_use]
    pub fn identity_part(&self, path: &Path) -> Option<IdentityPart> {
        let (&last, before) = path.hops.split_last()?;
        if !self.stores_relied_on(last) {
            return None;
        }
        let (from, length) = self.component(self.ends[last].target, path.leaf)?;
        let of = Path { position: path.position, hops: before.to_vec(), leaf: Leaf::Reference(last) };
        let identity = matches!(path.leaf, Leaf::Reference(_) | Leaf::Itself);
        Some(IdentityPart { of, from, length, identity })
    }

    /// The identities that the value of a path is a part of, the nearest to its position last: an id may contain a
    /// reference, and that the id of another.
    #[must_use]
    pub fn identity_parts(&self, path: &Path) -> Vec<IdentityPart> {
        let mut found: Vec<IdentityPart> = Vec::new();
        while let Some(next) = self.identity_part(found.last().map_or(path, |part| &part.of)) {
            let (from, length, identity) = match found.last() {
                Some(inner) => (next.from + inner.from, inner.length, inner.identity),
                None => (next.from, next.length, next.identity),
            };
            found.push(IdentityPart { of: next.of, from, length, identity });
        }
        found
    }

    /// The path that has to be followed for the value of a path: without what its identity is known by.
    #[must_use]
    pub fn nearest(&self, path: &Path) -> Path {
        self.identity_parts(path).pop().map_or_else(|| path.clone(), |part| part.of)
    }

    /// The path to the identity that is the whole value of this one: a path that ends in the id of what a reference names
    /// is the reference itself, if that id has one component. Else the path as it is.
    #[must_use]
    pub fn same_identity(&self, path: &Path) -> Path {
        let whole = |part: &IdentityPart| match part.of.leaf {
            Leaf::Reference(end) => part.length == self.identity_length(self.ends[end].target),
            Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        };
        let parts = self.identity_parts(path).into_iter().take_while(whole);
        parts.last().map_or_else(|| path.clone(), |part| part.of)
    }

    /// The components of the identity that a reference which is relied on stores, each as a path. Nothing for other
    /// paths.
    #[must_use]
    pub fn identity_components(&self, path: &Path) -> Option<Vec<Path>> {
        let Leaf::Reference(end) = path.leaf else { return None };
        if !self.stores_relied_on(end) {
            return None;
        }
        let mut found = Vec::new();
        self.collect_components(path, end, 0, &mut found).then_some(found)
    }

    fn collect_components(&self, path: &Path, end: EndId, depth: usize, found: &mut Vec<Path>) -> bool {
        let target = self.ends[end].target;
        let hops: Vec<EndId> = path.hops.iter().copied().chain([end]).collect();
        let identifier = &self.classes[target].identifier;
        if identifier.is_empty() || depth > MAX_NESTING {
            return false;
        }
        identifier.iter().all(|&member| match member {
            Member::Attribute(id) => {
                found.push(Path { position: path.position, hops: hops.clone(), leaf: Leaf::Attribute(id) });
                true
            }
            Member::End(id) => {
                let inner = Path { position: path.position, hops: hops.clone(), leaf: Leaf::Reference(id) };
                self.stores_relied_on(id) && self.collect_components(&inner, id, depth + 1, found)
            }
        })
    }

    /// Every way in which the value of a path follows from those of others.
    #[must_use]
    pub fn derivations(&self, path: &Path) -> Vec<Derivation> {
        let parts = self.identity_parts(path).into_iter().map(Derivation::Part);
        let many = path.hops.iter().any(|&hop| self.ends[hop].cardinality.is_many())
            || matches!(path.leaf, Leaf::Reference(end) if self.ends[end].cardinality.is_many());
        // Of several ids, it is not known which components are of one.
        let whole = self.identity_components(path).filter(|_| !many);
        parts.chain(whole.map(Derivation::Whole)).collect()
    }
}
