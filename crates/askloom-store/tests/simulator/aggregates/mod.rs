//! Level 3 for whole schemas: random models, writers that are interleaved and crash, a sweep; then every query must
//! answer what the oracle says, and the keyspace must hold what the definitions say.

mod data;
mod models;
mod stepped;
mod watched;

use crate::random::Random;
use crate::walks::number;
use askloom_design::{plan, simple};
use askloom_lang::{Memory as Files, check};
use askloom_model::{ClassId, Model, Record, Value};
use askloom_oracle::State;
use askloom_store::embedded::{Options, Store};
use askloom_store::execute::{self, Arguments};
use askloom_store::intents::aggregates::{OneBlock, Single, Writer};
use askloom_store::intents::{Blocks, Fault, Outcome, WriteId};
use askloom_store::write::{self, Expect};
use askloom_store::{Aggregate, Keyspace, Memory, Schema};
use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use stepped::Stepped;
use watched::Watched;

fn parse(text: &str) -> Model {
    let checked = check(&Files::default().with("m.loom", text), Path::new("m.loom"));
    let errors: Vec<_> =
        checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "the made-up model is wrong: {errors:?}\n{text}");
    checked.model
}

/// How the keys of system entries end.
const SYSTEM_END: [u8; 3] = [b'#', 0, 1];

/// What a writer was to leave: an aggregate, or none.
type Wish = (Aggregate, Option<Record>);

struct Case<'c, S> {
    schema: &'c Schema,
    store: &'c S,
    now: jiff::Timestamp,
    fault: Option<Fault>,
    wishes: BTreeMap<WriteId, Wish>,
    seen: Seen,
}

/// What a case has come across.
#[derive(Debug, Default)]
struct Seen {
    steps: usize,
    done: usize,
    crashed: usize,
    rows: usize,
}

type Running<'r> = Pin<Box<dyn Future<Output = (WriteId, Outcome)> + 'r>>;

impl<S: OneBlock> Case<'_, S> {
    fn roots(&self) -> Vec<ClassId> {
        let conceptual = &self.schema.model.conceptual;
        conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)).collect()
    }

    fn wish(&self, random: &mut Random) -> Wish {
        let conceptual = &self.schema.model.conceptual;
        let class = *random.pick(&self.roots());
        if random.one_in(4) {
            return ((class, data::identity(conceptual, class, random)), None);
        }
        let record = data::record(conceptual, class, random);
        ((class, record.identity(conceptual).unwrap()), Some(record))
    }

    /// Some writers at once, and perhaps a sweep, one operation of somebody at a time. Gives who was told that it is done.
    fn round(&mut self, random: &mut Random) -> Vec<WriteId> {
        let blocks = Stepped(Single { schema: self.schema, store: self.store });
        let writer = Writer { schema: self.schema, blocks: &blocks, now: self.now, fault: self.fault };
        let mut running: Vec<Running<'_>> = Vec::new();
        for _ in 0..1 + random.below(4) {
            let write = WriteId(self.wishes.len() as u128 + 1);
            let wish = self.wish(random);
            self.wishes.insert(write, wish.clone());
            let writer = &writer;
            running.push(Box::pin(async move {
                let done = match wish {
                    (_, Some(record)) => writer.store(record, write).await,
                    (id, None) => writer.delete(&id, write).await,
                };
                (write, done.expect("nothing is refused"))
            }));
        }
        let mut told = Vec::new();
        while !running.is_empty() {
            let chosen = random.below(running.len());
            if random.one_in(80) {
                // A crash: what it has done so far stays.
                drop(running.swap_remove(chosen));
                self.seen.crashed += 1;
                continue;
            }
            self.seen.steps += 1;
            let polled = running[chosen].as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready((write, outcome)) = polled {
                drop(running.swap_remove(chosen));
                if outcome != Outcome::Unchanged {
                    told.push(write);
                }
            }
        }
        self.seen.done += told.len();
        told
    }

    fn sweep(&self) {
        let blocks = Single { schema: self.schema, store: self.store };
        let writer = Writer { schema: self.schema, blocks: &blocks, now: self.now, fault: self.fault };
        for _ in 0..3 {
            if at_once(writer.sweep()) == Ok(0) {
                return;
            }
        }
        panic!("a sweep leaves hints");
    }

    /// The masters as they are, each as the last of its writes wanted it.
    fn masters(&self, told: &[WriteId]) -> Vec<Record> {
        let blocks = Single { schema: self.schema, store: self.store };
        let mut masters = BTreeMap::new();
        let mut seen = Vec::new();
        for (id, _) in self.wishes.values() {
            let block = at_once(blocks.read(id)).unwrap();
            assert!(block.owed.is_empty() && block.closing.is_none(), "{id:?} is not done");
            let held = block.value.map(|stored| stored.record);
            if let Some((_, last)) = block.recent.last() {
                assert_eq!(held, self.wishes[last].1, "{id:?} is not as its last write left it");
            }
            seen.extend(block.recent.iter().map(|(_, write)| *write));
            masters.extend(held.map(|record| (id.clone(), record)));
        }
        for write in told {
            assert!(seen.contains(write), "{write:?} was acknowledged and is not there");
        }
        masters.into_values().collect()
    }

    fn check(&mut self, told: &[WriteId], random: &mut Random) {
        let masters = self.masters(told);
        let model = &self.schema.model;
        let mut oracle = State::new();
        for record in &masters {
            oracle.create(model, record, &askloom_oracle::Inputs::at(self.now)).map(drop).unwrap();
        }
        for query in &model.workload.queries {
            let arguments: BTreeMap<String, Value> = query
                .parameters
                .iter()
                .map(|p| (p.name.clone(), data::argument(&model.conceptual, &p.ty, random)))
                .collect();
            let meant = oracle.query(model, query, &arguments, self.now).unwrap();
            let by_name: Arguments = arguments.clone().into_iter().collect();
            self.seen.rows += meant.len();
            for plan in plan::plans(&model.conceptual, &self.schema.design, query) {
                let given = self.store.look(|keyspace| {
                    execute::run(self.schema, keyspace, query, &plan, &by_name, self.now, None)
                });
                assert_eq!(given.unwrap().rows, meant, "{} with {arguments:?}", query.header.name);
            }
        }
        self.check_keyspace(masters);
    }

    /// Masters and copies are what storing the masters, one by one, with transactions, gives.
    fn check_keyspace(&self, masters: Vec<Record>) {
        let mut fresh = Memory::new();
        let inputs = write::Inputs { now: self.now, uuids: Vec::new(), id: None };
        for record in masters {
            let (change, _) = write::store(self.schema, &fresh, record, Expect::Anything, &inputs).unwrap();
            change.apply(&mut fresh);
        }
        let entries = |keyspace: &dyn Keyspace| {
            let mut entries = Memory::new();
            keyspace.scan(&[0, 0, 0, 1], None, false, &mut |key, value| {
                if !key.ends_with(&SYSTEM_END) {
                    entries.insert(key.to_vec(), value.to_vec());
                }
                Ok(true)
            })?;
            Ok(entries)
        };
        let held = self.store.look(entries).unwrap();
        assert_eq!(held, entries(&fresh).unwrap(), "the keyspace is not what its definitions say");
    }
}

/// Runs what never has to wait.
fn at_once<X>(future: impl Future<Output = X>) -> X {
    match Box::pin(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("it waits"),
    }
}

fn run(seed: u64, store: &impl OneBlock, fault: Option<Fault>) -> Result<Seen, String> {
    let text = models::model(&mut Random::new(seed));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut random = Random::new(seed ^ 0x5eed);
        let model = parse(&text);
        let design = simple::design(&model);
        let schema = Schema::new(model, design);
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        let mut case =
            Case { schema: &schema, store, now, fault, wishes: BTreeMap::new(), seen: Seen::default() };
        let mut told = Vec::new();
        for _ in 0..3 + random.below(3) {
            told.extend(case.round(&mut random));
            // Sometimes the next writers meet what a crash has left.
            if random.one_in(2) {
                case.sweep();
                case.check(&told, &mut random);
            }
        }
        case.sweep();
        case.check(&told, &mut random);
        case.seen
    }));
    outcome.map_err(|_| format!("seed {seed}\n{text}"))
}

fn run_all(cases: u64, mut run: impl FnMut(u64) -> Result<Seen, String>) {
    let first = number("ASKLOOM_SEED", 1);
    let mut all = Seen::default();
    for seed in first..first + cases {
        let seen = run(seed).unwrap_or_else(|case| panic!("{case}"));
        all.steps += seen.steps;
        all.done += seen.done;
        all.crashed += seen.crashed;
        all.rows += seen.rows;
    }
    println!("{cases} schemas from seed {first}: {all:?}");
    assert!(all.crashed > 0 && all.rows > 0, "the cases do not say much");
}

#[test]
fn aggregates_in_memory_have_right_copies() {
    run_all(number("ASKLOOM_CASES", 300), |seed| run(seed, &Watched::default(), None));
}

#[test]
fn aggregates_in_the_embedded_store_have_right_copies() {
    let folder = std::env::temp_dir().join(format!("askloom-intents-{}", std::process::id()));
    run_all(10, |seed| {
        let folder = folder.join(seed.to_string());
        let store = Store::open(&folder, &Options::default()).unwrap();
        run(seed, &store, None)
    });
    std::fs::remove_dir_all(folder).unwrap();
}

/// A server runs each write in a task, on whatever thread.
#[test]
fn a_write_in_the_embedded_store_can_go_to_another_thread() {
    fn send(future: impl Future<Output = bool> + Send) -> bool {
        at_once(future)
    }
    let folder = std::env::temp_dir().join(format!("askloom-intents-send-{}", std::process::id()));
    let model = parse("entity E {\n  id k: int\n}\n");
    let schema = Schema::new(model.clone(), simple::design(&model));
    let store = Store::open(&folder, &Options::default()).unwrap();
    let blocks = Single { schema: &schema, store: &store };
    let writer = Writer { schema: &schema, blocks: &blocks, now: jiff::Timestamp::UNIX_EPOCH, fault: None };
    let class = model.conceptual.classes.ids().next().unwrap();
    let id = (class, vec![Value::Int(1)]);
    assert!(send(async { writer.delete(&id, WriteId(1)).await == Ok(Outcome::Unchanged) }));
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn faults_are_found_on_schemas_too() {
    for fault in [
        Fault::OldKeyKept,
        Fault::NothingOwed,
        Fault::PreviousForgotten,
        Fault::ReferrerAfterRead,
        Fault::HintDroppedFirst,
    ] {
        let caught = (1..400).find(|&seed| run(seed, &Watched::default(), Some(fault)).is_err());
        println!("{fault:?}: by schema {}", caught.unwrap_or_else(|| panic!("{fault:?} was not found")));
    }
}
