//! How long parse, resolve and check take on a generated model: at one, two, four and eight times 10,000
//! entities, 100,000 attributes and 20,000 queries. Prints one JSON object a line for `cargo xtask bench`.

use askloom_lang::{Dialect, Memory, check, format};
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const ENTITIES: usize = 10_000;
const RUNS: usize = 5;

fn main() {
    let mut per_byte = Vec::new();
    for scale in [1, 2, 4, 8] {
        let text = model(ENTITIES * scale);
        let bytes = text.len();
        let world = Memory::default().with("model.loom", text.as_str());
        let took = best(|| {
            let checked = check(&world, Path::new("model.loom"));
            assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics.first());
            assert_eq!(checked.model.conceptual.attributes.len(), 10 * ENTITIES * scale);
            assert_eq!(checked.model.workload.queries.len(), 2 * ENTITIES * scale);
            black_box(checked.model)
        });
        report(&format!("check at {scale}x"), took.as_secs_f64() * 1e3, "ms");
        let nanos = took.as_secs_f64() * 1e9 / bytes as f64;
        report(&format!("check per byte at {scale}x"), nanos, "ns");
        per_byte.push(nanos);
        if scale == 1 {
            report("model at 1x", bytes as f64 / 1e6, "MB");
            report("format at 1x", best(|| format(&text, Dialect::Loom)).as_secs_f64() * 1e3, "ms");
        }
    }
    if let (Some(first), Some(last)) = (per_byte.first(), per_byte.last()) {
        report("per byte, 8x over 1x", last / first, "ratio");
    }
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

fn report(name: &str, value: f64, unit: &str) {
    println!("{{ \"name\": \"{name}\", \"value\": {value:.3}, \"unit\": \"{unit}\" }}");
}

/// Entities of ten attributes in rings of references, two queries each: one by id, one along a join.
fn model(entities: usize) -> String {
    let mut text = String::new();
    for n in 0..entities {
        let next = (n + 1) % entities;
        write!(
            text,
            "@count({count})\nentity Entity{n} {{\n  id key{n}: uuid\n  name: text @size(40 B)\n  \
             status: enum(open, closed, lost) = open @freq(open 10%)\n  createdAt: timestamp = now()\n  \
             amount: decimal\n  quantity: int = 0\n  weight: double?\n  tags: text[*] @avg(3) @max(20)\n  \
             active: bool = true\n  note: text?\n  ref next: Entity{next} inverse previous\n}}\n\n\
             @rate({rate}/s)\nquery byKey{n}:\n  SELECT name, status, amount\n  FROM Entity{n}\n  \
             WHERE key{n} = :key\n\n@rate(5/min)\nquery list{n}:\n  SELECT name, n.name AS other, n.quantity\n  \
             FROM Entity{n}\n  JOIN next AS n\n  WHERE status = 'open' AND (quantity > :least OR n.active = true)\n  \
             ORDER BY createdAt DESC LIMIT 20\n\n",
            count = 1000 + n,
            rate = 1 + n % 100,
        )
        .unwrap_or_default();
    }
    text
}
