//! What a random model declares, and what its tables and columns are called.

use super::scalar::Scalar;
use serde_json::Value as Json;

/// Every class has a table of its name. Names of members are unique in a model, so that a refusal names one member.
#[derive(Debug)]
pub(super) struct Blueprint {
    pub(super) classes: Vec<Class>,
}

#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) kind: ClassKind,
    pub(super) key: Vec<KeyMember>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) lists: Vec<ValueList>,
    pub(super) parts: Vec<Part>,
    pub(super) references: Vec<Reference>,
    /// Whether a class `S…` extends it. Members marked `sub` belong to that one.
    pub(super) subclass: bool,
    /// The class and the part that holds instances of this one.
    pub(super) owner: Option<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassKind {
    Root,
    ImmutableRoot,
    PartEntity,
    Value,
}

#[derive(Debug)]
pub(super) enum KeyMember {
    Plain(String, Scalar),
    /// The number of a reference.
    Reference(usize),
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) scalar: Scalar,
    pub(super) optional: bool,
    pub(super) unique: bool,
    pub(super) immutable: bool,
    pub(super) preset: Option<Preset>,
    pub(super) sub: bool,
}

/// The default of an attribute.
#[derive(Debug)]
pub(super) enum Preset {
    Constant(Json),
    Now,
    NewUuid,
}

#[derive(Debug)]
pub(super) struct ValueList {
    pub(super) name: String,
    pub(super) scalar: Scalar,
    pub(super) max: Option<u64>,
    pub(super) sub: bool,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) class: usize,
    pub(super) size: Size,
}

/// How many instances an end or a part leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Required,
    Optional,
    Many {
        /// `[0..n]`
        bound: Option<u64>,
        /// `@max`
        max: Option<u64>,
    },
}

impl Size {
    pub(super) fn is_many(self) -> bool {
        matches!(self, Self::Many { .. })
    }
}

/// A reference at its stored end.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) target: Extent,
    pub(super) size: Size,
    pub(super) integrity: Integrity,
    pub(super) unique: bool,
    pub(super) immutable: bool,
    pub(super) id: bool,
    pub(super) inverse: Inverse,
    pub(super) sub: bool,
    /// The text declares the relationship at the target, whose end is to-many.
    pub(super) told_by_target: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integrity {
    Trusted,
    Loose,
    Refuse,
    Cascade,
    Clear,
}

impl Integrity {
    pub(super) fn is_checked(self) -> bool {
        matches!(self, Self::Refuse | Self::Cascade | Self::Clear)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inverse {
    None,
    /// The other end is this one, as of friends; it is to-many.
    Symmetric,
    Derived {
        name: String,
        size: Size,
    },
}

/// Where the links of a reference are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Columns,
    Pairs,
    SymmetricPairs,
}

impl Reference {
    pub(super) fn storage(&self) -> Storage {
        match (&self.inverse, self.size.is_many()) {
            (Inverse::Symmetric, _) => Storage::SymmetricPairs,
            (Inverse::None | Inverse::Derived { .. }, true) => Storage::Pairs,
            (Inverse::None | Inverse::Derived { .. }, false) => Storage::Columns,
        }
    }

    /// Whether the target has to have a link, which another instance stores.
    pub(super) fn is_required_at_target(&self) -> bool {
        matches!(self.inverse, Inverse::Derived { size: Size::Required, .. })
    }

    /// Whether the target can have only one link.
    pub(super) fn is_exclusive(&self) -> bool {
        match &self.inverse {
            Inverse::None | Inverse::Symmetric => false,
            Inverse::Derived { size, .. } => !size.is_many(),
        }
    }
}

/// A class, or the subclass that extends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) class: usize,
    pub(super) sub: bool,
}

impl Blueprint {
    pub(super) fn extent_name(&self, extent: Extent) -> String {
        let name = &self.classes[extent.class].name;
        if extent.sub { format!("S{name}") } else { name.clone() }
    }

    /// The class and its subclass.
    pub(super) fn extents(&self) -> Vec<Extent> {
        let mut extents = Vec::new();
        for (class, row) in self.classes.iter().enumerate() {
            extents.push(Extent { class, sub: false });
            if row.subclass {
                extents.push(Extent { class, sub: true });
            }
        }
        extents
    }

    /// The columns of the identifier of a class, references flattened, with a prefix.
    pub(super) fn key_columns(&self, class: usize, prefix: &str) -> Vec<String> {
        let mut columns = Vec::new();
        for member in &self.classes[class].key {
            match member {
                KeyMember::Plain(name, _) => columns.push(format!("{prefix}{name}")),
                KeyMember::Reference(reference) => {
                    columns.extend(self.reference_columns(class, *reference, prefix));
                }
            }
        }
        columns
    }

    pub(super) fn key_scalars(&self, class: usize) -> Vec<Scalar> {
        let row = &self.classes[class];
        let scalars = row.key.iter().flat_map(|member| match member {
            KeyMember::Plain(_, scalar) => vec![*scalar],
            KeyMember::Reference(reference) => self.key_scalars(row.references[*reference].target.class),
        });
        scalars.collect()
    }

    /// The columns of a to-one reference.
    pub(super) fn reference_columns(&self, class: usize, reference: usize, prefix: &str) -> Vec<String> {
        let row = &self.classes[class].references[reference];
        self.key_columns(row.target.class, &format!("{prefix}{}__", row.name))
    }

    /// `left.k = right.k AND …`
    pub(super) fn same(left: &[String], right: &[String]) -> String {
        let pairs: Vec<String> = left.iter().zip(right).map(|(l, r)| format!("{l} = {r}")).collect();
        format!("({})", pairs.join(" AND "))
    }

    /// The class at the top of the aggregates that hold a class.
    pub(super) fn root_of(&self, class: usize) -> usize {
        let mut class = class;
        while let Some((owner, _)) = self.classes[class].owner {
            class = owner;
        }
        class
    }

    pub(super) fn is_immutable(&self, class: usize) -> bool {
        self.classes[self.root_of(class)].kind == ClassKind::ImmutableRoot
    }

    /// Every reference: the class that stores it and its number.
    pub(super) fn references(&self) -> impl Iterator<Item = (usize, usize, &Reference)> {
        self.classes.iter().enumerate().flat_map(|(class, row)| {
            row.references.iter().enumerate().map(move |(number, reference)| (class, number, reference))
        })
    }

    /// The references whose inverse a class has, with its name and size.
    pub(super) fn derived(&self, extent: Extent) -> Vec<(usize, usize, &str, Size)> {
        let ends = self.references().filter_map(|(class, number, reference)| match &reference.inverse {
            Inverse::Derived { name, size }
                if reference.target.class == extent.class && (extent.sub || !reference.target.sub) =>
            {
                Some((class, number, name.as_str(), *size))
            }
            Inverse::Derived { .. } | Inverse::None | Inverse::Symmetric => None,
        });
        ends.collect()
    }
}

impl Class {
    pub(super) fn is_entity(&self) -> bool {
        self.kind != ClassKind::Value
    }
}

impl KeyMember {
    pub(super) fn plain(&self) -> Option<(&str, Scalar)> {
        match self {
            Self::Plain(name, scalar) => Some((name, *scalar)),
            Self::Reference(_) => None,
        }
    }
}
