//! What is stored: classes, their attributes, and the relationships between them.

use crate::{AttributeId, ClassId, Constant, EndId, Integrity, ParameterType, Span, Table, Type};
use serde::Serialize;
use std::collections::HashMap;

/// How deep classes may extend or contain each other: deeper than anybody means, and shallow enough that a
/// walk upwards costs nothing.
pub const MAX_NESTING: usize = 256;

/// All classes of a model. Attributes and relationship ends live in tables of their own, so that a path
/// or a statistic can name one without naming its class.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Conceptual {
    pub classes: Table<ClassId, Class>,
    pub attributes: Table<AttributeId, Attribute>,
    pub ends: Table<EndId, End>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Class {
    pub name: String,
    pub kind: ClassKind,
    pub parent: Option<ClassId>,
    /// Own members in the order of the text; inherited ones are the parent's.
    pub members: Vec<Member>,
    /// The members that identify an instance, inherited ones included. Empty for a value object, and for
    /// an entity with a surrogate.
    pub identifier: Vec<Member>,
    /// True for an entity that declares no identifier: it gets one that Askloom makes.
    pub surrogate: bool,
    /// For an entity that is a part: the end of its owner that holds it.
    pub owner: Option<EndId>,
    /// Those that extend it directly. Follows from their `parent`: see [`Conceptual::connect`].
    #[serde(skip)]
    pub subclasses: Vec<ClassId>,
    /// The stored ends that hold it as a part. Follows from the ends, too.
    #[serde(skip)]
    pub held_by: Vec<EndId>,
    pub statistics: ClassStatistics,
    /// `@ttl`
    pub ttl: Option<Ttl>,
    /// `immutable entity`, or a subclass of one: instances are created and expire, and never change otherwise.
    pub immutable: bool,
    /// `@store`: where instances live when a model spans several stores.
    pub store: Option<String>,
    /// Which writes of its instances exist.
    pub writes: Writes,
    /// `@highlyUpdated`: Mortadelo's mark for what changes often.
    pub highly_updated: bool,
    #[serde(skip)]
    pub span: Span,
}

/// Which writes of a class exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Writes {
    /// Those that the model declares.
    Declared,
    /// `writes any`, `@writes(any)`: besides, a program may store and delete instances and change their links.
    Any,
}

/// How long an instance lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ttl {
    /// In milliseconds.
    pub ms: u64,
    /// The timestamp or date from which it counts; `None`: from the creation of the instance.
    pub from: Option<AttributeId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassKind {
    Entity,
    AbstractEntity,
    Value,
}

impl ClassKind {
    #[must_use]
    pub fn is_entity(self) -> bool {
        match self {
            Self::Entity | Self::AbstractEntity => true,
            Self::Value => false,
        }
    }
}

/// A member of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Member {
    Attribute(AttributeId),
    End(EndId),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attribute {
    pub class: ClassId,
    pub name: String,
    pub ty: Type,
    pub optional: bool,
    pub list: bool,
    pub id: bool,
    pub unique: bool,
    pub immutable: bool,
    pub default: Option<Default>,
    pub statistics: MemberStatistics,
    pub highly_updated: bool,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Default {
    Constant(Constant),
    /// `now()`
    Now,
    /// `uuid()`, version 7
    NewUuid,
}

/// One end of a relationship: a member of `class` that leads to instances of `target`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct End {
    pub class: ClassId,
    pub name: String,
    pub target: ClassId,
    pub kind: RelationshipKind,
    pub cardinality: Cardinality,
    /// The other end, if the relationship has one.
    pub inverse: Option<EndId>,
    /// Links live at exactly one end. A derived end is computed from its inverse, and is not part of the
    /// aggregate.
    pub stored: bool,
    /// False for an end that exists only because the other one says `inverse`.
    pub declared: bool,
    pub id: bool,
    pub unique: bool,
    pub immutable: bool,
    /// Whether the instances that it names exist, and who sees to it.
    pub integrity: Integrity,
    /// `@tree` on a self-reference.
    pub tree: bool,
    pub statistics: MemberStatistics,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
    /// The whole declaration that brought it about.
    #[serde(skip)]
    pub declaration: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RelationshipKind {
    /// `ref`
    Association,
    /// `has`
    Aggregation,
    /// `part`
    Composition,
}

impl RelationshipKind {
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Association => "ref",
            Self::Aggregation => "has",
            Self::Composition => "part",
        }
    }
}

/// A place in the aggregates of a root class: the parts of parts that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Occurrence {
    pub root: ClassId,
    pub hops: Vec<EndId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cardinality {
    pub min: u32,
    /// `None` is `*`.
    pub max: Option<u32>,
}

impl Cardinality {
    pub const ONE: Self = Self { min: 1, max: Some(1) };
    pub const OPTIONAL: Self = Self { min: 0, max: Some(1) };
    pub const MANY: Self = Self { min: 0, max: None };

    #[must_use]
    pub fn is_many(self) -> bool {
        self.max != Some(1)
    }
}

#[derive(Debug, Clone, PartialEq, std::default::Default, Serialize)]
pub struct ClassStatistics {
    pub count: Option<u64>,
    /// Zipf exponent of how often an instance is asked for.
    pub skew: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, std::default::Default, Serialize)]
pub struct MemberStatistics {
    pub avg: Option<f64>,
    pub max: Option<u64>,
    pub distinct: Option<u64>,
    pub size_bytes: Option<u64>,
    pub skew: Option<f64>,
    /// Shares of single values, each between 0 and 1.
    pub frequencies: Vec<(Constant, f64)>,
}

impl MemberStatistics {
    /// The share of instances without a value or a link, if `@freq(null …)` says so.
    #[must_use]
    pub fn null_share(&self) -> Option<f64> {
        self.frequencies.iter().find(|(value, _)| *value == Constant::Null).map(|(_, share)| *share)
    }
}

impl Conceptual {
    #[must_use]
    pub fn member_name(&self, member: Member) -> &str {
        match member {
            Member::Attribute(id) => &self.attributes[id].name,
            Member::End(id) => &self.ends[id].name,
        }
    }

    #[must_use]
    pub fn member_span(&self, member: Member) -> Span {
        match member {
            Member::Attribute(id) => self.attributes[id].span,
            Member::End(id) => self.ends[id].span,
        }
    }

    /// The class and its ancestors, nearest first.
    #[must_use]
    pub fn lineage(&self, class: ClassId) -> Vec<ClassId> {
        let mut lineage = vec![class];
        let mut current = class;
        while let Some(parent) = self.classes[current].parent.filter(|_| lineage.len() <= MAX_NESTING) {
            lineage.push(parent);
            current = parent;
        }
        lineage
    }

    /// How long instances of a class live: as long as those of its parent, unless it says so itself.
    #[must_use]
    pub fn ttl(&self, class: ClassId) -> Option<Ttl> {
        self.lineage(class).into_iter().find_map(|class| self.classes[class].ttl)
    }

    /// Whether instances of a class never change once they are created: their aggregates are of an immutable entity.
    /// Parts are as immutable as their owner. False for a value object, which may occur in several aggregates.
    #[must_use]
    pub fn is_immutable(&self, class: ClassId) -> bool {
        self.aggregate_root(class).is_some_and(|root| self.classes[root].immutable)
    }

    /// Every member an instance of the class has, ancestors' first.
    pub fn all_members(&self, class: ClassId) -> impl Iterator<Item = Member> + '_ {
        self.lineage(class).into_iter().rev().flat_map(|c| self.classes[c].members.iter().copied())
    }

    /// The root of the aggregate that holds instances of the class: owners, then ancestors, upwards.
    /// `None` for a value object (it has an owner in each place where it occurs), and in a circle.
    #[must_use]
    pub fn aggregate_root(&self, class: ClassId) -> Option<ClassId> {
        let mut current = class;
        for _ in 0..=MAX_NESTING {
            let lineage = self.lineage(current);
            let owner = lineage.iter().find_map(|&c| self.classes[c].owner);
            let top = lineage.last().copied()?;
            match owner {
                Some(end) => current = self.ends[end].class,
                None => return self.classes[top].kind.is_entity().then_some(top),
            }
        }
        None
    }

    /// Where instances of a class can be: in which aggregates, and by which parts of parts. A root is in its own.
    #[must_use]
    pub fn occurrences(&self, class: ClassId) -> Vec<Occurrence> {
        let mut found = Vec::new();
        self.collect_occurrences(class, &mut Vec::new(), &mut found);
        found
    }

    fn collect_occurrences(&self, class: ClassId, below: &mut Vec<EndId>, found: &mut Vec<Occurrence>) {
        if below.len() > MAX_NESTING {
            return;
        }
        let lineage = self.lineage(class);
        let owned = lineage.iter().any(|&c| self.classes[c].owner.is_some());
        if let (true, false, Some(&root)) = (self.classes[class].kind.is_entity(), owned, lineage.last()) {
            let occurrence = Occurrence { root, hops: below.iter().rev().copied().collect() };
            if !found.contains(&occurrence) {
                found.push(occurrence);
            }
        }
        let mut holding: Vec<EndId> = lineage
            .into_iter()
            .chain(self.descendants(class))
            .flat_map(|kind| self.classes[kind].held_by.iter().copied())
            .collect();
        holding.sort_unstable();
        for id in holding {
            if !below.contains(&id) {
                below.push(id);
                self.collect_occurrences(self.ends[id].class, below, found);
                below.pop();
            }
        }
    }

    /// Notes at each class who extends and who holds it, once all classes and ends are there: plans ask for it all the
    /// time, and going through a large model each time would be most of their work.
    pub fn connect(&mut self) {
        for class in self.classes.ids() {
            if let Some(parent) = self.classes[class].parent {
                self.classes[parent].subclasses.push(class);
            }
        }
        for (id, end) in self.ends.iter() {
            if end.stored && end.kind == RelationshipKind::Composition {
                self.classes[end.target].held_by.push(id);
            }
        }
    }

    /// The classes that extend one, directly or not; not itself.
    #[must_use]
    pub fn descendants(&self, class: ClassId) -> Vec<ClassId> {
        let mut found = self.classes[class].subclasses.clone();
        let mut next = 0;
        while let Some(&sub) = found.get(next).filter(|_| found.len() <= self.classes.len()) {
            found.extend(&self.classes[sub].subclasses);
            next += 1;
        }
        found
    }

    /// The class, and the classes of everything that can be inside its instances.
    #[must_use]
    pub fn inside(&self, class: ClassId) -> Vec<ClassId> {
        let mut found = vec![class];
        let mut next = 0;
        while let Some(&class) = found.get(next) {
            next += 1;
            let parts = self.all_members(class).filter_map(|member| match member {
                Member::End(end) => Some(&self.ends[end]),
                Member::Attribute(_) => None,
            });
            for end in parts.filter(|end| end.stored && end.kind == RelationshipKind::Composition) {
                for part in std::iter::once(end.target).chain(self.descendants(end.target)) {
                    if !found.contains(&part) {
                        found.push(part);
                    }
                }
            }
        }
        found
    }

    /// Whether instances of `class` are instances of `ancestor` too.
    #[must_use]
    pub fn is_kind_of(&self, class: ClassId, ancestor: ClassId) -> bool {
        class == ancestor || (self.classes[class].parent.is_some() && self.lineage(class).contains(&ancestor))
    }

    /// The end at which the links of a relationship live: this one, or its inverse.
    #[must_use]
    pub fn stored_end(&self, end: EndId) -> EndId {
        let row = &self.ends[end];
        if row.stored { end } else { row.inverse.unwrap_or(end) }
    }

    /// Every class by its direct subclasses.
    #[must_use]
    pub fn subclasses(&self) -> HashMap<ClassId, Vec<ClassId>> {
        let mut subclasses: HashMap<ClassId, Vec<ClassId>> = HashMap::new();
        for (id, class) in self.classes.iter() {
            if let Some(parent) = class.parent {
                subclasses.entry(parent).or_default().push(id);
            }
        }
        subclasses
    }

    /// What INSERT can be given for a member: the type, and whether it may be left out. Lists and sets may be, as they are
    /// empty then. Nothing for derived ends.
    #[must_use]
    pub fn insertable(&self, member: Member) -> Option<(ParameterType, bool)> {
        let (ty, optional) = match member {
            Member::Attribute(id) => {
                let attribute = &self.attributes[id];
                let optional = attribute.optional || attribute.default.is_some();
                (ParameterType::Basic(attribute.ty.clone()), optional)
            }
            Member::End(id) if !self.ends[id].stored => return None,
            Member::End(id) => {
                let end = &self.ends[id];
                let ty = match end.kind {
                    RelationshipKind::Composition => ParameterType::Whole(end.target),
                    RelationshipKind::Association | RelationshipKind::Aggregation => {
                        ParameterType::Identity(end.target)
                    }
                };
                (ty, end.cardinality == Cardinality::OPTIONAL)
            }
        };
        Some(match self.is_many(member) {
            true => (ParameterType::List(Box::new(ty)), true),
            false => (ty, optional),
        })
    }

    /// Whether a member holds any number of values: a list, or a set of links.
    #[must_use]
    pub fn is_many(&self, member: Member) -> bool {
        match member {
            Member::Attribute(id) => self.attributes[id].list,
            Member::End(id) => self.ends[id].cardinality.is_many(),
        }
    }

    /// `@max` of a list or a set.
    #[must_use]
    pub fn max_length(&self, member: Member) -> Option<u64> {
        let statistics = match member {
            Member::Attribute(id) => &self.attributes[id].statistics,
            Member::End(id) => &self.ends[id].statistics,
        };
        statistics.max.filter(|_| self.is_many(member))
    }
}
