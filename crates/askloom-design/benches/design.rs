//! How long the published methods take: NoAM and QODM on a generated model of 1,000 entities and 1,000 queries, with and
//! without a write for each entity, all of them where 300 queries are about few entities, and KVMod's merging on random
//! collections and where everything merges; and how long a design of 1,000 collections takes to become a store's text.
//! Prints one JSON object a line for `cargo xtask bench`.

use askloom_design::method::kvmod::merge::{FieldNumber, Threshold, merge};
use askloom_design::method::{Method, Options, design, noam};
use askloom_lang::{Memory, check};
use askloom_model::Model;
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::planner;
use askloom_plan::program;
use askloom_target::Target;
use askloom_target::generate::{self, Source, Statement};
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const ENTITIES: usize = 1_000;
const RUNS: usize = 3;

fn main() {
    let costing = askloom_target::embedded::costing();
    for (writes, what) in
        [(false, "1000 entities and 1000 queries"), (true, "1000 entities, 1000 queries and 1000 writes")]
    {
        let model = model(ENTITIES, writes);
        report(&format!("noam, {what}"), best(|| noam::propose(&model, &costing)));
        for method in [Method::Noam, Method::Qodm] {
            let took = best(|| design(method, &model, &costing, &Options::default()));
            report(&format!("{} completed, {what}", method.name()), took);
        }
    }
    let large = model(ENTITIES, true);
    for target in askloom_target::targets().iter().filter(|target| target.language.is_some()) {
        printed(&large, target);
    }
    for (entities, what) in [(1, "300 queries of 1 entity"), (5, "300 queries of 5 entities")] {
        let model = asked_much(entities, 300);
        for method in [Method::Noam, Method::Qodm, Method::Kvmod] {
            let took = best(|| design(method, &model, &costing, &Options::default()));
            report(&format!("{} completed, {what}", method.name()), took);
        }
    }
    for (collections, fields) in [(100, 100), (1_000, 100), (1_000, 1_000)] {
        let random = random(collections, fields);
        report(&format!("kvmod, merging {collections} x {fields}"), best(|| merged(&random)));
    }
    for (collections, fields) in [(100, 100), (1_000, 100), (1_000, 1_000)] {
        let entities = of_entities(collections, fields);
        report(
            &format!("kvmod, merging {collections} x {fields} of many entities"),
            best(|| merged(&entities)),
        );
    }
    let alike = alike(1_000, 1_000);
    assert_eq!(merged(&alike).len(), 1, "all of them become one");
    report("kvmod, merging 1000 x 1000 that become one", best(|| merged(&alike)));
}

/// Tables, statements and their text for a store, from a design and its plans.
fn printed(model: &Model, target: &Target) {
    let costing = Costing::from(target);
    let made = design(Method::Noam, model, &costing, &Options::default()).design;
    let queries: Vec<_> = model
        .workload
        .queries
        .iter()
        .filter_map(|query| Some((query, planner::answer(&costing, model, &made, query).ok()?)))
        .collect();
    let writes: Vec<_> = model
        .workload
        .writes
        .iter()
        .filter_map(|write| Some((write, planner::write::plan(&costing, model, &made, write).ok()?)))
        .collect();
    let Some(language) = target.language else { return };
    let took = best(|| {
        let layout = Layout::new(&model.conceptual, &made).asked_by(&model.workload.queries);
        let statement = |program, write| Statement { program, text: String::new(), write };
        let reads =
            queries.iter().map(|(query, plan)| statement(program::query(&layout, query, plan, None), false));
        let changes =
            writes.iter().map(|(write, plan)| statement(program::write(&layout, write, plan, None), true));
        let statements = reads.chain(changes).collect();
        let options = generate::Options::default();
        let source = Source { layout: &layout, statements, sample: Vec::new(), options };
        language.generate(&source).files.iter().map(|file| file.text().len()).sum::<usize>()
    });
    let name = target.capability.target;
    report(
        &format!(
            "{name}, {} collections and {} statements as text",
            made.collections.len(),
            queries.len() + writes.len()
        ),
        took,
    );
}

/// The best of some runs: what the code costs when nothing else happens on the machine.
fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let runs = (0..RUNS).map(|_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    });
    runs.min().unwrap_or_default()
}

fn report(name: &str, took: Duration) {
    println!("{{ \"name\": \"{name}\", \"value\": {:.4}, \"unit\": \"s\" }}", took.as_secs_f64());
}

fn merged(collections: &[Vec<FieldNumber>]) -> Vec<Vec<usize>> {
    merge(collections, Threshold::PUBLISHED, &|_, _| true)
}

/// Collections of so many fields, out of ten times as many.
fn random(collections: usize, fields: usize) -> Vec<Vec<FieldNumber>> {
    let mut random = fastrand::Rng::with_seed(7);
    let names = u32::try_from(fields * 10).unwrap_or(u32::MAX);
    let collection = |_| random.choose_multiple(0..names, fields);
    (0..collections).map(collection).collect()
}

/// Collections of so many fields of an entity of their own that four others are about, too; each has half of them.
fn of_entities(collections: usize, fields: usize) -> Vec<Vec<FieldNumber>> {
    let mut random = fastrand::Rng::with_seed(7);
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut collection = |n: usize| {
        let first = number(n / 5 * 2 * fields);
        random.choose_multiple(first..first + number(2 * fields), fields)
    };
    (0..collections).map(&mut collection).collect()
}

/// Each has one field that most others lack, of so few that the union is never too large for another one.
fn alike(collections: usize, fields: usize) -> Vec<Vec<FieldNumber>> {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let shared = 0..number(fields - 1);
    (0..collections).map(|n| shared.clone().chain([number(fields + n % (fields / 10))]).collect()).collect()
}

/// Entities of eleven fields, two of them lists, in rings of references; a query for each, every other one along a join.
fn model(entities: usize, writes: bool) -> Model {
    let mut text = String::from("value Line { text: text @size(200 B), at: timestamp }\n");
    for n in 0..entities {
        let next = (n + 1) % entities;
        let query = if n % 2 == 0 {
            format!("SELECT name, status, amount FROM Entity{n} WHERE key{n} = :key")
        } else {
            format!(
                "SELECT name, n.name AS other, n.quantity FROM Entity{n} JOIN next AS n WHERE status = 'open' AND \
                 quantity > :least ORDER BY createdAt DESC LIMIT 20"
            )
        };
        let write = if n % 2 == 0 {
            format!("ADD :line TO Entity{n}.lines WHERE key{n} = :key")
        } else {
            format!("UPDATE Entity{n} SET quantity = quantity + 1 WHERE key{n} = :key")
        };
        let write = if writes { format!("@rate(7/s)\nwrite change{n}: {write}\n") } else { String::new() };
        let _ = writeln!(
            text,
            "@count({count})\nentity Entity{n} {{\n  id key{n}: uuid\n  name: text @size(40 B)\n  \
             status: enum(open, closed, lost) = open @freq(open 10%)\n  createdAt: timestamp = now()\n  \
             amount: decimal\n  quantity: int = 0\n  weight: double?\n  tags: text[*] @avg(3) @max(20)\n  \
             active: bool = true\n  note: text?\n  ref next: Entity{next} inverse previous\n  \
             part lines: Line[*] @avg(12)\n}}\n\n@rate({rate}/s)\nquery list{n}: {query}\n{write}",
            count = 1000 + n,
            rate = 1 + n % 100,
        );
    }
    checked(&text)
}

/// Few entities about which much is asked: each query has other conditions and another order, and every third one goes
/// on to the next entity. Some writes.
fn asked_much(entities: usize, queries: usize) -> Model {
    const FIELDS: usize = 30;
    let mut text = String::new();
    for n in 0..entities {
        let _ = write!(text, "@count(100000)\nentity Entity{n} {{\n  id key{n}: uuid\n");
        for (field, ty) in (0..FIELDS).zip(["text", "int", "timestamp", "decimal"].into_iter().cycle()) {
            let _ = writeln!(text, "  f{field}: {ty} @distinct({})", 100 + field);
        }
        let _ = writeln!(
            text,
            "  tags: text[*] @avg(3)\n  ref next: Entity{}? inverse previous\n}}",
            (n + 1) % entities
        );
    }
    for n in 0..queries {
        let entity = n % entities;
        // Two fields that differ from those of every other query of the entity.
        let (first, second) = (n / entities % FIELDS, (1 + n / entities / FIELDS + n / entities) % FIELDS);
        let range = (second + 7) % FIELDS;
        let condition = match n % 4 {
            0 => format!("f{first} = :a"),
            1 => format!("f{first} = :a AND f{second} = :b"),
            2 => format!("f{first} = :a AND f{range} > :b"),
            _other => format!("f{first} = :a AND f{second} = :b AND f{range} > :c"),
        };
        let join = if n % 3 == 0 { " JOIN next AS n" } else { "" };
        let column = if n % 3 == 0 { "n.f1 AS other, " } else { "" };
        let _ = writeln!(
            text,
            "query q{n}: SELECT {column}e.f{second}, e.f{range} FROM Entity{entity} AS e{join} WHERE {} ORDER BY e.f{range} \
             DESC LIMIT 20",
            condition.replace('f', "e.f"),
        );
    }
    for n in 0..entities {
        let _ = writeln!(text, "write change{n}: UPDATE Entity{n} SET f0 = :value WHERE key{n} = :key");
    }
    checked(&text)
}

fn checked(text: &str) -> Model {
    let checked = check(&Memory::default().with("model.loom", text), Path::new("model.loom"));
    assert!(checked.diagnostics.iter().all(|found| !found.is_error()), "{:?}", checked.diagnostics.first());
    checked.model
}
