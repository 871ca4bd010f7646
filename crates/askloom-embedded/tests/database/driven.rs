//! The embedded store as a driver: the engine on top of it does what the short way does, several writers at once.

use super::bank::{self, TEAMS, account, found, numbers, team};
use super::{Scratch, arguments, assert_sound, now};
use askloom_embedded::database::Database;
use askloom_engine::RunError;
use askloom_engine::driver::{Driver, Engine, NoClock};
use askloom_engine::write::{Inputs, Outcome};
use askloom_engine::{Schema, execute::Answer};
use askloom_model::Value;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use uuid::Uuid;

const WRITERS: u64 = 4;
const ACCOUNTS: u64 = 6;
const WRITES: u64 = 40;

/// The embedded store answers at once.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("nothing waits"),
    }
}

fn engine(database: &Arc<Database>) -> Engine<'static> {
    let schema = database.schema();
    let costing = askloom_target::embedded::costing();
    let schema = Schema::new(schema.model.clone(), schema.design.clone(), costing);
    Engine::new(Arc::clone(database) as Arc<dyn Driver>, Arc::new(schema), Box::new(NoClock))
}

fn write(engine: &Engine<'_>, name: &str, given: &[(&str, Value)]) -> Result<Outcome, RunError> {
    let writes = &engine.schema().model.workload.writes;
    let write = writes.iter().find(|write| write.header.name == name).unwrap();
    let inputs = Inputs { now: now(), uuids: Vec::new(), id: Some(Uuid::now_v7()) };
    at_once(engine.write(write, &arguments(given), &inputs))
}

fn query(engine: &Engine<'_>, name: &str) -> Answer {
    let queries = &engine.schema().model.workload.queries;
    let query = queries.iter().find(|query| query.header.name == name).unwrap();
    at_once(engine.query(query, &arguments(&[]), now(), None)).unwrap()
}

#[test]
fn an_engine_on_the_embedded_store_loses_nothing() {
    let folder = Scratch::new();
    let (database, _) = folder.apply(bank::MODEL).unwrap();
    found(&database, ACCOUNTS);
    let database = Arc::new(database);
    let deposited = AtomicI64::new(0);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (database, deposited) = (&database, &deposited);
            scope.spawn(move || {
                let engine = engine(database);
                for n in 0..WRITES {
                    let name = ("name", account((writer + n) % ACCOUNTS));
                    let done = match n % 3 {
                        0 => write(&engine, "change", &[name, ("team", team(n % TEAMS))]),
                        _deposit => write(&engine, "deposit", &[name, ("n", Value::Int(1))]),
                    };
                    match done {
                        Ok(_) if n % 3 != 0 => drop(deposited.fetch_add(1, Ordering::SeqCst)),
                        Ok(_) | Err(RunError::Conflict) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let (_, sum) = numbers(&database, "balances");
    assert_eq!(sum, deposited.load(Ordering::SeqCst));
    assert!(sum > 0);
    let engine = engine(&database);
    assert_eq!(query(&engine, "balances").rows, super::query(&database, "balances", &[]).0);
    assert_sound(&database);
}
