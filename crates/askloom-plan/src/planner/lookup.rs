//! How links can be followed, and what that takes for so many rows at once.

use crate::cost::{Costing, Sizes};
use askloom_model::{
    Capability, ClassId, CollectionId, Conceptual, Design, EndId, Joining, Keeper, Leaf, Member, Path,
    RelationshipKind, Work,
};

/// How a step from an instance to others is taken, by an index if there is one. `None` if a class has no master.
pub(super) fn joining(conceptual: &Conceptual, design: &Design, step: Member) -> Option<Joining> {
    let Member::End(end) = step else { return Some(Joining::Inside) };
    let row = &conceptual.ends[end];
    if conceptual.ends[conceptual.stored_end(end)].kind == RelationshipKind::Composition {
        // A part is in its owner's aggregate, and so is the owner.
        return Some(Joining::Inside);
    }
    let master = design.master(conceptual.aggregate_root(row.target)?)?;
    if row.stored {
        return Some(by_id(conceptual, design, master, row.target));
    }
    Some(back(design, row.inverse?, master))
}

/// How those that refer back by a link are found, also those of a symmetric one. `None` if a class has no master.
pub(super) fn referring(conceptual: &Conceptual, design: &Design, end: EndId) -> Option<Joining> {
    let row = &conceptual.ends[end];
    if row.kind == RelationshipKind::Composition {
        // A part is in its owner's aggregate.
        return Some(Joining::Inside);
    }
    let master = design.master(conceptual.aggregate_root(row.target)?)?;
    Some(back(design, conceptual.stored_end(end), master))
}

/// How a step is taken, by all ways that it needs: those that refer back may be value objects in several places.
pub(super) fn every_way(conceptual: &Conceptual, design: &Design, step: Member) -> Vec<Joining> {
    if let Member::End(end) = step {
        let row = &conceptual.ends[end];
        let refers_back = !row.stored && row.kind != RelationshipKind::Composition;
        if let (true, Some(stored)) = (refers_back, row.inverse) {
            return every_way_back(conceptual, design, stored);
        }
    }
    joining(conceptual, design, step).into_iter().collect()
}

/// How those are found that hold a stored reference, wherever it is: a value object may be in several places.
pub(super) fn every_way_back(conceptual: &Conceptual, design: &Design, stored: EndId) -> Vec<Joining> {
    let mut ways = Vec::new();
    for occurrence in conceptual.occurrences(conceptual.ends[stored].class) {
        let Some(master) = design.master(occurrence.root) else { continue };
        let way = match design.index(&occurrence, Leaf::Reference(stored)) {
            Some(index) => Joining::Back { index, master },
            None => Joining::BackByScan { master },
        };
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

/// How those are found that hold a stored reference.
pub(super) fn back(design: &Design, stored: EndId, master: CollectionId) -> Joining {
    match design.reverse_index(stored) {
        Some(index) => Joining::Back { index, master },
        None => Joining::BackByScan { master },
    }
}

/// How instances of a class are found by their ids. The owner of a part is not known by the part's id.
pub(super) fn by_id(
    conceptual: &Conceptual,
    design: &Design,
    master: CollectionId,
    class: ClassId,
) -> Joining {
    if !is_part(conceptual, class) {
        return Joining::LookUp { master };
    }
    match part_index(conceptual, design, master, class) {
        Some(index) => Joining::PartByIndex { index, master },
        None => Joining::PartByScan { master },
    }
}

/// The work of a step for so many rows.
pub(super) fn work(costing: &Costing<'_>, sizes: &Sizes<'_>, how: &Joining, step: Member, rows: f64) -> Work {
    let reached = rows * sizes.statistics.fan_out(step);
    match *how {
        Joining::Inside => Work::default(),
        Joining::LookUp { master } => get(costing, sizes, master, different(sizes, master, reached)),
        Joining::PartByIndex { index, master } => parts(costing, sizes, index, master, reached),
        Joining::Back { index, master } => {
            let each = reached / rows.max(f64::MIN_POSITIVE);
            let found = found(costing, sizes, index, rows, each);
            add(found, get(costing, sizes, master, different(sizes, master, reached)))
        }
        Joining::PartByScan { master } | Joining::BackByScan { master } => scan(costing, sizes, master),
    }
}

/// The work of getting the aggregates that so many different rows are of.
pub(super) fn work_of_roots(costing: &Costing<'_>, sizes: &Sizes<'_>, how: &Joining, roots: f64) -> Work {
    match *how {
        Joining::Inside => Work::default(),
        Joining::LookUp { master } => get(costing, sizes, master, roots),
        Joining::PartByIndex { index, master } | Joining::Back { index, master } => {
            parts(costing, sizes, index, master, roots)
        }
        Joining::PartByScan { master } | Joining::BackByScan { master } => scan(costing, sizes, master),
    }
}

/// The owners of so many parts, by an index of part ids.
fn parts(
    costing: &Costing<'_>,
    sizes: &Sizes<'_>,
    index: CollectionId,
    master: CollectionId,
    parts: f64,
) -> Work {
    let found = found(costing, sizes, index, parts, 1.0);
    add(found, get(costing, sizes, master, different(sizes, master, parts)))
}

/// Gets of so many aggregates by their ids.
pub(super) fn get(costing: &Costing<'_>, sizes: &Sizes<'_>, master: CollectionId, gets: f64) -> Work {
    let block = sizes.block(master);
    let pages = costing.pages(block.bytes);
    Work {
        read_steps: 1.0,
        // What takes several pages is in no batch.
        requests: if pages > 1.0 { gets * pages } else { costing.batches(gets) },
        partitions: gets,
        rows: gets * block.entries,
        bytes: gets * block.bytes,
        reads: gets * pages,
        ..Work::default()
    }
}

/// Gets of single entries of a copy, so many of each of these sizes.
pub(super) fn entries(costing: &Costing<'_>, gets: f64, bytes: f64) -> Work {
    Work {
        read_steps: 1.0,
        requests: costing.batches(gets),
        partitions: gets,
        rows: gets,
        bytes: gets * bytes,
        reads: gets,
        ..Work::default()
    }
}

/// Reads of so many blocks of an index, with so many entries each.
pub(super) fn found(
    costing: &Costing<'_>,
    sizes: &Sizes<'_>,
    index: CollectionId,
    blocks: f64,
    each: f64,
) -> Work {
    let bytes = each * sizes.entry_bytes(index);
    Work {
        read_steps: 1.0,
        // A batch takes single records; each block of an index is a range.
        requests: blocks * costing.pages(bytes),
        partitions: blocks,
        rows: blocks * each,
        bytes: blocks * bytes,
        reads: blocks * costing.pages(bytes),
        ..Work::default()
    }
}

/// All of a collection.
pub(super) fn scan(costing: &Costing<'_>, sizes: &Sizes<'_>, id: CollectionId) -> Work {
    // In a table of several classes the records of all are read.
    let read = sizes.design.in_partitions_of(id);
    let read = read.filter(|&other| other == id || costing.capability.shares_tables);
    let (mut rows, mut bytes) = (0.0, 0.0);
    for one in read {
        let own = sizes.entries(one);
        rows += own;
        bytes += own * sizes.entry_bytes(one);
    }
    let requests = costing.pages(bytes);
    let partitions = sizes.blocks(id);
    let lagging = is_behind(costing.capability, sizes.design, id);
    Work { read_steps: 1.0, requests, partitions, rows, bytes, reads: requests, lagging, ..Work::default() }
}

/// Whether it is an index of a master that lags where the store keeps it, which costs less to read.
pub fn is_behind(capability: &Capability, design: &Design, id: CollectionId) -> bool {
    let lags = capability.indexes.is_some_and(|indexes| indexes.value.lag);
    lags && design.collections[id].keeper == Keeper::Store && design.sibling(id).is_none()
}

/// The work of two reads that are one step.
pub(super) fn add(a: Work, b: Work) -> Work {
    Work {
        read_steps: a.read_steps + b.read_steps,
        requests: a.requests + b.requests,
        partitions: a.partitions + b.partitions,
        rows: a.rows + b.rows,
        bytes: a.bytes + b.bytes,
        reads: a.reads + b.reads,
        ..a
    }
}

/// How many different aggregates so many references name, chosen at random: each is read once.
fn different(sizes: &Sizes<'_>, master: CollectionId, references: f64) -> f64 {
    let all = sizes.blocks(master);
    if all <= 1.0 || references <= 1.0 {
        return references.min(1.0);
    }
    (all * -(references * (-1.0 / all).ln_1p()).exp_m1()).min(references)
}

pub(super) fn is_part(conceptual: &Conceptual, class: ClassId) -> bool {
    conceptual.lineage(class).iter().any(|&c| conceptual.classes[c].owner.is_some())
}

/// The index from the ids of a part to the aggregates that hold it.
pub(super) fn part_index(
    conceptual: &Conceptual,
    design: &Design,
    master: CollectionId,
    part: ClassId,
) -> Option<CollectionId> {
    let root = design.collections[master].source.root;
    let mut indexes = design.collections.iter().filter(|(_, collection)| {
        let leads_to_it = |path: &Path| {
            let last = path.hops.last().map(|&hop| conceptual.ends[hop].target);
            path.leaf == Leaf::Itself && last == Some(part)
        };
        collection.keeper == Keeper::Ours
            && collection.source.root == root
            && collection.indexed().is_some_and(leads_to_it)
    });
    indexes.next().map(|(id, _)| id)
}
