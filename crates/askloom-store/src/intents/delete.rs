//! Deleting what checked references may lead to.
//!
//! Whoever comes to refer to an instance puts the way back, sees that the instance is open, then swaps the referrer.
//! Whoever deletes it closes it, then touches everyone on the ways back. If the list lacks a referrer, that one will
//! find the instance closed; if it has it, the touch comes before the referrer's swap, which fails, or after, and the
//! reference is seen.

use super::{ATTEMPTS, Block, Blocks, Error, Fault, Intents, Lost, Rows, Swap, Terms, WriteId, insist};

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// Closes an instance to which nothing refers. None if somebody changed it first.
    pub(super) async fn close(
        &self,
        id: &T::Id,
        write: WriteId,
        base: Block<T>,
    ) -> Result<Option<Block<T>>, Error> {
        let mut closed = base.clone();
        if !self.does(Fault::ClosingSkipped) {
            closed = base.closed_by(Some(write));
            match self.blocks.swap(id, base.revision, closed.clone()).await {
                Ok(Swap::Done) => {}
                Ok(Swap::Moved) => return Ok(None),
                // If it comes to be closed after all, the next attempt closes it again.
                Err(Lost) => return self.move_on(id, base.revision).await.map(|()| None),
            }
        }
        for referrer in insist(|| self.blocks.referrers(id)).await? {
            if referrer != *id && self.refers_still(&referrer, id).await? {
                self.reopen(id, write).await?;
                return Err(Error::Refused);
            }
        }
        Ok(Some(closed))
    }

    /// Whether a checked reference leads from one to the other. If not, what the referrer is about to become is void.
    async fn refers_still(&self, referrer: &T::Id, id: &T::Id) -> Result<bool, Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(referrer).await?;
            if block.value.as_ref().is_some_and(|value| self.rows.checked(value).contains(id)) {
                return Ok(true);
            }
            if self.does(Fault::TouchSkipped)
                || self.blocks.swap(referrer, block.revision, block.touched()).await == Ok(Swap::Done)
            {
                return Ok(false);
            }
        }
        Err(Error::Conflict)
    }

    /// Opens what a write has closed, if it is still closed by it.
    pub(super) async fn reopen(&self, id: &T::Id, write: WriteId) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(id).await?;
            if block.closing != Some(write) {
                return Ok(());
            }
            if self.blocks.swap(id, block.revision, block.closed_by(None)).await == Ok(Swap::Done) {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }
}
