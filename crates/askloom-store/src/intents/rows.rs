//! What the copies hold, and how that is worked out from masters and the ways back between them, without a store: what
//! is not known yet is asked for, read, and the question is put again.

use super::{Block, Blocks, Error, Intents, Terms, insist};
use std::collections::{BTreeMap, BTreeSet};

/// The definitions of all copies. Every answer may depend on what is known only.
pub trait Rows<T: Terms> {
    /// The masters that a value refers to, as far as rows go along these references, in either direction.
    fn references(&self, value: &T::Value) -> BTreeSet<T::Id>;

    /// Those of them that must be there.
    fn checked(&self, value: &T::Value) -> BTreeSet<T::Id>;

    /// What must be remembered of a value to find the rows that it was in.
    fn remembered(&self, value: &T::Value) -> T::Value;

    /// Whether checked references may lead to a master.
    fn guarded(&self, id: &T::Id) -> bool;

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
    pub referrers: BTreeMap<T::Id, BTreeSet<T::Id>>,
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
    Referrers(T::Id),
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
