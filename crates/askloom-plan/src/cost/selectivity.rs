//! Which share of rows a condition keeps.
//!
//! Equality goes by the number of different values, by `@freq`, and by `@skew` of the data and of the questions. Where
//! nothing can be known, the shares are those of System R (Selinger and others, "Access Path Selection in a Relational
//! Database Management System", 1979), noted as assumed.

use super::{StatedShares, Statistics, Values};
use askloom_model::{
    AssumptionAbout, AttributeId, Comparison, Condition, Constant, InSet, Leaf, Member, Operand, Path,
    Position, PositionId, ShareOf, Table, Type,
};

/// The share of a `<` whose bound is not known.
const COMPARISON: f64 = 1.0 / 3.0;
const BETWEEN: f64 = 1.0 / 4.0;
const STARTS_WITH: f64 = 1.0 / 10.0;
/// Words in a text, subtrees and neighbourhoods: as a prefix.
const SEARCHED: f64 = 1.0 / 10.0;
/// Optional values that are null.
const NULL: f64 = 0.1;
/// Values in a list that a parameter brings.
const LIST: f64 = 10.0;

/// Who asks: the positions that paths start from, and how unevenly parameters are chosen.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'q> {
    pub positions: &'q Table<PositionId, Position>,
    /// Zipf exponent of how often a parameter's value is asked for.
    pub skew: f64,
    /// What the query itself says about its comparisons.
    pub stated: Option<&'q StatedShares>,
}

/// The share of rows for which the condition holds, terms taken as independent.
#[must_use]
pub fn selectivity(statistics: &Statistics<'_>, asked: Asked<'_>, condition: &Condition) -> f64 {
    let share = Share { statistics, asked };
    share.of(condition).clamp(0.0, 1.0)
}

/// The share of rows for which all of these hold.
#[must_use]
pub fn selectivity_of_all(statistics: &Statistics<'_>, asked: Asked<'_>, conditions: &[&Condition]) -> f64 {
    let share = Share { statistics, asked };
    share.of_all(conditions).clamp(0.0, 1.0)
}

/// How many values a set has.
pub fn list_length(statistics: &Statistics<'_>, set: &InSet) -> f64 {
    match set {
        InSet::List(items) => items.len() as f64,
        InSet::Parameter(_) => statistics.assume(AssumptionAbout::ListLength, LIST),
    }
}

/// Which end of a range a bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Low,
    High,
}

struct Share<'s> {
    statistics: &'s Statistics<'s>,
    asked: Asked<'s>,
}

impl Share<'_> {
    fn of(&self, condition: &Condition) -> f64 {
        if let Some(share) = self.asked.stated.and_then(|stated| stated.share(condition)) {
            return share;
        }
        match condition {
            Condition::And(terms) => self.of_all(&terms.iter().collect::<Vec<_>>()),
            Condition::Or(terms) => 1.0 - terms.iter().map(|term| 1.0 - self.of(term)).product::<f64>(),
            Condition::Not(inner) => 1.0 - self.of(inner),
            Condition::Negated(inner) => self.negated(inner),
            Condition::Compare { left, op, right } => self.compared(left, *op, right),
            Condition::Between { value, .. } => self.in_range(value, ShareOf::Between, BETWEEN),
            Condition::In { value, set } => self.listed(value, set),
            Condition::StartsWith { value, .. } => self.in_range(value, ShareOf::StartsWith, STARTS_WITH),
            Condition::IsNull { value } => self.null(value),
            Condition::Matches { .. } => self.assume(ShareOf::Matches, SEARCHED),
            Condition::Under { .. } => self.assume(ShareOf::Under, SEARCHED),
            Condition::Above { .. } => self.assume(ShareOf::Above, SEARCHED),
            Condition::Within { .. } => self.assume(ShareOf::Within, SEARCHED),
            Condition::InBox { .. } => self.assume(ShareOf::InBox, SEARCHED),
        }
    }

    /// Terms are taken as independent, but for the two bounds of a range.
    fn of_all(&self, terms: &[&Condition]) -> f64 {
        let mut left: Vec<&Condition> = terms.to_vec();
        let mut share = 1.0;
        while let Some(term) = left.pop() {
            let other = self.free_bound(term).and_then(|(path, side)| {
                left.iter().position(|other| {
                    let bound = self.free_bound(other);
                    bound.is_some_and(|(also, opposite)| also == path && opposite != side)
                })
            });
            share *= match (other, self.free_bound(term)) {
                (Some(other), Some((path, _))) => {
                    left.swap_remove(other);
                    self.some(path, self.there(path) * self.range(ShareOf::Between, BETWEEN))
                }
                (Some(_) | None, _) => self.of(term),
            };
        }
        share
    }

    /// The path that a condition is a bound of, and of which side, if the query does not say how many rows that keeps.
    fn free_bound<'c>(&self, condition: &'c Condition) -> Option<(&'c Path, Side)> {
        if self.asked.stated.is_some_and(|stated| stated.share(condition).is_some()) {
            return None;
        }
        let Condition::Compare { left, op, right } = condition else { return None };
        let (path, op) = match (left, right) {
            (Operand::Path(path), Operand::Constant(_) | Operand::Parameter(_)) => (path, *op),
            (Operand::Constant(_) | Operand::Parameter(_), Operand::Path(path)) => (path, op.turned()),
            (Operand::Path(_) | Operand::Constant(_) | Operand::Parameter(_), _) => return None,
        };
        match op {
            Comparison::Less | Comparison::LessOrEqual => Some((path, Side::High)),
            Comparison::Greater | Comparison::GreaterOrEqual => Some((path, Side::Low)),
            Comparison::Equal | Comparison::NotEqual => None,
        }
    }

    /// The share of instances that have a value at the end of a path, as far as the model says so.
    fn there(&self, path: &Path) -> f64 {
        let leaf = match path.leaf {
            Leaf::Attribute(id) => Some(Member::Attribute(id)),
            Leaf::Reference(id) => Some(Member::End(id)),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        1.0 - leaf.and_then(|leaf| self.statistics.null_share(leaf)).unwrap_or(0.0)
    }

    /// A range of the values of an operand: null is in none.
    fn in_range(&self, value: &Operand, of: ShareOf, share: f64) -> f64 {
        let share = self.range(of, share);
        match value {
            Operand::Path(path) => self.some(path, self.there(path) * share),
            Operand::Constant(_) | Operand::Parameter(_) => share,
        }
    }

    /// Some element makes a predicate false: by the share of single values that do.
    fn negated(&self, predicate: &Condition) -> f64 {
        let share = 1.0 - self.of_element(predicate);
        predicate.paths().into_iter().fold(share, |share, path| self.some(path, share))
    }

    /// The share of single values that make a predicate true.
    fn of_element(&self, predicate: &Condition) -> f64 {
        match predicate {
            Condition::In { value: Operand::Path(path), set } => self.listed_value(path, set),
            Condition::Between { .. } => self.range(ShareOf::Between, BETWEEN),
            Condition::StartsWith { .. } => self.range(ShareOf::StartsWith, STARTS_WITH),
            Condition::And(_)
            | Condition::Or(_)
            | Condition::Not(_)
            | Condition::Negated(_)
            | Condition::Compare { .. }
            | Condition::In { .. }
            | Condition::IsNull { .. }
            | Condition::Matches { .. }
            | Condition::Under { .. }
            | Condition::Above { .. }
            | Condition::Within { .. }
            | Condition::InBox { .. } => self.of(predicate),
        }
    }

    fn assume(&self, of: ShareOf, share: f64) -> f64 {
        self.statistics.assume(AssumptionAbout::Share(of), share)
    }

    /// A range of values, of which the cost model may know its own share.
    fn range(&self, of: ShareOf, share: f64) -> f64 {
        self.assume(of, self.statistics.counting.range.unwrap_or(share))
    }

    fn compared(&self, left: &Operand, op: Comparison, right: &Operand) -> f64 {
        let (path, other) = match (left, right) {
            (Operand::Path(path), other) | (other, Operand::Path(path)) => (path, other),
            (Operand::Constant(_) | Operand::Parameter(_), Operand::Constant(_) | Operand::Parameter(_)) => {
                return 1.0;
            }
        };
        match op {
            Comparison::Equal => self.some(path, self.equal(path, other)),
            Comparison::NotEqual => self.some(path, (self.there(path) - self.equal(path, other)).max(0.0)),
            Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
                self.some(path, self.there(path) * self.range(ShareOf::Comparison, COMPARISON))
            }
        }
    }

    /// A path with several values holds if some value does.
    fn some(&self, path: &Path, share: f64) -> f64 {
        let values = self.statistics.values(path);
        if (values - 1.0).abs() < f64::EPSILON { share } else { 1.0 - (1.0 - share.min(1.0)).powf(values) }
    }

    fn listed(&self, value: &Operand, set: &InSet) -> f64 {
        let Operand::Path(path) = value else { return 1.0 };
        self.some(path, self.listed_value(path, set))
    }

    /// The share of single values that are in a set.
    fn listed_value(&self, path: &Path, set: &InSet) -> f64 {
        let share = match set {
            InSet::List(items) => items.iter().map(|item| self.equal(path, item)).sum(),
            InSet::Parameter(index) => {
                list_length(self.statistics, set) * self.equal(path, &Operand::Parameter(*index))
            }
        };
        f64::min(share, 1.0)
    }

    fn null(&self, value: &Operand) -> f64 {
        let Operand::Path(path) = value else { return 0.0 };
        let conceptual = self.statistics.conceptual;
        let hops = path.hops.iter().map(|&hop| Member::End(hop));
        let leaf = match path.leaf {
            Leaf::Attribute(id) => Some(Member::Attribute(id)),
            Leaf::Reference(id) => Some(Member::End(id)),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        let optional = |member: &Member| match *member {
            Member::Attribute(id) => conceptual.attributes[id].optional,
            Member::End(id) => conceptual.ends[id].cardinality.min == 0,
        };
        let outer = self.asked.positions[path.position].outer;
        match hops.chain(leaf).find(optional) {
            Some(member) if self.statistics.null_share(member).is_some() => {
                self.statistics.null_share(member).unwrap_or(NULL)
            }
            Some(member) => 1.0 - self.statistics.assume(AssumptionAbout::Present(member), 1.0 - NULL),
            None if outer => NULL,
            None => 0.0,
        }
    }

    /// The share of rows that have this one value.
    fn equal(&self, path: &Path, other: &Operand) -> f64 {
        if let Operand::Path(other) = other {
            return 1.0 / self.distinct(path).max(self.distinct(other));
        }
        if *other == Operand::Constant(Constant::Null) {
            return 0.0;
        }
        // What has no value is equal to none.
        let there = self.there(path);
        if self.statistics.counting.values == Values::Even {
            return there / self.distinct(path);
        }
        let (skew, frequent) = match path.leaf {
            Leaf::Attribute(id) => {
                let statistics = &self.statistics.conceptual.attributes[id].statistics;
                (statistics.skew, self.frequent(id, other))
            }
            Leaf::Reference(id) => (self.statistics.conceptual.ends[id].statistics.skew, None),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => (None, None),
        };
        frequent
            .unwrap_or_else(|| there * zipf_share(self.distinct(path), skew.unwrap_or(0.0), self.asked.skew))
    }

    /// By `@freq`, for a constant: its own share, or an even one of what the others leave.
    fn frequent(&self, id: AttributeId, other: &Operand) -> Option<f64> {
        let Operand::Constant(constant) = other else { return None };
        let attribute = &self.statistics.conceptual.attributes[id];
        let frequencies = &attribute.statistics.frequencies;
        if frequencies.is_empty() {
            return None;
        }
        if let Some((_, share)) = frequencies.iter().find(|(value, _)| value == constant) {
            return Some(*share);
        }
        let named: f64 = frequencies.iter().map(|(_, share)| share).sum();
        let all = match &attribute.ty {
            Type::Enum(values) => values.len() as f64,
            Type::Bool => 2.0,
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
            | Type::Json => self.statistics.distinct(Member::Attribute(id)),
        };
        let values = frequencies.iter().filter(|(value, _)| *value != Constant::Null).count();
        let others = (all - values as f64).max(1.0);
        Some((1.0 - named).max(0.0) / others)
    }

    fn distinct(&self, path: &Path) -> f64 {
        match path.leaf {
            Leaf::Attribute(id) => self.statistics.distinct(Member::Attribute(id)),
            Leaf::Reference(id) => self.statistics.distinct(Member::End(id)),
            Leaf::Bucket(of) => f64::from(of),
            Leaf::TimeBucket(id, unit) => self.statistics.time_buckets(id, unit),
            Leaf::Itself => {
                let last = path.hops.last().map(|&hop| self.statistics.conceptual.ends[hop].target);
                let position = &self.asked.positions[path.position];
                match (last.or(position.class), position.from) {
                    (Some(class), _) => self.statistics.count(class).max(1.0),
                    (None, Some(hop)) => self.statistics.distinct(hop.step),
                    (None, None) => 1.0,
                }
            }
        }
    }
}

/// The share that a value has on average over those who ask, if data and questions are both Zipf-like and the
/// frequent values are the asked ones: Σ pᵢ·qᵢ. Evenly, one by the number of values.
fn zipf_share(distinct: f64, data: f64, asked: f64) -> f64 {
    let harmonic = |exponent: f64| harmonic(distinct, exponent);
    harmonic(data + asked) / (harmonic(data) * harmonic(asked))
}

/// Σ i⁻ˢ for i up to n: the first terms as they are, the rest as an integral.
fn harmonic(n: f64, s: f64) -> f64 {
    const EXACT: u32 = 1_000;
    if s <= 0.0 {
        return n.max(1.0);
    }
    let exact: f64 = (1..=EXACT).map(f64::from).take_while(|&i| i <= n.max(1.0)).map(|i| i.powf(-s)).sum();
    let from = f64::from(EXACT) + 0.5;
    if n <= from {
        return exact;
    }
    let to = n + 0.5;
    let rest = if (s - 1.0).abs() < 1e-9 {
        (to / from).ln()
    } else {
        (to.powf(1.0 - s) - from.powf(1.0 - s)) / (1.0 - s)
    };
    exact + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_powers_are_close_to_the_sums() {
        for s in [0.3, 0.8, 1.0, 1.7] {
            let exact: f64 = (1..=50_000).map(|i| f64::from(i).powf(-s)).sum();
            let near = harmonic(50_000.0, s);
            assert!((near / exact - 1.0).abs() < 1e-6, "{s}: {near} is not {exact}");
        }
        assert_eq!(harmonic(7.0, 0.0), 7.0);
    }

    #[test]
    fn evenly_asked_each_value_has_its_share_however_uneven_the_data() {
        assert!((zipf_share(200.0, 0.0, 0.0) - 1.0 / 200.0).abs() < 1e-12);
        assert!((zipf_share(200.0, 0.9, 0.0) - 1.0 / 200.0).abs() < 1e-12);
        assert!(zipf_share(200.0, 0.9, 0.9) > 2.0 / 200.0, "whoever asks for the frequent ones finds more");
    }
}
