//! What a store must be able to do for the protocol: reads and conditional writes of one block at a time.

use super::{Anchor, Block, Hint, Revision, Terms};
use std::collections::BTreeSet;
use std::hash::Hash;

/// No reply came: the operation may have happened, may still happen, or never will.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lost;

/// How a conditional write was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a swap may have been lost to somebody else"]
pub enum Swap {
    Done,
    /// It was not as expected; nothing was written.
    Moved,
}

/// A store in which one block at a time is changed. For an implementation:
///
/// - master blocks and anchors are read and swapped linearizably; an absent one is the default one;
/// - [`put`](Self::put) and [`put_referrer`](Self::put_referrer) happen if nothing with a higher stamp is at the key,
///   and leave the stamp also where they delete, for longer than any operation can be late (10 days);
/// - [`referrers`](Self::referrers) sees every way back whose put was answered before it was asked;
/// - [`hints`](Self::hints) may lag, but not for ever;
/// - nothing is retried underneath, unless it is guarded against happening twice.
#[expect(async_fn_in_trait, reason = "whether a future can be sent is for each store to say")]
pub trait Blocks {
    type Terms: Terms;

    async fn read(&self, id: &Id<Self>) -> Result<Block<Self::Terms>, Lost>;

    async fn swap(&self, id: &Id<Self>, from: Revision, to: Block<Self::Terms>) -> Result<Swap, Lost>;

    async fn read_anchor(&self, row: &Row<Self>) -> Result<Anchor<Self::Terms>, Lost>;

    /// Conditional on the token.
    async fn swap_anchor(&self, row: &Row<Self>, from: u64, to: Anchor<Self::Terms>) -> Result<Swap, Lost>;

    /// Puts an entry of a copy; deletes it if there is none.
    async fn put(&self, key: &Key<Self>, stamp: u64, entry: Option<Entry<Self>>) -> Result<(), Lost>;

    /// Puts the way back from a target to one that refers to it, or has it, or takes it away.
    async fn put_referrer(
        &self,
        target: &Origin<Self>,
        referrer: &Id<Self>,
        stamp: u64,
        there: bool,
    ) -> Result<(), Lost>;

    async fn referrers(&self, target: &Origin<Self>) -> Result<BTreeSet<Id<Self>>, Lost>;

    async fn put_hint(&self, hint: &Hint<Self::Terms>) -> Result<(), Lost>;

    async fn drop_hint(&self, hint: &Hint<Self::Terms>) -> Result<(), Lost>;

    /// The hints of one bucket.
    async fn hints(&self, bucket: u16) -> Result<Vec<Hint<Self::Terms>>, Lost>;

    /// Runs a part of the protocol of which nothing but the result matters for what follows. A store just runs it; a
    /// simulator forgets what the part has seen, and so has fewer cases to tell apart.
    async fn part<X: Hash>(&self, part: impl Future<Output = X>) -> X {
        part.await
    }

    /// Over how many buckets hints are spread, so that no block holds all of them.
    fn buckets(&self) -> u16;
}

type Id<B> = <<B as Blocks>::Terms as Terms>::Id;
type Origin<B> = <<B as Blocks>::Terms as Terms>::Origin;
type Row<B> = <<B as Blocks>::Terms as Terms>::Row;
type Key<B> = <<B as Blocks>::Terms as Terms>::Key;
type Entry<B> = <<B as Blocks>::Terms as Terms>::Entry;
