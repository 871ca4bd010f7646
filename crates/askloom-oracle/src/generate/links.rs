//! References: which instances they lead to.

use super::length::{self, Length, PRESENT};
use super::{Generator, Number, Spot, shuffle};
use crate::random::Random;
use crate::state::top;
use askloom_model::{EndId, Identity, Member, Value};
use std::collections::BTreeSet;

/// A set is given up on when it cannot be filled with different targets in this many tries for each.
const TRIES: u64 = 20;

impl Generator<'_> {
    /// The value of a stored reference.
    pub(super) fn references(&self, id: EndId, spot: Spot) -> Value {
        let end = &self.conceptual.ends[id];
        if end.id {
            return Value::Null;
        }
        let mut targets = self.targets(id, spot).into_iter();
        let identity = |target: u64| self.identity(end.target, target);
        match end.cardinality.is_many() {
            true => Value::Set(targets.map(identity).collect::<BTreeSet<Identity>>()),
            false => match targets.next() {
                Some(target) => Value::Reference(identity(target)),
                // What is required has a value, though it may lead nowhere.
                None if end.cardinality.min > 0 => Value::Reference(identity(0)),
                None => Value::Null,
            },
        }
    }

    /// The targets by their number among the instances of the target class.
    fn targets(&self, id: EndId, spot: Spot) -> BTreeSet<u64> {
        let end = &self.conceptual.ends[id];
        let there = self.population.total(end.target);
        let hash = shuffle::member(self.conceptual, Member::End(id));
        let mut random = Random::of(self.options.seed, &[spot.stream, hash]);
        let holder =
            spot.number.map(|number| number.index - self.population.start(end.class).min(number.index));
        if there == 0 {
            return BTreeSet::new();
        }
        match (holder, end.inverse == Some(id), length::most_at_target(self.conceptual, id)) {
            (Some(holder), _, _) if end.tree => self.tree(id, holder, there, &mut random),
            (Some(holder), true, _) => self.circle(id, holder, there),
            (Some(holder), false, Some(most)) => self.regular(id, holder, there, most, &mut random),
            (_, _, _) => self.random_targets(id, there, &mut random),
        }
    }

    /// Targets by Zipf's law.
    fn random_targets(&self, id: EndId, there: u64, random: &mut Random) -> BTreeSet<u64> {
        let end = &self.conceptual.ends[id];
        let hash = shuffle::member(self.conceptual, Member::End(id));
        let skew = end.statistics.skew.or(self.conceptual.classes[end.target].statistics.skew).unwrap_or(0.0);
        let wanted = match end.cardinality.is_many() {
            true => Length::of_end(self.conceptual, id).random(random).min(there),
            false => u64::from(end.cardinality.min > 0 || random.chance(self.present(id))),
        };
        let mut targets = BTreeSet::new();
        for _ in 0..wanted * TRIES {
            if targets.len() as u64 == wanted {
                break;
            }
            let rank = shuffle::zipf(random, there, skew);
            targets.insert(shuffle::permuted(rank, there, hash));
        }
        targets
    }

    /// How many of an optional reference have a value: what the average at the other end takes, if it is known.
    #[expect(clippy::cast_precision_loss, reason = "a share is an estimate")]
    fn present(&self, id: EndId) -> f64 {
        let end = &self.conceptual.ends[id];
        let average = end.inverse.and_then(|inverse| self.conceptual.ends[inverse].statistics.avg);
        let (holders, targets) = (self.population.total(end.class), self.population.total(end.target));
        let share = average.map(|average| average * targets as f64 / holders.max(1) as f64);
        let nasty = if self.options.nasty { 0.6 } else { PRESENT };
        share.unwrap_or(nasty).min(1.0)
    }

    /// As evenly as possible over the targets, so that none gets more than it may have.
    #[expect(clippy::cast_precision_loss, reason = "an average is an estimate")]
    fn regular(&self, id: EndId, holder: u64, there: u64, most: u64, random: &mut Random) -> BTreeSet<u64> {
        let end = &self.conceptual.ends[id];
        let hash = shuffle::member(self.conceptual, Member::End(id));
        let room = there.saturating_mul(most);
        let (first, end_of) = match end.cardinality.is_many() {
            true => {
                let holders = self.population.total(end.class).max(1);
                let average =
                    length::average(self.conceptual, id).min(room as f64 / holders as f64).min(there as f64);
                (length::before(average, holder), length::before(average, holder + 1))
            }
            false => {
                let has = end.cardinality.min > 0 || random.chance(self.present(id));
                (holder, holder + u64::from(has))
            }
        };
        let numbers = first..end_of.min(room);
        numbers.map(|number| shuffle::permuted(number, there, hash)).collect()
    }

    /// A symmetric relationship: everybody with his neighbours on a circle, so that it holds from both sides.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an average is small and not negative"
    )]
    fn circle(&self, id: EndId, holder: u64, there: u64) -> BTreeSet<u64> {
        let Length { average, most, .. } = Length::of_end(self.conceptual, id);
        let sides = ((average / 2.0).round() as u64).min(most.unwrap_or(u64::MAX) / 2).min((there - 1) / 2);
        let neighbours =
            (1..=sides).flat_map(|step| [(holder + step) % there, (holder + there - step) % there]);
        neighbours.collect()
    }

    /// A tree: the parent was there before; the first one has none. Downwards, a node has the same number of
    /// children everywhere.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an average is small and not negative"
    )]
    fn tree(&self, id: EndId, holder: u64, there: u64, random: &mut Random) -> BTreeSet<u64> {
        let end = &self.conceptual.ends[id];
        if end.cardinality.is_many() {
            let children = (length::average(self.conceptual, id) as u64).max(1);
            let first = holder * children + 1;
            return (first..first + children).filter(|&child| child < there).collect();
        }
        if holder == 0 {
            return BTreeSet::new();
        }
        BTreeSet::from([random.below(holder.min(there))])
    }

    /// The part entities of an owner.
    pub(super) fn part_numbers(&self, id: EndId, spot: Spot) -> impl Iterator<Item = Number> + use<> {
        let end = &self.conceptual.ends[id];
        let average = length::average(self.conceptual, id);
        let (start, top) = (self.population.start(end.target), top(self.conceptual, end.target));
        let range = spot.number.map_or(0..0, |number| {
            let owner = number.index - self.population.start(end.class).min(number.index);
            length::before(average, owner)..length::before(average, owner + 1)
        });
        range.map(move |n| Number { top, index: start + n })
    }

    /// How many value objects an end has.
    pub(super) fn part_count(&self, id: EndId, spot: Spot) -> u64 {
        let end = &self.conceptual.ends[id];
        let hash = shuffle::member(self.conceptual, Member::End(id));
        let mut random = Random::of(self.options.seed, &[spot.stream, hash]);
        let length = Length::of_end(self.conceptual, id);
        match end.cardinality.is_many() {
            true => length.random(&mut random),
            false => u64::from(length.least > 0 || random.chance(length.average)),
        }
    }
}
