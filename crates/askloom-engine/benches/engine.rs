//! What the engine itself costs: statements through a wire that answers at once, without a store behind it.
//!
//! A round trip to a real store takes hundreds of microseconds; what the client adds must not be felt beside it. The
//! wire hands out records that are made before, and what handing them out costs is measured by itself and left out.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a benchmark that cannot be set up stops"
)]

use askloom_design::simple;
use askloom_engine::driver::{Batch, Driver, Engine, Isolation, NoClock, Reply, Written};
use askloom_engine::execute::Arguments;
use askloom_engine::source::{BlockState, Given, Page, Records, Wanted};
use askloom_engine::{Schema, Stored, System};
use askloom_lang::{Memory, check};
use askloom_model::{Member, Model, Record, Value};
use askloom_plan::layout::Entry;
use std::future;
use std::hint::black_box;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

const MODEL: &str = "
@count(1_000_000)
entity Note { id n: int, folder: text @distinct(1000), title: text, at: timestamp }
query one: SELECT title FROM Note WHERE n = :n
query listed: SELECT n, title FROM Note WHERE folder = :folder ORDER BY at LIMIT 1000
";

const ROWS: usize = 1_000;
const POINT_READS: u32 = 20_000;
const LISTS: u32 = 400;
/// The best of so many runs: what else the machine does only makes a run slower.
const RUNS: usize = 7;

/// Gives the same records to whoever asks.
struct Wire {
    block: Arc<Stored>,
    entries: Vec<Entry>,
}

impl Driver for Wire {
    fn isolation(&self) -> Isolation {
        Isolation::Ranges
    }

    fn read<'r>(&'r self, _schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        let given = wanted.iter().map(|wanted| match wanted {
            Wanted::Block(..) => Given::Block(BlockState::Live(Arc::clone(&self.block))),
            Wanted::Page(_) => {
                let entries = Arc::new(self.entries.clone());
                Given::Page(Page { records: Records::Entries(entries), next: None })
            }
            Wanted::TimeBuckets(..) => Given::TimeBuckets(Vec::new()),
            Wanted::Entry(_) => Given::Entry(self.entries.first().cloned()),
        });
        Box::pin(future::ready(Ok(given.collect())))
    }

    fn write<'r>(&'r self, _schema: &'r Schema, _batch: &'r Batch) -> Reply<'r, Written> {
        Box::pin(future::ready(Ok(Written::Done)))
    }
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => unreachable!("the wire answers at once"),
    }
}

fn model() -> Model {
    let checked = check(&Memory::default().with("m.loom", MODEL), Path::new("m.loom"));
    assert_eq!(checked.errors, 0);
    checked.model
}

fn note(model: &Model, n: i64) -> Record {
    let conceptual = &model.conceptual;
    let (class, _) = conceptual.classes.iter().find(|(_, class)| class.name == "Note").unwrap();
    let mut record = Record::new(class);
    for member in conceptual.all_members(class) {
        let Member::Attribute(_) = member else { continue };
        record.set(member, value(conceptual.member_name(member), n));
    }
    record
}

fn value(name: &str, n: i64) -> Value {
    match name {
        "n" => Value::Int(n),
        "folder" => Value::Text("inbox".to_owned()),
        "title" => Value::Text(format!("the title of note {n}")),
        _at => Value::Timestamp(jiff::Timestamp::from_second(1_800_000_000 + n).unwrap()),
    }
}

/// The entries of the view that the list is read from.
fn entries(schema: &Schema) -> Vec<Entry> {
    let query = schema.model.workload.queries.iter().find(|query| query.header.name == "listed").unwrap();
    let plan = schema.plan(query).unwrap();
    let collection = &schema.design.collections[plan.access.collection];
    let conceptual = &schema.model.conceptual;
    let of = |path: &askloom_model::Path, n: i64| match path.leaf {
        askloom_model::Leaf::Attribute(id) => value(&conceptual.attributes[id].name, n),
        _itself => Value::Reference(vec![Value::Int(n)]),
    };
    let entry = |n: i64| Entry::Row {
        block: collection.block_key.iter().map(|field| of(&field.path, n)).collect(),
        sort: collection.entry_key.iter().map(|field| of(&field.path, n)).collect(),
        row: vec![Value::Reference(vec![Value::Int(n)])],
        values: collection.fields().iter().map(|path| of(path, n)).collect(),
    };
    (0..ROWS as i64).map(entry).collect()
}

/// Microseconds of one of many, in the best run.
fn best(times: u32, mut act: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        (0..times).for_each(|_| act());
        start.elapsed().as_secs_f64() * 1e6 / f64::from(times)
    };
    let runs = (0..RUNS).map(run);
    runs.fold(f64::INFINITY, f64::min)
}

fn main() {
    let model = model();
    let design = simple::design(&model);
    let schema = Schema::new(model, design, askloom_target::embedded::costing());
    let stored = Stored { record: note(&schema.model, 7), system: System::default() };
    let wire = Arc::new(Wire { block: Arc::new(stored), entries: entries(&schema) });
    let engine = Engine::new(Arc::clone(&wire) as Arc<dyn Driver>, Arc::new(schema), Box::new(NoClock));
    let now = jiff::Timestamp::from_second(1_800_000_000).unwrap();
    let queries = &engine.schema().model.workload.queries;
    let (one, listed) = (&queries[0], &queries[1]);

    let given = Arguments::from([("n".to_owned(), Value::Int(7))]);
    let point = best(POINT_READS, || {
        let answer = at_once(engine.query(one, &given, now, None)).unwrap();
        assert_eq!(black_box(answer).rows.len(), 1);
    });

    let given = Arguments::from([("folder".to_owned(), Value::Text("inbox".to_owned()))]);
    let list = best(LISTS, || {
        let answer = at_once(engine.query(listed, &given, now, None)).unwrap();
        assert_eq!(black_box(answer).rows.len(), ROWS);
    });
    let handed_out = best(LISTS, || drop(black_box(wire.entries.clone())));
    let row = (list - handed_out - point).max(0.0) / ROWS as f64;

    for (name, value) in [
        ("point read", point),
        ("row of a list", row),
        ("row of a list, as the wire hands it out", handed_out / ROWS as f64),
    ] {
        println!("{{ \"name\": \"{name}\", \"value\": {value:.4}, \"unit\": \"µs\" }}");
    }
}
