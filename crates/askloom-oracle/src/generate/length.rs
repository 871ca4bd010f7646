//! How long lists are.

use crate::random::Random;
use askloom_model::{Attribute, Conceptual, EndId, RelationshipKind};

/// Where the model says nothing.
const AVERAGE: f64 = 3.0;

/// How many of the optional have a value.
pub(super) const PRESENT: f64 = 0.8;

/// How long a list is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub(super) average: f64,
    pub(super) least: u64,
    pub(super) most: Option<u64>,
}

impl Length {
    pub(super) fn of_list(attribute: &Attribute) -> Self {
        let statistics = &attribute.statistics;
        Self { average: statistics.avg.unwrap_or(AVERAGE), least: 0, most: statistics.max }.consistent()
    }

    pub(super) fn of_end(conceptual: &Conceptual, id: EndId) -> Self {
        let end = &conceptual.ends[id];
        let least = u64::from(end.cardinality.min);
        if !end.cardinality.is_many() {
            let average = if least > 0 { 1.0 } else { PRESENT };
            return Self { average, least, most: Some(1) };
        }
        let said = end.statistics.avg.or_else(|| counted_parts(conceptual, id));
        let bound = end.cardinality.max.map(u64::from);
        let most = [bound, end.statistics.max].into_iter().flatten().min();
        Self { average: said.unwrap_or(AVERAGE), least, most }.consistent()
    }

    #[expect(clippy::cast_precision_loss, reason = "bounds of lists are small")]
    fn consistent(mut self) -> Self {
        if let Some(most) = self.most {
            self.average = self.average.min(most as f64);
        }
        self.average = self.average.max(self.least as f64);
        self
    }

    /// Evenly around the average: as far above it as below.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lengths are small and not negative"
    )]
    pub(super) fn random(self, random: &mut Random) -> u64 {
        let twice = self.average * 2.0;
        let high = self.most.map_or(twice, |most| twice.min(most as f64));
        let low = (twice - high).max(0.0);
        let exact = low + random.unit() * (high - low);
        let length = exact as u64 + u64::from(random.chance(exact.fract()));
        length.max(self.least).min(self.most.unwrap_or(u64::MAX))
    }
}

/// The average that the counts of a part entity and of its owner imply.
#[expect(clippy::cast_precision_loss, reason = "an average is an estimate")]
fn counted_parts(conceptual: &Conceptual, id: EndId) -> Option<f64> {
    let end = &conceptual.ends[id];
    let parts = conceptual.classes[end.target].statistics.count?;
    let owners = conceptual.classes[end.class].statistics.count.filter(|&owners| owners > 0)?;
    (end.kind == RelationshipKind::Composition).then(|| parts as f64 / owners as f64)
}

/// The average length of an end.
pub(super) fn average(conceptual: &Conceptual, id: EndId) -> f64 {
    Length::of_end(conceptual, id).average
}

/// How many elements all lists before the n-th have together, if lists are as regular as their average allows.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "exact below 2^53, which no count reaches"
)]
pub(super) fn before(average: f64, n: u64) -> u64 {
    (average * n as f64) as u64
}

/// The most links that an instance may have at the other end of a reference, if there is such a bound.
pub(super) fn most_at_target(conceptual: &Conceptual, id: EndId) -> Option<u64> {
    let end = &conceptual.ends[id];
    let inverse = end.inverse.filter(|&inverse| inverse != id).map(|inverse| &conceptual.ends[inverse]);
    let unique = end.unique.then_some(1);
    let bound = inverse.and_then(|inverse| inverse.cardinality.max).map(u64::from);
    let said = inverse.and_then(|inverse| inverse.statistics.max);
    [unique, bound, said].into_iter().flatten().min()
}
