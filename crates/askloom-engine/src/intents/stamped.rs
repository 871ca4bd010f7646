//! The way without anchors: a row is stamped with the sum of its masters' n, and keys are listed in the intent.
//!
//! n only grows, so whoever has read the last state of every master has a higher stamp than all others, and one has: the
//! writer who changed the last of them. That settles what is under the right key. What is under wrong keys has to be
//! known to somebody: here the writer lists the keys that its row could have had before, and every key that it puts.
//!
//! That is enough if the key hangs on one master, and that one refers to the others: who changes it knows the rows and
//! their keys by itself. If the key hangs on the target, a row can come and go between two looks for referrers; if on
//! two masters, it can come from a pair of states that no writer has seen together. The simulator keeps both schedules.

use super::{
    ATTEMPTS, Block, Blocks, Entries, Error, Fault, Intents, Owed, Rows, Swap, Terms, WriteId, insist,
};
use std::collections::BTreeSet;

/// The intent that lists the keys, with its block as last seen.
pub(super) struct Intent<'w, T: Terms> {
    pub(super) id: &'w T::Id,
    pub(super) write: WriteId,
    pub(super) block: Block<T>,
}

/// What there is to know about a row.
#[derive(Hash)]
struct Survey<T: Terms> {
    entries: Entries<T>,
    keys: BTreeSet<T::Key>,
    /// Its masters, each with its n.
    seen: Vec<(T::Id, u64)>,
}

impl<T: Terms> Intent<'_, T> {
    fn owed(&self) -> Option<&Owed<T>> {
        self.block.owed.get(&self.write)
    }
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

    pub(super) async fn refresh_stamped(
        &self,
        row: &T::Row,
        intent: &mut Intent<'_, T>,
    ) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let (id, write, block) = (intent.id, intent.write, intent.block.clone());
            let attempt = async {
                let mut own = Intent { id, write, block };
                let done = self.stamp_once(row, &mut own).await?;
                Ok::<_, Error>((done, own.block))
            };
            let (done, block) = self.blocks.part(attempt).await?;
            intent.block = block;
            if done {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    /// False if a master has moved meanwhile.
    async fn stamp_once(&self, row: &T::Row, intent: &mut Intent<'_, T>) -> Result<bool, Error> {
        let Survey { entries, keys, seen } = self.blocks.part(self.survey(row, intent)).await?;
        let stamp = seen.iter().map(|(_, n)| *n).sum();
        let Some(listed) = self.list(row, keys, intent).await? else { return Ok(true) };
        for (key, entry) in &entries {
            insist(|| self.blocks.put(key, stamp, Some(entry.clone()))).await?;
        }
        if !self.does(Fault::RereadSkipped) && self.blocks.part(self.has_moved(&seen)).await? {
            return Ok(false);
        }
        self.delete_others(row, &entries, &listed, stamp).await?;
        Ok(true)
    }

    /// What a row is, where it may be, and what it was seen to be made of.
    async fn survey(&self, row: &T::Row, intent: &Intent<'_, T>) -> Result<Survey<T>, Error> {
        let (entries, mut known) = self.work_out(|known| self.rows.entries(row, known)).await?;
        let seen = known.masters.iter().map(|(id, block)| (id.clone(), block.revision.n)).collect();
        let mut keys: BTreeSet<T::Key> = entries.keys().cloned().collect();
        keys.extend(self.rows.possible(row, &known));
        // As it was before the write, beside what the others are now.
        if let Some(own) = known.masters.get_mut(intent.id) {
            own.value = intent.owed().and_then(|owed| owed.previous.clone());
            keys.extend(self.rows.possible(row, &known));
        }
        Ok(Survey { entries, keys, seen })
    }

    async fn delete_others(
        &self,
        row: &T::Row,
        entries: &Entries<T>,
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

    async fn has_moved(&self, seen: &[(T::Id, u64)]) -> Result<bool, Error> {
        for (id, n) in seen {
            if self.read(id).await?.revision.n != *n {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lists keys in the intent, if they are not listed yet. None if somebody else has done all there was to do.
    async fn list(
        &self,
        row: &T::Row,
        keys: BTreeSet<T::Key>,
        intent: &mut Intent<'_, T>,
    ) -> Result<Option<BTreeSet<(T::Row, T::Key)>>, Error> {
        for _ in 0..ATTEMPTS {
            let Some(owed) = intent.owed() else { return Ok(None) };
            let mut listed = owed.keys.clone();
            listed.extend(keys.iter().map(|key| (row.clone(), key.clone())));
            if listed == owed.keys || self.does(Fault::AnnouncementSkipped) {
                return Ok(Some(owed.keys.clone()));
            }
            let mut next = intent.block.touched();
            if let Some(owed) = next.owed.get_mut(&intent.write) {
                owed.keys.clone_from(&listed);
            }
            if self.blocks.swap(intent.id, intent.block.revision, next.clone()).await == Ok(Swap::Done) {
                intent.block = next;
                return Ok(Some(listed));
            }
            intent.block = self.read(intent.id).await?;
        }
        Err(Error::Conflict)
    }
}
