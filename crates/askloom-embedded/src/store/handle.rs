//! The handle: opening and recovery, the queue's entrance, the published state, the end.

use super::Error;
use super::batch::{Batch, Outcome};
use super::committer::{Committer, Request};
use super::disk::{Disk, Medium};
use super::folder::{self, Claim};
use super::log::{self, Log};
use super::snapshot::{Snapshot, View};
use super::tree::{self, Mark, Tree};
use async_channel::{Receiver, Sender};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;

/// What an acknowledged batch survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, however it comes. A loss of power may take back the last batches, never one
    /// without all after it, and never half of one.
    Process,
    /// A loss of power too, as far as the medium keeps what it says it has synced.
    #[default]
    Power,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    pub durability: Durability,
    /// Memory for pages of the tree, in bytes; half of it may hold pages that are not yet on the medium.
    pub cache: usize,
    /// How long the log may grow, in bytes, before the tree has to catch up: a larger one writes less in total, a
    /// smaller one makes the pauses, and a reopen after a crash, shorter.
    pub log: usize,
    /// How many batches may wait for the committer before callers wait for a place.
    pub queue: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::default(), cache: 256 << 20, log: 16 << 20, queue: 1024 }
    }
}

impl Options {
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.cache = bytes;
        self
    }

    #[must_use]
    pub fn log(mut self, bytes: usize) -> Self {
        self.log = bytes;
        self
    }

    #[must_use]
    pub fn queue(mut self, batches: usize) -> Self {
        self.queue = batches;
        self
    }
}

/// An open store. Threads share it by reference; dropping it closes it.
pub struct Store {
    opened: Arc<Opened>,
    queue: Sender<Request>,
    committer: Option<JoinHandle<Result<(), Error>>>,
}

/// What lives until the last snapshot is gone. Dropped in this order: readers, the tree, the claim on the folder.
pub(super) struct Opened {
    view: RwLock<Arc<View>>,
    pub(super) tree: Tree,
    /// None where a test has put its own media underneath.
    _claim: Option<Claim>,
}

impl Opened {
    pub(super) fn view(&self) -> Arc<View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn publish(&self, view: View) {
        let before = {
            let mut place = self.view.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *place, Arc::new(view))
        };
        // Outside the lock: the last reader of a state gives its pages back, which takes a while.
        drop(before);
    }
}

impl Store {
    /// Opens the store in `folder`; an absent or empty folder becomes one.
    pub fn open(folder: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let claim = folder::claim(folder)?;
        let disk = Disk::open(folder)?;
        // redb checks its header and trusts its pages: one that is broken in the right place makes it panic.
        let opened = catch_unwind(AssertUnwindSafe(|| Self::on(disk, Some(claim), options)));
        opened.unwrap_or_else(|_| Err(Error::corrupted("its tree cannot be read")))
    }

    pub(super) fn on(disk: Disk, mut claim: Option<Claim>, options: &Options) -> Result<Self, Error> {
        let (tree, found) = Tree::open(disk.tree, options.cache)?;
        let now = recover(&tree, found, &disk.log, options.log)?;
        let log = Log::start(disk.log, now)?;
        claim.as_mut().map_or(Ok(()), Claim::finish)?;
        let view = View { table: tree.view()?, position: now.position };
        let opened = Arc::new(Opened { view: RwLock::new(Arc::new(view)), tree, _claim: claim });
        let (queue, requests) = async_channel::bounded(options.queue.max(1));
        let durability = options.durability;
        let committer =
            Committer { opened: opened.clone(), requests, log, position: now.position, durability };
        let committer = std::thread::Builder::new()
            .name("askloom committer".to_owned())
            .spawn(move || committer.run())?;
        Ok(Self { opened, queue, committer: Some(committer) })
    }

    /// Applies the batch, if its conditions hold, and waits until it is as durable as was asked for.
    pub fn commit(&self, batch: Batch) -> Result<Outcome, Error> {
        let (request, answer) = request(batch)?;
        self.send(request)?;
        answer.recv_blocking().unwrap_or_else(|_| Err(Error::unanswered()))
    }

    pub(super) fn send(&self, request: Request) -> Result<(), Error> {
        self.queue.send_blocking(request).map_err(|_| Error::Closed)
    }

    /// The same for asynchronous callers, of any runtime. The batch is queued when the future is polled for the
    /// first time, or later if the queue is full. From then on, dropping the future gives up the answer, not
    /// the write.
    pub fn submit(&self, batch: Batch) -> impl Future<Output = Result<Outcome, Error>> + Send + use<> {
        let queue = self.queue.clone();
        async move {
            let (request, answer) = request(batch)?;
            queue.send(request).await.map_err(|_| Error::Closed)?;
            answer.recv().await.unwrap_or_else(|_| Err(Error::unanswered()))
        }
    }

    /// The state with every batch that has been answered.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.opened.clone())
    }

    /// Takes no more batches, commits those that wait, brings the tree up to date and ends. Says what dropping
    /// the store would keep to itself.
    pub fn close(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        self.queue.close();
        let Some(committer) = self.committer.take() else { return Ok(()) };
        committer.join().unwrap_or_else(|_| Err(Error::unanswered()))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("position", &self.opened.view().position).finish_non_exhaustive()
    }
}

pub(super) fn request(batch: Batch) -> Result<(Request, Receiver<Result<Outcome, Error>>), Error> {
    let bytes = batch.measure()?;
    let (answer, answered) = async_channel::bounded(1);
    Ok((Request { batch, bytes, answer }, answered))
}

/// Brings the tree up to the end of the log. Always ends in a checkpoint with an epoch of its own, even if the log
/// holds nothing: a record that was torn now must not be continued by what comes.
fn recover(tree: &Tree, found: Mark, log: &Medium, capacity: usize) -> Result<Mark, Error> {
    if log.len()? < found.capacity {
        return Err(Error::corrupted("the log is shorter than it was made"));
    }
    let capacity = log::reserve(log, capacity)?;
    let group = tree.begin()?;
    let mut draft = group.draft()?;
    let mut position = found.position;
    log::replay(log, found.epoch, |record| {
        position = record.position;
        record.changes.iter().try_for_each(|change| tree::apply(&mut draft, change))
    })?;
    drop(draft);
    let now = Mark { epoch: found.epoch + 1, position, capacity };
    group.checkpoint(now)?;
    Ok(now)
}
