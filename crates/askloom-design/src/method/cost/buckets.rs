//! Blocks that would grow too large, or be written too often, cut into buckets: the same rows, read from each of them.
//!
//! Buckets share what is written and what is stored. What is read they do not: a query reads all of them.

use crate::limits;
use askloom_model::{
    Collection, CollectionId, Contents, Design, Id, KeyField, Leaf, MAX_BUCKETS, Model, Path, PositionId,
    Role, Table,
};
use askloom_plan::cost::{Costing, Sizes, Statistics};
use askloom_plan::upkeep;
use std::collections::BTreeMap;

/// So much more than is needed by averages, as ids are not spread evenly.
const ROOM: f64 = 1.25;

/// A copy whose blocks are too large or too hot, in buckets.
pub(super) struct InBuckets {
    pub(super) of: CollectionId,
    pub(super) copy: Collection,
    /// Whether its blocks would be larger than they should be without.
    pub(super) too_large: bool,
}

/// Those of the copies from `first` on that need buckets, if buckets are enough.
pub(super) fn in_buckets(
    model: &Model,
    costing: &Costing<'_>,
    design: &Design,
    first: usize,
) -> Vec<InBuckets> {
    let statistics = Statistics::new(&model.conceptual);
    let sizes = Sizes { statistics: &statistics, design };
    let possible = |id: &CollectionId| is_possible(model, costing, &design.collections[*id]);
    let copies: Vec<CollectionId> = design.collections.ids().skip(first).filter(possible).collect();
    let heat = heat(model, costing, &sizes, &copies);
    let needed = |&of: &CollectionId| {
        let large = too_large(costing, &sizes, of);
        let hot = heat.get(&of).copied().unwrap_or(0.0);
        let count = buckets(f64::max(large, hot))?;
        Some(InBuckets { of, copy: cut(&design.collections[of], count), too_large: large > 1.0 })
    };
    copies.iter().filter_map(needed).collect()
}

/// Whether a copy of another method is in blocks that are too large, which buckets would mend.
pub(super) fn should_be_cut(
    model: &Model,
    costing: &Costing<'_>,
    sizes: &Sizes<'_>,
    copy: CollectionId,
) -> bool {
    is_possible(model, costing, &sizes.design.collections[copy])
        && buckets(too_large(costing, sizes, copy)).is_some()
}

/// What has rows that stand alone, of something with an id.
fn is_possible(model: &Model, costing: &Costing<'_>, copy: &Collection) -> bool {
    let main = copy.source.positions.iter().next().and_then(|(_, position)| position.class);
    copy.role != Role::Master
        && matches!(copy.contents, Contents::Fields(_))
        && askloom_plan::positions::each_value(&model.conceptual, copy).is_none()
        // What leads to records has no blocks of its own.
        && !costing.capability.leads_to_records(&model.conceptual, copy)
        && main.is_some_and(|class| model.conceptual.classes[class].kind.is_entity())
}

/// How many times as large as it should be a block is.
fn too_large(costing: &Costing<'_>, sizes: &Sizes<'_>, copy: CollectionId) -> f64 {
    let most = costing.capability.limits.advised_block;
    most.map_or(0.0, |most| sizes.block_bytes(copy) / most.value as f64)
}

/// How many buckets; nothing if none, or if too many would be needed.
fn buckets(times: f64) -> Option<u32> {
    let most = f64::from(MAX_BUCKETS);
    (times > 1.0 && times * ROOM <= most).then(|| (times * ROOM).ceil() as u32)
}

fn cut(copy: &Collection, buckets: u32) -> Collection {
    let path = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf: Leaf::Bucket(buckets) };
    let mut copy = copy.clone();
    copy.block_key.push(KeyField { path, descending: false });
    copy.reasons.push(format!("Its blocks are cut into {buckets} buckets, which share what is written."));
    copy
}

/// How many times as often as the store serves one block those of some copies would be written.
fn heat(
    model: &Model,
    costing: &Costing<'_>,
    sizes: &Sizes<'_>,
    copies: &[CollectionId],
) -> BTreeMap<CollectionId, f64> {
    let Some(most) = costing.capability.limits.heat else { return BTreeMap::new() };
    let most = f64::from(most.value.writes);
    let rates: f64 = model.workload.writes.iter().map(|write| write.header.rate.unwrap_or(1.0)).sum();
    let could = |id: &&CollectionId| sizes.blocks(**id) * most < rates * fan_out(model, sizes, **id);
    let suspects: Vec<CollectionId> = copies.iter().filter(could).copied().collect();
    if suspects.is_empty() {
        return BTreeMap::new();
    }
    let mut design = Design { method: String::new(), collections: Table::default() };
    let masters = sizes.design.collections.iter().filter(|(_, one)| one.role == Role::Master);
    for (_, master) in masters {
        design.collections.push(master.clone());
    }
    let own: Vec<CollectionId> =
        suspects.iter().map(|&id| design.collections.push(sizes.design.collections[id].clone())).collect();
    upkeep::add_indexes(model, &mut design);
    let written = limits::written(model, costing, &design);
    let blocks = |id: CollectionId| sizes.blocks(id).max(1.0);
    let times = suspects.into_iter().zip(own).filter_map(|(id, own)| {
        let writes = written.get(own.index()).copied()?;
        Some((id, writes / blocks(id) / most))
    });
    times.collect()
}

/// How many rows an instance is in at most, of those that the rows depend on, on average.
fn fan_out(model: &Model, sizes: &Sizes<'_>, copy: CollectionId) -> f64 {
    let entries = sizes.entries(copy);
    let places = upkeep::places(&model.conceptual, &sizes.design.collections[copy]);
    let classes = places.into_iter().filter_map(|place| place.class);
    let rows = classes.map(|class| entries / sizes.statistics.count(class).max(1.0));
    rows.fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_buckets_as_needed_with_room() {
        let found = [0.5, 1.0, 1.1, 1.7, 3.0, 100.0, 300.0].map(buckets);
        assert_eq!(found, [None, None, Some(2), Some(3), Some(4), Some(125), None]);
    }
}
