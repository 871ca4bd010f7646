//! How large a collection is, and how large its largest block can get.

use super::bound::bounded;
use askloom_design::cost::{Sizes, Statistics};
use askloom_model::{CollectionId, Conceptual, Design};
use serde::Serialize;

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Extent {
    pub(crate) blocks: f64,
    pub(crate) entries: f64,
    pub(crate) bytes: f64,
    pub(crate) largest_block_bytes: f64,
}

/// The extents of all collections of a design.
pub(super) fn extents(conceptual: &Conceptual, design: &Design) -> Vec<Extent> {
    let statistics = Statistics::new(conceptual);
    let sizes = Sizes { statistics: &statistics, design };
    let at_most = at_most(conceptual);
    let statistics_at_most = Statistics::new(&at_most);
    let largest = Sizes { statistics: &statistics_at_most, design };
    let of = |id: CollectionId| Extent {
        blocks: bounded(sizes.blocks(id)),
        entries: bounded(sizes.entries(id)),
        bytes: bounded(sizes.bytes(id)),
        largest_block_bytes: bounded(largest.block_bytes(id)).max(bounded(sizes.block_bytes(id))),
    };
    design.collections.ids().map(of).collect()
}

/// The model with every list as long as it may get.
fn at_most(conceptual: &Conceptual) -> Conceptual {
    let mut conceptual = conceptual.clone();
    for id in conceptual.attributes.ids() {
        let statistics = &mut conceptual.attributes[id].statistics;
        statistics.avg = statistics.max.map(|max| max as f64).or(statistics.avg);
    }
    for id in conceptual.ends.ids() {
        let bound = conceptual.ends[id].cardinality.max.filter(|&max| max > 1);
        let statistics = &mut conceptual.ends[id].statistics;
        let most = statistics.max.map(|max| max as f64).or(bound.map(f64::from));
        statistics.avg = most.or(statistics.avg);
    }
    conceptual
}
