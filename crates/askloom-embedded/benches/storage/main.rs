//! Which engine the embedded store stands on: the candidates under the store's own access pattern, one after
//! the other, each on a data set of its own. `docs/decisions/embedded-engine.md` draws the conclusion.
//!
//! `ASKLOOM_BENCH_MB` is the size of the data set (5120 unless said otherwise; 64 takes some seconds),
//! `ASKLOOM_BENCH_ONLY` a candidate, `ASKLOOM_BENCH_FOLDER` where the data goes. Prints one JSON object a
//! line for `cargo xtask bench`.

mod candidate;
mod committer;
mod fjall_tree;
mod logged_tree;
mod redb_tree;
#[path = "../workload.rs"]
mod workload;

use askloom_embedded::store::Store;
use candidate::{Candidate, Change, Outcome, Snapshot};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use workload::{ENTRIES_PER_BLOCK, Random, Values, block, key};

const BATCH: u64 = 1000;

fn main() -> Outcome {
    if let Some(child) = std::env::var_os("ASKLOOM_BENCH_CHILD") {
        return be_killed(&child.to_string_lossy());
    }
    run::<redb_tree::Plain>()?;
    run::<redb_tree::Quick>()?;
    run::<Store>()?;
    run::<fjall_tree::Fjall>()
}

/// One candidate on its data set: the engine, and what is known of the data.
struct Bench<C> {
    engine: Arc<C>,
    folder: PathBuf,
    values: Values,
    entries: u64,
}

fn run<C: Candidate>() -> Outcome {
    if setting("ASKLOOM_BENCH_ONLY").is_some_and(|only| only != C::NAME) {
        return Ok(());
    }
    let folder = folder::<C>();
    let _ = std::fs::remove_dir_all(&folder);
    let engine = Arc::new(C::open(&folder)?);
    let mut bench = Bench { engine, folder, values: Values::new(), entries: 0 };
    bench.load()?;
    bench.engine.settle();
    bench.read()?;
    bench.small_commits(1)?;
    bench.small_commits(16)?;
    bench.update()?;
    bench.grow_under_a_reader()?;
    bench.delete()?;
    let Bench { engine, folder, entries, .. } = bench;
    drop(engine);
    reopen::<C>(&folder, entries)?;
    Ok(std::fs::remove_dir_all(&folder)?)
}

impl<C: Candidate> Bench<C> {
    /// Batches of 1,000 entries: some 77 blocks each, at random places.
    fn load(&mut self) -> Outcome {
        let mut random = Random(1);
        let (mut bytes, wanted) = (0, megabytes() << 20);
        let start = Instant::now();
        while bytes < wanted {
            let batch: Vec<Change> =
                (self.entries..self.entries + BATCH).map(|number| self.put(&mut random, number)).collect();
            bytes += batch
                .iter()
                .map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len))
                .sum::<usize>();
            self.entries += BATCH;
            self.engine.commit(batch)?;
        }
        self.report("bulk load", self.entries as f64 / start.elapsed().as_secs_f64(), "entries/s");
        self.report("disk space over data, loaded", self.disk() as f64 / bytes as f64, "ratio");
        Ok(())
    }

    fn read(&self) -> Outcome {
        let mut random = Random(2);
        self.timed("get", || {
            let found = self.engine.snapshot()?.get(&key(random.below(self.entries)))?;
            found.map(drop).ok_or_else(|| "an entry is missing".into())
        })?;
        let snapshot = self.engine.snapshot()?;
        self.timed("get in one snapshot", || snapshot.get(&key(random.below(self.entries))).map(drop))?;
        let blocks = self.entries / ENTRIES_PER_BLOCK;
        for (name, limit) in [("block of 13", 13), ("range of 100", 100)] {
            self.timed(name, || {
                self.engine.snapshot()?.range(&block(random.below(blocks)), limit).map(drop)
            })?;
        }
        Ok(())
    }

    /// What a small write of an aggregate is: the system entry is read and replaced, one part is put.
    fn small_commits(&self, writers: u64) -> Outcome {
        let took = if C::GROUPS {
            self.write_from(writers, |condition, changes| self.engine.commit_on(condition, changes))?
        } else {
            let (queue, committer) = committer::start(self.engine.clone());
            let took = self.write_from(writers, |condition, changes| queue.commit(condition, changes))?;
            drop(queue);
            committer.join().unwrap_or_else(|_| Err("panic".into()))?;
            took
        };
        let name = format!("durable commits, {writers} writers");
        self.report(&name, took.len() as f64 / long().as_secs_f64(), "/s");
        for (share, percentile) in [(0.5, "median"), (0.99, "99 %"), (1.0, "worst")] {
            let at = ((took.len() - 1) as f64 * share) as usize;
            let took = took.get(at).copied().unwrap_or_default();
            self.report(&format!("{name}, {percentile}"), took.as_secs_f64() * 1e3, "ms");
        }
        Ok(())
    }

    /// How long each commit took, in order of length.
    fn write_from(
        &self,
        writers: u64,
        commit: impl Fn(Vec<u8>, Vec<Change>) -> Outcome + Sync,
    ) -> Outcome<Vec<Duration>> {
        let write = |writer: u64| -> Outcome<Vec<Duration>> {
            let mut random = Random(100 + writer);
            let mut took = Vec::new();
            let start = Instant::now();
            while start.elapsed() < long() {
                let first = random.below(self.entries / ENTRIES_PER_BLOCK) * ENTRIES_PER_BLOCK;
                let part = first + 1 + random.below(ENTRIES_PER_BLOCK - 1);
                let changes = vec![self.put(&mut random, first), self.put(&mut random, part)];
                let began = Instant::now();
                commit(key(first), changes)?;
                took.push(began.elapsed());
            }
            Ok(took)
        };
        let mut took = std::thread::scope(|scope| {
            let write = &write;
            let writers: Vec<_> = (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
            let lists =
                writers.into_iter().map(|writer| writer.join().unwrap_or_else(|_| Err("panic".into())));
            lists.collect::<Outcome<Vec<_>>>().map(|lists| lists.concat())
        })?;
        took.sort_unstable();
        Ok(took)
    }

    /// Batches of 100 entries at random places of a data set that the cache does not hold.
    fn update(&self) -> Outcome {
        let mut random = Random(3);
        let (start, mut updated) = (Instant::now(), 0);
        while start.elapsed() < long() * 2 {
            self.update_some(&mut random)?;
            updated += 100;
        }
        self.report("random updates", f64::from(updated) / start.elapsed().as_secs_f64(), "entries/s");
        Ok(())
    }

    fn update_some(&self, random: &mut Random) -> Outcome {
        let numbers: Vec<u64> = (0..100).map(|_| random.below(self.entries)).collect();
        self.engine.commit(numbers.into_iter().map(|number| self.put(random, number)).collect())
    }

    /// How much the files grow while a snapshot stays open and a twentieth of the entries are replaced; and
    /// when it is gone and as many are replaced again.
    fn grow_under_a_reader(&self) -> Outcome {
        let mut random = Random(4);
        let before = self.disk();
        let snapshot = self.engine.snapshot()?;
        let under = "disk space over before, under a reader";
        for (name, snapshot) in [(under, Some(snapshot)), ("disk space over before, after it", None)] {
            for _ in 0..self.entries / 20 / 100 {
                self.update_some(&mut random)?;
            }
            if let Some(snapshot) = snapshot {
                snapshot.get(&key(0))?.ok_or("an entry is missing")?;
            }
            self.report(name, self.disk() as f64 / before as f64, "ratio");
        }
        Ok(())
    }

    /// A tenth of all entries, in batches of 1,000: whole blocks.
    fn delete(&self) -> Outcome {
        let (start, last) = (Instant::now(), self.entries / 10);
        for first in (0..last).step_by(1000) {
            self.engine.commit((first..first + BATCH).map(|number| (key(number), None)).collect())?;
        }
        self.report("deletes", last as f64 / start.elapsed().as_secs_f64(), "entries/s");
        Ok(())
    }

    fn put(&self, random: &mut Random, number: u64) -> Change {
        (key(number), Some(self.values.value(random, number).to_vec()))
    }

    /// The mean time of `work`, after a warm-up.
    fn timed(&self, name: &str, mut work: impl FnMut() -> Outcome) -> Outcome {
        let warm = Instant::now();
        while warm.elapsed() < long() / 2 {
            work()?;
        }
        let (start, mut times) = (Instant::now(), 0);
        while start.elapsed() < long() {
            work()?;
            times += 1;
        }
        self.report(name, start.elapsed().as_secs_f64() * 1e6 / f64::from(times), "µs");
        Ok(())
    }

    fn disk(&self) -> u64 {
        disk(&self.folder)
    }

    fn report(&self, name: &str, value: f64, unit: &str) {
        report::<C>(name, value, unit);
    }
}

/// The time to open and read one entry: after an orderly end, and after a kill in the midst of writes.
fn reopen<C: Candidate>(folder: &Path, entries: u64) -> Outcome {
    let open = || -> Outcome<f64> {
        let start = Instant::now();
        C::open(folder)?.snapshot()?.get(&key(entries - 1))?.ok_or("an entry is missing")?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    report::<C>("reopen", open()?, "ms");
    let mut child = Command::new(std::env::current_exe()?)
        .env("ASKLOOM_BENCH_CHILD", format!("{}={entries}", C::NAME))
        .stdout(Stdio::null())
        .spawn()?;
    std::thread::sleep(long());
    child.kill()?;
    child.wait()?;
    report::<C>("reopen after a kill", open()?, "ms");
    Ok(())
}

/// In the child: small updates until the parent ends it.
fn be_killed(task: &str) -> Outcome {
    let (name, entries) = task.split_once('=').ok_or("name=entries")?;
    let entries = entries.parse()?;
    match name {
        redb_tree::Plain::NAME => write_for_ever::<redb_tree::Plain>(entries),
        redb_tree::Quick::NAME => write_for_ever::<redb_tree::Quick>(entries),
        <Store as Candidate>::NAME => write_for_ever::<Store>(entries),
        fjall_tree::Fjall::NAME => write_for_ever::<fjall_tree::Fjall>(entries),
        other => Err(format!("no candidate is called {other}").into()),
    }
}

fn write_for_ever<C: Candidate>(entries: u64) -> Outcome {
    let folder = folder::<C>();
    let bench = Bench { engine: Arc::new(C::open(&folder)?), folder, values: Values::new(), entries };
    let mut random = Random(5);
    loop {
        bench.update_some(&mut random)?;
    }
}

fn folder<C: Candidate>() -> PathBuf {
    let parent = setting("ASKLOOM_BENCH_FOLDER").map_or_else(std::env::temp_dir, PathBuf::from);
    parent.join(format!("askloom-engine-{}", C::NAME.replace(' ', "-")))
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// How long each measurement by time goes on.
fn long() -> Duration {
    if megabytes() < 1024 { Duration::from_millis(400) } else { Duration::from_secs(4) }
}

fn megabytes() -> usize {
    setting("ASKLOOM_BENCH_MB").and_then(|text| text.parse().ok()).unwrap_or(5120)
}

/// What the folder takes on the disk; a file that is longer than what was written to it counts as written.
fn disk(folder: &Path) -> u64 {
    let size = |entry: std::fs::DirEntry| {
        let path = entry.path();
        if path.is_dir() { disk(&path) } else { blocks(&path) }
    };
    std::fs::read_dir(folder).map_or(0, |entries| entries.flatten().map(size).sum())
}

#[cfg(unix)]
fn blocks(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(&match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(_) => return 0,
    }) * 512
}

#[cfg(not(unix))]
fn blocks(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Sizes are part of the name: a small run is never compared with a large one.
fn report<C: Candidate>(name: &str, value: f64, unit: &str) {
    let size = megabytes();
    println!(
        "{{ \"name\": \"{}, {size} MB: {name}\", \"value\": {value:.3}, \"unit\": \"{unit}\" }}",
        C::NAME
    );
}
