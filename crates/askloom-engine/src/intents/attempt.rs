//! One attempt of a write: what must hold before its master is swapped.

use super::block::put_stamp;
use super::write::{Landing, Traces};
use super::{
    ATTEMPTS, Block, Blocks, Error, Fault, Hint, Intents, Owed, Refresh, Revision, Rows, Swap, Terms,
    WriteId, insist,
};
use std::collections::BTreeSet;

/// A master that is about to be swapped.
pub(super) struct Attempt<T: Terms> {
    /// What the swap is conditional on.
    pub(super) base: Block<T>,
    pub(super) next: Option<T::Value>,
    /// What goes, if others have to follow.
    pub(super) gone: BTreeSet<T::Origin>,
}

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// Puts a value in the place of a master, or deletes it.
    pub(super) async fn attempt(
        &self,
        id: &T::Id,
        write: WriteId,
        base: Block<T>,
        next: Option<T::Value>,
        traces: &mut Traces<T>,
    ) -> Result<Landing<T>, Error> {
        let mut targets = self.referenced(next.as_ref());
        let before = self.referenced(base.value.as_ref());
        targets.retain(|target| !before.contains(target));
        let hint = Hint { id: id.clone(), write, base: base.revision, targets };
        traces.hints.push(hint.clone());
        let late_hint = self.does(Fault::HintAfterSwap) && next.is_some();
        if !late_hint {
            insist(|| self.blocks.put_hint(&hint)).await?;
        }
        if let Some(value) = &next {
            self.announce(id, &base, &hint.targets).await?;
            self.checked_are_there(id, &base, value).await?;
            self.claims_are_free(id, &base, value).await?;
        }
        let mut attempt = Attempt { base, next, gone: BTreeSet::new() };
        let lost = match &attempt.base.value {
            Some(before) => self.rows.lost(id, before, attempt.next.as_ref()),
            None => BTreeSet::new(),
        };
        if !lost.is_empty() {
            match self.close(id, write, attempt, lost, traces).await? {
                Some(closed) => attempt = closed,
                None => return Ok(Landing::Never),
            }
        }
        let landing = self.decide(id, write, attempt).await;
        if late_hint {
            insist(|| self.blocks.put_hint(&hint)).await?;
        }
        landing
    }

    /// The ways back, before anything is looked at.
    async fn announce(
        &self,
        id: &T::Id,
        base: &Block<T>,
        targets: &BTreeSet<T::Origin>,
    ) -> Result<(), Error> {
        if self.does(Fault::ReferrerAfterRead) {
            return Ok(());
        }
        let ahead = self.does(Fault::ReferrerStampedAhead);
        let far = Revision { n: self.after(base.revision.n) + 8, e: 0 };
        self.put_referrers(id, targets, put_stamp(if ahead { far } else { base.revision })).await
    }

    async fn decide(&self, id: &T::Id, write: WriteId, attempt: Attempt<T>) -> Result<Landing<T>, Error> {
        let Attempt { base, next, gone } = attempt;
        let owed = Owed { gone, ..self.owed(id, &base).await? };
        let mut n = self.after(base.revision.n);
        if self.does(Fault::CountedAnew) && base.value.is_none() {
            n = 1;
        }
        let is_put = next.is_some();
        let mut block = base.written(write, n, next, owed);
        if block.is_closed_by(write) || !is_put {
            block.closing = None;
        }
        if self.does(Fault::NothingOwed) && is_put {
            block.owed.remove(&write);
        }
        self.swap(id, write, base.revision, block).await
    }

    /// What a write will have to do when it is done.
    pub(super) async fn owed(&self, id: &T::Id, base: &Block<T>) -> Result<Owed<T>, Error> {
        let keys = match self.refresh {
            Refresh::Checked => BTreeSet::new(),
            Refresh::Stamped => self.blocks.part(self.keys_before(id, base)).await?,
        };
        let previous = base.value.as_ref().map(|value| self.rows.remembered(value));
        let previous = previous.filter(|_| !self.does(Fault::PreviousForgotten));
        Ok(Owed { previous, keys, ..Owed::default() })
    }

    /// Checked references lead to what is there and stays.
    async fn checked_are_there(&self, id: &T::Id, base: &Block<T>, value: &T::Value) -> Result<(), Error> {
        for origin in &self.rows.checked(base.value.as_ref(), value) {
            let (home, known) = self.work_out(|known| self.rows.home(value, origin, known)).await?;
            // What has been here is not in the value any more.
            let home = home.filter(|home| home != id).and_then(|home| known.masters.get(&home));
            if !home.is_some_and(|block| block.is_open(origin)) {
                return Err(Error::Missing);
            }
        }
        Ok(())
    }

    /// Nobody else has, or is about to have, what only one may have. Of two who try, each announces, then touches the
    /// other: the first to swap makes the other look again, and it sees who has it.
    async fn claims_are_free(&self, id: &T::Id, base: &Block<T>, value: &T::Value) -> Result<(), Error> {
        let mut claims = self.rows.claims(value);
        if let Some(before) = &base.value {
            let before = self.rows.claims(before);
            claims.retain(|claim| !before.contains(claim));
        }
        for claim in &claims {
            for other in insist(|| self.blocks.referrers(claim)).await? {
                if other != *id && self.rows.may_claim(&other, claim) {
                    self.yields(&other, claim).await?;
                }
            }
        }
        Ok(())
    }

    async fn yields(&self, other: &T::Id, claim: &T::Origin) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(other).await?;
            if block.value.as_ref().is_some_and(|value| self.rows.claims(value).contains(claim)) {
                return Err(Error::Taken);
            }
            let unfollowed = block.owed.iter().find(|(_, owed)| owed.gone.contains(claim));
            if let Some((&write, _)) = unfollowed.filter(|_| !self.does(Fault::ComesBackEarly)) {
                self.finish(other, write, block).await?;
                continue;
            }
            if self.does(Fault::ClaimUntouched)
                || self.blocks.swap(other, block.revision, block.touched()).await == Ok(Swap::Done)
            {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }
}
