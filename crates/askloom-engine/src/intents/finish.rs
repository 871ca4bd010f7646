//! What a write that is done still owes: rows are brought after, ways back and hints are taken away.

use super::block::{drop_stamp, put_stamp};
use super::stamped::Intent;
use super::{
    ATTEMPTS, Block, Blocks, Error, Fault, Hint, Intents, Owed, Refresh, Revision, Rows, Swap, Terms,
    WriteId, insist,
};
use std::collections::BTreeSet;

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// Does what a write owes, until it owes no more, and what those owe that had to follow.
    pub(super) async fn finish(&self, id: &T::Id, write: WriteId, block: Block<T>) -> Result<(), Error> {
        let mut done = BTreeSet::from([id.clone()]);
        let mut followers = self.finish_one(id, write, block).await?;
        while let Some(hint) = followers.pop() {
            if done.insert(hint.id.clone()) {
                let block = self.read(&hint.id).await?;
                followers.extend(self.finish_one(&hint.id, write, block).await?);
            }
            self.close_hints(&hint.id, std::slice::from_ref(&hint)).await?;
        }
        Ok(())
    }

    /// Gives a hint for each master that had to follow.
    async fn finish_one(
        &self,
        id: &T::Id,
        write: WriteId,
        mut block: Block<T>,
    ) -> Result<Vec<Hint<T>>, Error> {
        let mut followers = Vec::new();
        for _ in 0..ATTEMPTS {
            let owed = match block.owed.get(&write) {
                Some(owed) => owed.clone(),
                None if self.does(Fault::NothingOwed) => Owed::default(),
                None => return Ok(followers),
            };
            if self.does(Fault::OwedDroppedFirst) {
                self.drop_owed(id, write, &owed, block.clone()).await?;
            }
            if !owed.gone.is_empty() || owed.cause.is_some() {
                followers.extend(self.followers(id, write, &owed).await?);
                block = self.settle_gone(id, write, block).await?;
                continue;
            }
            block = self.blocks.part(self.bring_after(id, write, block, &owed)).await?;
            // With all that was listed meanwhile, and so was seen to.
            let owed = block.owed.get(&write).cloned().unwrap_or(owed);
            match self.blocks.part(self.drop_owed(id, write, &owed, block)).await? {
                None => return Ok(followers),
                Some(now) => block = now,
            }
        }
        Err(Error::Conflict)
    }

    /// Notes that all who had to follow have. Only then the ways back may go by which others find that they have to wait;
    /// and whoever is late with following must not go on, for what has gone may come back now.
    async fn settle_gone(&self, id: &T::Id, write: WriteId, mut block: Block<T>) -> Result<Block<T>, Error> {
        for _ in 0..ATTEMPTS {
            let mut next = block.touched();
            match next.owed.get_mut(&write) {
                Some(owed) if !owed.gone.is_empty() || owed.cause.is_some() => {
                    owed.gone.clear();
                    owed.cause = None;
                }
                Some(_) | None => return Ok(block),
            }
            if self.blocks.swap(id, block.revision, next.clone()).await == Ok(Swap::Done) {
                return Ok(next);
            }
            block = self.read(id).await?;
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

    pub(super) fn referenced(&self, value: Option<&T::Value>) -> BTreeSet<T::Origin> {
        value.map(|value| self.rows.references(value)).unwrap_or_default()
    }

    pub(super) async fn put_referrers(
        &self,
        id: &T::Id,
        targets: &BTreeSet<T::Origin>,
        stamp: u64,
    ) -> Result<(), Error> {
        for target in targets {
            insist(|| self.blocks.put_referrer(target, id, stamp, true)).await?;
        }
        Ok(())
    }

    async fn drop_referrers<'t>(
        &self,
        id: &T::Id,
        targets: impl Iterator<Item = &'t T::Origin>,
        now: Revision,
    ) -> Result<(), Error>
    where
        T::Origin: 't,
    {
        for target in targets {
            insist(|| self.blocks.put_referrer(target, id, drop_stamp(now), false)).await?;
        }
        Ok(())
    }

    /// Takes hints away, after the ways back that attempts have put for nothing.
    pub(super) async fn close_hints(&self, id: &T::Id, hints: &[Hint<T>]) -> Result<(), Error> {
        let own = || hints.iter().filter(|hint| hint.id == *id);
        let targets: BTreeSet<T::Origin> = own().flat_map(|hint| hint.targets.iter().cloned()).collect();
        let base = own().map(|hint| hint.base.n).max().unwrap_or_default();
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
    async fn drop_stale(&self, id: &T::Id, targets: &BTreeSet<T::Origin>, base: u64) -> Result<(), Error> {
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
