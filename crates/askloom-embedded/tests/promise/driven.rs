//! The same case through a driver: nothing is known before it is asked for, and requests may get lost, late or doubled.

use crate::case::{Case, Failure};
use crate::random::Random;
use crate::steps::{Answer, Doing, done};
use askloom_embedded::KeyedSchema;
use askloom_engine::driver::{
    Batch, Driver, Engine, Faulty, Isolation, MemoryDriver, Misfortune, NoClock, Operation, Reply, Written,
};
use askloom_engine::execute::{self, Arguments, Continuation, PreparedQuery};
use askloom_engine::source::{EntryAt, Given, Records, Source, Wanted, every};
use askloom_engine::write::{self, Expect};
use askloom_engine::{RunError, Schema};
use askloom_model::{CollectionId, Identity, Role, Value, Write};
use askloom_oracle::{Inputs, Parameters};
use askloom_plan::layout::Entry;
use askloom_plan::planner;
use askloom_plan::program::{self, How, Read};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use uuid::Uuid;

/// How many round trips of reads one attempt of a write may take: the longest chain of things that each follow from the
/// one before, far below the number of things that are read.
const MOST_ROUNDS: usize = 24;

/// A case's data on a driver.
pub(crate) struct Driven {
    engine: Engine<'static>,
    driver: Arc<Watched>,
    writes: u64,
}

/// The driver below, with faults or without.
enum Below {
    Plain(MemoryDriver),
    Faulty(Faulty<MemoryDriver>),
}

struct Watched {
    below: Below,
    /// Round trips of reads since a write was last begun or sent, whether it arrived or not.
    rounds: AtomicUsize,
    /// The largest number of them since a write was begun.
    most_rounds: AtomicUsize,
}

impl Watched {
    fn memory(&self) -> &MemoryDriver {
        match &self.below {
            Below::Plain(memory) => memory,
            Below::Faulty(faulty) => faulty.driver(),
        }
    }

    fn driver(&self) -> &dyn Driver {
        match &self.below {
            Below::Plain(memory) => memory,
            Below::Faulty(faulty) => faulty,
        }
    }
}

impl Driver for Watched {
    fn isolation(&self) -> Isolation {
        self.driver().isolation()
    }

    fn read<'r>(&'r self, schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        assert!(!wanted.is_empty(), "a round trip asks for something");
        let rounds = self.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_rounds.fetch_max(rounds, Ordering::Relaxed);
        self.driver().read(schema, wanted)
    }

    fn write<'r>(&'r self, schema: &'r Schema, batch: &'r Batch) -> Reply<'r, Written> {
        self.rounds.store(0, Ordering::Relaxed);
        self.driver().write(schema, batch)
    }
}

/// A future that never waits for anything but itself.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return answer;
        }
    }
}

/// What happens to each batch: most of the time nothing, and never so often that a write gives up.
fn fate(seed: u64) -> impl Fn(&Batch) -> Misfortune + Send + Sync {
    let state = AtomicU64::new(seed);
    move |batch| {
        let n = state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (n ^ (n >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let drawn = (mixed ^ (mixed >> 29)) % 20;
        match drawn {
            0..=8 => Misfortune::Nothing,
            _often if batch.attempt > 20 => Misfortune::Nothing,
            9 | 10 => Misfortune::RequestLost,
            11 | 12 => Misfortune::AnswerLost,
            13..=15 => Misfortune::Late((mixed >> 40) as u32 % 12),
            16 => Misfortune::Twice,
            17 => Misfortune::Half,
            18 => Misfortune::Conflict,
            _rest => Misfortune::Unavailable,
        }
    }
}

impl Driven {
    pub(crate) fn new(schema: &KeyedSchema, random: &Random) -> Self {
        let memory = MemoryDriver::new(Isolation::Ranges);
        let below = match random.percent(50) {
            true => Below::Plain(memory),
            false => Below::Faulty(Faulty::new(memory, fate(random.below(1 << 40) as u64))),
        };
        let driver =
            Arc::new(Watched { below, rounds: AtomicUsize::default(), most_rounds: AtomicUsize::default() });
        let costing = askloom_target::embedded::costing();
        let schema = Schema::new(schema.model.clone(), schema.design.clone(), costing);
        let engine = Engine::new(Arc::clone(&driver) as Arc<dyn Driver>, Arc::new(schema), Box::new(NoClock));
        Self { engine, driver, writes: 0 }
    }

    /// The write through the engine.
    pub(crate) fn give(&mut self, doing: &Doing, inputs: &Inputs) -> Result<Answer, RunError> {
        self.writes += 1;
        let id = Some(Uuid::from_u128(u128::from(self.writes)));
        let inputs = write::Inputs { now: inputs.now, uuids: inputs.uuids.clone(), id };
        let engine = &self.engine;
        self.driver.rounds.store(0, Ordering::Relaxed);
        self.driver.most_rounds.store(0, Ordering::Relaxed);
        let given = match doing {
            Doing::Load(_) => Ok(done(Vec::new())),
            Doing::Row(record) => at_once(engine.load(record, &inputs)).map(|_| done(vec![1])),
            Doing::Store(record) => {
                at_once(engine.put(record, Expect::Anything, &inputs)).map(|_| done(vec![1]))
            }
            Doing::Delete(root, identity) => {
                at_once(engine.delete(*root, identity, &inputs)).map(|gone| done(vec![u64::from(gone)]))
            }
            Doing::Statement(index, arguments) => {
                let write = &engine.schema().model.workload.writes[*index];
                let arguments: Arguments = arguments.clone().into_iter().collect();
                at_once(engine.write(write, &arguments, &inputs)).map(Answer::of)
            }
        };
        let log = self.driver.memory().take_log();
        // Nothing is asked for bit by bit.
        let rounds = self.driver.most_rounds.load(Ordering::Relaxed);
        assert!(rounds <= MOST_ROUNDS, "an attempt of a write takes {rounds} round trips to read");
        if let Doing::Statement(index, arguments) = doing {
            let write = &engine.schema().model.workload.writes[*index];
            self.says(write, arguments, &log);
        }
        given
    }

    /// All that a write reads and changes is an instance of its program.
    fn says(&self, write: &Write, arguments: &Parameters, log: &[Operation]) {
        let schema = self.engine.schema();
        let costing = askloom_target::embedded::costing();
        let plan = planner::write::plan(&costing, &schema.model, &schema.design, write).unwrap();
        let given = arguments.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let program = program::write(schema.layout(), write, &plan, Some(&given));
        // Nothing is printed of these forms.
        if program.missing.is_some() {
            return;
        }
        // A write that was late may arrive beside it.
        let id = Uuid::from_u128(u128::from(self.writes));
        let own = log.iter().filter(|operation| match operation {
            Operation::Read(_) => true,
            Operation::Write(batch) => batch.write == id,
        });
        for operation in own {
            if let Some(what) = operation.beyond(schema, &program) {
                let (name, steps) = (&write.header.name, &program.steps);
                panic!("the program of {name} does not say that {what}; its steps are {steps:#?}");
            }
        }
    }

    /// The answer of a query by a program.
    pub(crate) fn run(
        &self,
        prepared: &PreparedQuery,
        arguments: &Arguments,
        now: jiff::Timestamp,
        after: Option<&Continuation>,
    ) -> Result<execute::Answer, RunError> {
        let answer = at_once(self.engine.run(prepared, arguments, now, after));
        let schema = self.engine.schema();
        let log = self.driver.memory().take_log();
        // Where a write that was late arrives beside it, an entry may be gone that an earlier read has named: then the
        // aggregate is asked.
        let alone = log.iter().all(|operation| matches!(operation, Operation::Read(_)));
        for operation in log.iter().filter(|_| alone) {
            if let Some(what) = operation.beyond(schema, &prepared.program) {
                let steps = &prepared.program.steps;
                panic!("the program of a query does not say that {what}; its steps are {steps:#?}");
            }
        }
        answer
    }
}

impl Case {
    /// Whether the driver holds what the keyspace holds, once nothing is on its way.
    pub(crate) fn check_driven(&self, source: &dyn Source) -> Result<(), Failure> {
        let Some(driven) = &self.driven else { return Ok(()) };
        if let Below::Faulty(faulty) = &driven.driver.below {
            at_once(faulty.quiet(driven.engine.schema())).map_err(|e| self.fail("driver", e.to_string()))?;
        }
        driven.driver.memory().look(driven.engine.schema(), |memory| {
            for (id, collection) in self.schema.design.collections.iter() {
                let (held, meant) = match collection.role {
                    Role::Carried => (carried(memory, id), carried(source, id)),
                    Role::Master | Role::Copy | Role::Index => (held(memory, id), held(source, id)),
                };
                if held != meant {
                    let kind = if collection.role == Role::Master { "master" } else { "copy" };
                    let text = format!("the {kind} {} holds {held:?}, and should {meant:?}", collection.name);
                    return Err(self.fail("driver", text));
                }
            }
            Ok(())
        })
    }
}

/// What the records of a master carry, each by itself.
fn carried(source: &dyn Source, id: CollectionId) -> Vec<(Identity, Value, Vec<Entry>)> {
    let aggregates = held(source, source.schema().design.stored_in(id)).into_iter();
    let one = |(identity, ..): (Identity, Value, Vec<Entry>)| {
        let itself = [Value::Reference(identity.clone())];
        let at = EntryAt { collection: id, block: &itself, node: None, row: &itself };
        (identity, Value::Null, source.entry(&at).unwrap().into_iter().collect())
    };
    aggregates.map(one).collect()
}

/// All that is in a collection, without versions: those of a write that was tried again have grown.
fn held(source: &dyn Source, id: CollectionId) -> Vec<(Identity, Value, Vec<Entry>)> {
    let mut all = Vec::new();
    every(source, &Read::new(id, How::All), |records| {
        match records {
            Records::Entries(entries) => {
                all.push((Vec::new(), Value::Null, Arc::unwrap_or_clone(entries)));
            }
            Records::Aggregates(aggregates) => {
                let record = |(id, stored): (Identity, Arc<askloom_engine::Stored>)| {
                    (id, Value::Record(Box::new(stored.record.clone())), Vec::new())
                };
                all.extend(Arc::unwrap_or_clone(aggregates).into_iter().map(record));
            }
        }
        Ok(true)
    })
    .unwrap();
    all
}
