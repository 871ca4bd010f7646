//! The one writer. It takes the requests that wait, validates each against the state that those before it leave,
//! merges them into one group, makes the group durable with one sync, publishes it to readers and answers.
//!
//! Order of a group: draft in the tree, record in the log, sync, commit of the draft, publication, answers. So
//! no reader ever sees what a crash could take back, and every answer is about what readers see.
//!
//! A group that finds the log full goes into the tree durably instead, and empties the log by it. The first
//! failure ends the committer: what is on the medium is then for the next open to find out.

use super::Error;
use super::batch::{Batch, Condition, Conflict, Outcome};
use super::handle::{Durability, Opened};
use super::log::{Log, Record};
use super::snapshot::{self, Snapshot, View};
use super::tree::{self, Draft, Group};
use async_channel::{Receiver, Sender};
use redb::ReadableTable;
use std::ops::Bound;
use std::sync::Arc;

/// The most that is merged: enough to share a sync, and little enough for the first in line not to wait for all.
const MOST_REQUESTS: usize = 1024;
const MOST_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub(super) struct Request {
    pub(super) batch: Batch,
    pub(super) bytes: usize,
    /// Holds one answer; nobody may be waiting for it any more.
    pub(super) answer: Sender<Result<Outcome, Error>>,
}

pub(super) struct Committer {
    pub(super) opened: Arc<Opened>,
    pub(super) requests: Receiver<Request>,
    pub(super) log: Log,
    pub(super) position: u64,
    pub(super) durability: Durability,
}

impl Committer {
    /// Until the queue is closed and empty. What is left in the log then goes into the tree.
    pub(super) fn run(mut self) -> Result<(), Error> {
        let mut record = Record::default();
        while let Some(group) = self.next_group() {
            let result = self.commit(&group, &mut record);
            let failed = result.as_ref().err().cloned();
            answer(group, result);
            if let Some(error) = failed {
                self.refuse_the_rest();
                return Err(error);
            }
        }
        if self.log.is_empty() { Ok(()) } else { self.checkpoint(self.opened.tree.begin()?, self.position) }
    }

    /// Waits for one request and takes what else is there.
    fn next_group(&self) -> Option<Vec<Request>> {
        let first = self.requests.recv_blocking().ok()?;
        let mut bytes = first.bytes;
        let mut group = vec![first];
        while group.len() < MOST_REQUESTS && bytes < MOST_BYTES {
            let Ok(next) = self.requests.try_recv() else { break };
            bytes += next.bytes;
            group.push(next);
        }
        Some(group)
    }

    fn commit(&mut self, requests: &[Request], record: &mut Record) -> Result<Vec<Outcome>, Error> {
        record.clear();
        let group = self.opened.tree.begin()?;
        let mut draft = group.draft()?;
        let mut position = self.position;
        let mut outcomes = Vec::with_capacity(requests.len());
        for Request { batch, .. } in requests {
            let conflict = self.validate(batch, &draft, position)?;
            outcomes.push(match conflict {
                Some(conflict) => Outcome::Conflict(conflict),
                None => {
                    position += u64::from(!batch.changes.is_empty());
                    write(batch, &mut draft, record)?;
                    Outcome::Committed { position }
                }
            });
        }
        drop(draft);
        if !record.is_empty() {
            self.persist(group, record, position)?;
        }
        Ok(outcomes)
    }

    fn persist(&mut self, group: Group, record: &mut Record, position: u64) -> Result<(), Error> {
        if !self.log.has_room(record) {
            return self.checkpoint(group, position);
        }
        self.log.append(record, position)?;
        match self.durability {
            Durability::Process => {}
            Durability::Power => self.log.sync()?,
        }
        group.commit_to_memory()?;
        self.publish(position)
    }

    fn checkpoint(&mut self, group: Group, position: u64) -> Result<(), Error> {
        group.checkpoint(self.log.next_mark(position))?;
        self.log.restart();
        self.publish(position)
    }

    fn publish(&mut self, position: u64) -> Result<(), Error> {
        self.position = position;
        self.opened.publish(View { table: self.opened.tree.view()?, position });
        Ok(())
    }

    /// The first condition that does not hold at `position`, the state that `draft` shows.
    fn validate(&self, batch: &Batch, draft: &Draft<'_>, position: u64) -> Result<Option<Conflict>, Error> {
        for (number, condition) in batch.conditions.iter().enumerate() {
            let found = match condition.key() {
                Some(key) => draft.get(key)?,
                None => None,
            };
            let found = found.as_ref().map(|found| found.value());
            if !self.holds(condition, found, draft, position)? {
                return Ok(Some(Conflict { condition: number, found: found.map(<[u8]>::to_vec) }));
            }
        }
        Ok(None)
    }

    fn holds(
        &self,
        condition: &Condition,
        found: Option<&[u8]>,
        draft: &Draft<'_>,
        position: u64,
    ) -> Result<bool, Error> {
        Ok(match condition {
            Condition::Absent { .. } => found.is_none(),
            Condition::Present { .. } => found.is_some(),
            Condition::Equals { value, .. } => found == Some(value),
            Condition::StartsWith { start, .. } => found.is_some_and(|found| found.starts_with(start)),
            Condition::Unchanged { since, .. } if self.is_now(since, position) => true,
            Condition::Unchanged { key, since } => since.get(key)?.as_deref() == found,
            Condition::UnchangedRange { since, .. } if self.is_now(since, position) => true,
            Condition::UnchangedRange { range: (start, end), since } => {
                same(draft, since, (start.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice)))?
            }
        })
    }

    /// Whether nothing at all was written since, here or in another store.
    fn is_now(&self, since: &Snapshot, position: u64) -> bool {
        since.position() == position && since.is_of(&self.opened)
    }

    fn refuse_the_rest(&self) {
        self.requests.close();
        while let Ok(request) = self.requests.try_recv() {
            let _ = request.answer.try_send(Err(Error::Closed));
        }
    }
}

fn write(batch: &Batch, draft: &mut Draft<'_>, record: &mut Record) -> Result<(), Error> {
    for change in &batch.changes {
        tree::apply(draft, change)?;
        record.push(change);
    }
    Ok(())
}

fn same(draft: &Draft<'_>, since: &Snapshot, bounds: (Bound<&[u8]>, Bound<&[u8]>)) -> Result<bool, Error> {
    let mut now = snapshot::range(draft, bounds)?;
    for before in snapshot::range(since.table(), bounds)? {
        let ((old_key, old_value), Some(now)) = (before?, now.next()) else { return Ok(false) };
        let (key, value) = now?;
        if key.value() != old_key.value() || value.value() != old_value.value() {
            return Ok(false);
        }
    }
    Ok(now.next().is_none())
}

/// Whoever stopped waiting has given up the answer, not the write.
fn answer(group: Vec<Request>, result: Result<Vec<Outcome>, Error>) {
    match result {
        Ok(outcomes) => {
            for (request, outcome) in group.into_iter().zip(outcomes) {
                let _ = request.answer.try_send(Ok(outcome));
            }
        }
        Err(error) => {
            for request in group {
                let _ = request.answer.try_send(Err(error.clone()));
            }
        }
    }
}
