//! How long the choice by cost takes, and how good it is: an auction site, and generated workloads of growing size.
//! Prints one JSON object a line for `cargo xtask bench`.

use askloom_design::method::{Method, Options, Paper, design};
use askloom_lang::{Memory, check};
use askloom_model::Model;
use askloom_plan::cost::Costing;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

fn main() {
    let only = std::env::args().nth(1).filter(|name| !name.starts_with("--"));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    {
        let auction = checked(include_str!("auction.loom"));
        for target in askloom_target::targets() {
            let name = format!("cost, auction site on {}", target.capability.target);
            if !wanted(&name) {
                continue;
            }
            measure(&name, &auction, &Costing::from(target));
        }
    }
    for (entities, statements) in [(10, 30), (30, 100), (100, 300), (300, 1_000)] {
        let name = format!("cost, {entities} entities and {statements} statements");
        if wanted(&name) {
            measure(&name, &checked(&generated(entities, statements)), &askloom_target::embedded::costing());
        }
    }
}

fn measure(name: &str, model: &Model, costing: &Costing<'_>) {
    let begun = Instant::now();
    let proposal = design(Method::Cost, model, costing, &Options::default());
    let took = begun.elapsed();
    let Paper::Cost(report) = &proposal.paper else { return };
    println!("{{ \"name\": \"{name}\", \"value\": {:.4}, \"unit\": \"s\" }}", took.as_secs_f64());
    let cheapest = report.others.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    eprintln!(
        "{name}: gap {:.6} %, {:.1} times cheaper than the best of the others, {} candidates, {} plans, {} variables, \
         {} rows, {} parts",
        100.0 * report.gap(),
        cheapest / report.cost,
        report.looked_at.candidates,
        report.looked_at.plans,
        report.looked_at.variables,
        report.looked_at.rows,
        report.looked_at.parts
    );
    assert!(report.gap() <= 0.01, "{name}: not within one per cent");
}

fn checked(text: &str) -> Model {
    let checked = check(&Memory::default().with("model.loom", text), Path::new("model.loom"));
    assert!(checked.diagnostics.iter().all(|found| !found.is_error()), "{:?}", checked.diagnostics.first());
    checked.model
}

/// Entities that refer to two others each, and statements about them: three in four ask, along up to three references.
fn generated(entities: usize, statements: usize) -> String {
    let mut random = fastrand::Rng::with_seed(11);
    let mut text = String::new();
    let (near, far) = (|n: usize| (n + 1) % entities, |n: usize| n / 3);
    for n in 0..entities {
        let _ = writeln!(
            text,
            "@count({count})\nentity Entity{n} {{\n  id key{n}: uuid\n  name: text @size(40 B)\n  \
             kind: int @distinct(50)\n  status: enum(open, closed, lost) = open @freq(open 10%)\n  \
             price: decimal @distinct(1_000)\n  note: text @size(300 B)\n  createdAt: timestamp = now()\n  \
             ref near: Entity{near} inverse nearby\n  ref far: Entity{far} inverse below{n}\n}}",
            count = 1_000 * (1 + random.usize(0..1_000)),
            near = near(n),
            far = far(n),
        );
    }
    for n in 0..statements {
        let entity = random.usize(0..entities);
        let rate = 1 + random.usize(0..200);
        if n % 4 == 3 {
            let change = match random.usize(0..4) {
                0 => format!("INSERT Entity{entity}"),
                1 => format!("UPDATE Entity{entity} SET name = :name WHERE key{entity} = :key"),
                2 => format!("UPDATE Entity{entity} SET price = :price WHERE key{entity} = :key"),
                _other => format!("UPDATE Entity{entity} SET status = :status WHERE key{entity} = :key"),
            };
            let _ = writeln!(text, "@rate({rate}/s) write w{n}: {change}");
            continue;
        }
        let (mut columns, mut joins) = ("e.name, e.price".to_owned(), String::new());
        let mut last = "e".to_owned();
        for hop in 0..random.usize(0..4) {
            let way = if random.bool() { "near" } else { "far" };
            let _ = write!(joins, "{} {last}.{way} AS j{hop}", if hop == 0 { " JOIN" } else { "," });
            let _ = write!(columns, ", j{hop}.name AS name{hop}");
            last = format!("j{hop}");
        }
        let condition = match random.usize(0..5) {
            0 => format!("e.key{entity} = :key"),
            1 => "e.kind = :kind".to_owned(),
            2 => format!("{last}.kind = :kind AND e.status = 'open'"),
            3 => "e.near = :near AND e.price > :least".to_owned(),
            _other => "e.kind = :kind AND e.createdAt >= :since".to_owned(),
        };
        let order = if random.bool() { " ORDER BY e.createdAt DESC LIMIT 20" } else { "" };
        let _ = writeln!(
            text,
            "@rate({rate}/s) query q{n}: SELECT {columns} FROM Entity{entity} AS e{joins} WHERE {condition}{order}"
        );
    }
    text
}
