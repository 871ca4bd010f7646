//! How many instances of each class there are, and how they are numbered. A hierarchy is numbered through from
//! its topmost class, each class before its subclasses, so that a class and all below it are one range.

use super::{Number, length};
use askloom_model::{ClassId, ClassKind, Conceptual, Id, MAX_NESTING, Member, RelationshipKind, Type};
use std::collections::BTreeSet;
use std::ops::Range;

/// Where the model says nothing.
const COUNT: u64 = 1_000;

/// Limits depend on counts and counts on limits; each round settles one step of a chain.
const ROUNDS: usize = 16;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Population {
    /// By the index of the class.
    classes: Vec<Share>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Share {
    start: u64,
    own: u64,
    /// With all subclasses.
    total: u64,
}

impl Population {
    pub(super) fn of(conceptual: &Conceptual, scale: f64) -> Self {
        let mut limits = vec![u64::MAX; conceptual.classes.len()];
        let mut population = Self::limited(conceptual, scale, &limits);
        for _ in 0..ROUNDS {
            let new = population.limits(conceptual);
            if new == limits {
                break;
            }
            limits = new.iter().zip(&limits).map(|(a, b)| *a.min(b)).collect();
            population = Self::limited(conceptual, scale, &limits);
        }
        population
    }

    /// Parts are as many as their owners hold, so owners are counted first: once for each level of nesting.
    fn limited(conceptual: &Conceptual, scale: f64, limits: &[u64]) -> Self {
        let mut owners = Self { classes: vec![Share::default(); conceptual.classes.len()] };
        for _ in 0..=MAX_NESTING {
            let counting = Counting { conceptual, scale, limits, owners: &owners };
            let mut population = owners.clone();
            for class in conceptual.classes.ids() {
                if conceptual.classes[class].kind.is_entity() && conceptual.classes[class].parent.is_none() {
                    population.number(&counting, class, counting.wanted(class, 0), 0);
                }
            }
            if population == owners {
                break;
            }
            owners = population;
        }
        owners
    }

    /// Numbers a class and those below it from `start`; what its subclasses do not take is its own.
    fn number(&mut self, counting: &Counting<'_>, class: ClassId, total: u64, start: u64) {
        let children = counting.children(class);
        let taken: Vec<u64> = share_out(children.iter().map(|&c| counting.wanted(c, 0)), total);
        let below: u64 = taken.iter().sum();
        let own = match counting.conceptual.classes[class].kind {
            ClassKind::AbstractEntity | ClassKind::Value => 0,
            ClassKind::Entity => total.saturating_sub(below),
        };
        if let Some(share) = self.classes.get_mut(class.index()) {
            *share = Share { start, own, total: own + below };
        }
        let mut next = start + own;
        for (child, count) in children.into_iter().zip(taken) {
            self.number(counting, child, count, next);
            next += self.total(child);
        }
    }

    fn share(&self, class: ClassId) -> Share {
        self.classes.get(class.index()).copied().unwrap_or_default()
    }

    pub(super) fn total(&self, class: ClassId) -> u64 {
        self.share(class).total
    }

    pub(super) fn start(&self, class: ClassId) -> u64 {
        self.share(class).start
    }

    pub(super) fn own_range(&self, class: ClassId) -> Range<u64> {
        let share = self.share(class);
        share.start..share.start + share.own
    }

    /// The class of an instance of a hierarchy.
    pub(super) fn class_at(&self, conceptual: &Conceptual, number: Number) -> Option<ClassId> {
        let of_hierarchy = conceptual.classes.ids().filter(|&class| conceptual.is_kind_of(class, number.top));
        of_hierarchy.into_iter().find(|&class| self.own_range(class).contains(&number.index))
    }

    /// Classes whose instances are roots, referred-to ones first where that is possible.
    pub(super) fn roots(&self, conceptual: &Conceptual) -> Vec<ClassId> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        for class in conceptual.classes.ids() {
            visit(conceptual, class, &mut seen, &mut order, 0);
        }
        order.retain(|&class| is_root(conceptual, class));
        order
    }

    /// The most instances that ids, unique members and exclusive references leave room for.
    fn limits(&self, conceptual: &Conceptual) -> Vec<u64> {
        conceptual.classes.ids().map(|class| self.limit(conceptual, class)).collect()
    }

    fn limit(&self, conceptual: &Conceptual, class: ClassId) -> u64 {
        let row = &conceptual.classes[class];
        let ids = row.identifier.iter().map(|&member| match member {
            Member::Attribute(id) => capacity(&conceptual.attributes[id].ty),
            Member::End(id) => self.total(conceptual.ends[id].target),
        });
        let ids = if row.surrogate { u64::MAX } else { ids.fold(1, u64::saturating_mul) };
        let members = row.members.iter().map(|&member| match member {
            Member::Attribute(id) => {
                let attribute = &conceptual.attributes[id];
                let needed = attribute.unique && !attribute.optional;
                if needed { capacity(&attribute.ty) } else { u64::MAX }
            }
            Member::End(id) => {
                let end = &conceptual.ends[id];
                let reference = end.kind != RelationshipKind::Composition;
                let needed = end.stored && reference && !end.cardinality.is_many() && end.cardinality.min > 0;
                match length::most_at_target(conceptual, id) {
                    Some(most) if needed => self.total(end.target).saturating_mul(most),
                    Some(_) | None => u64::MAX,
                }
            }
        });
        if !row.kind.is_entity() {
            return u64::MAX;
        }
        members.fold(ids, u64::min)
    }
}

/// Whether instances of the class are roots of aggregates.
pub(super) fn is_root(conceptual: &Conceptual, class: ClassId) -> bool {
    let part = conceptual.lineage(class).iter().any(|&class| conceptual.classes[class].owner.is_some());
    conceptual.classes[class].kind == ClassKind::Entity && !part
}

/// Depth first along stored references.
fn visit(
    conceptual: &Conceptual,
    class: ClassId,
    seen: &mut BTreeSet<ClassId>,
    order: &mut Vec<ClassId>,
    depth: usize,
) {
    if !seen.insert(class) || depth > MAX_NESTING {
        return;
    }
    for member in conceptual.all_members(class) {
        if let Member::End(id) = member
            && conceptual.ends[id].stored
        {
            visit(conceptual, conceptual.ends[id].target, seen, order, depth + 1);
        }
    }
    order.push(class);
}

/// Gives each what it wants until nothing is left.
fn share_out(wanted: impl Iterator<Item = u64>, mut left: u64) -> Vec<u64> {
    let share = |wanted: u64| {
        let given = wanted.min(left);
        left -= given;
        given
    };
    wanted.map(share).collect()
}

struct Counting<'a> {
    conceptual: &'a Conceptual,
    scale: f64,
    limits: &'a [u64],
    /// As far as they are known.
    owners: &'a Population,
}

impl Counting<'_> {
    /// Subclasses; first those that are parts by themselves, as their number is not to be shared.
    fn children(&self, class: ClassId) -> Vec<ClassId> {
        let classes = self.conceptual.classes.iter().filter(|(_, row)| row.parent == Some(class));
        let mut children: Vec<ClassId> = classes.map(|(id, _)| id).collect();
        children.sort_by_key(|&child| self.conceptual.classes[child].owner.is_none());
        children
    }

    /// How many instances of a class and its subclasses there should be.
    fn wanted(&self, class: ClassId, depth: usize) -> u64 {
        if depth > MAX_NESTING {
            return 0;
        }
        let row = &self.conceptual.classes[class];
        let limit = self.limits.get(class.index()).copied().unwrap_or(u64::MAX);
        let wanted = match (row.owner, row.statistics.count, row.parent) {
            (Some(_), _, _) => return self.parts(class),
            (None, Some(count), _) => self.scaled(count),
            (None, None, Some(parent)) if self.has_figure(parent) => {
                let shares = self.children(parent).len() as u64 + 1;
                self.wanted(parent, depth + 1) / shares
            }
            (None, None, _) if row.kind == ClassKind::AbstractEntity => {
                self.children(class).iter().map(|&child| self.wanted(child, depth + 1)).sum()
            }
            (None, None, _) => self.scaled(COUNT),
        };
        // A count that is smaller than what subclasses say leaves none for the class itself.
        let below = self.children(class).into_iter().map(|child| self.certain(child));
        wanted.max(below.sum()).min(limit)
    }

    /// As many as the lists of their owners hold, no more and no fewer.
    fn parts(&self, class: ClassId) -> u64 {
        let Some(end) = self.conceptual.classes[class].owner else { return 0 };
        let owners = self.owners.total(self.conceptual.ends[end].class);
        length::before(length::average(self.conceptual, end), owners)
    }

    /// What a subclass has whatever its parent says.
    fn certain(&self, class: ClassId) -> u64 {
        let row = &self.conceptual.classes[class];
        match (row.owner, row.statistics.count) {
            (Some(_), _) => self.parts(class),
            (None, Some(count)) => self.scaled(count),
            (None, None) => 0,
        }
    }

    /// Whether a subclass can take its share from the class.
    fn has_figure(&self, class: ClassId) -> bool {
        let row = &self.conceptual.classes[class];
        row.statistics.count.is_some() || row.owner.is_some() || row.kind == ClassKind::Entity
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of a model is far below 2^53, and a scale is not negative"
    )]
    fn scaled(&self, count: u64) -> u64 {
        match count {
            0 => 0,
            count => ((count as f64 * self.scale).round() as u64).max(1),
        }
    }
}

/// How many different values the generator has for ids and unique values of a type.
pub(super) fn capacity(ty: &Type) -> u64 {
    match ty {
        Type::Bool => 2,
        Type::Enum(values) => values.len() as u64,
        Type::Int => i32::MAX as u64,
        // The days from 1970 to 9999, the milliseconds of a day.
        Type::Date => 2_932_896,
        Type::Time => 86_400_000,
        Type::Text
        | Type::Long
        | Type::Decimal
        | Type::Double
        | Type::Timestamp(_)
        | Type::Uuid
        | Type::Blob
        | Type::Geo
        | Type::Json => 1 << 52,
    }
}
