//! What the embedded store costs, coefficient by coefficient: the numbers of its profile.
//!
//! A coefficient is the slope between two sizes, so that what does not grow drops out of it: the median of several
//! rounds each. Prints one JSON object a line for `cargo xtask bench`; the profile has these values, and a test
//! compares them with the recorded run.

#[path = "../workload.rs"]
#[expect(dead_code, reason = "only its random numbers are needed here")]
mod workload;

use askloom_embedded::store::{Batch, Direction, Options, Outcome, Store};
use askloom_model::Value;
use askloom_plan::ordered_bytes::{decode, encode};
use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use workload::Random;

type Attempt<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const SMALL: usize = 100;
const LARGE: usize = 8_000;
const SMALL_KEYS: u64 = 200_000;
const LARGE_KEYS: u64 = 5_000;
const ROUNDS: usize = 7;
const LONG: Duration = Duration::from_millis(150);
/// Rows that the client works on at once.
const ROWS: usize = 10_000;

fn main() -> Attempt {
    let folder = std::env::var("ASKLOOM_BENCH_FOLDER").map_or_else(|_| std::env::temp_dir(), PathBuf::from);
    let folder = folder.join("askloom-profile");
    let _ = std::fs::remove_dir_all(&folder);
    let store = Store::open(&folder, &Options::default())?;
    load(&store)?;
    reads(&store)?;
    writes(&store)?;
    client();
    drop(store);
    Ok(std::fs::remove_dir_all(&folder)?)
}

fn key(kind: u8, number: u64) -> Vec<u8> {
    let mut key = vec![kind];
    key.extend(number.to_be_bytes());
    key.extend([0; 16]);
    key
}

fn commit(store: &Store, batch: Batch) -> Attempt {
    match store.commit(batch)? {
        Outcome::Committed { .. } => Ok(()),
        Outcome::Conflict(conflict) => Err(format!("{conflict:?}").into()),
    }
}

fn load(store: &Store) -> Attempt {
    for (kind, keys, bytes) in [(b's', SMALL_KEYS, SMALL), (b'l', LARGE_KEYS, LARGE)] {
        for first in (0..keys).step_by(1000) {
            let entries = first..(first + 1000).min(keys);
            let batch = entries.fold(Batch::new(), |batch, n| batch.put(key(kind, n), vec![b'x'; bytes]));
            commit(store, batch)?;
        }
    }
    Ok(())
}

fn reads(store: &Store) -> Attempt {
    let get = |kind: u8, keys: u64| {
        let mut random = Random(1);
        timed(move || {
            let key = key(kind, random.below(keys));
            black_box(store.snapshot().get(&key)?.map(|value| value.to_vec()));
            Ok(())
        })
    };
    let (small, large) = (get(b's', SMALL_KEYS)?, get(b'l', LARGE_KEYS)?);
    let byte = (large - small) / (LARGE - SMALL) as f64;
    let range = |entries: u64| {
        let mut random = Random(2);
        timed(move || {
            let start = key(b's', random.below(SMALL_KEYS - entries));
            let snapshot = store.snapshot();
            let read = snapshot.range(&start[..].., Direction::Ascending)?;
            for entry in read.take(usize::try_from(entries)?) {
                black_box(entry?.value.to_vec());
            }
            Ok(())
        })
    };
    let (short, long) = (range(10)?, range(1_010)?);
    let row = ((long - short) / 1_000.0 - byte * SMALL as f64).max(0.0);
    report("read request", small - row - byte * SMALL as f64);
    report("row", row);
    report("byte read", byte);
    Ok(())
}

fn writes(store: &Store) -> Attempt {
    let put = |entries: u64, bytes: usize| {
        let mut random = Random(3);
        timed(move || {
            let keys = (0..entries).map(|_| key(b's', random.below(SMALL_KEYS)));
            commit(store, keys.fold(Batch::new(), |batch, key| batch.put(key, vec![b'y'; bytes])))
        })
    };
    let (one, many) = (put(1, SMALL)?, put(101, SMALL)?);
    let larger = put(101, LARGE / 8)?;
    let byte = ((larger - many) / 101.0 / (LARGE / 8 - SMALL) as f64).max(0.0);
    let put = ((many - one) / 100.0 - byte * SMALL as f64).max(0.0);
    let delete = |entries: u64| {
        let mut next = 0;
        timed(move || {
            let keys = (next..next + entries).map(|n| key(b's', n % SMALL_KEYS));
            next += entries;
            commit(store, keys.fold(Batch::new(), Batch::delete))
        })
    };
    let delete = ((delete(101)? - delete(1)?) / 100.0).max(0.0);
    report("write request", one - put - byte * SMALL as f64);
    report("put", put);
    report("delete", delete);
    report("byte written", byte);
    Ok(())
}

/// What the executor does with rows: decode and look at them, compare them, find their group.
fn client() {
    let mut random = Random(4);
    let rows: Vec<Vec<Value>> = (0..ROWS).map(|_| row(&mut random)).collect();
    let encoded: Vec<Vec<u8>> = rows.iter().map(|row| bytes(row)).collect();
    let filter = median((0..ROUNDS).map(|_| {
        let start = Instant::now();
        for entry in &encoded {
            let mut rest = entry.as_slice();
            while let (false, Ok(value)) = (rest.is_empty(), decode(&mut rest)) {
                black_box(value.is_null());
            }
        }
        start.elapsed().as_secs_f64() / ROWS as f64
    }));
    let mut comparisons = 1_u32;
    let compare = median((0..ROUNDS).map(|_| {
        let mut rows = rows.clone();
        comparisons = 0;
        let start = Instant::now();
        rows.sort_by(|a, b| {
            comparisons += 1;
            a.cmp(b)
        });
        black_box(&rows);
        start.elapsed().as_secs_f64() / f64::from(comparisons)
    }));
    let group = median((0..ROUNDS).map(|_| {
        let start = Instant::now();
        let mut groups: HashMap<Vec<u8>, u64> = HashMap::new();
        for row in &rows {
            let key = row.get(2).map(|value| bytes(std::slice::from_ref(value))).unwrap_or_default();
            *groups.entry(key).or_default() += 1;
        }
        black_box(groups.len());
        start.elapsed().as_secs_f64() / ROWS as f64
    }));
    report("filter", filter);
    report("compare", compare);
    report("group", group);
}

fn row(random: &mut Random) -> Vec<Value> {
    let text = |random: &mut Random| Value::Text(format!("{:016x}", random.next()));
    let number = |random: &mut Random| Value::Int(i64::try_from(random.below(100)).unwrap_or(0));
    vec![text(random), text(random), number(random), number(random), Value::Bool(true)]
}

fn bytes(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    values.iter().for_each(|value| encode(value, &mut out));
    out
}

/// Seconds for one, the median of the rounds.
fn timed(mut work: impl FnMut() -> Attempt) -> Attempt<f64> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let (start, mut times) = (Instant::now(), 0_u32);
        while start.elapsed() < LONG {
            work()?;
            times += 1;
        }
        rounds.push(start.elapsed().as_secs_f64() / f64::from(times));
    }
    Ok(median(rounds.into_iter()))
}

fn median(rounds: impl Iterator<Item = f64>) -> f64 {
    let mut rounds: Vec<f64> = rounds.collect();
    rounds.sort_unstable_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied().unwrap_or_default()
}

fn report(name: &str, seconds: f64) {
    println!("{{ \"name\": \"{name}\", \"value\": {:.6}, \"unit\": \"µs\" }}", seconds.max(0.0) * 1e6);
}
