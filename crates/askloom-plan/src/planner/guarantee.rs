//! What a reader may see while others write.

use crate::cost::Statistics;
use askloom_model::{
    Capability, CollectionId, CopyLevel, Design, Guarantee, Keeper, Plan, Role, SnapshotReads,
};

/// What a reader of this plan may see while others write.
pub(super) fn guarantee(
    capability: &Capability,
    statistics: &Statistics<'_>,
    design: &Design,
    plan: &Plan,
) -> Guarantee {
    if plan.collections().any(|id| lags(capability, statistics, design, id)) {
        return Guarantee::Lagging;
    }
    match capability.snapshot.value {
        SnapshotReads::Always | SnapshotReads::InSession => Guarantee::Snapshot,
        SnapshotReads::OneRequest if plan.estimate.requests <= 1.0 => Guarantee::Snapshot,
        SnapshotReads::OneRequest | SnapshotReads::Never => Guarantee::Committed,
    }
}

/// Whether a collection may be behind its masters.
pub(super) fn lags(
    capability: &Capability,
    statistics: &Statistics<'_>,
    design: &Design,
    id: CollectionId,
) -> bool {
    let collection = &design.collections[id];
    let follows = |id| super::write::level(capability, statistics, design, id) == CopyLevel::Intents;
    match collection.keeper {
        // What orders another copy another way is as fresh as that one.
        Keeper::Store => capability.indexes.is_some_and(|indexes| match design.sibling(id) {
            Some(copy) if indexes.value.local.is_some() => follows(copy),
            Some(_) | None => indexes.value.lag,
        }),
        Keeper::Ours => collection.role != Role::Master && follows(id),
    }
}
