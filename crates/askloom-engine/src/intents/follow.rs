//! What follows when something has gone that checked references led to: whoever referred to it goes with it, or lets go
//! of it, by the same write.

use super::{ATTEMPTS, Blocks, Error, Fault, Hint, Intents, Next, Owed, Rows, Swap, Terms, WriteId, insist};
use std::collections::BTreeSet;

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// What becomes of a value if something has gone.
    pub(super) fn fate(&self, value: &T::Value, gone: &BTreeSet<T::Origin>) -> Next<T::Value> {
        match self.rows.cascade(value, gone) {
            Next::Keep => self.rows.clear(value, gone),
            Next::Delete => Next::Delete,
            Next::Put(left) => match self.rows.clear(&left, gone) {
                Next::Keep => Next::Put(left),
                cleared => cleared,
            },
        }
    }

    /// Sees to all that follows from a write, before one of its masters is brought to an end: what has gone is free to
    /// come back then, and must find nobody who refers to what it was.
    pub(super) async fn followers(
        &self,
        id: &T::Id,
        write: WriteId,
        owed: &Owed<T>,
    ) -> Result<Vec<Hint<T>>, Error> {
        let Some(cause) = &owed.cause else { return self.follow(id, write, &owed.gone).await };
        let deciding = self.read(cause).await?;
        match deciding.owed.get(&write) {
            Some(owed) => self.follow(cause, write, &owed.gone).await,
            None => Ok(Vec::new()),
        }
    }

    /// Changes everyone who still refers to what has gone by a write. Gives a hint for each.
    pub(super) async fn follow(
        &self,
        at: &T::Id,
        write: WriteId,
        gone: &BTreeSet<T::Origin>,
    ) -> Result<Vec<Hint<T>>, Error> {
        let mut hints = Vec::new();
        if self.does(Fault::NotFollowed) {
            return Ok(hints);
        }
        let mut seen = BTreeSet::from([at.clone()]);
        for origin in gone {
            for referrer in insist(|| self.blocks.referrers(origin)).await? {
                if seen.insert(referrer.clone()) {
                    self.follow_at((at, write), gone, &referrer, &mut hints).await?;
                }
            }
        }
        Ok(hints)
    }

    async fn follow_at(
        &self,
        (at, write): (&T::Id, WriteId),
        gone: &BTreeSet<T::Origin>,
        referrer: &T::Id,
        hints: &mut Vec<Hint<T>>,
    ) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(referrer).await?;
            let Some(value) = &block.value else { return Ok(()) };
            let next = match self.fate(value, gone) {
                Next::Keep => return Ok(()),
                Next::Put(value) => Some(value),
                Next::Delete => None,
            };
            // Asked after the referrer was read: if it is still to be done now, the reference that was read is an old
            // one. If not, what has gone may have come back, and the reference be to that.
            let deciding = self.read(at).await?;
            if deciding.owed.get(&write).is_none_or(|owed| owed.gone.is_empty()) {
                return Ok(());
            }
            let hint = Hint { id: referrer.clone(), write, base: block.revision, targets: BTreeSet::new() };
            insist(|| self.blocks.put_hint(&hint)).await?;
            hints.push(hint);
            let lost = self.rows.lost(referrer, value, next.as_ref());
            let owed = Owed { gone: lost, cause: Some(at.clone()), ..self.owed(referrer, &block).await? };
            let mut to = block.written(write, self.after(block.revision.n), next, owed);
            if to.value.is_none() || block.is_closed_by(write) {
                to.closing = None;
            }
            match self.blocks.swap(referrer, block.revision, to).await {
                Ok(Swap::Done) => return Ok(()),
                Ok(Swap::Moved) | Err(super::Lost) => {}
            }
        }
        Err(Error::Conflict)
    }
}
