//! The level at which a copy is kept, fixed for the copy: by the largest write that may touch it.

use super::copies::{entry_points, is_inside, roots};
use crate::cost::Statistics;
use crate::upkeep;
use askloom_model::{Capability, ClassId, Collection, CollectionId, CopyLevel, Design, Keeper, Leaf, Member};

/// How a copy is kept right on a store.
#[must_use]
pub fn level(
    capability: &Capability,
    statistics: &Statistics<'_>,
    design: &Design,
    id: CollectionId,
) -> CopyLevel {
    match design.collections[id].keeper {
        Keeper::Ours => capability.copy_level(most_records(statistics, &design.collections[id])),
        // It is no part of the write.
        Keeper::Store => CopyLevel::AtomicUnit,
    }
}

/// How many records any one write of any one aggregate changes for the sake of this copy: the aggregate, those whose
/// epoch it moves since their values are copied, old entries and new ones. `None` if the model sets no bound.
fn most_records(statistics: &Statistics<'_>, collection: &Collection) -> Option<u64> {
    let conceptual = statistics.conceptual();
    let places = upkeep::places(conceptual, collection);
    let entered = places.iter().filter_map(|place| place.apart(conceptual));
    let mut roots: Vec<ClassId> = entered.flat_map(|class| roots(conceptual, class)).collect();
    roots.sort_unstable();
    roots.dedup();
    let mut most = 0;
    for root in roots {
        let mut rows: u64 = 0;
        for point in entry_points(conceptual, collection, root) {
            rows = rows.saturating_add(most_rows(statistics, collection, &point)?);
        }
        let others = places.len() as u64;
        most = most.max(rows.saturating_mul(2).saturating_add(1 + others));
    }
    Some(most)
}

/// How many entries may hold one aggregate at a place.
fn most_rows(statistics: &Statistics<'_>, collection: &Collection, point: &[Member]) -> Option<u64> {
    let conceptual = statistics.conceptual();
    let mut rows: u64 = 1;
    for &step in point.iter().filter(|&&step| !is_inside(conceptual, step)) {
        let Member::End(end) = step else { continue };
        let row = &conceptual.ends[end];
        let back = match (row.stored, row.inverse) {
            (true, _) => statistics.most_referring(end),
            (false, Some(stored)) => statistics.most(Member::End(stored)),
            (false, None) => Some(1),
        };
        rows = rows.saturating_mul(back?);
    }
    let joined = collection.source.positions.iter().filter_map(|(_, position)| Some(position.from?.step));
    for step in joined.filter(|step| !point.contains(step)) {
        rows = rows.saturating_mul(statistics.most(step)?);
    }
    for field in &collection.block_key {
        let leaf = match field.path.leaf {
            Leaf::Attribute(id) => Some(Member::Attribute(id)),
            Leaf::Reference(id) => Some(Member::End(id)),
            Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
        };
        for member in field.path.hops.iter().map(|&hop| Member::End(hop)).chain(leaf) {
            let single = match member {
                Member::Attribute(id) => !conceptual.attributes[id].list,
                Member::End(id) => !conceptual.ends[id].cardinality.is_many(),
            };
            if !single {
                rows = rows.saturating_mul(statistics.most(member)?);
            }
        }
    }
    Some(rows)
}
