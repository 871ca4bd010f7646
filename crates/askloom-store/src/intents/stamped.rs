//! The way without anchors: a row is stamped with the sum of its masters' n, and keys are listed in the intent.
//!
//! n only grows, so whoever has read the last state of every master has a higher stamp than all others, and one has: the
//! writer who changed the last of them. That settles what is under the right key. What is under wrong keys has to be
//! known to somebody: here the writer lists the keys that its row could have had before, and every key that it puts.
//!
//! That is enough if the key hangs on one master: who changes that one knows the key exactly. If it hangs on two, a key
//! can come from a pair of states that no writer has ever seen together; the simulator keeps the schedule.

use super::{ATTEMPTS, Block, Blocks, Error, Fault, Intents, Known, Rows, Swap, Terms, WriteId, insist};
use std::collections::{BTreeMap, BTreeSet};

/// Whose intent lists the keys.
pub(super) struct Intent<'w, T: Terms> {
    pub(super) id: &'w T::Id,
    pub(super) write: WriteId,
}

/// Whether an intent is still there to list keys in.
enum Listed<T: Terms> {
    Yes(BTreeSet<(T::Row, T::Key)>),
    /// Somebody else has done all there was to do.
    Done,
}

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// The keys of all rows that hold a master, before it is changed.
    pub(super) async fn keys_before(
        &self,
        id: &T::Id,
        base: &Block<T>,
    ) -> Result<BTreeSet<(T::Row, T::Key)>, Error> {
        let mut keys = BTreeSet::new();
        for row in self.rows_holding(id, &base.value.iter().collect::<Vec<_>>()).await? {
            let (_, mut known) = self.work_out(|known| self.rows.entries(&row, known)).await?;
            known.masters.insert(id.clone(), base.clone());
            keys.extend(self.rows.possible(&row, &known).into_iter().map(|key| (row.clone(), key)));
        }
        Ok(keys)
    }

    pub(super) async fn refresh_stamped(&self, row: &T::Row, intent: &Intent<'_, T>) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let (entries, known) = self.work_out(|known| self.rows.entries(row, known)).await?;
            let mut keys: BTreeSet<T::Key> = entries.keys().cloned().collect();
            keys.extend(self.rows.possible(row, &known));
            let listed = match self.list(row, keys, intent).await? {
                Listed::Yes(listed) => listed,
                Listed::Done => return Ok(()),
            };
            let stamp = known.weight();
            for (key, entry) in &entries {
                insist(|| self.blocks.put(key, stamp, Some(entry.clone()))).await?;
            }
            if !self.does(Fault::RereadSkipped) && self.has_moved(&known).await? {
                continue;
            }
            return self.delete_others(row, &entries, &listed, stamp).await;
        }
        Err(Error::Conflict)
    }

    async fn delete_others(
        &self,
        row: &T::Row,
        entries: &BTreeMap<T::Key, T::Entry>,
        listed: &BTreeSet<(T::Row, T::Key)>,
        stamp: u64,
    ) -> Result<(), Error> {
        if self.does(Fault::OldKeyKept) {
            return Ok(());
        }
        for (_, key) in listed.iter().filter(|(of, key)| of == row && !entries.contains_key(key)) {
            insist(|| self.blocks.put(key, stamp, None)).await?;
        }
        Ok(())
    }

    async fn has_moved(&self, known: &Known<T>) -> Result<bool, Error> {
        for (id, block) in &known.masters {
            if self.read(id).await?.revision.n != block.revision.n {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lists keys in the intent, if they are not listed yet.
    async fn list(
        &self,
        row: &T::Row,
        keys: BTreeSet<T::Key>,
        intent: &Intent<'_, T>,
    ) -> Result<Listed<T>, Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(intent.id).await?;
            let Some(owed) = block.owed.get(&intent.write) else { return Ok(Listed::Done) };
            let mut listed = owed.keys.clone();
            listed.extend(keys.iter().map(|key| (row.clone(), key.clone())));
            if listed == owed.keys || self.does(Fault::AnnouncementSkipped) {
                return Ok(Listed::Yes(owed.keys.clone()));
            }
            let mut next = block.touched();
            if let Some(owed) = next.owed.get_mut(&intent.write) {
                owed.keys.clone_from(&listed);
            }
            if self.blocks.swap(intent.id, block.revision, next).await == Ok(Swap::Done) {
                return Ok(Listed::Yes(listed));
            }
        }
        Err(Error::Conflict)
    }
}
