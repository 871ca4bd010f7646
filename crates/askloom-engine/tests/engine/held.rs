//! A million rows that are made up as they are asked for: how many are asked for, and how many are held at once.

use crate::{at_once, parse};
use askloom_design::simple;
use askloom_engine::driver::{Batch, Driver, DriverError, Engine, Isolation, NoClock, Reply, Written};
use askloom_engine::execute::{Answer, Arguments, Continuation};
use askloom_engine::source::{
    Ask, BlockState, CHUNK, Cursor, EntryAt, From, Given, Page, Records, Source, Wanted, answer,
};
use askloom_engine::{RecordKey, RunError, Schema, Stop, Stored, System};
use askloom_model::{
    ClassId, Collection, CollectionId, Conceptual, Identity, Leaf, Member, Path, Record, Role, Value,
};
use askloom_plan::layout::Entry;
use std::future;
use std::sync::{Arc, Mutex, Weak};

const MODEL: &str = "
    @count(1_000_000)
    entity Note { id n: int, folder: text @distinct(4), title: text, size: int, at: timestamp }
    query first: SELECT n, title, size FROM Note WHERE folder = :folder ORDER BY at LIMIT 10
    query paged: SELECT n, title FROM Note WHERE folder = :folder ORDER BY at PAGE 10
    query small: SELECT n, title FROM Note WHERE folder = :folder AND size < 10 ORDER BY at LIMIT 10
    query smallest: SELECT n, title FROM Note WHERE folder = :folder ORDER BY size, n LIMIT 10
    query counted: SELECT COUNT(*) AS notes, SUM(size) AS size FROM Note WHERE folder = :folder
    query sizes: SELECT size, COUNT(*) AS notes FROM Note WHERE folder = :folder GROUP BY size
";

const ROWS: i64 = 1_000_000;
/// How many sizes notes have.
const SIZES: i64 = 100;

/// Of the note in that place.
fn value(name: &str, n: i64) -> Value {
    match name {
        "n" => Value::Int(n),
        "folder" => Value::Text("inbox".to_owned()),
        "title" => Value::Text("a title".to_owned()),
        "size" => Value::Int(SIZES - 1 - n % SIZES),
        _at => Value::Timestamp(jiff::Timestamp::from_second(n).unwrap()),
    }
}

fn of_path(conceptual: &Conceptual, path: &Path, n: i64) -> Value {
    match path.leaf {
        Leaf::Attribute(id) => value(&conceptual.attributes[id].name, n),
        _itself => Value::Reference(vec![Value::Int(n)]),
    }
}

/// What was given away.
#[derive(Default)]
struct Watched {
    /// Records in all.
    given: usize,
    /// As many were held at once, of those that were given and are not copied.
    held: usize,
    pages: Vec<Weak<Vec<Entry>>>,
    aggregates: Vec<Weak<Stored>>,
}

impl Watched {
    /// Counts what somebody still has of what was given before, and what is given now.
    fn count(&mut self, now: &Records) {
        self.pages.retain(|page| page.strong_count() > 0);
        self.aggregates.retain(|stored| stored.strong_count() > 0);
        match now {
            Records::Entries(entries) => {
                self.given += entries.len();
                self.pages.push(Arc::downgrade(entries));
            }
            Records::Aggregates(aggregates) => {
                self.given += aggregates.len();
                self.aggregates.extend(aggregates.iter().map(|(_, stored)| Arc::downgrade(stored)));
            }
        }
        let entries: usize = self.pages.iter().filter_map(|page| Some(page.upgrade()?.len())).sum();
        self.held = self.held.max(entries + self.aggregates.len());
    }
}

/// Every note is in one folder, in the order of its time.
#[derive(Default)]
struct MadeUp(Mutex<Watched>);

impl Driver for MadeUp {
    fn isolation(&self) -> Isolation {
        Isolation::Ranges
    }

    fn read<'r>(&'r self, schema: &'r Schema, wanted: &'r [Wanted]) -> Reply<'r, Vec<Given>> {
        let notes = Notes { schema, watched: &self.0 };
        let given: Result<_, Stop> = wanted.iter().map(|wanted| answer(&notes, wanted)).collect();
        Box::pin(future::ready(given.map_err(|stop| DriverError::Drift(RunError::from(stop).to_string()))))
    }

    fn write<'r>(&'r self, _schema: &'r Schema, _batch: &'r Batch) -> Reply<'r, Written> {
        unreachable!("nothing is written")
    }
}

struct Notes<'n> {
    schema: &'n Schema,
    watched: &'n Mutex<Watched>,
}

impl Notes<'_> {
    fn entry(&self, collection: &Collection, n: i64) -> Entry {
        let of = |path: &Path| of_path(&self.schema.model.conceptual, path, n);
        Entry::Row {
            block: collection.block_key.iter().map(|field| of(&field.path)).collect(),
            sort: collection.entry_key.iter().map(|field| of(&field.path)).collect(),
            row: vec![Value::Reference(vec![Value::Int(n)])],
            values: collection.fields().iter().map(of).collect(),
        }
    }

    fn aggregate(&self, class: ClassId, n: i64) -> (Identity, Arc<Stored>) {
        let conceptual = &self.schema.model.conceptual;
        let mut record = Record::new(class);
        for member in conceptual.all_members(class) {
            if let Member::Attribute(_) = member {
                record.set(member, value(conceptual.member_name(member), n));
            }
        }
        (vec![Value::Int(n)], Arc::new(Stored { record, system: System::default() }))
    }
}

/// The first note of a page.
fn start(from: From<'_>) -> i64 {
    let number = |row: &[Value]| match row {
        [Value::Reference(id)] => match id.as_slice() {
            [Value::Int(n)] => *n,
            other => panic!("{other:?} is no note"),
        },
        other => panic!("{other:?} is no row"),
    };
    match from {
        From::Start => 0,
        From::Cursor(Cursor::Entry(key)) => number(&key.row) + 1,
        From::Cursor(Cursor::Aggregate(id)) => number(&[Value::Reference(id.clone())]) + 1,
        From::Row { row, .. } => number(row),
    }
}

impl Source for Notes<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn page(&self, ask: &Ask<'_>) -> Result<Page, Stop> {
        let collection = &self.schema.design.collections[ask.read.table];
        let from = start(ask.from);
        let to = ROWS.min(from.saturating_add(i64::try_from(ask.at_most).unwrap_or(i64::MAX)));
        let last = (to < ROWS).then_some(to - 1);
        let (records, next) = match collection.role {
            Role::Master => {
                let class = collection.source.root;
                let found = (from..to).map(|n| self.aggregate(class, n)).collect();
                let next = last.map(|n| Cursor::Aggregate(vec![Value::Int(n)]));
                (Records::Aggregates(Arc::new(found)), next)
            }
            Role::Copy | Role::Index | Role::Carried => {
                let found = (from..to).map(|n| self.entry(collection, n)).collect();
                let next =
                    last.map(|n| Cursor::Entry(RecordKey::split(collection, self.entry(collection, n)).0));
                (Records::Entries(Arc::new(found)), next)
            }
        };
        self.watched.lock().unwrap().count(&records);
        Ok(Page { records, next })
    }

    fn block(&self, _root: ClassId, _id: &Identity) -> Result<BlockState, Stop> {
        unreachable!("no query is about one note")
    }

    fn time_buckets(&self, _master: CollectionId, _field: usize) -> Result<Vec<String>, Stop> {
        unreachable!("nothing is split by time")
    }

    fn entry(&self, _at: &EntryAt<'_>) -> Result<Option<Entry>, Stop> {
        unreachable!("no query is about one note")
    }
}

/// The copies of a design.
#[derive(Clone, Copy)]
enum Views {
    OfQueries,
    None,
}

/// The answer; how many records were given, and how many of them were held at once.
fn run(views: Views, name: &str, after: Option<&Continuation>) -> (Answer, usize, usize) {
    let driver = Arc::new(MadeUp::default());
    let model = parse(MODEL);
    let mut designed = model.clone();
    match views {
        Views::OfQueries => {}
        Views::None => designed.workload.queries.clear(),
    }
    let schema = Schema::new(model, simple::design(&designed), askloom_target::embedded::costing());
    let engine = Engine::new(Arc::clone(&driver) as Arc<dyn Driver>, Arc::new(schema), Box::new(NoClock));
    let queries = &engine.schema().model.workload.queries;
    let query = queries.iter().find(|query| query.header.name == name).unwrap();
    let given = Arguments::from([("folder".to_owned(), Value::Text("inbox".to_owned()))]);
    let answer = at_once(engine.query(query, &given, jiff::Timestamp::UNIX_EPOCH, after)).unwrap();
    let watched = driver.0.lock().unwrap();
    (answer, watched.given, watched.held)
}

fn numbers(answer: &Answer) -> Vec<i64> {
    let number = |row: &Vec<Value>| match row.first() {
        Some(Value::Int(n)) => *n,
        other => panic!("{other:?} is no number"),
    };
    answer.rows.iter().map(number).collect()
}

#[test]
fn limit_asks_for_no_more_than_it_gives() {
    let (answer, given, _) = run(Views::OfQueries, "first", None);
    assert_eq!(numbers(&answer), (0..10).collect::<Vec<i64>>());
    assert_eq!(given, 10);
}

#[test]
fn a_page_asks_for_one_more_than_it_gives_wherever_it_starts() {
    let (answer, given, _) = run(Views::OfQueries, "paged", None);
    assert_eq!((numbers(&answer), given), ((0..10).collect(), 11));
    let mut after = answer.next.unwrap();
    // Far behind, as if all before it had been asked for.
    after.order = vec![value("at", 900_000)];
    after.identity = vec![Value::Reference(vec![Value::Int(900_000)])];
    let (answer, given, _) = run(Views::OfQueries, "paged", Some(&after));
    // The row that the last page ended with is read again.
    assert_eq!((numbers(&answer), given), ((900_001..900_011).collect(), 12));
}

#[test]
fn limit_behind_a_filter_reads_until_there_are_enough() {
    // Of a hundred notes the last ten pass.
    let (answer, given, held) = run(Views::OfQueries, "small", None);
    assert_eq!(numbers(&answer), (90..100).collect::<Vec<i64>>());
    assert!(given <= 100, "{given}");
    assert!(held <= CHUNK, "{held}");
}

#[test]
fn what_is_only_counted_holds_one_chunk_of_a_million() {
    let (answer, given, held) = run(Views::OfQueries, "counted", None);
    let size = ROWS / SIZES * (0..SIZES).sum::<i64>();
    assert_eq!(answer.rows, [[Value::Int(ROWS), Value::Int(size)]]);
    assert_eq!(given, usize::try_from(ROWS).unwrap());
    assert!(held <= CHUNK, "{held} records were held at once");
}

#[test]
fn groups_hold_one_chunk_of_a_million() {
    let (answer, given, held) = run(Views::OfQueries, "sizes", None);
    assert_eq!(numbers(&answer), (0..SIZES).collect::<Vec<i64>>());
    assert!(answer.rows.iter().all(|row| row[1] == Value::Int(ROWS / SIZES)));
    assert_eq!(given, usize::try_from(ROWS).unwrap());
    assert!(held <= CHUNK, "{held} records were held at once");
}

#[test]
fn the_first_of_an_order_that_no_copy_has_hold_one_chunk_of_a_million() {
    assert_eq!(held_for_the_smallest(Views::OfQueries), CHUNK);
}

#[test]
#[ignore = "slow"]
fn the_first_of_whole_aggregates_hold_few_of_a_million() {
    // Those that can still be in the answer are held, too.
    let held = held_for_the_smallest(Views::None);
    assert!(held <= 3 * CHUNK, "{held} records were held at once");
}

fn held_for_the_smallest(views: Views) -> usize {
    let (answer, given, held) = run(views, "smallest", None);
    let expected: Vec<i64> = (0..10).map(|n| n * SIZES + SIZES - 1).collect();
    assert_eq!(numbers(&answer), expected);
    assert_eq!(given, usize::try_from(ROWS).unwrap());
    held
}
