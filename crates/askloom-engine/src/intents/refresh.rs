//! Brings one row after its masters, whoever else does the same at the same time.
//!
//! The anchor's token orders all who refresh a row. Whoever swaps it last has read the masters after every other, or one
//! of them would have swapped later; so the last one's entries are right, and its stamp is the highest. Everything that
//! an earlier one put, or will still put, is under a key that the anchor lists, with a lower stamp.

use super::{ATTEMPTS, Anchor, Blocks, Entries, Error, Fault, Intents, Rows, Swap, Terms, insist};
use std::collections::BTreeSet;

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    pub(super) async fn refresh_checked(&self, row: &T::Row) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            if self.blocks.part(self.refresh_once(row)).await? {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    /// False if somebody else was faster.
    async fn refresh_once(&self, row: &T::Row) -> Result<bool, Error> {
        let mut early = None;
        if self.does(Fault::MastersBeforeAnchor) {
            early = Some(self.entries(row).await?);
        }
        let anchor = insist(|| self.blocks.read_anchor(row)).await?;
        let entries = match early {
            Some(entries) => entries,
            None => self.entries(row).await?,
        };
        let mut keys = anchor.keys.clone();
        if !self.does(Fault::AnnouncementSkipped) {
            keys.extend(entries.keys().cloned());
        }
        let listed = Anchor { token: self.after(anchor.token), keys };
        // A lost reply is a lost race: if the swap happens after all, it lists keys that nobody puts.
        let swapped = self.blocks.swap_anchor(row, anchor.token, listed.clone()).await;
        if swapped != Ok(Swap::Done) && !self.does(Fault::AnchorNotSwapped) {
            return Ok(false);
        }
        self.replace(&entries, &anchor.keys, listed.token).await?;
        self.settle(row, listed, entries.into_keys().collect()).await?;
        Ok(true)
    }

    async fn entries(&self, row: &T::Row) -> Result<Entries<T>, Error> {
        let entries = async { Ok(self.work_out(|known| self.rows.entries(row, known)).await?.0) };
        self.blocks.part(entries).await
    }

    /// Puts the entries of a row, then deletes what it had under other keys.
    async fn replace(
        &self,
        entries: &Entries<T>,
        before: &BTreeSet<T::Key>,
        stamp: u64,
    ) -> Result<(), Error> {
        for (key, entry) in entries {
            insist(|| self.blocks.put(key, stamp, Some(entry.clone()))).await?;
        }
        if !self.does(Fault::OldKeyKept) {
            for key in before.iter().filter(|key| !entries.contains_key(*key)) {
                insist(|| self.blocks.put(key, stamp, None)).await?;
            }
        }
        Ok(())
    }

    /// Lists no more than there is. Not to come to it is harmless: the next one deletes what is not there.
    async fn settle(&self, row: &T::Row, listed: Anchor<T>, keys: BTreeSet<T::Key>) -> Result<(), Error> {
        if listed.keys == keys {
            return Ok(());
        }
        let mut from = listed.token;
        if self.does(Fault::AnchorOverwritten) {
            from = insist(|| self.blocks.read_anchor(row)).await?.token;
        }
        let settled = Anchor { token: listed.token, keys };
        match self.blocks.swap_anchor(row, from, settled).await {
            Ok(Swap::Done | Swap::Moved) | Err(super::Lost) => Ok(()),
        }
    }
}
