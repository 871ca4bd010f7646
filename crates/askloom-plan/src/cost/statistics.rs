//! What the model says about its data, and what has to be assumed where it says nothing.
//!
//! Nothing is assumed in silence: every number that the model does not give, and that does not follow from others, is
//! noted.

use super::Counting;
use askloom_model::{
    Assumption, AssumptionAbout, AttributeId, ClassId, Conceptual, EndId, Leaf, MAX_NESTING, Member, Path,
    TimeBucket, Type,
};
use std::cell::RefCell;

/// Instances of a class without `@count`.
const COUNT: f64 = 10_000.0;
/// Elements of a list without `@avg`.
const AVERAGE: f64 = 4.0;
/// Different values of a field without `@distinct`, as a share of its instances.
const DISTINCT_SHARE: f64 = 0.1;
/// Days between the first and the last value of a timestamp.
const DAYS: f64 = 365.0;
const MS_A_DAY: f64 = 86_400_000.0;

/// The statistics of a model.
#[derive(Debug)]
pub struct Statistics<'m> {
    pub(super) conceptual: &'m Conceptual,
    pub(super) counting: Counting,
    assumed: RefCell<Vec<Assumption>>,
}

impl<'m> Statistics<'m> {
    #[must_use]
    pub fn new(conceptual: &'m Conceptual) -> Self {
        Self::counted(conceptual, Counting::default())
    }

    /// As a cost model counts.
    #[must_use]
    pub fn counted(conceptual: &'m Conceptual, counting: Counting) -> Self {
        Self { conceptual, counting, assumed: RefCell::default() }
    }

    #[must_use]
    pub fn conceptual(&self) -> &'m Conceptual {
        self.conceptual
    }

    /// What was assumed so far, in the order in which it was needed.
    #[must_use]
    pub fn assumed(&self) -> Vec<Assumption> {
        self.assumed.borrow().clone()
    }

    /// Notes an assumption, once.
    pub fn assume(&self, about: AssumptionAbout, value: f64) -> f64 {
        let mut assumed = self.assumed.borrow_mut();
        if assumed.iter().all(|assumption| assumption.about != about) {
            assumed.push(Assumption { about, value });
        }
        value
    }

    /// Instances of a class, those of its subclasses included.
    #[must_use]
    pub fn count(&self, class: ClassId) -> f64 {
        self.known_count(class, 0).unwrap_or_else(|| self.assume(AssumptionAbout::Count(class), COUNT))
    }

    /// As the model says; else as its subclasses add up; else for a part by its owner, or as all of the parent.
    fn known_count(&self, class: ClassId, depth: usize) -> Option<f64> {
        let row = &self.conceptual.classes[class];
        if let Some(count) = row.statistics.count {
            return Some(count as f64);
        }
        if depth > MAX_NESTING {
            return None;
        }
        let counts: Vec<Option<f64>> =
            row.subclasses.iter().map(|&id| self.known_count(id, depth + 1)).collect();
        if !counts.is_empty() && counts.iter().all(Option::is_some) {
            return Some(counts.into_iter().flatten().sum());
        }
        if let Some(owner) = row.owner {
            let owners = self.known_count(self.conceptual.ends[owner].class, depth + 1)?;
            return Some(owners * self.declared_fan_out(owner));
        }
        None
    }

    /// How many a member leads to from one instance.
    #[must_use]
    pub fn fan_out(&self, member: Member) -> f64 {
        match member {
            Member::Attribute(id) => {
                let attribute = &self.conceptual.attributes[id];
                let bound = attribute.statistics.max.map(|max| max as f64);
                if attribute.list { self.average(member, attribute.statistics.avg, bound) } else { 1.0 }
            }
            Member::End(id) => self.end_fan_out(id),
        }
    }

    fn end_fan_out(&self, id: EndId) -> f64 {
        let end = &self.conceptual.ends[id];
        if !end.cardinality.is_many() {
            if let Some(nulls) = end.statistics.null_share() {
                return 1.0 - nulls;
            }
            if end.cardinality.min == 0 && end.stored {
                return self.assume(AssumptionAbout::Present(Member::End(id)), 1.0);
            }
            return 1.0;
        }
        match self.by_inverse(id) {
            Some(known) if end.statistics.avg.is_none() => known,
            Some(_) | None => self.declared_fan_out(id),
        }
    }

    /// By what the end says of itself alone.
    fn declared_fan_out(&self, id: EndId) -> f64 {
        let end = &self.conceptual.ends[id];
        if !end.cardinality.is_many() {
            return 1.0;
        }
        let cardinality = end.cardinality.max.map(f64::from);
        let bound = match (end.statistics.max.map(|max| max as f64), cardinality) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.average(Member::End(id), end.statistics.avg, bound)
    }

    fn average(&self, member: Member, known: Option<f64>, bound: Option<f64>) -> f64 {
        known.unwrap_or_else(|| {
            let default = bound.map_or(AVERAGE, |bound| AVERAGE.min(bound));
            self.assume(AssumptionAbout::Average(member), default)
        })
    }

    /// Links are as many from either side.
    fn by_inverse(&self, id: EndId) -> Option<f64> {
        let end = &self.conceptual.ends[id];
        let inverse = &self.conceptual.ends[end.inverse?];
        let here = self.known_count(end.class, 0)?;
        let there = self.known_count(inverse.class, 0)?;
        let each = if inverse.cardinality.is_many() { inverse.statistics.avg? } else { 1.0 };
        (here > 0.0).then(|| there * each / here)
    }

    /// The share of instances that have no value or link at a member, if the model says so.
    pub(super) fn null_share(&self, member: Member) -> Option<f64> {
        match member {
            Member::Attribute(id) => self.conceptual.attributes[id].statistics.null_share(),
            Member::End(id) => self.conceptual.ends[id].statistics.null_share(),
        }
    }

    /// How many refer to one instance by a stored end.
    #[must_use]
    pub fn referring(&self, end: EndId) -> f64 {
        let row = &self.conceptual.ends[end];
        match row.inverse {
            Some(inverse) if self.conceptual.ends[inverse].cardinality.is_many() => self.end_fan_out(inverse),
            Some(_) => 1.0,
            None => self.holders(row.class) * self.end_fan_out(end) / self.count(row.target).max(1.0),
        }
    }

    /// How many refer to one instance at most, if the model says so.
    #[must_use]
    pub fn most_referring(&self, end: EndId) -> Option<u64> {
        let row = &self.conceptual.ends[end];
        if row.unique {
            return Some(1);
        }
        self.most(Member::End(row.inverse?))
    }

    /// How many a member leads to at most, if the model says so.
    #[must_use]
    pub fn most(&self, member: Member) -> Option<u64> {
        match member {
            Member::Attribute(id) => {
                let attribute = &self.conceptual.attributes[id];
                if attribute.list { attribute.statistics.max } else { Some(1) }
            }
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                match (end.cardinality.max.map(u64::from), end.statistics.max) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                }
            }
        }
    }

    /// Instances of a class, or for a value object the places where it occurs.
    fn holders(&self, class: ClassId) -> f64 {
        if self.conceptual.classes[class].kind.is_entity() {
            return self.count(class);
        }
        let parts = self.conceptual.ends.iter().filter(|(_, end)| end.stored && end.target == class);
        let held: f64 = parts
            .filter(|(_, end)| self.conceptual.classes[end.class].kind.is_entity())
            .map(|(id, end)| self.count(end.class) * self.end_fan_out(id))
            .sum();
        if held > 0.0 { held } else { self.count(class) }
    }

    /// How many values a path has in one row: more than one through a list or a to-many hop.
    #[must_use]
    pub fn values(&self, path: &Path) -> f64 {
        let hops: f64 = path.hops.iter().map(|&hop| self.many(Member::End(hop))).product();
        let leaf = match path.leaf {
            Leaf::Attribute(id) => self.many(Member::Attribute(id)),
            Leaf::Reference(id) => self.many(Member::End(id)),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => 1.0,
        };
        hops * leaf
    }

    fn many(&self, member: Member) -> f64 {
        let many = match member {
            Member::Attribute(id) => self.conceptual.attributes[id].list,
            Member::End(id) => self.conceptual.ends[id].cardinality.is_many(),
        };
        if many { self.fan_out(member) } else { 1.0 }
    }

    /// How many different values a member has over all instances.
    #[must_use]
    pub fn distinct(&self, member: Member) -> f64 {
        let distinct = match member {
            Member::Attribute(id) => self.distinct_values(id),
            Member::End(id) => {
                let end = &self.conceptual.ends[id];
                let links = self.holders(end.class) * self.fan_out(member);
                end.statistics.distinct.map_or_else(|| self.count(end.target).min(links), |n| n as f64)
            }
        };
        distinct.max(1.0)
    }

    /// How many hours, days or months the values of a timestamp are in: as many as instances live for, if they expire.
    #[must_use]
    pub fn time_buckets(&self, id: AttributeId, unit: TimeBucket) -> f64 {
        let class = self.conceptual.attributes[id].class;
        let days = match self.conceptual.ttl(class) {
            Some(ttl) => ttl.ms as f64 / MS_A_DAY,
            None => self.assume(AssumptionAbout::Days(id), DAYS),
        };
        let buckets = match unit {
            TimeBucket::Hour => days * 24.0,
            TimeBucket::Day => days,
            TimeBucket::Month => days * 12.0 / DAYS,
        };
        buckets.max(1.0)
    }

    fn distinct_values(&self, id: AttributeId) -> f64 {
        let attribute = &self.conceptual.attributes[id];
        if let Some(distinct) = attribute.statistics.distinct {
            return distinct as f64;
        }
        let instances = self.holders(attribute.class);
        let alone = self.conceptual.classes[attribute.class].identifier.len() == 1;
        match &attribute.ty {
            _ if attribute.unique || (attribute.id && alone) => instances,
            Type::Enum(values) => values.len() as f64,
            Type::Bool => 2.0,
            _ if attribute.id => self.distinct_of_composite(id, instances),
            Type::Text
            | Type::Int
            | Type::Long
            | Type::Decimal
            | Type::Double
            | Type::Date
            | Type::Time
            | Type::Timestamp(_)
            | Type::Uuid
            | Type::Blob
            | Type::Geo
            | Type::Json => {
                let default = (instances * DISTINCT_SHARE).max(1.0);
                self.assume(AssumptionAbout::Distinct(Member::Attribute(id)), default)
            }
        }
    }

    /// A part of an identifier: what is left when the references in it have chosen.
    fn distinct_of_composite(&self, id: AttributeId, instances: f64) -> f64 {
        let identifier = &self.conceptual.classes[self.conceptual.attributes[id].class].identifier;
        let references = identifier.iter().filter_map(|member| match member {
            Member::End(end) => Some(self.count(self.conceptual.ends[*end].target).max(1.0)),
            Member::Attribute(_) => None,
        });
        let left = (instances / references.product::<f64>()).max(1.0);
        self.assume(AssumptionAbout::Distinct(Member::Attribute(id)), left)
    }
}
