//! What of a design is larger than its store takes.
//!
//! Lists are as long as `@max` allows, or as `@avg` says where there is none; values have their mean size. What is too
//! large because of an `@max` does not fit: the model says itself that it gets there. What is too large by averages is
//! worth a warning.

mod diagnostics;
mod heat;

pub(crate) use heat::written;
pub use heat::{Hot, hot};

use askloom_model::{Capability, CollectionId, Contents, Design, Fact};
use askloom_plan::cost::{Sizes, Statistics, at_most};

/// Which of a store's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    BlockKey,
    EntryKey,
    /// A value in an index of the store's own: what is longer is not found by it, and nobody is told.
    IndexKey,
    Record,
    Block,
    /// The store takes more, and is slow then.
    AdvisedBlock,
}

/// A limit that a collection does not keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Broken {
    pub collection: CollectionId,
    pub limit: Limit,
    /// How large it gets.
    pub bytes: f64,
    /// How large it may be, and who says so.
    pub most: Fact<u64>,
    /// Whether it gets as large by lists that are as long as their `@max`.
    pub from_max: bool,
}

impl Broken {
    /// Whether the design cannot be used on the store.
    #[must_use]
    pub fn is_error(&self) -> bool {
        match self.limit {
            Limit::BlockKey | Limit::EntryKey | Limit::Record | Limit::Block => self.from_max,
            Limit::IndexKey => true,
            Limit::AdvisedBlock => false,
        }
    }
}

/// A model and a store to look at designs with.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'l> {
    pub capability: &'l Capability,
    /// By averages.
    pub average: &'l Statistics<'l>,
    /// Of [`at_most`].
    pub most: &'l Statistics<'l>,
}

/// What of a collection is too large. Who asks for many makes [`Limits`] once.
#[must_use]
pub fn broken(
    capability: &Capability,
    statistics: &Statistics<'_>,
    design: &Design,
    collection: CollectionId,
) -> Vec<Broken> {
    let most = at_most(statistics.conceptual());
    let most = Statistics::new(&most);
    Limits { capability, average: statistics, most: &most }.broken(design, collection)
}

/// Of all collections, those first that do not fit.
#[must_use]
pub fn all_broken(capability: &Capability, statistics: &Statistics<'_>, design: &Design) -> Vec<Broken> {
    let most = at_most(statistics.conceptual());
    let most = Statistics::new(&most);
    let limits = Limits { capability, average: statistics, most: &most };
    let mut all: Vec<Broken> =
        design.collections.ids().flat_map(|collection| limits.broken(design, collection)).collect();
    all.sort_by_key(|broken| !broken.is_error());
    all
}

impl Limits<'_> {
    /// What of a collection is too large.
    #[must_use]
    pub fn broken(&self, design: &Design, collection: CollectionId) -> Vec<Broken> {
        let limits = &self.capability.limits;
        let index = self.capability.stored_keys(self.average.conceptual(), &design.collections[collection]);
        let (average, most) =
            (Sizes { statistics: self.average, design }, Sizes { statistics: self.most, design });
        let is_master = matches!(design.collections[collection].contents, Contents::Aggregate(_));
        let all = match index {
            // It has neither blocks nor records of its own.
            Some(keys) => vec![(Limit::IndexKey, keys.longest)],
            None => vec![
                (Limit::BlockKey, limits.block_key),
                (Limit::EntryKey, limits.entry_key),
                (Limit::Record, limits.record),
                (Limit::Block, limits.block),
                (Limit::AdvisedBlock, limits.advised_block),
            ],
        };
        let one = |(limit, fact): (Limit, Option<Fact<u64>>)| {
            let fact = fact?;
            let of = |sizes: &Sizes<'_>| measured(sizes, collection, limit, self.capability);
            let (usual, bytes) = (of(&average), of(&most));
            // Rows of a copy are written one by one. They are of many aggregates, which need not all be as large as can be.
            let promised = match limit {
                Limit::BlockKey | Limit::EntryKey | Limit::IndexKey | Limit::Record => true,
                Limit::Block if !is_master => return None,
                Limit::Block | Limit::AdvisedBlock => is_master,
            };
            let from_max = promised && bytes > usual;
            (bytes > fact.value as f64).then_some(Broken { collection, limit, bytes, most: fact, from_max })
        };
        all.into_iter().filter_map(one).collect()
    }
}

/// The name of the class, and what joins it, where that comes first in the keys of a shared table.
fn kind_bytes(sizes: &Sizes<'_>, collection: CollectionId, capability: &Capability) -> f64 {
    let own = &sizes.design.collections[collection];
    match own.partition_of {
        Some(_) if capability.shares_tables => {
            (sizes.statistics.conceptual().classes[own.source.root].name.len() + 1) as f64
        }
        Some(_) | None => 0.0,
    }
}

fn measured(sizes: &Sizes<'_>, collection: CollectionId, limit: Limit, capability: &Capability) -> f64 {
    match limit {
        Limit::BlockKey => sizes.block_key_bytes(collection),
        Limit::EntryKey => sizes.entry_key_bytes(collection) + kind_bytes(sizes, collection, capability),
        Limit::IndexKey => sizes.index_key_bytes(collection),
        Limit::Record => sizes.record_bytes(collection, capability.limits.aggregate),
        Limit::Block => sizes.block_bytes(collection),
        Limit::AdvisedBlock if !capability.shares_tables => sizes.partition_bytes(collection),
        // What several classes have in a partition is counted once.
        Limit::AdvisedBlock if sizes.design.partition_of(collection).is_some() => 0.0,
        Limit::AdvisedBlock => {
            let all = sizes.design.in_partitions_of(collection);
            all.map(|one| sizes.partition_bytes(one)).sum()
        }
    }
}
