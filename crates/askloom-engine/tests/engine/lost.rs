//! Attempts whose answers get lost may arrive at any time later.

use crate::{at_once, parse};
use askloom_design::simple;
use askloom_engine::Schema;
use askloom_engine::driver::{
    Batch, Driver, DriverError, Engine, Isolation, MemoryDriver, NoClock, Reply, Written,
};
use askloom_engine::execute::Arguments;
use askloom_engine::source::{Given, Wanted};
use askloom_engine::write::{Inputs, Outcome};
use askloom_model::{Member, Record, Value};
use std::future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use uuid::Uuid;

const MODEL: &str = "
    entity Team { id t: int, name: text }
    entity Player { id p: int, score: int, ref team: Team }
    query score: SELECT score FROM Player WHERE p = :p
    write rename: UPDATE Team SET name = :name WHERE t = :t
    write cheer: UPDATE Player SET score = 1 WHERE team.name = :name
";

const CHEER: u128 = 1000;

fn inputs(id: u128) -> Inputs {
    Inputs { now: jiff::Timestamp::UNIX_EPOCH, uuids: Vec::new(), id: Some(Uuid::from_u128(id)) }
}

fn engine(driver: Arc<dyn Driver>) -> Engine<'static> {
    let model = parse(MODEL);
    let design = simple::design(&model);
    let schema = Schema::new(model, design, askloom_target::embedded::costing());
    Engine::new(driver, Arc::new(schema), Box::new(NoClock))
}

fn load(engine: &Engine, id: u128, class: &str, fields: &[(&str, Value)]) {
    let conceptual = &engine.schema().model.conceptual;
    let (class, _) = conceptual.classes.iter().find(|(_, row)| row.name == class).unwrap();
    let mut record = Record::new(class);
    for (name, value) in fields {
        let mut members = conceptual.all_members(class);
        let member: Member = members.find(|member| conceptual.member_name(*member) == *name).unwrap();
        record.set(member, value.clone());
    }
    at_once(engine.load(&record, &inputs(id))).unwrap();
}

fn write(engine: &Engine, name: &str, id: u128, given: &[(&str, Value)]) -> Outcome {
    let writes = &engine.schema().model.workload.writes;
    let write = writes.iter().find(|write| write.header.name == name).unwrap();
    let given: Arguments = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    at_once(engine.write(write, &given, &inputs(id))).unwrap()
}

fn rename(engine: &Engine, id: u128, team: i64, name: &str) {
    write(engine, "rename", id, &[("t", Value::Int(team)), ("name", Value::Text(name.to_owned()))]);
}

fn score(engine: &Engine, player: i64) -> Value {
    let query = &engine.schema().model.workload.queries[0];
    let given = Arguments::from([("p".to_owned(), Value::Int(player))]);
    let answer = at_once(engine.query(query, &given, jiff::Timestamp::UNIX_EPOCH, None)).unwrap();
    answer.rows[0][0].clone()
}

/// The first attempt comes late: after the teams have changed their names, and after the second attempt, which is lost for
/// good.
struct Overtaken {
    memory: Arc<MemoryDriver>,
    others: Engine<'static>,
    late: Mutex<Option<Batch>>,
    attempts: AtomicU32,
}

impl Driver for Overtaken {
    fn isolation(&self) -> Isolation {
        self.memory.isolation()
    }

    fn read<'r>(&'r self, schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        self.memory.read(schema, wanted)
    }

    fn write<'r>(&'r self, schema: &'r Schema, batch: &'r Batch) -> Reply<'r, Written> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        match batch.attempt {
            0 => {
                *self.late.lock().unwrap() = Some(batch.clone());
                rename(&self.others, 101, 1, "blue");
                rename(&self.others, 102, 2, "red");
                Box::pin(future::ready(Err(DriverError::Lost)))
            }
            1 => {
                let late = self.late.lock().unwrap().take().unwrap();
                assert_ne!(
                    late.changes.blocks.keys().collect::<Vec<_>>(),
                    batch.changes.blocks.keys().collect::<Vec<_>>()
                );
                assert_eq!(at_once(self.memory.write(schema, &late)), Ok(Written::Done));
                Box::pin(future::ready(Err(DriverError::Lost)))
            }
            _later => self.memory.write(schema, batch),
        }
    }
}

#[test]
fn of_two_lost_attempts_with_different_blocks_the_first_may_arrive() {
    // A store that checks what is written, and not what was only read: here the names of the teams.
    let memory = Arc::new(MemoryDriver::new(Isolation::Snapshots));
    let others = engine(Arc::clone(&memory) as Arc<dyn Driver>);
    let text = |text: &str| Value::Text(text.to_owned());
    for (n, name) in [(1, "red"), (2, "blue")] {
        let team = Value::Reference(vec![Value::Int(n)]);
        let id = u128::from(n.unsigned_abs());
        load(&others, id, "Team", &[("t", Value::Int(n)), ("name", text(name))]);
        let fields = [("p", Value::Int(n)), ("score", Value::Int(0)), ("team", team)];
        load(&others, 10 + id, "Player", &fields);
    }
    let driver =
        Arc::new(Overtaken { memory, others, late: Mutex::default(), attempts: AtomicU32::default() });
    let engine = engine(Arc::clone(&driver) as Arc<dyn Driver>);

    let outcome = write(&engine, "cheer", CHEER, &[("name", text("red"))]);

    assert_eq!(outcome.matched, [1]);
    assert_eq!(driver.attempts.load(Ordering::Relaxed), 2, "there was nothing left to write");
    // The write was done once: on the player whose team was the red one when it was worked out.
    assert_eq!((score(&engine, 1), score(&engine, 2)), (Value::Int(1), Value::Int(0)));
}
