//! The smallest committer: one thread reads what each request builds on, merges those that wait into one
//! commit, and answers all. It stands for the store's own one, so that each engine is judged in its place.

use crate::candidate::{Candidate, Change, Outcome, Snapshot};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

const MOST_IN_GROUP: usize = 256;

pub(crate) struct Request {
    /// The key that is read to validate the request.
    condition: Vec<u8>,
    changes: Vec<Change>,
    answer: SyncSender<()>,
}

#[derive(Clone)]
pub(crate) struct Queue(SyncSender<Request>);

impl Queue {
    pub(crate) fn commit(&self, condition: Vec<u8>, changes: Vec<Change>) -> Outcome {
        let (answer, answered) = sync_channel(1);
        self.0.send(Request { condition, changes, answer })?;
        Ok(answered.recv()?)
    }
}

/// The thread ends when the last queue is dropped.
pub(crate) fn start<C: Candidate>(engine: Arc<C>) -> (Queue, JoinHandle<Outcome>) {
    let (queue, requests) = sync_channel(1024);
    (Queue(queue), std::thread::spawn(move || run(&*engine, &requests)))
}

fn run<C: Candidate>(engine: &C, requests: &Receiver<Request>) -> Outcome {
    while let Ok(first) = requests.recv() {
        let waiting = requests.try_iter().take(MOST_IN_GROUP - 1);
        let group: Vec<Request> = std::iter::once(first).chain(waiting).collect();
        let snapshot = engine.snapshot()?;
        for request in &group {
            snapshot.get(&request.condition)?;
        }
        let (changes, answers): (Vec<_>, Vec<_>) =
            group.into_iter().map(|request| (request.changes, request.answer)).unzip();
        engine.commit(changes.into_iter().flatten().collect())?;
        for answer in answers {
            let _ = answer.send(());
        }
    }
    Ok(())
}
