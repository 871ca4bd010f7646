//! One case: a model, some writes, after each of them every query, by oracle and by plan.

use crate::random::Random;
use crate::{data, models};
use askloom_design::{plan, simple};
use askloom_lang::{Memory as Files, check};
use askloom_model::{ClassId, Model, Value};
use askloom_oracle::{Inputs, State};
use askloom_store::execute::{self, Arguments};
use askloom_store::write::{self, Expect};
use askloom_store::{Memory, Schema};
use std::collections::BTreeMap;
use std::path::Path;

fn parse(text: &str) -> Model {
    let checked = check(&Files::default().with("m.loom", text), Path::new("m.loom"));
    let errors: Vec<_> =
        checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "the made-up model is wrong: {errors:?}\n{text}");
    checked.model
}

/// How the keys of system entries end.
const SYSTEM_END: [u8; 3] = [b'#', 0, 1];

struct Case {
    schema: Schema,
    keyspace: Memory,
    oracle: State,
    now: jiff::Timestamp,
}

impl Case {
    fn new(model: Model) -> Self {
        let design = simple::design(&model);
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        Self { schema: Schema::new(model, design), keyspace: Memory::new(), oracle: State::new(), now }
    }

    fn roots(&self) -> Vec<ClassId> {
        let conceptual = &self.schema.model.conceptual;
        conceptual.classes.ids().filter(|&class| conceptual.aggregate_root(class) == Some(class)).collect()
    }

    fn step(&mut self, random: &mut Random) {
        let roots = self.roots();
        let class = *random.pick(&roots);
        let model = &self.schema.model;
        if random.one_in(4) {
            let id = data::identity(&model.conceptual, class, random);
            let gone = self.oracle.delete(model, class, &id, self.now);
            let (change, was_there) =
                write::delete(&self.schema, &self.keyspace, class, &id, &self.inputs()).unwrap();
            assert_eq!(gone, Ok(was_there));
            change.apply(&mut self.keyspace);
            return;
        }
        let record = data::record(&model.conceptual, class, random);
        let inputs = Inputs::at(self.now);
        let known = record
            .identity(&model.conceptual)
            .is_some_and(|id| self.oracle.get(&model.conceptual, class, &id).is_some());
        match known {
            true => self.oracle.replace(model, &record, &inputs).unwrap(),
            false => self.oracle.create(model, &record, &inputs).map(drop).unwrap(),
        }
        let inputs = self.inputs();
        let (change, _) =
            write::store(&self.schema, &self.keyspace, record, Expect::Anything, &inputs).unwrap();
        change.apply(&mut self.keyspace);
    }

    fn inputs(&self) -> write::Inputs {
        write::Inputs { now: self.now, uuids: Vec::new(), id: None }
    }

    fn compare(&self, random: &mut Random, rows_seen: &mut usize) {
        let model = &self.schema.model;
        for query in &model.workload.queries {
            let arguments: BTreeMap<String, Value> = query
                .parameters
                .iter()
                .map(|p| (p.name.clone(), data::argument(&model.conceptual, &p.ty, random)))
                .collect();
            let meant = self.oracle.query(model, query, &arguments, self.now).unwrap();
            let by_name: Arguments = arguments.clone().into_iter().collect();
            *rows_seen += meant.len();
            for plan in plan::plans(&model.conceptual, &self.schema.design, query) {
                let given =
                    execute::run(&self.schema, &self.keyspace, query, &plan, &by_name, self.now, None)
                        .unwrap();
                let printed = plan::print(model, &self.schema.design, query, &plan);
                assert_eq!(given.rows, meant, "{} with {arguments:?} by\n{printed}", query.header.name);
            }
        }
    }

    /// Every copy holds what its definition says, and nothing else is in the keyspace.
    fn check_keyspace(&self) {
        let mut fresh = Memory::new();
        for (_, _, instance) in self.oracle.instances() {
            let record = instance.record().clone();
            let (change, _) =
                write::store(&self.schema, &fresh, record, Expect::Anything, &self.inputs()).unwrap();
            change.apply(&mut fresh);
        }
        // A deleted aggregate leaves its system entry, which ends in `#` as a text.
        let keys = |keyspace: &Memory| {
            let keys = keyspace.keys().filter(|key| !key.ends_with(&SYSTEM_END));
            keys.cloned().collect::<Vec<_>>()
        };
        assert_eq!(
            keys(&self.keyspace),
            keys(&fresh),
            "the keyspace has keys that it should not have, or lacks some"
        );
    }
}

fn case(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let text = models::model(&mut random);
    let outcome = std::panic::catch_unwind(|| {
        let mut random = Random::new(seed ^ 0x5eed);
        let mut case = Case::new(parse(&text));
        let mut rows = 0;
        for _ in 0..6 + random.below(8) {
            case.step(&mut random);
            case.compare(&mut random, &mut rows);
        }
        case.check_keyspace();
        rows
    });
    outcome.unwrap_or_else(|_| panic!("seed {seed}\n{text}"))
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn plans_return_what_queries_mean() {
    let cases = number("ASKLOOM_PROMISE_CASES", 300);
    let first = number("ASKLOOM_PROMISE_SEED", 1);
    let rows: usize = (first..first + cases).map(case).sum();
    println!("{cases} cases from seed {first}, {rows} rows compared");
    assert!(rows > 0 || cases < 10, "no query returned a row");
}
