//! How large a collection is, and how large its largest block can get.

use super::bound::bounded;
use askloom_model::{CollectionId, Conceptual, Design};
use askloom_plan::cost::{Sizes, Statistics};
use serde::Serialize;

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Extent {
    pub blocks: f64,
    pub entries: f64,
    pub bytes: f64,
    pub largest_block_bytes: f64,
}

/// The extents of all collections of a design.
pub(super) fn extents(conceptual: &Conceptual, design: &Design) -> Vec<Extent> {
    let statistics = Statistics::new(conceptual);
    let sizes = Sizes { statistics: &statistics, design };
    let at_most = askloom_plan::cost::at_most(conceptual);
    let statistics_at_most = Statistics::new(&at_most);
    let largest = Sizes { statistics: &statistics_at_most, design };
    let of = |id: CollectionId| Extent {
        blocks: bounded(sizes.blocks(id)),
        entries: bounded(sizes.entries(id)),
        bytes: bounded(sizes.bytes(id)),
        largest_block_bytes: bounded(largest.partition_bytes(id)).max(bounded(sizes.partition_bytes(id))),
    };
    design.collections.ids().map(of).collect()
}
