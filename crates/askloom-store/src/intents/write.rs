//! One write of one master, with every row that holds it brought after.

use super::block::{drop_stamp, put_stamp};
use super::stamped::Intent;
use super::{
    ATTEMPTS, Block, Blocks, Error, Fault, Hint, Intents, Lost, Owed, Refresh, Revision, Rows, Swap, Terms,
    WriteId, insist,
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
enum Landing<T: Terms> {
    Landed(Box<Block<T>>),
    /// It has not happened and never will.
    Never,
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
        let mut hints = Vec::new();
        for _ in 0..ATTEMPTS {
            let base = self.read(id).await?;
            if base.has_seen(write) && !self.does(Fault::RetriedBlindly) {
                return Ok(self.complete(id, write, base, &hints).await);
            }
            let landing = match change(&base) {
                Next::Keep => {
                    self.close_hints(id, &hints).await?;
                    return Ok(Outcome::Unchanged);
                }
                Next::Put(value) => {
                    self.blocks.part(self.attempt_put(id, write, &base, value, &mut hints)).await
                }
                Next::Delete => self.blocks.part(self.attempt_delete(id, write, base, &mut hints)).await,
            };
            match landing {
                Ok(Landing::Landed(block)) => return Ok(self.complete(id, write, *block, &hints).await),
                Ok(Landing::Never) => {}
                Err(error) => {
                    // Unknown: the hints stay for a sweep, which can wait longer than the caller.
                    if error != Error::Unknown {
                        self.close_hints(id, &hints).await?;
                    }
                    return Err(error);
                }
            }
        }
        self.close_hints(id, &hints).await?;
        Err(Error::Conflict)
    }

    async fn attempt_put(
        &self,
        id: &T::Id,
        write: WriteId,
        base: &Block<T>,
        value: T::Value,
        hints: &mut Vec<Hint<T>>,
    ) -> Result<Landing<T>, Error> {
        let (mut targets, mut checked) = (self.rows.references(&value), self.rows.checked(&value));
        if let Some(before) = &base.value {
            targets.retain(|target| !self.rows.references(before).contains(target));
            checked.retain(|target| !self.rows.checked(before).contains(target));
        }
        checked.remove(id);
        let hint = Hint { id: id.clone(), write, base: base.revision, targets };
        hints.push(hint.clone());
        if !self.does(Fault::HintAfterSwap) {
            insist(|| self.blocks.put_hint(&hint)).await?;
        }
        let mut n = self.after(base.revision.n);
        if !self.does(Fault::ReferrerAfterRead) {
            let ahead = self.does(Fault::ReferrerStampedAhead);
            let stamp = put_stamp(if ahead { Revision { n: n + 8, e: 0 } } else { base.revision });
            self.put_referrers(id, &hint.targets, stamp).await?;
        }
        for target in &checked {
            if !self.read(target).await?.is_open() {
                return Err(Error::Missing);
            }
        }
        let owed = self.owed(id, base).await?;
        if self.does(Fault::CountedAnew) && base.value.is_none() {
            n = 1;
        }
        let mut next = base.written(write, n, Some(value), owed);
        if self.does(Fault::NothingOwed) {
            next.owed.remove(&write);
        }
        let landing = self.swap(id, write, base.revision, next).await;
        if self.does(Fault::HintAfterSwap) {
            insist(|| self.blocks.put_hint(&hint)).await?;
        }
        landing
    }

    async fn attempt_delete(
        &self,
        id: &T::Id,
        write: WriteId,
        base: Block<T>,
        hints: &mut Vec<Hint<T>>,
    ) -> Result<Landing<T>, Error> {
        let hint = Hint { id: id.clone(), write, base: base.revision, targets: BTreeSet::new() };
        hints.push(hint.clone());
        insist(|| self.blocks.put_hint(&hint)).await?;
        let mut closed = base;
        if self.rows.guarded(id) {
            match self.close(id, write, closed).await? {
                Some(block) => closed = block,
                None => return Ok(Landing::Never),
            }
        }
        let owed = self.owed(id, &closed).await?;
        let mut next = closed.written(write, self.after(closed.revision.n), None, owed);
        next.closing = None;
        self.swap(id, write, closed.revision, next).await
    }

    /// What a write will have to do when it is done.
    async fn owed(&self, id: &T::Id, base: &Block<T>) -> Result<Owed<T>, Error> {
        let keys = match self.refresh {
            Refresh::Checked => BTreeSet::new(),
            Refresh::Stamped => self.blocks.part(self.keys_before(id, base)).await?,
        };
        let previous = base.value.as_ref().map(|value| self.rows.remembered(value));
        let previous = previous.filter(|_| !self.does(Fault::PreviousForgotten));
        Ok(Owed { previous, keys })
    }

    async fn swap(
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
    async fn complete(&self, id: &T::Id, write: WriteId, block: Block<T>, hints: &[Hint<T>]) -> Outcome {
        let finished = async {
            if self.does(Fault::HintDroppedFirst) {
                self.close_hints(id, hints).await?;
            }
            self.blocks.part(self.finish(id, write, block)).await?;
            self.close_hints(id, hints).await
        };
        match finished.await {
            Ok(()) => Outcome::Done,
            Err(_) => Outcome::Owed,
        }
    }

    /// Does what a write owes, until it owes no more.
    pub(super) async fn finish(&self, id: &T::Id, write: WriteId, mut block: Block<T>) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let owed = match block.owed.get(&write) {
                Some(owed) => owed.clone(),
                None if self.does(Fault::NothingOwed) => Owed { previous: None, keys: BTreeSet::new() },
                None => return Ok(()),
            };
            if self.does(Fault::OwedDroppedFirst) {
                self.drop_owed(id, write, &owed, block.clone()).await?;
            }
            block = self.blocks.part(self.bring_after(id, write, block, &owed)).await?;
            // With all that was listed meanwhile, and so was seen to.
            let owed = block.owed.get(&write).cloned().unwrap_or(owed);
            match self.blocks.part(self.drop_owed(id, write, &owed, block)).await? {
                None => return Ok(()),
                Some(now) => block = now,
            }
        }
        Err(Error::Conflict)
    }

    /// Gives the block as it was last seen.
    async fn bring_after(
        &self,
        id: &T::Id,
        write: WriteId,
        block: Block<T>,
        owed: &Owed<T>,
    ) -> Result<Block<T>, Error> {
        let values: Vec<&T::Value> = owed.previous.iter().chain(&block.value).collect();
        let mut rows = self.rows_holding(id, &values).await?;
        // A listed key is of a row that somebody has begun with.
        rows.extend(owed.keys.iter().map(|(row, _)| row.clone()));
        let current = self.referenced(block.value.as_ref());
        let now = block.revision;
        let mut intent = Intent { id, write, block };
        for row in &rows {
            match self.refresh {
                Refresh::Checked => self.refresh_checked(row).await?,
                Refresh::Stamped => self.refresh_stamped(row, &mut intent).await?,
            }
        }
        if self.does(Fault::ReferrerAfterRead) {
            self.put_referrers(id, &current, put_stamp(now)).await?;
        }
        let before = self.referenced(owed.previous.as_ref());
        self.drop_referrers(id, before.difference(&current), now).await?;
        Ok(intent.block)
    }

    /// Takes an intent away. If others have listed more in it, gives the block: there is more to do.
    async fn drop_owed(
        &self,
        id: &T::Id,
        write: WriteId,
        owed: &Owed<T>,
        mut block: Block<T>,
    ) -> Result<Option<Block<T>>, Error> {
        for _ in 0..ATTEMPTS {
            match block.owed.get(&write) {
                None => return Ok(None),
                Some(now) if now != owed => return Ok(Some(block)),
                Some(_) => {}
            }
            let swapped = self.blocks.swap(id, block.revision, block.without_owed(write)).await;
            if swapped == Ok(Swap::Done) {
                return Ok(None);
            }
            block = self.read(id).await?;
        }
        Err(Error::Conflict)
    }

    fn referenced(&self, value: Option<&T::Value>) -> BTreeSet<T::Id> {
        value.map(|value| self.rows.references(value)).unwrap_or_default()
    }

    async fn put_referrers(&self, id: &T::Id, targets: &BTreeSet<T::Id>, stamp: u64) -> Result<(), Error> {
        for target in targets {
            insist(|| self.blocks.put_referrer(target, id, stamp, true)).await?;
        }
        Ok(())
    }

    async fn drop_referrers<'t>(
        &self,
        id: &T::Id,
        targets: impl Iterator<Item = &'t T::Id>,
        now: Revision,
    ) -> Result<(), Error> {
        for target in targets {
            insist(|| self.blocks.put_referrer(target, id, drop_stamp(now), false)).await?;
        }
        Ok(())
    }

    /// Takes hints away, after the ways back that attempts have put for nothing.
    pub(super) async fn close_hints(&self, id: &T::Id, hints: &[Hint<T>]) -> Result<(), Error> {
        let targets: BTreeSet<T::Id> = hints.iter().flat_map(|hint| hint.targets.iter().cloned()).collect();
        let base = hints.iter().map(|hint| hint.base.n).max().unwrap_or_default();
        if !targets.is_empty() {
            self.drop_stale(id, &targets, base).await?;
        }
        for hint in hints {
            insist(|| self.blocks.drop_hint(hint)).await?;
        }
        Ok(())
    }

    /// Takes ways back away that lead from where there is no reference. Those that were put on the base of an n are beaten
    /// by a later one only; so if there is none yet, there has to be.
    async fn drop_stale(&self, id: &T::Id, targets: &BTreeSet<T::Id>, base: u64) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(id).await?;
            let current = self.referenced(block.value.as_ref());
            if targets.is_subset(&current) {
                return Ok(());
            }
            if block.revision.n > base {
                return self.drop_referrers(id, targets.difference(&current), block.revision).await;
            }
            self.fence(id, &block).await;
        }
        Err(Error::Conflict)
    }
}
