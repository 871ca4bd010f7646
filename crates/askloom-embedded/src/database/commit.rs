//! From a change that was worked out on a snapshot to one that is written: if what it was worked out from has changed
//! meanwhile, it is worked out anew.

use super::Database;
use crate::driver::store_batch;
use crate::keyspace::write::Change;
use crate::store::{Error, Outcome, Snapshot};
use askloom_engine::RunError;
use std::sync::PoisonError;
use std::time::Duration;

/// How often a write that others overtake is tried again before it gives up.
const MOST_ATTEMPTS: u32 = 64;

/// After so many attempts a writer waits for its turn: of those who have lost as often, one writes at a time.
const PATIENCE: u32 = 6;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

impl Database {
    /// Prepares a change on the state of now and writes it, again and again as long as others are faster.
    pub(crate) fn commit<T>(
        &self,
        mut prepare: impl FnMut(&Snapshot) -> Result<(Change, T), RunError>,
    ) -> Result<T, RunError> {
        let mut turn = None;
        for attempt in 0..MOST_ATTEMPTS {
            if attempt == PATIENCE {
                turn = Some(self.turn.lock().unwrap_or_else(PoisonError::into_inner));
            }
            let snapshot = self.store.snapshot();
            let (change, answer) = prepare(&snapshot)?;
            if change.puts.is_empty() {
                return Ok(answer);
            }
            match self.store.commit(store_batch(change.puts, change.reads, &snapshot)).map_err(failed)? {
                Outcome::Committed { .. } => return Ok(answer),
                Outcome::Conflict(_) if turn.is_none() => pause(attempt),
                Outcome::Conflict(_) => {}
            }
        }
        Err(RunError::Conflict)
    }
}

fn failed(error: Error) -> RunError {
    match error {
        Error::Io(_) | Error::Corrupted(_) => RunError::Unknown(error.to_string()),
        other => other.into(),
    }
}

/// Waits a random while that grows with the attempts, so that those who collided do not collide again.
fn pause(attempt: u32) {
    // The hasher's keys are random: no generator is needed for this.
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), attempt);
    let longest = Duration::from_micros(50).saturating_mul(1 << attempt.min(10)).min(LONGEST_PAUSE);
    let micros = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX).max(1);
    std::thread::sleep(Duration::from_micros(random % micros));
}
