//! Blocks that let the scheduler decide who is next, before each operation.

use askloom_engine::intents::{Anchor, Block, Blocks, Hint, Lost, Revision, Swap, Terms};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;

pub(super) struct Stepped<B>(pub(super) B);

/// Lets others go first, once.
async fn turn() {
    let mut waited = false;
    poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

type Id<B> = <<B as Blocks>::Terms as Terms>::Id;
type Origin<B> = <<B as Blocks>::Terms as Terms>::Origin;
type Row<B> = <<B as Blocks>::Terms as Terms>::Row;
type Key<B> = <<B as Blocks>::Terms as Terms>::Key;
type Entry<B> = <<B as Blocks>::Terms as Terms>::Entry;

impl<B: Blocks> Blocks for Stepped<B> {
    type Terms = B::Terms;

    async fn read(&self, id: &Id<B>) -> Result<Block<B::Terms>, Lost> {
        turn().await;
        self.0.read(id).await
    }

    async fn swap(&self, id: &Id<B>, from: Revision, to: Block<B::Terms>) -> Result<Swap, Lost> {
        turn().await;
        self.0.swap(id, from, to).await
    }

    async fn read_anchor(&self, row: &Row<B>) -> Result<Anchor<B::Terms>, Lost> {
        turn().await;
        self.0.read_anchor(row).await
    }

    async fn swap_anchor(&self, row: &Row<B>, from: u64, to: Anchor<B::Terms>) -> Result<Swap, Lost> {
        turn().await;
        self.0.swap_anchor(row, from, to).await
    }

    async fn put(&self, key: &Key<B>, stamp: u64, entry: Option<Entry<B>>) -> Result<(), Lost> {
        turn().await;
        self.0.put(key, stamp, entry).await
    }

    async fn put_referrer(
        &self,
        target: &Origin<B>,
        referrer: &Id<B>,
        stamp: u64,
        there: bool,
    ) -> Result<(), Lost> {
        turn().await;
        self.0.put_referrer(target, referrer, stamp, there).await
    }

    async fn referrers(&self, target: &Origin<B>) -> Result<BTreeSet<Id<B>>, Lost> {
        turn().await;
        self.0.referrers(target).await
    }

    async fn put_hint(&self, hint: &Hint<B::Terms>) -> Result<(), Lost> {
        turn().await;
        self.0.put_hint(hint).await
    }

    async fn drop_hint(&self, hint: &Hint<B::Terms>) -> Result<(), Lost> {
        turn().await;
        self.0.drop_hint(hint).await
    }

    async fn hints(&self, bucket: u16) -> Result<Vec<Hint<B::Terms>>, Lost> {
        turn().await;
        self.0.hints(bucket).await
    }

    fn buckets(&self) -> u16 {
        self.0.buckets()
    }
}
