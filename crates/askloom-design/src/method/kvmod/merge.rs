//! Which collections become one: those that share enough of their fields, both ways.
//!
//! The result is that of going through all pairs: for each collection in order, the first later one that shares enough
//! is taken in and the search for partners starts over; and all of that again until nothing changes. What is different
//! is how a partner is found. Fields are ranked from rare to common. Two sets that share a fraction `t` of each have a
//! field in common among the rarest `1 - t` of each, so only sets that meet there are compared at all. Where all
//! collections draw on the same few fields nearly all of them meet, and that saves nothing: then sets are bits, and
//! comparing two is counting the bits that both have.

/// How much of each side must be shared, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold(u32);

impl Threshold {
    /// The share that the published method uses.
    pub const PUBLISHED: Self = Self(80);

    /// Nothing if it is not from 1 to 100 percent.
    #[must_use]
    pub fn percent(percent: u32) -> Option<Self> {
        (1..=100).contains(&percent).then_some(Self(percent))
    }

    /// The fewest fields that two sets have to share if the larger one has `size`.
    fn needed(self, size: usize) -> usize {
        (size * self.0 as usize).div_ceil(100).max(1)
    }

    fn is_reached(self, shared: usize, a: usize, b: usize) -> bool {
        shared >= self.needed(a.max(b))
    }
}

/// A field by its number. Equal fields have equal numbers.
pub type FieldNumber = u32;

/// Collections that have become one: the first, and those it has taken in, in that order.
pub type Group = Vec<usize>;

/// Groups collections, given by their fields, each at most once. `fits` is asked with a group and a single collection or
/// another group; a merge that it refuses does not happen.
#[must_use]
pub fn merge(
    collections: &[Vec<FieldNumber>],
    threshold: Threshold,
    fits: &dyn Fn(&Group, &Group) -> bool,
) -> Vec<Group> {
    let mut merger = Merger::new(collections, threshold);
    while merger.pass(fits) {}
    merger.groups.into_iter().flatten().collect()
}

/// A field by how rare it is, the rarest first.
type Rank = u32;

struct Merger {
    threshold: Threshold,
    /// `None` where a collection has been taken in by an earlier one.
    groups: Vec<Option<Group>>,
    /// The fields of each, in the order of ranks.
    fields: Vec<Vec<Rank>>,
    /// For each field, those that have or once had it among their rarest.
    rare_in: Vec<Vec<usize>>,
    /// Each set as bits, where comparing all pairs is cheaper than finding out which to compare.
    bits: Option<Vec<Bits>>,
    /// By whom each was last looked at, so that nobody is looked at twice.
    seen: Vec<usize>,
    round: usize,
}

impl Merger {
    fn new(collections: &[Vec<FieldNumber>], threshold: Threshold) -> Self {
        let fields = ranked(collections);
        let ranks = fields.iter().flatten().copied().max().map_or(0, |rank| rank as usize + 1);
        let mut merger = Self {
            threshold,
            groups: (0..collections.len()).map(|index| Some(vec![index])).collect(),
            seen: vec![0; collections.len()],
            rare_in: vec![Vec::new(); ranks],
            bits: None,
            fields,
            round: 0,
        };
        for index in 0..collections.len() {
            merger.enter(index);
        }
        if merger.is_crowded(ranks) {
            merger.bits = Some(merger.fields.iter().map(|fields| bits(fields, ranks)).collect());
        }
        merger
    }

    /// Whether going along the lists of rare fields, and along the fields of those that meet there, would take longer
    /// than comparing all pairs bit by bit. A few words are compared in the time in which one entry of a list is
    /// looked at.
    fn is_crowded(&self, ranks: usize) -> bool {
        const WORDS_FOR_AN_ENTRY: usize = 4;
        let count = self.fields.len();
        let met: usize = self.rare_in.iter().map(|list| list.len() * list.len() / 2).sum();
        let pairs = count * count / 2;
        let fields = self.fields.iter().map(Vec::len).sum::<usize>() / count.max(1);
        // What differs too much is seen after that share of the fields.
        let compared = met.min(pairs) * fields * (100 - self.threshold.0 as usize) / 100;
        pairs * ranks.div_ceil(WORD) / WORDS_FOR_AN_ENTRY < met + compared
    }

    /// Notes under which rare fields a set is to be found.
    fn enter(&mut self, index: usize) {
        let Self { fields, rare_in, threshold, .. } = self;
        for &rank in fields.get(index).map(|fields| rarest(fields, *threshold)).unwrap_or_default() {
            if let Some(list) = rare_in.get_mut(rank as usize)
                && list.last() != Some(&index)
            {
                list.push(index);
            }
        }
    }

    /// Goes through all once. True if something was merged.
    fn pass(&mut self, fits: &dyn Fn(&Group, &Group) -> bool) -> bool {
        let mut changed = false;
        for index in 0..self.groups.len() {
            while let Some(partner) = self.first_partner(index, fits) {
                self.take_in(index, partner);
                changed = true;
            }
        }
        changed
    }

    /// The first later one that shares enough.
    fn first_partner(&mut self, index: usize, fits: &dyn Fn(&Group, &Group) -> bool) -> Option<usize> {
        self.groups.get(index)?.as_ref()?;
        if let Some(bits) = &self.bits {
            return self.first_by_bits(index, bits, fits);
        }
        let candidates = self.candidates(index);
        let group = self.groups.get(index)?.as_ref()?;
        let fields = self.fields.get(index)?;
        candidates.into_iter().find(|&other| {
            let (Some(Some(partner)), Some(theirs)) = (self.groups.get(other), self.fields.get(other)) else {
                return false;
            };
            let needed = self.threshold.needed(fields.len().max(theirs.len()));
            self.threshold.is_reached(shared(fields, theirs, needed), fields.len(), theirs.len())
                && fits(group, partner)
        })
    }

    /// The same by comparing with all that come later.
    fn first_by_bits(
        &self,
        index: usize,
        bits: &[Bits],
        fits: &dyn Fn(&Group, &Group) -> bool,
    ) -> Option<usize> {
        let group = self.groups.get(index)?.as_ref()?;
        let (own, size) = (bits.get(index)?, self.fields.get(index)?.len());
        let later = self.groups.iter().zip(&self.fields).zip(bits).enumerate().skip(index + 1);
        let mut fitting = later.filter(|(_, ((partner, fields), theirs))| {
            let needed = self.threshold.needed(size.max(fields.len()));
            let Some(partner) = partner else { return false };
            size.min(fields.len()) >= needed && both(own, theirs) >= needed && fits(group, partner)
        });
        fitting.next().map(|(other, _)| other)
    }

    /// Those after `index` that share a rare field and are of about the same size, in order.
    fn candidates(&mut self, index: usize) -> Vec<usize> {
        self.round += 1;
        let Self { fields, rare_in, seen, groups, threshold, round, bits: _ } = self;
        let Some(own) = fields.get(index) else { return Vec::new() };
        let mut found = Vec::new();
        for &rank in rarest(own, *threshold) {
            for &other in rare_in.get(rank as usize).into_iter().flatten() {
                let alive = groups.get(other).is_some_and(Option::is_some);
                let size = fields.get(other).map_or(0, Vec::len);
                // What is shared is at most the smaller one.
                let possible = size.min(own.len()) >= threshold.needed(size.max(own.len()));
                if let Some(mark) = seen.get_mut(other)
                    && other > index
                    && alive
                    && possible
                    && *mark != *round
                {
                    *mark = *round;
                    found.push(other);
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn take_in(&mut self, index: usize, partner: usize) {
        let members = self.groups.get_mut(partner).and_then(Option::take).unwrap_or_default();
        let theirs = self.fields.get_mut(partner).map(std::mem::take).unwrap_or_default();
        if let Some(Some(group)) = self.groups.get_mut(index) {
            group.extend(members);
        }
        if let Some(fields) = self.fields.get_mut(index) {
            *fields = union(fields, &theirs);
        }
        match &mut self.bits {
            Some(bits) => {
                for &rank in &theirs {
                    if let Some(own) = bits.get_mut(index) {
                        set(own, rank);
                    }
                }
            }
            None => self.enter(index),
        }
    }
}

/// A set of fields, a bit for each rank.
type Bits = Vec<u64>;

const WORD: usize = 64;

fn bits(fields: &[Rank], ranks: usize) -> Bits {
    let mut bits = vec![0; ranks.div_ceil(WORD)];
    for &rank in fields {
        set(&mut bits, rank);
    }
    bits
}

fn set(bits: &mut Bits, rank: Rank) {
    if let Some(word) = bits.get_mut(rank as usize / WORD) {
        *word |= 1 << (rank as usize % WORD);
    }
}

/// How many fields are in both sets.
fn both(a: &Bits, b: &Bits) -> usize {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones() as usize).sum()
}

/// The fields of each collection as ranks, in order. A field that is rarer has a lower rank.
fn ranked(collections: &[Vec<FieldNumber>]) -> Vec<Vec<Rank>> {
    let highest = collections.iter().flatten().copied().max().map_or(0, |field| field as usize + 1);
    let mut count = vec![0_u32; highest];
    for &field in collections.iter().flatten() {
        if let Some(count) = count.get_mut(field as usize) {
            *count += 1;
        }
    }
    let mut order: Vec<(u32, FieldNumber)> = count.into_iter().zip(0..).collect();
    order.sort_unstable();
    let mut rank = vec![0; highest];
    for (position, (_, field)) in (0..).zip(order) {
        if let Some(rank) = rank.get_mut(field as usize) {
            *rank = position;
        }
    }
    let of = |fields: &Vec<FieldNumber>| {
        let ranks = fields.iter().filter_map(|&field| rank.get(field as usize).copied());
        let mut ranks: Vec<Rank> = ranks.collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    };
    collections.iter().map(of).collect()
}

/// The fields of which two sets that share enough have at least one in common.
fn rarest(fields: &[Rank], threshold: Threshold) -> &[Rank] {
    let length = (fields.len() + 1).saturating_sub(threshold.needed(fields.len()));
    fields.get(..length.min(fields.len())).unwrap_or_default()
}

/// How many fields two sets share; less than that if `needed` cannot be reached any more.
fn shared(a: &[Rank], b: &[Rank], needed: usize) -> usize {
    let (mut a, mut b) = (a, b);
    let mut count = 0;
    while let (Some((x, rest_a)), Some((y, rest_b))) = (a.split_first(), b.split_first()) {
        if count + a.len().min(b.len()) < needed {
            return count;
        }
        match x.cmp(y) {
            std::cmp::Ordering::Less => a = rest_a,
            std::cmp::Ordering::Greater => b = rest_b,
            std::cmp::Ordering::Equal => {
                count += 1;
                (a, b) = (rest_a, rest_b);
            }
        }
    }
    count
}

fn union(a: &[Rank], b: &[Rank]) -> Vec<Rank> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    all.extend_from_slice(a);
    all.extend_from_slice(b);
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// All pairs, as the published algorithm has it, with its three repairs: the share leaves the key out, the one that
    /// takes in is replaced by the merged one, and merging is a union.
    fn by_all_pairs(collections: &[Vec<FieldNumber>], threshold: Threshold) -> Vec<Group> {
        let mut alive: Vec<(Group, BTreeSet<FieldNumber>)> =
            collections.iter().enumerate().map(|(n, c)| (vec![n], c.iter().copied().collect())).collect();
        loop {
            let mut changed = false;
            let mut i = 0;
            while i < alive.len() {
                let mut j = i + 1;
                while j < alive.len() {
                    let (a, b) = (&alive[i].1, &alive[j].1);
                    let common = a.intersection(b).count();
                    let enough = |size: usize| common * 100 >= size * threshold.0 as usize;
                    if common > 0 && enough(a.len()) && enough(b.len()) {
                        let (members, fields) = alive.remove(j);
                        alive[i].0.extend(members);
                        alive[i].1.extend(fields);
                        changed = true;
                        j = i + 1;
                    } else {
                        j += 1;
                    }
                }
                i += 1;
            }
            if !changed {
                return alive.into_iter().map(|(group, _)| group).collect();
            }
        }
    }

    fn random(seed: &mut u64, below: u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % below
    }

    #[test]
    fn gives_what_all_pairs_give() {
        let mut merged = 0;
        for case in 0..3_000_u64 {
            let mut seed = case;
            let pool = 3 + random(&mut seed, 12);
            let collections: Vec<Vec<FieldNumber>> = (0..random(&mut seed, 12))
                .map(|_| {
                    let wanted = random(&mut seed, pool + 1);
                    let fields: BTreeSet<u32> =
                        (0..wanted).map(|_| u32::try_from(random(&mut seed, pool)).unwrap()).collect();
                    fields.into_iter().collect()
                })
                .collect();
            for percent in [50, 80, 100] {
                let threshold = Threshold::percent(percent).unwrap();
                let expected = by_all_pairs(&collections, threshold);
                assert_eq!(
                    merge(&collections, threshold, &|_, _| true),
                    expected,
                    "{percent} % of {collections:?}"
                );
                let mut other = Merger::new(&collections, threshold);
                let ranks = other.rare_in.len();
                other.bits = match other.bits {
                    Some(_) => None,
                    None => Some(other.fields.iter().map(|fields| bits(fields, ranks)).collect()),
                };
                while other.pass(&|_, _| true) {}
                let groups: Vec<Group> = other.groups.into_iter().flatten().collect();
                assert_eq!(groups, expected, "the other way, {percent} % of {collections:?}");
                merged += collections.len() - groups.len();
            }
        }
        assert!(merged > 1_000, "the cases hardly merge: {merged}");
    }

    #[test]
    fn a_refused_merge_does_not_happen() {
        let collections = [vec![1, 2, 3], vec![1, 2, 3], vec![1, 2, 3]];
        let groups = merge(&collections, Threshold::PUBLISHED, &|a, b| !a.contains(&0) && !b.contains(&0));
        assert_eq!(groups, [vec![0], vec![1, 2]]);
    }

    #[test]
    fn nothing_shares_with_nothing() {
        assert_eq!(merge(&[vec![], vec![]], Threshold::PUBLISHED, &|_, _| true), [vec![0], vec![1]]);
    }
}
