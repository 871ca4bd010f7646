//! Level 3 for a schema: aggregates and their copies on an ordered keyspace in which one block is changed at a time.
//!
//! A row, as the protocol sees it, is all rows of one copy that have one root: what is refreshed together. The root is
//! an aggregate, or a part if the copy's rows begin at one.

mod bytes;
mod layout;
mod references;
mod rows;
mod store;

pub use rows::Copies;
pub use store::{OneBlock, Single};

use crate::KeyedSchema;
use askloom_engine::intents::{Block, Blocks, Error, Fault, Intents, Next, Outcome, Refresh, Terms, WriteId};
use askloom_engine::write::note_parts;
use askloom_engine::{Aggregate, Stored, System, expiry};
use askloom_model::{ClassId, CollectionId, Identity, Member, Record, Value};
use references::References;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aggregates;

impl Terms for Aggregates {
    type Id = Aggregate;
    type Origin = Origin;
    /// Without version, epoch and writes, which are the block's own.
    type Value = Stored;
    type Row = (CollectionId, Aggregate);
    type Key = Vec<u8>;
    type Entry = Vec<u8>;
}

/// Where ways back start.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// An entity, by its hierarchy and its id. From it lead ways to all that refer to it; from one that can be a part,
    /// also to the aggregate that it is in.
    Entity(ClassId, Identity),
    /// A value that only one may have.
    Unique(Member, Value),
}

/// Stores and deletes whole aggregates.
pub struct Writer<'w, B> {
    pub schema: &'w KeyedSchema,
    pub blocks: &'w B,
    pub now: jiff::Timestamp,
    /// What to do wrong, for tests of the tests.
    pub fault: Option<Fault>,
}

impl<B> std::fmt::Debug for Writer<'_, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("now", &self.now).finish_non_exhaustive()
    }
}

impl<B: Blocks<Terms = Aggregates>> Writer<'_, B> {
    /// Stores a whole aggregate, a new one or in place of the one with its id.
    pub async fn store(&self, record: Record, write: WriteId) -> Result<Outcome, Error> {
        let conceptual = &self.schema.model.conceptual;
        let root = conceptual.aggregate_root(record.class);
        let Some(id) = root.zip(record.identity(conceptual)) else {
            return Err(Error::Rows("the record has no id, or is no aggregate".to_owned()));
        };
        let claims = References { schema: self.schema }.claims(&record);
        if claims.iter().collect::<BTreeSet<_>>().len() < claims.len() {
            return Err(Error::Taken);
        }
        let taken = Cell::new(false);
        let change = |block: &Block<Aggregates>| {
            // Ids are unique in a hierarchy: one of another class has it.
            taken.set(block.value.as_ref().is_some_and(|stored| stored.record.class != record.class));
            if taken.get() { Next::Keep } else { Next::Put(self.next(block.value.as_ref(), &record)) }
        };
        let done = self.with(async |intents| intents.write(&id, write, change).await).await;
        if taken.get() && done == Ok(Outcome::Unchanged) { Err(Error::Taken) } else { done }
    }

    pub async fn delete(&self, id: &Aggregate, write: WriteId) -> Result<Outcome, Error> {
        let next = |there: bool| if there { Next::Delete } else { Next::Keep };
        self.with(async |intents| intents.write(id, write, |block| next(block.value.is_some())).await).await
    }

    /// Finishes what others have left. Gives how many hints there were.
    pub async fn sweep(&self) -> Result<usize, Error> {
        self.with(async |intents| intents.sweep().await).await
    }

    async fn with<X>(
        &self,
        act: impl AsyncFnOnce(&Intents<'_, B, Copies<'_>>) -> Result<X, Error>,
    ) -> Result<X, Error> {
        let now = u64::try_from(self.now.as_microsecond()).unwrap_or(0);
        let clock = move || now;
        let rows = Copies { schema: self.schema };
        let intents = Intents {
            blocks: self.blocks,
            rows: &rows,
            clock: &clock,
            refresh: Refresh::Checked,
            fault: self.fault,
        };
        act(&intents).await
    }

    /// The aggregate in place of one that lives, or as a new one.
    fn next(&self, before: Option<&Stored>, record: &Record) -> Stored {
        let conceptual = &self.schema.model.conceptual;
        let live = before.and_then(|stored| expiry::alive(conceptual, Arc::new(stored.clone()), self.now));
        let system = match live {
            Some(stored) => stored.system.clone(),
            None => System { created: self.now.as_microsecond(), ..System::default() },
        };
        let mut stored = Stored { record: record.clone(), system };
        note_parts(conceptual, &mut stored, self.now);
        stored
    }
}
