//! Statements on any driver: evaluation goes as far as it can, then all that it lacks is asked for at once.

use super::{Batch, Check, Driver, DriverError, Reply, Written};
use crate::execute::{Answer, Arguments, Continuation, PreparedQuery, Progress};
use crate::source::{Fetched, Given, Source, Wanted};
use crate::write::{self, Expect, Inputs, Outcome, Phase};
use crate::{Aggregate, Changes, RunError, Schema, Stop};
use askloom_model::{ClassId, Identity, Query, Record, Write};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How often a write that others overtake is tried again before it gives up.
const MOST_ATTEMPTS: u32 = 64;

/// How often a request that was not done is sent again.
const MOST_RETRIES: u32 = 8;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Where time comes from: engines run where threads sleep, where tasks do, and where nothing waits.
pub trait Clock: Send + Sync {
    /// Waits for a while.
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A clock that never waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoClock;

impl Clock for NoClock {
    fn pause(&self, _time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

/// A model and its design on a store. A driver may borrow what it speaks through.
pub struct Engine<'d> {
    driver: Arc<dyn Driver + 'd>,
    schema: Arc<Schema>,
    clock: Box<dyn Clock>,
}

impl fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("isolation", &self.driver.isolation()).finish_non_exhaustive()
    }
}

impl<'d> Engine<'d> {
    #[must_use]
    pub fn new(driver: Arc<dyn Driver + 'd>, schema: Arc<Schema>, clock: Box<dyn Clock>) -> Self {
        Self { driver, schema, clock }
    }

    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Runs a query by its cheapest plan.
    pub async fn query(
        &self,
        query: &Query,
        arguments: &Arguments,
        now: jiff::Timestamp,
        after: Option<&Continuation>,
    ) -> Result<Answer, RunError> {
        let prepared = self.schema.prepared(query)?;
        self.run(&prepared, arguments, now, after).await
    }

    /// Runs a query by a program.
    pub async fn run(
        &self,
        prepared: &PreparedQuery,
        arguments: &Arguments,
        now: jiff::Timestamp,
        after: Option<&Continuation>,
    ) -> Result<Answer, RunError> {
        let mut evaluation = prepared.start(&self.schema, arguments, now, after)?;
        let mut fetched = Fetched::new(&self.schema);
        loop {
            match evaluation.step(&fetched) {
                Ok(Progress::More) => fetched.forget(),
                Ok(Progress::Done) => break,
                Err(Stop::Missing) => self.fetch(&mut fetched).await?,
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        loop {
            match evaluation.answer(&fetched) {
                Ok(answer) => return Ok(answer),
                Err(Stop::Missing) => self.fetch(&mut fetched).await?,
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
    }

    /// A write of the model, with every copy kept right.
    pub async fn write(
        &self,
        write: &Write,
        arguments: &Arguments,
        inputs: &Inputs,
    ) -> Result<Outcome, RunError> {
        self.commit(inputs, |source| write::statement(source, write, arguments, inputs)).await
    }

    /// Stores a whole aggregate.
    pub async fn put(&self, record: &Record, expect: Expect, inputs: &Inputs) -> Result<Identity, RunError> {
        self.commit(inputs, |source| write::store(source, record.clone(), expect, inputs)).await
    }

    /// Stores a new aggregate as a load does.
    pub async fn load(&self, record: &Record, inputs: &Inputs) -> Result<Identity, RunError> {
        self.commit(inputs, |source| write::load(source, record.clone(), Phase::Loading, inputs)).await
    }

    /// Deletes an aggregate. False if there was none.
    pub async fn delete(
        &self,
        class: ClassId,
        identity: &Identity,
        inputs: &Inputs,
    ) -> Result<bool, RunError> {
        self.commit(inputs, |source| write::delete(source, class, identity, inputs)).await
    }

    /// Works changes out and writes them, again and again as long as others are faster.
    async fn commit<T>(
        &self,
        inputs: &Inputs,
        mut prepare: impl FnMut(&dyn Source) -> Result<(Changes, T), Stop>,
    ) -> Result<T, RunError> {
        let write = inputs.id.ok_or_else(|| RunError::Store("a write on a driver has an id".to_owned()))?;
        // Every attempt whose answer was lost may still arrive: what it writes, and what it would have answered.
        let mut lost: Vec<(Changes, T)> = Vec::new();
        for attempt in 0..MOST_ATTEMPTS {
            let mut fetched = Fetched::new(&self.schema);
            let prepared = loop {
                match prepare(&fetched) {
                    Ok(prepared) => break Ok(prepared),
                    Err(Stop::Missing) => self.fetch(&mut fetched).await?,
                    Err(Stop::Failed(error)) => break Err(error),
                }
            };
            // One may have arrived at any time until now: then there is nothing left to do, or it is in its own way.
            let unwritten = self.blocks(&lost).await?;
            if let Some(arrived) = arrived(write, &lost, &unwritten) {
                return Ok(lost.swap_remove(arrived).1);
            }
            let (changes, answer) = prepared?;
            if changes.is_empty() {
                return Ok(answer);
            }
            // None may arrive before this one either.
            let mut checks = fetched.into_checks();
            checks.extend(unwritten);
            let batch = Batch { write, attempt, checks, changes };
            match self.send(&batch).await {
                Ok(Written::Done) => return Ok(answer),
                Ok(Written::Moved) => self.clock.pause(pause(attempt)).await,
                // If it was not done, it is worked out anew; if it arrives later, what it was worked out from has
                // changed by then.
                Err(DriverError::Lost) => lost.push((batch.changes, answer)),
                Err(error) => return Err(failed(error)),
            }
        }
        Err(if lost.is_empty() {
            RunError::Conflict
        } else {
            RunError::Unknown(DriverError::Lost.to_string())
        })
    }

    /// The blocks that some attempts write, as they are now.
    async fn blocks<T>(&self, attempts: &[(Changes, T)]) -> Result<Vec<Check>, RunError> {
        let blocks: BTreeSet<&Aggregate> =
            attempts.iter().flat_map(|(changes, _)| changes.blocks.keys()).collect();
        if blocks.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<Wanted> =
            blocks.into_iter().map(|(root, id)| Wanted::Block(*root, id.clone())).collect();
        let given = self.patiently(|| self.driver.read(&self.schema, &wanted)).await.map_err(failed)?;
        Ok(wanted.into_iter().zip(given).map(|(of, seen)| Check { of, seen }).collect())
    }

    /// Asks for all that is lacking, in one batch.
    async fn fetch(&self, fetched: &mut Fetched<'_>) -> Result<(), RunError> {
        let wanted = fetched.take_wanted();
        let given = self.patiently(|| self.driver.read(&self.schema, &wanted)).await.map_err(failed)?;
        for (wanted, given) in wanted.into_iter().zip(given) {
            fetched.take(wanted, given);
        }
        Ok(())
    }

    async fn send(&self, batch: &Batch) -> Result<Written, DriverError> {
        self.patiently(|| self.driver.write(&self.schema, batch)).await
    }

    /// Sends a request again that was surely not done.
    async fn patiently<'r, T>(&self, send: impl Fn() -> Reply<'r, T>) -> Result<T, DriverError> {
        let mut tried = 0;
        loop {
            let wait = match send().await {
                Err(DriverError::Unavailable(_)) if tried < MOST_RETRIES => pause(tried),
                Err(DriverError::Throttled(wait)) if tried < MOST_RETRIES => wait.unwrap_or(pause(tried)),
                other => return other,
            };
            tried += 1;
            self.clock.pause(wait).await;
        }
    }
}

/// Which of some attempts of a write was done, by what the blocks that they write remember: the one with the fewest blocks
/// that do not know of it. A block forgets a write after many others.
fn arrived<T>(write: Uuid, attempts: &[(Changes, T)], blocks: &[Check]) -> Option<usize> {
    let remembers = |check: &&Check| match &check.seen {
        Given::Block(block) => block.system().is_some_and(|system| system.writes.contains(&write)),
        Given::Page(_) | Given::TimeBuckets(_) | Given::Entry(_) => false,
    };
    let knowing: Vec<&Wanted> = blocks.iter().filter(remembers).map(|check| &check.of).collect();
    let is_known = |(root, id): &&Aggregate| knowing.contains(&&Wanted::Block(*root, id.clone()));
    let possible = attempts.iter().enumerate().filter_map(|(at, (changes, _))| {
        let known = changes.blocks.keys().filter(is_known).count();
        (known > 0).then_some((changes.blocks.len() - known, Reverse(known), Reverse(at)))
    });
    possible.min().map(|(_, _, Reverse(at))| at)
}

fn failed(error: DriverError) -> RunError {
    match error {
        DriverError::Lost => RunError::Unknown(error.to_string()),
        DriverError::TooLarge(what) => RunError::TooLarge(what),
        DriverError::Drift(what) => RunError::Corrupted(what),
        DriverError::Unavailable(_) | DriverError::Throttled(_) | DriverError::Refused(_) => {
            RunError::Store(error.to_string())
        }
    }
}

/// Grows with the attempts.
fn pause(attempt: u32) -> Duration {
    Duration::from_micros(200).saturating_mul(1 << attempt.min(16)).min(LONGEST_PAUSE)
}
