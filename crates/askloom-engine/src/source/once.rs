//! A write that finds itself among the last writes of a block has been done already: its answer was lost.

use super::{Ask, BlockState, EntryAt, Page, Source};
use crate::{Schema, Stop};
use askloom_model::{ClassId, CollectionId, Identity};
use askloom_plan::layout::Entry;
use std::cell::Cell;
use uuid::Uuid;

/// A source that notices the write that is being prepared.
pub struct Once<'o> {
    base: &'o dyn Source,
    write: Option<Uuid>,
    met: Cell<bool>,
}

impl std::fmt::Debug for Once<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Once").field("write", &self.write).finish_non_exhaustive()
    }
}

impl<'o> Once<'o> {
    pub fn new(base: &'o dyn Source, write: Option<Uuid>) -> Self {
        Self { base, write, met: Cell::new(false) }
    }

    /// Whether a block that was read remembers the write.
    pub fn has_met_itself(&self) -> bool {
        self.met.get()
    }
}

impl Source for Once<'_> {
    fn schema(&self) -> &Schema {
        self.base.schema()
    }

    fn block(&self, root: ClassId, id: &Identity) -> Result<BlockState, Stop> {
        let block = self.base.block(root, id)?;
        if let (Some(write), Some(system)) = (self.write, block.system())
            && system.writes.contains(&write)
        {
            self.met.set(true);
        }
        Ok(block)
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        self.base.page(ask)
    }

    fn time_buckets(&self, master: CollectionId, field: usize) -> Result<Vec<String>, Stop> {
        self.base.time_buckets(master, field)
    }

    fn entry(&self, at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        self.base.entry(at)
    }
}
