//! One write of one master, with every row that holds it brought after.

use super::{
    ATTEMPTS, Block, Blocks, Error, Fault, Hint, Intents, Lost, Revision, Rows, Swap, Terms, WriteId,
};
use std::collections::BTreeSet;

/// What a write makes of what it finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next<V> {
    Put(V),
    Delete,
    /// There is nothing to do, or the caller has decided that it may not be done.
    Keep,
}

/// How a write ended that was not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The master and its copies.
    Done,
    /// The master; a sweep will bring the copies after.
    Owed,
    Unchanged,
}

/// What became of a swap.
#[derive(Hash)]
pub(super) enum Landing<T: Terms> {
    Landed(Box<Block<T>>),
    /// It has not happened and never will.
    Never,
}

/// What the attempts of a write have left behind.
#[derive(Clone, Hash)]
pub(super) struct Traces<T: Terms> {
    pub(super) hints: Vec<Hint<T>>,
    /// The masters that it has closed.
    pub(super) closed: BTreeSet<T::Id>,
}

impl<T: Terms> Default for Traces<T> {
    fn default() -> Self {
        Self { hints: Vec::new(), closed: BTreeSet::new() }
    }
}

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// Changes a master. A caller that was told [`Error::Unknown`] may ask again with the same id of the write: it is
    /// not done twice for as long as the block remembers it.
    pub async fn write(
        &self,
        id: &T::Id,
        write: WriteId,
        change: impl Fn(&Block<T>) -> Next<T::Value>,
    ) -> Result<Outcome, Error> {
        let mut traces = Traces::default();
        for _ in 0..ATTEMPTS {
            let base = self.read(id).await?;
            if base.has_seen(write) && !self.does(Fault::RetriedBlindly) {
                return Ok(self.complete(id, write, base, &traces).await);
            }
            if self.clear_the_way(id, &base).await? {
                continue;
            }
            let next = match change(&base) {
                Next::Keep => {
                    self.give_up(id, write, &traces).await?;
                    return Ok(Outcome::Unchanged);
                }
                Next::Put(value) => Some(value),
                Next::Delete => None,
            };
            let attempt = async {
                let mut left = traces.clone();
                let landing = self.attempt(id, write, base, next, &mut left).await;
                (landing, left)
            };
            let (landing, left) = self.blocks.part(attempt).await;
            traces = left;
            match landing {
                Ok(Landing::Landed(block)) => {
                    return Ok(self.complete(id, write, *block, &traces).await);
                }
                Ok(Landing::Never) => {}
                Err(error) => {
                    // Unknown: the hints stay for a sweep, which can wait longer than the caller.
                    if error != Error::Unknown {
                        self.give_up(id, write, &traces).await?;
                    }
                    return Err(error);
                }
            }
        }
        self.give_up(id, write, &traces).await?;
        Err(Error::Conflict)
    }

    /// Finishes, or makes impossible, what others have begun and a write must not come between. True if there was such.
    async fn clear_the_way(&self, id: &T::Id, base: &Block<T>) -> Result<bool, Error> {
        if base.closing.as_ref().is_some_and(|closing| closing.at != *id) {
            self.blocks.part(self.resolve(id, base)).await?;
            return Ok(true);
        }
        let unfollowed = base.owed.iter().find(|(_, owed)| !owed.gone.is_empty());
        match unfollowed {
            Some((&other, _)) if !self.does(Fault::ComesBackEarly) => {
                self.blocks.part(self.finish(id, other, base.clone())).await?;
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Takes everything back that a write has left which is not done.
    async fn give_up(&self, id: &T::Id, write: WriteId, traces: &Traces<T>) -> Result<(), Error> {
        for closed in &traces.closed {
            self.reopen(closed, write).await?;
        }
        self.close_hints(id, &traces.hints).await
    }

    pub(super) async fn swap(
        &self,
        id: &T::Id,
        write: WriteId,
        from: Revision,
        to: Block<T>,
    ) -> Result<Landing<T>, Error> {
        match self.blocks.swap(id, from, to.clone()).await {
            Ok(Swap::Done) => Ok(Landing::Landed(Box::new(to))),
            Ok(Swap::Moved) => Ok(Landing::Never),
            Err(Lost) if self.does(Fault::RetriedBlindly) => Ok(Landing::Never),
            Err(Lost) => self.look(id, write, from).await,
        }
    }

    /// Finds out what became of a swap whose reply was lost. That the block is unchanged proves nothing, the swap may
    /// still be on its way; so the block is changed, and then it comes too late.
    async fn look(&self, id: &T::Id, write: WriteId, from: Revision) -> Result<Landing<T>, Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(id).await?;
            if block.has_seen(write) {
                return Ok(Landing::Landed(Box::new(block)));
            }
            if block.revision != from {
                return if block.remembers_since(from) { Ok(Landing::Never) } else { Err(Error::Unknown) };
            }
            self.fence(id, &block).await;
        }
        Err(Error::Unknown)
    }

    /// Moves a block on, so that whatever was built on it fails. Whether it worked shows when it is read again.
    pub(super) async fn fence(&self, id: &T::Id, block: &Block<T>) {
        let fenced = block.at(self.after(block.revision.n));
        match self.blocks.swap(id, block.revision, fenced).await {
            Ok(Swap::Done | Swap::Moved) | Err(Lost) => {}
        }
    }

    /// Comes back when a block is no longer at a revision.
    pub(super) async fn move_on(&self, id: &T::Id, from: Revision) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(id).await?;
            if block.revision != from {
                return Ok(());
            }
            self.fence(id, &block).await;
        }
        Err(Error::Unknown)
    }

    /// All that follows from a write that is done.
    async fn complete(&self, id: &T::Id, write: WriteId, block: Block<T>, traces: &Traces<T>) -> Outcome {
        let finished = async {
            if self.does(Fault::HintDroppedFirst) {
                self.close_hints(id, &traces.hints).await?;
            }
            self.blocks.part(self.finish(id, write, block)).await?;
            // What an earlier attempt has closed, and the last one had no need of.
            for closed in traces.closed.iter().filter(|closed| *closed != id) {
                self.reopen(closed, write).await?;
            }
            self.close_hints(id, &traces.hints).await
        };
        match finished.await {
            Ok(()) => Outcome::Done,
            Err(_) => Outcome::Owed,
        }
    }
}
