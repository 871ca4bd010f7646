//! What the store costs over the engine it stands on: both in one run, in turns, on the same keys and bytes.
//!
//! The engine is used in its own best way with the same durability: a writer that waits for the lock commits
//! by itself, and a reader begins a transaction. `ASKLOOM_BENCH_MB` is the size of each data set (256 unless
//! said otherwise). Prints one JSON object a line for `cargo xtask bench`.

mod load;
#[path = "../workload.rs"]
mod workload;

use askloom_embedded::store::{Batch, Condition, Direction, Options, Outcome, Store};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use workload::{ENTRIES_PER_BLOCK, Random, Values, block, key};

type Attempt<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const DATA: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("data");
const CACHE: usize = 512 << 20;
const WRITERS: u64 = 16;
const ROUNDS: usize = 5;
const LONG: Duration = Duration::from_millis(1500);

fn main() -> Attempt {
    let folder = std::env::var("ASKLOOM_BENCH_FOLDER").map_or_else(|_| std::env::temp_dir(), PathBuf::from);
    let folder = folder.join("askloom-embedded");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    // `load` alone, or all of it.
    if std::env::var_os("ASKLOOM_BENCH_LOAD").is_none() {
        let pair = Pair::load(&folder)?;
        pair.reads()?;
        pair.writes()?;
    }
    load::run(&folder)?;
    Ok(std::fs::remove_dir_all(&folder)?)
}

struct Pair {
    ours: Store,
    raw: Database,
    values: Values,
    entries: u64,
}

impl Pair {
    fn load(folder: &Path) -> Attempt<Self> {
        let ours = Store::open(folder.join("ours"), &Options::default().cache(CACHE))?;
        let raw = Database::builder().set_cache_size(CACHE).create(folder.join("raw.redb"))?;
        let mut pair = Self { ours, raw, values: Values::new(), entries: 0 };
        let (mut random, mut bytes) = (Random(1), 0);
        while bytes < megabytes() << 20 {
            let numbers = pair.entries..pair.entries + 1000;
            let entries: Vec<_> = numbers.map(|number| pair.entry(&mut random, number)).collect();
            bytes += entries.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
            pair.entries += 1000;
            pair.put_raw(&entries)?;
            pair.put_ours(None, entries)?;
        }
        Ok(pair)
    }

    fn entry(&self, random: &mut Random, number: u64) -> (Vec<u8>, Vec<u8>) {
        (key(number), self.values.value(random, number).to_vec())
    }

    fn put_ours(&self, condition: Option<Vec<u8>>, entries: Vec<(Vec<u8>, Vec<u8>)>) -> Attempt {
        let batch = condition.map_or_else(Batch::new, |key| Batch::new().when(Condition::Present { key }));
        let batch = entries.into_iter().fold(batch, |batch, (key, value)| batch.put(key, value));
        match self.ours.commit(batch)? {
            Outcome::Committed { .. } => Ok(()),
            Outcome::Conflict(conflict) => Err(format!("{conflict:?}").into()),
        }
    }

    /// Reads the first key, as a condition would, and puts all.
    fn put_raw(&self, entries: &[(Vec<u8>, Vec<u8>)]) -> Attempt {
        let transaction = self.raw.begin_write()?;
        let mut table = transaction.open_table(DATA)?;
        if let Some((key, _)) = entries.first() {
            black_box(table.get(key.as_slice())?.is_some());
        }
        for (key, value) in entries {
            table.insert(key.as_slice(), value.as_slice())?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn reads(&self) -> Attempt {
        let get_ours = |random: &mut Random| -> Attempt {
            let key = key(random.below(self.entries));
            black_box(self.ours.snapshot().get(&key)?.map(|value| value.len()));
            Ok(())
        };
        let get_raw = |random: &mut Random| -> Attempt {
            let key = key(random.below(self.entries));
            let table = self.raw.begin_read()?.open_table(DATA)?;
            black_box(ReadableTable::get(&table, key.as_slice())?.map(|value| value.value().len()));
            Ok(())
        };
        let (ours, raw) = (self.alternate(get_ours), self.alternate(get_raw));
        let (ours, raw) = in_turns(ours, raw)?;
        report("get", ours, raw);
        for direction in [Direction::Ascending, Direction::Descending] {
            let (ours, raw) = self.ranges(direction)?;
            report(&format!("range of 100, {direction:?}").to_lowercase(), ours, raw);
        }
        Ok(())
    }

    fn ranges(&self, direction: Direction) -> Attempt<(f64, f64)> {
        let blocks = self.entries / ENTRIES_PER_BLOCK;
        let ours = |random: &mut Random| -> Attempt {
            let start = block(random.below(blocks));
            let snapshot = self.ours.snapshot();
            let entries = match direction {
                Direction::Ascending => snapshot.range(&start[..].., direction)?,
                Direction::Descending => snapshot.range(..&start[..], direction)?,
            };
            for entry in entries.take(100) {
                let entry = entry?;
                black_box(entry.key.len() + entry.value.len());
            }
            Ok(())
        };
        let raw = |random: &mut Random| -> Attempt {
            let start = block(random.below(blocks));
            let table = self.raw.begin_read()?.open_table(DATA)?;
            let mut range = match direction {
                Direction::Ascending => ReadableTable::range::<&[u8]>(&table, &start[..]..)?,
                Direction::Descending => ReadableTable::range::<&[u8]>(&table, ..&start[..])?,
            };
            for _ in 0..100 {
                let entry = match direction {
                    Direction::Ascending => range.next(),
                    Direction::Descending => range.next_back(),
                };
                let Some(entry) = entry else { break };
                let (key, value) = entry?;
                black_box(key.value().len() + value.value().len());
            }
            Ok(())
        };
        in_turns(self.alternate(ours), self.alternate(raw))
    }

    /// One round of `work` on this thread: seconds for one.
    fn alternate(&self, work: impl Fn(&mut Random) -> Attempt) -> impl Fn(u64) -> Attempt<f64> {
        move |round| {
            let (mut random, mut times) = (Random(round), 0_u32);
            let start = Instant::now();
            while start.elapsed() < LONG {
                for _ in 0..16 {
                    work(&mut random)?;
                }
                times += 16;
            }
            Ok(start.elapsed().as_secs_f64() / f64::from(times))
        }
    }

    fn writes(&self) -> Attempt {
        for writers in [1, WRITERS] {
            let ours = |round| {
                self.write_from(writers, round, |entries| {
                    self.put_ours(entries.first().map(|(key, _)| key.clone()), entries)
                })
            };
            let raw = |round| self.write_from(writers, round, |entries| self.put_raw(&entries));
            let (ours, raw) = in_turns(ours, raw)?;
            report(&format!("durable commit, {writers} writers"), ours, raw);
        }
        let ours = |round| self.bulk(round, |entries| self.put_ours(None, entries));
        let raw = |round| self.bulk(round, |entries| self.put_raw(&entries));
        let (ours, raw) = in_turns(ours, raw)?;
        report("batch of 1000", ours, raw);
        Ok(())
    }

    /// Seconds for one commit, over all writers: a system entry and one part each.
    fn write_from(
        &self,
        writers: u64,
        round: u64,
        put: impl Fn(Vec<(Vec<u8>, Vec<u8>)>) -> Attempt + Sync,
    ) -> Attempt<f64> {
        let start = Instant::now();
        let write = |writer: u64| -> Attempt<u32> {
            let (mut random, mut commits) = (Random(round << 8 | writer), 0);
            while start.elapsed() < LONG {
                let first = random.below(self.entries / ENTRIES_PER_BLOCK) * ENTRIES_PER_BLOCK;
                let part = first + 1 + random.below(ENTRIES_PER_BLOCK - 1);
                put(vec![self.entry(&mut random, first), self.entry(&mut random, part)])?;
                commits += 1;
            }
            Ok(commits)
        };
        let commits = std::thread::scope(|scope| {
            let write = &write;
            let writers: Vec<_> = (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
            let counts =
                writers.into_iter().map(|writer| writer.join().unwrap_or_else(|_| Err("panic".into())));
            counts.sum::<Attempt<u32>>()
        })?;
        Ok(start.elapsed().as_secs_f64() / f64::from(commits))
    }

    /// Seconds for one batch of 1,000 entries: updates of whole blocks at random places.
    fn bulk(&self, round: u64, put: impl Fn(Vec<(Vec<u8>, Vec<u8>)>) -> Attempt) -> Attempt<f64> {
        let (mut random, mut batches) = (Random(round), 0_u32);
        let start = Instant::now();
        while start.elapsed() < LONG {
            let first = random.below(self.entries / 1000) * 1000;
            put((first..first + 1000).map(|number| self.entry(&mut random, number)).collect())?;
            batches += 1;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(batches))
    }
}

/// Both in turns, so that what else happens on the machine hits both; the median round of each.
fn in_turns(ours: impl Fn(u64) -> Attempt<f64>, raw: impl Fn(u64) -> Attempt<f64>) -> Attempt<(f64, f64)> {
    let (mut our_rounds, mut raw_rounds) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS as u64 {
        our_rounds.push(ours(round)?);
        raw_rounds.push(raw(round)?);
    }
    Ok((median(our_rounds), median(raw_rounds)))
}

fn median(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_unstable_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied().unwrap_or_default()
}

fn report(name: &str, ours: f64, raw: f64) {
    for (whose, seconds) in [("ours", ours), ("raw", raw)] {
        println!("{{ \"name\": \"{name}, {whose}\", \"value\": {:.3}, \"unit\": \"µs\" }}", seconds * 1e6);
    }
    println!(
        "{{ \"name\": \"{name}, speed\", \"value\": {:.1}, \"unit\": \"% of raw\" }}",
        raw / ours * 100.0
    );
}

fn megabytes() -> usize {
    std::env::var("ASKLOOM_BENCH_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(256)
}
