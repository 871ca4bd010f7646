//! What deserves a look: large blocks, scans, statements without a plan.

use super::{CollectionDocument, PlanDocument};
use crate::human;
use askloom_model::Role;

/// A block above this is worth a word on any store.
const LARGE_BLOCK: f64 = 1e8;

pub(super) fn watch(collections: &[CollectionDocument], plans: &[PlanDocument]) -> Vec<String> {
    let mut watch = Vec::new();
    for plan in plans {
        if let Some(missing) = &plan.missing {
            watch.push(format!("{}: no plan: {missing}", plan.statement));
        }
        if plan.scans {
            let rows = human::count(plan.rows());
            watch.push(format!("{}: goes through everything, {rows} entries a call", plan.statement));
        }
        if plan.reads == "lagging" {
            watch.push(format!("{}: may see a copy that is behind its master", plan.statement));
        }
    }
    for collection in collections {
        let estimate = &collection.estimate;
        let large = human::bytes(estimate.largest_block_bytes);
        if collection.block_key.is_empty() && collection.role != Role::Master {
            watch.push(format!("{}: all of it is one block of {large}", collection.name));
        } else if estimate.largest_block_bytes > LARGE_BLOCK {
            watch.push(format!("{}: a block can grow to {large}", collection.name));
        }
    }
    watch
}
