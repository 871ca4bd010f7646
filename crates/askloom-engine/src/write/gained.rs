//! What changed aggregates have that they did not have before a statement. Every rule held before, so that only what was
//! gained or lost has to be looked up: an UPDATE of another member asks nobody whether a unique value is still unique.

use super::draft::Draft;
use crate::execute::stored_ids;
use crate::place::records;
use crate::stop::each;
use crate::{Aggregate, Instances, Stop};
use askloom_model::{Conceptual, EndId, Identity, Record};
use std::collections::{BTreeMap, BTreeSet};

impl Draft<'_> {
    /// What the records of changed aggregates have more often than before.
    pub(super) fn gained<T: Ord>(&self, of: impl Fn(&Record) -> Vec<T>) -> Result<BTreeSet<T>, Stop> {
        self.beyond(self.before, &self.after, of)
    }

    /// The targets that changed aggregates are linked to at a stored end, and were not before.
    pub(super) fn gained_links(&self, end: EndId) -> Result<BTreeSet<Identity>, Stop> {
        self.gained(|record| linked(self.conceptual(), record, end))
    }

    /// The targets that changed aggregates were linked to at a stored end, and are not any more.
    pub(super) fn lost_links(&self, end: EndId) -> Result<BTreeSet<Identity>, Stop> {
        self.beyond(&self.after, self.before, |record| linked(self.conceptual(), record, end))
    }

    /// What one state has more often than another, aggregate by aggregate.
    fn beyond<T: Ord>(
        &self,
        one: &dyn Instances,
        other: &dyn Instances,
        of: impl Fn(&Record) -> Vec<T>,
    ) -> Result<BTreeSet<T>, Stop> {
        let counted = |state: &dyn Instances, aggregate: &Aggregate| {
            let mut counts: BTreeMap<T, usize> = BTreeMap::new();
            if let Some(stored) = self.live(state, aggregate)? {
                for (_, record) in records(&stored.record) {
                    of(record).into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
                }
            }
            Ok::<_, Stop>(counts)
        };
        let found = each(self.after.changed.keys(), |aggregate| {
            let had = counted(one, aggregate)?;
            let has = counted(other, aggregate)?.into_iter();
            let more = has.filter(|(value, count)| had.get(value).is_none_or(|had| had < count));
            Ok(more.map(|(value, _)| value).collect::<Vec<T>>())
        })?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// The instances that a record refers to at a stored end.
fn linked(conceptual: &Conceptual, record: &Record, end: EndId) -> Vec<Identity> {
    match conceptual.is_kind_of(record.class, conceptual.ends[end].class) {
        true => stored_ids(record, end),
        false => Vec::new(),
    }
}
