//! Aggregates that a page brings whole.

use crate::{at_once, parse};
use askloom_design::simple;
use askloom_engine::Schema;
use askloom_engine::driver::{Driver, Engine, Isolation, MemoryDriver, NoClock, Operation};
use askloom_engine::execute::Arguments;
use askloom_engine::source::Wanted;
use askloom_engine::write::Inputs;
use askloom_model::{Member, Record, Value};
use std::sync::Arc;
use uuid::Uuid;

const MODEL: &str = "
    entity Player { id p: int, score: int }
    query score: SELECT score FROM Player WHERE p = :p
    write reset: UPDATE Player SET score = :score WHERE score != :score
";

fn inputs(id: u128) -> Inputs {
    Inputs { now: jiff::Timestamp::UNIX_EPOCH, uuids: Vec::new(), id: Some(Uuid::from_u128(id)) }
}

#[test]
fn what_a_page_brings_is_not_read_again_and_is_checked_by_itself() {
    let model = parse(MODEL);
    let schema = Schema::new(model.clone(), simple::design(&model), askloom_target::embedded::costing());
    let memory = Arc::new(MemoryDriver::new(Isolation::Ranges));
    let engine = Engine::new(Arc::clone(&memory) as Arc<dyn Driver>, Arc::new(schema), Box::new(NoClock));
    let (class, _) = model.conceptual.classes.iter().next().unwrap();
    for p in 0..100 {
        let mut record = Record::new(class);
        let members: Vec<Member> = model.conceptual.all_members(class).collect();
        record.set(members[0], Value::Int(p));
        record.set(members[1], Value::Int(p % 2));
        at_once(engine.load(&record, &inputs(u128::from(p.unsigned_abs()) + 1))).unwrap();
    }
    memory.take_log();

    let given = Arguments::from([("score".to_owned(), Value::Int(0))]);
    let outcome = at_once(engine.write(&model.workload.writes[0], &given, &inputs(1000))).unwrap();

    assert_eq!(outcome.matched, [50]);
    let is_block = |wanted: &Wanted| matches!(wanted, Wanted::Block(..));
    let (mut read, mut checked, mut written) = (0, 0, 0);
    for operation in memory.take_log() {
        match operation {
            Operation::Read(wanted) => read += wanted.iter().filter(|wanted| is_block(wanted)).count(),
            Operation::Write(batch) => {
                checked += batch.checks.iter().filter(|check| is_block(&check.of)).count();
                written += batch.changes.blocks.len();
            }
        }
    }
    assert_eq!((read, checked, written), (0, 50, 50));
}
