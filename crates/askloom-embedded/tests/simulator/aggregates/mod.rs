//! Level 3 for whole schemas: random models, writers that are interleaved and crash, a sweep; then every query must
//! answer what the oracle says, and the keyspace must hold what the definitions say.

mod data;
mod interrupted;
mod judged;
mod models;
mod stepped;
mod watched;

use crate::random::Random;
use crate::walks::number;
use askloom_design::simple;
use askloom_embedded::KeyspaceRecords;
use askloom_embedded::keyspace::write as keyed;
use askloom_embedded::one_block::{OneBlock, Single, Writer};
use askloom_embedded::store::{Options, Store};
use askloom_embedded::{KeyedSchema, Keyspace, Memory};
use askloom_engine::Aggregate;
use askloom_engine::execute::{self, Arguments};
use askloom_engine::intents::{Blocks, Error, Fault, Outcome, WriteId};
use askloom_engine::write::{self, Expect};
use askloom_lang::{Memory as Files, check};
use askloom_model::{ClassId, Model, Record, Value};
use askloom_oracle::State;
use askloom_plan::planner;
use judged::{Seen, Told, clash, entities, is_left_of, unchecked};
use std::collections::{BTreeMap, BTreeSet};
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
    schema: &'c KeyedSchema,
    /// The same without checks.
    unchecked: &'c KeyedSchema,
    store: &'c S,
    now: jiff::Timestamp,
    fault: Option<Fault>,
    wishes: BTreeMap<WriteId, Wish>,
    seen: Seen,
}

type Running<'r> = Pin<Box<dyn Future<Output = (WriteId, Result<Outcome, Error>)> + 'r>>;

impl<S: OneBlock> Case<'_, S> {
    fn roots(&self) -> Vec<ClassId> {
        let conceptual = &self.schema.model.conceptual;
        conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)).collect()
    }

    fn wish(&self, random: &mut Random) -> Wish {
        let conceptual = &self.schema.model.conceptual;
        let held = self.held();
        let class = *random.pick(&self.roots());
        if random.one_in(3) {
            let gone = match held.is_empty() || random.one_in(4) {
                true => (class, data::identity(conceptual, class, random)),
                false => random.pick(&held).0.clone(),
            };
            return (gone, None);
        }
        let mut living = data::Living::new();
        for (_, record) in &held {
            entities(conceptual, record, &mut living);
        }
        let record = data::record(conceptual, class, &living, random);
        ((class, record.identity(conceptual).unwrap()), Some(record))
    }

    /// Some writers at once, one operation of somebody at a time.
    fn round(&mut self, random: &mut Random, told: &mut Told) {
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
                (write, done)
            }));
        }
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
                match outcome {
                    Ok(Outcome::Done | Outcome::Owed) => told.done.push(write),
                    Ok(Outcome::Unchanged) => {}
                    Err(error) => {
                        self.seen.count(&error);
                        told.refused.push(write);
                    }
                }
            }
        }
        self.seen.done = told.done.len();
    }

    /// One writer alone: what comes of it is what the oracle says.
    fn alone(&mut self, random: &mut Random, told: &mut Told) {
        let model = &self.schema.model;
        let inputs = askloom_oracle::Inputs::at(self.now);
        let mut oracle = State::new();
        oracle.load(model, &self.masters(told), &inputs).map(drop).unwrap();
        let before = oracle.clone();
        let write = WriteId(self.wishes.len() as u128 + 1);
        let wish = self.wish(random);
        self.wishes.insert(write, wish.clone());
        let meant = match &wish.1 {
            Some(record) if oracle.instances().any(|(top, id, _)| (top, id) == (wish.0.0, &wish.0.1)) => {
                oracle.replace(model, record, &inputs).map_err(|error| format!("{error:?}"))
            }
            Some(record) => {
                oracle.create(model, record, &inputs).map(drop).map_err(|error| format!("{error:?}"))
            }
            None => {
                let done = oracle.delete(model, wish.0.0, &wish.0.1, self.now);
                done.map(drop).map_err(|error| format!("{error:?}"))
            }
        };
        let blocks = Single { schema: self.schema, store: self.store };
        let writer = Writer { schema: self.schema, blocks: &blocks, now: self.now, fault: self.fault };
        let done = match wish.1.clone() {
            Some(record) => at_once(writer.store(record, write)),
            None => at_once(writer.delete(&wish.0, write)),
        };
        match (&done, &meant) {
            (Ok(Outcome::Done), Ok(())) => told.done.push(write),
            (Ok(Outcome::Unchanged), Ok(())) => {}
            (Err(error), Err(_)) => {
                self.seen.count(error);
                told.refused.push(write);
            }
            // What only follows from this write would free what it needs: the oracle can, this does not try. So another
            // must have had it.
            (Err(Error::Taken), Ok(())) => {
                let wanted = wish.1.as_ref().unwrap();
                let mut others =
                    before.instances().filter(|(top, id, _)| (*top, *id) != (wish.0.0, &wish.0.1));
                assert!(
                    others.any(|(_, _, other)| clash(&model.conceptual, wanted, other.record())),
                    "{wish:?} was refused and nobody had what it needs"
                );
                told.refused.push(write);
                oracle = before.clone();
            }
            (done, meant) => panic!("{wish:?} is {done:?} and should be {meant:?}"),
        }
        self.seen.foretold += 1;
        let held: BTreeMap<Aggregate, Record> = self.held().into_iter().collect();
        let instances = oracle.instances();
        let meant =
            instances.map(|(top, id, instance)| ((top, id.clone()), instance.record().clone())).collect();
        assert_eq!(held, meant, "{wish:?} has left something else than it means");
    }

    /// The masters that live.
    fn held(&self) -> Vec<(Aggregate, Record)> {
        let blocks = Single { schema: self.schema, store: self.store };
        let ids: BTreeSet<&Aggregate> = self.wishes.values().map(|(id, _)| id).collect();
        let held = ids.into_iter().map(|id| (id.clone(), at_once(blocks.read(id)).unwrap().value));
        held.filter_map(|(id, stored)| Some((id, stored?.record))).collect()
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

    /// The masters as they are, each as the last of its writes wanted it, or what is left of that.
    fn masters(&mut self, told: &Told) -> Vec<Record> {
        let blocks = Single { schema: self.schema, store: self.store };
        let ids: BTreeSet<&Aggregate> = self.wishes.values().map(|(id, _)| id).collect();
        let mut seen = BTreeSet::new();
        let mut followed = 0;
        for id in ids {
            let block = at_once(blocks.read(id)).unwrap();
            assert!(block.owed.is_empty() && block.closing.is_none(), "{id:?} is not done");
            let held = block.value.map(|stored| stored.record);
            let own = |write: &WriteId| self.wishes[write].0 == *id;
            followed += block.recent.iter().filter(|(_, write)| !own(write)).count();
            if let Some((_, last)) = block.recent.iter().rev().find(|(_, write)| own(write)) {
                let wish = &self.wishes[last].1;
                assert!(
                    is_left_of(&self.schema.model.conceptual, wish.as_ref(), held.as_ref()),
                    "{id:?} is not as its last write left it: {held:?}, not {wish:?}"
                );
            }
            seen.extend(block.recent.iter().map(|(_, write)| *write).filter(own));
        }
        for write in &told.done {
            assert!(seen.contains(write), "{write:?} was acknowledged and is not there");
        }
        for write in &told.refused {
            assert!(!seen.contains(write), "{write:?} was refused and is there");
        }
        self.seen.followed = followed;
        self.held().into_iter().map(|(_, record)| record).collect()
    }

    fn check(&mut self, told: &Told, random: &mut Random) {
        let masters = self.masters(told);
        let model = &self.schema.model;
        let mut oracle = State::new();
        // With every rule: no checked reference leads to nothing, and what only one may have, only one has.
        oracle.load(model, &masters, &askloom_oracle::Inputs::at(self.now)).map(drop).unwrap();
        for query in &model.workload.queries {
            let arguments: BTreeMap<String, Value> = query
                .parameters
                .iter()
                .map(|p| (p.name.clone(), data::argument(&model.conceptual, &p.ty, random)))
                .collect();
            let meant = oracle.query(model, query, &arguments, self.now).unwrap();
            let by_name: Arguments = arguments.clone().into_iter().collect();
            self.seen.rows += meant.len();
            for plan in planner::plans(
                &askloom_target::embedded::costing(),
                &model.conceptual,
                &self.schema.design,
                query,
            ) {
                let given = self.store.look(|keyspace| {
                    execute::run(
                        &KeyspaceRecords { schema: self.schema, keyspace },
                        query,
                        &plan,
                        &by_name,
                        self.now,
                        None,
                    )
                });
                assert_eq!(given.unwrap().rows, meant, "{} with {arguments:?}", query.header.name);
            }
        }
        self.check_keyspace(masters);
    }

    /// Masters and copies are what storing the masters, one by one, with transactions, gives.
    fn check_keyspace(&self, masters: Vec<Record>) {
        let mut fresh = Memory::new();
        // They may refer to each other in circles: one by one, that is only possible without a check.
        let schema = self.unchecked;
        let inputs = write::Inputs { now: self.now, uuids: Vec::new(), id: None };
        for record in masters {
            let (change, _) = keyed::store(schema, &fresh, record, Expect::Anything, &inputs).unwrap();
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
        let (held, meant) = (self.store.look(entries).unwrap(), entries(&fresh).unwrap());
        let differ = |(key, value): &(&Vec<u8>, &Vec<u8>), from: &Memory| from.get(*key) != Some(*value);
        let extra: Vec<_> = held.iter().filter(|entry| differ(entry, &meant)).collect();
        let lacks: Vec<_> = meant.iter().filter(|entry| differ(entry, &held)).collect();
        assert!(extra.is_empty() && lacks.is_empty(), "the keyspace holds {extra:?} and lacks {lacks:?}");
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
    run_on(&models::model(&mut Random::new(seed)), seed, store, fault)
}

fn run_on(text: &str, seed: u64, store: &impl OneBlock, fault: Option<Fault>) -> Result<Seen, String> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut random = Random::new(seed ^ 0x5eed);
        let model = parse(text);
        let design = simple::design(&model);
        let unchecked = KeyedSchema::new(unchecked(&model), design.clone());
        let schema = KeyedSchema::new(model, design);
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        let mut case = Case {
            schema: &schema,
            unchecked: &unchecked,
            store,
            now,
            fault,
            wishes: BTreeMap::new(),
            seen: Seen::default(),
        };
        let mut told = Told::default();
        for _ in 0..4 + random.below(8) {
            case.alone(&mut random, &mut told);
        }
        for _ in 0..3 + random.below(3) {
            case.round(&mut random, &mut told);
            // Sometimes the next writers meet what a crash has left.
            if random.one_in(2) {
                case.sweep();
                for _ in 0..random.below(4) {
                    case.alone(&mut random, &mut told);
                }
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
        all.add(&seen);
    }
    println!("{cases} schemas from seed {first}: {all:?}");
    assert!(all.crashed > 0 && all.rows > 0 && all.foretold > 0, "the cases do not say much");
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
    let schema = KeyedSchema::new(model.clone(), simple::design(&model));
    let store = Store::open(&folder, &Options::default()).unwrap();
    let blocks = Single { schema: &schema, store: &store };
    let writer = Writer { schema: &schema, blocks: &blocks, now: jiff::Timestamp::UNIX_EPOCH, fault: None };
    let class = model.conceptual.classes.ids().next().unwrap();
    let id = (class, vec![Value::Int(1)]);
    assert!(send(async { writer.delete(&id, WriteId(1)).await == Ok(Outcome::Unchanged) }));
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Deletes that meet each other in every way, and a part and a value that several want.
const CROWDED: &str = "
entity X {
  id k: int
}
entity Y {
  id k: int
  checked ref r0: X? on delete cascade
  part o: P[*]
}
entity P {
  id k: int
  checked ref r1: X? on delete cascade
}
entity Z {
  id k: int
  unique a0: int?
  checked ref r0: Y? on delete refuse
  checked ref r1: P[*] on delete clear
}
query q0:
  SELECT Z.k AS z, j0.k AS p, j0.r1.k AS x
  FROM Z
  JOIN Z.r1 AS j0
query q1:
  SELECT P.k AS p, P.r1.k AS x
  FROM P
  WHERE P.r1.k = :x
";

#[test]
fn deletes_that_meet_leave_right_copies() {
    run_all(number("ASKLOOM_CASES", 60), |seed| run_on(CROWDED, seed, &Watched::default(), None));
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
