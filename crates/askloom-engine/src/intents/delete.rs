//! Taking away what checked references may lead to: an instance, or a part of one.
//!
//! Whoever comes to refer to it puts the way back, sees that it is open, then swaps the referrer. Whoever takes it away
//! closes it, then touches everyone on the ways back. If the list lacks a referrer, that one will find it closed; if it
//! has it, the touch comes before the referrer's swap, which fails, or after, and the reference is seen.
//!
//! A referrer that has to go, too, is closed instead of touched, and everyone who refers to it is looked at in turn. So
//! when the write is decided, by the swap of the one master that it is about, nobody refuses, nobody can come to, and
//! whoever has to follow is as it was seen. Whoever finds a master closed by an undecided write and cannot wait makes
//! that swap impossible first.

use super::attempt::Attempt;
use super::write::Traces;
use super::{
    ATTEMPTS, Block, Blocks, Closing, Error, Fault, Hint, Intents, Lost, Next, Rows, Swap, Terms, WriteId,
    insist,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a write has found out about those that refer to what it takes away.
struct Survey<T: Terms> {
    gone: BTreeSet<T::Origin>,
    referrers: BTreeMap<T::Id, Option<T::Value>>,
}

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    /// Closes what a write takes away, and all that has to go with it. None if somebody changed the master first.
    pub(super) async fn close(
        &self,
        id: &T::Id,
        write: WriteId,
        mut attempt: Attempt<T>,
        lost: BTreeSet<T::Origin>,
        traces: &mut Traces<T>,
    ) -> Result<Option<Attempt<T>>, Error> {
        let mut survey = Survey { gone: lost, referrers: BTreeMap::new() };
        let mut asked: BTreeSet<T::Origin> = BTreeSet::new();
        let before = attempt.base.value.clone();
        loop {
            if let Some(value) = &attempt.next {
                match self.rows.cascade(value, &survey.gone) {
                    Next::Keep => {}
                    Next::Put(value) => attempt.next = Some(value),
                    Next::Delete => attempt.next = None,
                }
            }
            if let Some(before) = &before {
                survey.gone.extend(self.rows.lost(id, before, attempt.next.as_ref()));
            }
            let Some(origin) = survey.gone.iter().find(|origin| !asked.contains(*origin)).cloned() else {
                break;
            };
            if !self.close_own(id, write, &mut attempt, &survey.gone, traces).await? {
                return Ok(None);
            }
            asked.insert(origin.clone());
            for referrer in insist(|| self.blocks.referrers(&origin)).await? {
                if referrer != *id {
                    self.grip(&referrer, (id, write), &mut survey, traces).await?;
                }
            }
        }
        self.judge(attempt, survey).map(Some)
    }

    /// Whether all agree, and whether anybody has to follow.
    fn judge(&self, mut attempt: Attempt<T>, survey: Survey<T>) -> Result<Attempt<T>, Error> {
        let gone = &survey.gone;
        let values = survey.referrers.values().flatten();
        let own = attempt.next.iter();
        for value in values.clone().chain(own) {
            let refuses = match self.rows.cascade(value, gone) {
                Next::Keep => self.rows.refuses(value, gone),
                Next::Put(left) => self.rows.refuses(&left, gone),
                Next::Delete => false,
            };
            if refuses {
                return Err(Error::Refused);
            }
        }
        if values.clone().any(|value| self.fate(value, gone) != Next::Keep) {
            attempt.gone.clone_from(gone);
        }
        if let Some(Next::Put(cleared)) = attempt.next.as_ref().map(|value| self.rows.clear(value, gone)) {
            attempt.next = Some(cleared);
        }
        Ok(attempt)
    }

    /// Closes the master that the write is about. False if somebody has changed it.
    async fn close_own(
        &self,
        id: &T::Id,
        write: WriteId,
        attempt: &mut Attempt<T>,
        gone: &BTreeSet<T::Origin>,
        traces: &mut Traces<T>,
    ) -> Result<bool, Error> {
        let closing = Closing { write, at: id.clone(), gone: gone.clone() };
        let is_closed = traces.closed.contains(id) && attempt.base.closing.as_ref() == Some(&closing);
        if self.does(Fault::ClosingSkipped) || is_closed {
            return Ok(true);
        }
        let base = &attempt.base;
        let closed = base.closed_by(Some(closing));
        traces.closed.insert(id.clone());
        match self.blocks.swap(id, base.revision, closed.clone()).await {
            Ok(Swap::Done) => {
                attempt.base = closed;
                Ok(true)
            }
            Ok(Swap::Moved) => Ok(false),
            // If it comes to be closed after all, the next attempt closes it again.
            Err(Lost) => self.move_on(id, base.revision).await.map(|()| false),
        }
    }

    /// Makes what a referrer is about to become void; if it has to go, too, closes it.
    async fn grip(
        &self,
        referrer: &T::Id,
        (id, write): (&T::Id, WriteId),
        survey: &mut Survey<T>,
        traces: &mut Traces<T>,
    ) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(referrer).await?;
            if block.closing.as_ref().is_some_and(|closing| closing.write != write && closing.at != *referrer)
            {
                self.resolve(referrer, &block).await?;
                continue;
            }
            let after =
                block.value.as_ref().map_or(Next::Keep, |value| self.rows.cascade(value, &survey.gone));
            let lost = match (&block.value, &after) {
                (Some(value), Next::Put(after)) => self.rows.lost(referrer, value, Some(after)),
                (Some(value), Next::Delete) => self.rows.lost(referrer, value, None),
                (_, _) => BTreeSet::new(),
            };
            let mut next = block.touched();
            let is_free = self.does(Fault::FollowersUnlocked) || after == Next::Keep;
            if !is_free {
                let hint =
                    Hint { id: referrer.clone(), write, base: block.revision, targets: BTreeSet::new() };
                insist(|| self.blocks.put_hint(&hint)).await?;
                traces.hints.push(hint);
                traces.closed.insert(referrer.clone());
                next.closing = Some(Closing { write, at: id.clone(), gone: lost.clone() });
            }
            let is_left = is_free && self.does(Fault::TouchSkipped);
            if is_left || self.blocks.swap(referrer, block.revision, next).await == Ok(Swap::Done) {
                survey.gone.extend(lost);
                survey.referrers.insert(referrer.clone(), block.value);
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    /// Opens what a write has closed, if it is still closed by it. For that write, or where it is decided, only.
    pub(super) async fn reopen(&self, id: &T::Id, write: WriteId) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let block = self.read(id).await?;
            if !block.is_closed_by(write) {
                return Ok(());
            }
            if self.blocks.swap(id, block.revision, block.closed_by(None)).await == Ok(Swap::Done) {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    /// For a master that another's write has closed: if that write is decided, sees to what follows from it; else makes
    /// it impossible, and opens the master. Whether it worked shows when the master is read again.
    pub(super) async fn resolve(&self, id: &T::Id, block: &Block<T>) -> Result<(), Error> {
        let Some(Closing { write, at, .. }) = &block.closing else { return Ok(()) };
        let deciding = self.read(at).await?;
        let is_over = if let Some(owed) = deciding.owed.get(write) {
            // Each of those who follow has a hint.
            self.follow(at, *write, &owed.gone).await?;
            true
        } else {
            deciding.has_seen(*write)
                || self.blocks.swap(at, deciding.revision, deciding.touched()).await == Ok(Swap::Done)
        };
        if is_over {
            // Where it had to follow, it has, and this comes to nothing.
            match self.blocks.swap(id, block.revision, block.closed_by(None)).await {
                Ok(Swap::Done | Swap::Moved) | Err(Lost) => {}
            }
        }
        Ok(())
    }
}
