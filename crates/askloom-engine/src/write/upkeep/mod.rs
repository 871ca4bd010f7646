//! Brings every copy after the aggregates it is made of.
//!
//! For each place of a copy (see [`askloom_plan::delta`]) the instances are found that differ between the state before
//! and the state after. From each of them the way goes up to the roots of its rows, in both states, and binds the
//! positions on the way. The rows that fit what is bound are worked out in both states, and the difference is written. A
//! row too many does no harm: it does not differ. One too few would leave a wrong row.

mod bind;
mod climb;
mod entries;
mod narrowed;
mod nested;

pub use entries::{entries_of, entries_of_root};

use super::Phase;
use crate::execute::{Inner, Restriction, Row, Scene, main_position};
use crate::stop::each;
use crate::{Aggregate, Changes, Instances, Overlay, Reader, RecordKey, RowContent, Rows, Schema, Stop};
use askloom_model::{Collection, CollectionId, Conceptual, Contents, PositionId, Value, fault};
use askloom_plan::delta::Delta;
use bind::Differing;
use entries::Entries;
use narrowed::Narrowed;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn update_copies(
    reader: &Reader<'_>,
    overlay: &Overlay<'_>,
    phase: Phase,
    changes: &mut Changes,
) -> Result<(), Stop> {
    update_some_copies(reader, overlay, reader.schema().copies(), phase, changes)
}

/// The same for some copies only.
pub fn update_some_copies(
    reader: &Reader<'_>,
    overlay: &Overlay<'_>,
    copies: impl Iterator<Item = CollectionId>,
    phase: Phase,
    changes: &mut Changes,
) -> Result<(), Stop> {
    let schema = reader.schema();
    let changed: Vec<&Aggregate> = overlay.changed.keys().collect();
    let narrowed = |state| Narrowed {
        state,
        before: reader,
        after: overlay,
        changed: &changed,
        phase,
        holders: RefCell::default(),
        held: RefCell::default(),
    };
    let (before, after) = (narrowed(reader), narrowed(overlay));
    each(copies, |id| {
        let collection = &schema.design.collections[id];
        let upkeep = Upkeep { schema, collection, before: &before, after: &after, phase };
        let Difference { old, mut new } = upkeep.difference(schema.deltas(id), &changed)?;
        let stale = fault!(OldKeyKept) || (fault!(IndexStale) && collection.indexed().is_some());
        let gone: Vec<RecordKey> =
            old.keys().filter(|key| !stale && !new.contains_key(*key)).cloned().collect();
        let is_kept = |key: &RecordKey, content: &RowContent| {
            old.get(key).is_some_and(|old| old == content || fault!(ValueNotRewritten))
        };
        new.retain(|key, content| !is_kept(key, content));
        if gone.is_empty() && new.is_empty() {
            return Ok(());
        }
        let rows = changes.rows.entry(id).or_default();
        rows.extend(gone.into_iter().map(|key| (key, None)));
        rows.extend(new.into_iter().map(|(key, content)| (key, Some(content))));
        Ok(())
    })?;
    Ok(())
}

/// The aggregates with the roots of all rows of a copy which a changed aggregate may be part of, before or after.
pub fn roots_of(
    before: &dyn Instances,
    after: &dyn Instances,
    id: CollectionId,
    changed: &Aggregate,
) -> Result<BTreeSet<Aggregate>, Stop> {
    let schema = after.schema();
    let collection = &schema.design.collections[id];
    let upkeep = Upkeep { schema, collection, before, after, phase: Phase::Loading };
    let mut roots = BTreeSet::new();
    for delta in schema.deltas(id) {
        let there = upkeep.standing(delta, std::slice::from_ref(&changed))?;
        let Candidates { roots: found, .. } = upkeep.candidates(delta, &there)?;
        roots.extend(found.into_values().flatten());
    }
    Ok(roots)
}

/// Entries of a copy that may differ, before and after.
#[derive(Debug, Default)]
struct Difference {
    old: Rows,
    new: Rows,
}

/// The rows that one delta finds.
#[derive(Debug, Default)]
struct Candidates {
    restriction: Restriction,
    /// The aggregates with the roots of the rows, by what tells each root apart.
    roots: BTreeMap<Value, BTreeSet<Aggregate>>,
}

struct Upkeep<'u> {
    schema: &'u Schema,
    collection: &'u Collection,
    before: &'u dyn Instances,
    after: &'u dyn Instances,
    phase: Phase,
}

impl<'u> Upkeep<'u> {
    fn conceptual(&self) -> &'u Conceptual {
        &self.schema.model.conceptual
    }

    fn entries(&self) -> Entries<'u> {
        Entries::new(self.schema, self.collection)
    }

    /// What rows are worked out in. A copy holds what has expired, too: whether it has is for each reader's clock to say.
    fn scene<'s>(&'s self, state: &'s dyn Instances, restriction: Option<&'s Restriction>) -> Scene<'s> {
        entries::scene(self.collection, state, restriction)
    }

    fn difference(&self, deltas: &[Delta], changed: &[&Aggregate]) -> Result<Difference, Stop> {
        let mut difference = Difference::default();
        let mut differing = Differing::default();
        each(deltas, |delta| {
            if differing.is_cut_short {
                return Ok(());
            }
            let there = self.differing(delta, changed, &mut differing)?;
            if there.before.is_empty() && there.after.is_empty() {
                return Ok(());
            }
            differing.is_cut_short = fault!(SecondPlaceForgotten);
            let candidates = self.candidates(delta, &there)?;
            self.evaluate(delta, &candidates, &mut difference)
        })?;
        Ok(difference)
    }

    /// Works out the candidates in both states.
    fn evaluate(
        &self,
        delta: &Delta,
        candidates: &Candidates,
        difference: &mut Difference,
    ) -> Result<(), Stop> {
        let before = self.rows(self.before, delta, candidates);
        let after = self.rows(self.after, delta, candidates);
        let (before, after) = (before?, after?);
        let (old_scene, new_scene) = (self.scene(self.before, None), self.scene(self.after, None));
        if let Contents::Nested(nodes) = &self.collection.contents {
            let entries = self.entries();
            let (before, after) = (entries.placed(&old_scene, before)?, entries.placed(&new_scene, after)?);
            let levels = self.nested_levels(delta, candidates, &before, &after)?;
            entries.nodes_of(&old_scene, &before, nodes, &levels, &mut difference.old)?;
            return entries.nodes_of(&new_scene, &after, nodes, &levels, &mut difference.new);
        }
        let entries = self.entries();
        each(&before, |row| entries.entry(&old_scene, row, &mut difference.old))?;
        each(&after, |row| entries.entry(&new_scene, row, &mut difference.new))?;
        Ok(())
    }

    /// The rows of a state that fit the candidates.
    fn rows(&self, state: &dyn Instances, delta: &Delta, candidates: &Candidates) -> Result<Vec<Row>, Stop> {
        let scene = self.scene(state, Some(&candidates.restriction));
        let mut rows = Vec::new();
        let aggregates: BTreeSet<&Aggregate> = candidates.roots.values().flatten().collect();
        each(aggregates, |(root, id)| {
            if let Some(stored) = state.aggregate(*root, id)? {
                let found = scene.root(stored).into_iter();
                rows.extend(found.filter(|row| candidates.roots.contains_key(row.key(main_position()))));
            }
            Ok(())
        })?;
        // What is bound leaves the fewest rows, so it comes first.
        for position in self.bound_first(delta) {
            let mut joined = Vec::new();
            each(rows, |row| scene.expand(row, position, &mut joined))?;
            rows = joined;
        }
        self.entries().kept(&scene, rows)
    }

    /// All positions but the root, those of a chain before the others.
    fn bound_first(&self, delta: &Delta) -> Vec<PositionId> {
        let others = self.collection.source.positions.ids().filter(|id| !delta.chain.contains(id));
        delta.chain.iter().skip(1).copied().chain(others.filter(|id| !is_root(*id))).collect()
    }
}

fn is_root(position: PositionId) -> bool {
    use askloom_model::Id;
    position.index() == 0
}

/// The aggregate that a record is in.
pub(super) fn aggregate_of(conceptual: &Conceptual, inner: &Inner) -> Option<Aggregate> {
    let root = inner.aggregate();
    let class = conceptual.lineage(root.record.class).last().copied()?;
    Some((class, root.record.identity(conceptual)?))
}
