//! A driver to which things happen: requests and answers get lost, come late, twice, or in another order.

use super::{Batch, Driver, DriverError, Isolation, Reply, Written};
use crate::source::{Given, Wanted};
use crate::{Changes, Schema};
use std::sync::{Mutex, PoisonError};
use std::{fmt, mem};

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfortune {
    Nothing,
    /// The request never arrives.
    RequestLost,
    /// It is done, and the answer never arrives.
    AnswerLost,
    /// It arrives after so many later requests; nobody waits for its answer.
    Late(u32),
    /// It arrives twice.
    Twice,
    /// A part of it is done, on a store where only blocks are atomic; the answer never arrives. Elsewhere the answer
    /// is lost and all of it is done.
    Half,
    /// The store says that something has changed which has not.
    Conflict,
    /// The store does nothing, and says so.
    Unavailable,
}

type Fate = dyn Fn(&Batch) -> Misfortune + Send + Sync;

/// Some driver with faults between it and the engine.
pub struct Faulty<D> {
    driver: D,
    fate: Box<Fate>,
    /// What arrives later, with how many requests it waits for.
    late: Mutex<Vec<(u32, Batch)>>,
}

impl<D> fmt::Debug for Faulty<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty").finish_non_exhaustive()
    }
}

impl<D: Driver> Faulty<D> {
    /// Asks what happens to each batch.
    pub fn new(driver: D, fate: impl Fn(&Batch) -> Misfortune + Send + Sync + 'static) -> Self {
        Self { driver, fate: Box::new(fate), late: Mutex::default() }
    }

    pub fn driver(&self) -> &D {
        &self.driver
    }

    /// Takes out what arrives now.
    fn due(&self) -> Vec<Batch> {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        for (wait, batch) in mem::take(&mut *late) {
            match wait.checked_sub(1) {
                Some(wait) => late.push((wait, batch)),
                None => due.push(batch),
            }
        }
        due
    }

    /// Lets everything arrive that is still on its way.
    pub async fn quiet(&self, schema: &Schema) -> Result<(), DriverError> {
        loop {
            let late = mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
            if late.is_empty() {
                return Ok(());
            }
            for (_, batch) in late {
                self.driver.write(schema, &batch).await?;
            }
        }
    }
}

impl<D: Driver> Driver for Faulty<D> {
    fn isolation(&self) -> Isolation {
        self.driver.isolation()
    }

    fn read<'r>(&'r self, schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        Box::pin(async move {
            for batch in self.due() {
                self.driver.write(schema, &batch).await?;
            }
            self.driver.read(schema, wanted).await
        })
    }

    fn write<'r>(&'r self, schema: &'r Schema, batch: &'r Batch) -> Reply<'r, Written> {
        Box::pin(async move {
            for batch in self.due() {
                self.driver.write(schema, &batch).await?;
            }
            match (self.fate)(batch) {
                Misfortune::Nothing => self.driver.write(schema, batch).await,
                Misfortune::RequestLost => Err(DriverError::Lost),
                Misfortune::AnswerLost => {
                    self.driver.write(schema, batch).await?;
                    Err(DriverError::Lost)
                }
                Misfortune::Late(requests) => {
                    let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
                    late.push((requests, batch.clone()));
                    Err(DriverError::Lost)
                }
                Misfortune::Twice => {
                    let first = self.driver.write(schema, batch).await?;
                    self.driver.write(schema, batch).await?;
                    Ok(first)
                }
                Misfortune::Half => {
                    let part = match self.driver.isolation() {
                        Isolation::Blocks => half(batch),
                        Isolation::Ranges | Isolation::Records | Isolation::Snapshots => batch.clone(),
                    };
                    self.driver.write(schema, &part).await?;
                    Err(DriverError::Lost)
                }
                Misfortune::Conflict => Ok(Written::Moved),
                Misfortune::Unavailable => Err(DriverError::Unavailable("it is out of service".to_owned())),
            }
        })
    }
}

/// A batch of which only the first block is left.
fn half(batch: &Batch) -> Batch {
    let blocks = batch.changes.blocks.iter().take(1);
    let blocks = blocks.map(|(aggregate, after)| (aggregate.clone(), after.clone())).collect();
    Batch { changes: Changes { blocks, ..Changes::default() }, ..batch.clone() }
}
