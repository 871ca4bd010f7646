//! What the copies hold, and how that is worked out from masters and the ways back between them, without a store: what
//! is not known yet is asked for, read, and the question is put again.

use super::{Block, Blocks, Error, Intents, Next, Terms, insist};
use std::collections::{BTreeMap, BTreeSet};

/// The definitions of all copies. Every answer may depend on what is known only.
pub trait Rows<T: Terms> {
    /// What a value refers to, as far as rows go along these references, in either direction, or references are
    /// checked; and what it has that no other may have.
    fn references(&self, value: &T::Value) -> BTreeSet<T::Origin>;

    /// What checked references lead to that were not there before, unless it is in the value itself.
    fn checked(&self, before: Option<&T::Value>, value: &T::Value) -> BTreeSet<T::Origin>;

    /// What a value has that no other master may have.
    fn claims(&self, value: &T::Value) -> BTreeSet<T::Origin>;

    /// Whether a master could ever have such a thing.
    fn may_claim(&self, id: &T::Id, origin: &T::Origin) -> bool;

    /// Of what checked references may lead to: what is no longer there if a master changes, or goes.
    fn lost(&self, id: &T::Id, before: &T::Value, after: Option<&T::Value>) -> BTreeSet<T::Origin>;

    /// The master in which something is that a value refers to.
    fn home(
        &self,
        value: &T::Value,
        origin: &T::Origin,
        known: &Known<T>,
    ) -> Result<Found<T, Option<T::Id>>, Error>;

    /// What becomes of a value by checked references that cascade, if something has gone.
    fn cascade(&self, value: &T::Value, gone: &BTreeSet<T::Origin>) -> Next<T::Value>;

    /// Whether a checked reference refuses that something goes.
    fn refuses(&self, value: &T::Value, gone: &BTreeSet<T::Origin>) -> bool;

    /// What becomes of a value by checked references that are cleared.
    fn clear(&self, value: &T::Value, gone: &BTreeSet<T::Origin>) -> Next<T::Value>;

    /// What must be remembered of a value to find the rows that it was in.
    fn remembered(&self, value: &T::Value) -> T::Value;

    /// The rows that a master is in if it holds any of these values, or none of them. Too many do no harm, one too few
    /// does.
    fn holding(
        &self,
        id: &T::Id,
        values: &[&T::Value],
        known: &Known<T>,
    ) -> Result<Found<T, BTreeSet<T::Row>>, Error>;

    /// The entries of a row: often one, none if its masters make none.
    fn entries(&self, row: &T::Row, known: &Known<T>) -> Result<Found<T, Entries<T>>, Error>;

    /// The keys that the entries of a row could have with these masters, whether there is a row or not. Asked only for
    /// copies without anchors, and after [`entries`](Self::entries) has been answered.
    fn possible(&self, row: &T::Row, known: &Known<T>) -> BTreeSet<T::Key>;
}

/// The entries of a row by their keys.
pub type Entries<T> = BTreeMap<<T as Terms>::Key, <T as Terms>::Entry>;

/// What has been read.
#[derive(Debug, Clone)]
pub struct Known<T: Terms> {
    pub masters: BTreeMap<T::Id, Block<T>>,
    pub referrers: BTreeMap<T::Origin, BTreeSet<T::Id>>,
}

/// An answer, or what has to be read first.
#[derive(Debug, Clone)]
pub enum Found<T: Terms, X> {
    Ready(X),
    Need(Need<T>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need<T: Terms> {
    Master(T::Id),
    Referrers(T::Origin),
}

impl<T: Terms> Default for Known<T> {
    fn default() -> Self {
        Self { masters: BTreeMap::new(), referrers: BTreeMap::new() }
    }
}

impl<T: Terms, B: Blocks<Terms = T>, R: Rows<T>> Intents<'_, B, R> {
    pub(super) async fn read(&self, id: &T::Id) -> Result<Block<T>, Error> {
        insist(|| self.blocks.read(id)).await
    }

    /// Reads for as long as an answer needs more.
    pub(super) async fn work_out<X>(
        &self,
        ask: impl Fn(&Known<T>) -> Result<Found<T, X>, Error>,
    ) -> Result<(X, Known<T>), Error> {
        let mut known = Known::default();
        loop {
            match ask(&known)? {
                Found::Ready(answer) => return Ok((answer, known)),
                Found::Need(Need::Master(id)) => {
                    let block = self.read(&id).await?;
                    known.masters.insert(id, block);
                }
                Found::Need(Need::Referrers(id)) => {
                    let referrers = insist(|| self.blocks.referrers(&id)).await?;
                    known.referrers.insert(id, referrers);
                }
            }
        }
    }

    pub(super) async fn rows_holding(
        &self,
        id: &T::Id,
        values: &[&T::Value],
    ) -> Result<BTreeSet<T::Row>, Error> {
        let rows = async { Ok(self.work_out(|known| self.rows.holding(id, values, known)).await?.0) };
        self.blocks.part(rows).await
    }
}
