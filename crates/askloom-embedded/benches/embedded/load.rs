//! Loading in bulk: a file of small rows into a design, against the same parse and a plain insert of the same keys and
//! bytes, in turns; then how much memory a long load takes. `ASKLOOM_BENCH_ROWS` is the length of the long one.

use crate::workload::Random;
use crate::{Attempt, CACHE, DATA, in_turns, report};
use askloom_design::simple;
use askloom_embedded::bulk::{Fate, Incoming, JsonLines, Loader, Mark, Rows};
use askloom_embedded::codec::block_prefix;
use askloom_embedded::database::Database;
use askloom_embedded::store::{Direction, Options};
use askloom_lang::Memory;
use askloom_model::{ClassId, Model};
use askloom_plan::ordered_bytes::encode;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const MODEL: &str = "entity Player { id username: text, firstName: text, lastName: text, score: int = 0 }";

/// Rows of the file that both load.
const ROWS: u64 = 300_000;

/// Rows that go into one transaction of the engine: as many as make one batch of the loader.
const TOGETHER: usize = 12_000;

pub(crate) fn run(folder: &Path) -> Attempt {
    let checked = askloom_lang::check(&Memory::default().with("m.loom", MODEL), Path::new("m.loom"));
    let model = checked.model;
    let class = model.conceptual.classes.ids().next().ok_or("no class")?;
    let bench = Bench { folder, model, class };
    let file = folder.join("players.jsonl");
    write(&file, ROWS)?;
    let ours = |round| bench.ours(&file, &format!("load-{round}"), &mut |_| {});
    let raw = |round| bench.raw(&file, round);
    let (ours, raw) = in_turns(ours, raw)?;
    report("load of a row", ours, raw);
    std::fs::remove_file(&file)?;
    bench.memory()
}

struct Bench<'f> {
    folder: &'f Path,
    model: Model,
    class: ClassId,
}

impl Bench<'_> {
    fn open(&self, name: &str) -> Attempt<Database> {
        let folder = self.folder.join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let options = Options::default().cache(CACHE);
        Ok(Database::apply(folder, &options, self.model.clone(), simple::design(&self.model))?.0)
    }

    /// Seconds for a row.
    fn ours(&self, file: &Path, name: &str, watch: &mut dyn FnMut(u64)) -> Attempt<f64> {
        let mut database = self.open(name)?;
        let start = Instant::now();
        let mut loader = Loader::new(&mut database, jiff::Timestamp::UNIX_EPOCH)?;
        let mut rows = JsonLines::new(BufReader::with_capacity(1 << 20, File::open(file)?), 0, 0);
        let mut mark = Mark::default();
        while let Some(row) = rows.next()? {
            let json = row.content.map_err(|refusal| refusal.to_string())?;
            let incoming = Incoming::read(&self.model.conceptual, self.class, json);
            match loader.row(incoming.map_err(|refusal| refusal.to_string())?)? {
                Fate::Loaded => mark.loaded += 1,
                Fate::Rejected(refusal) | Fate::Waits(refusal) => return Err(refusal.to_string().into()),
            }
            (mark.offset, mark.line) = (row.end, row.line);
            loader.advance("players", &mark)?;
            watch(mark.loaded);
        }
        loader.flush("players", &mark)?;
        loader.finish(&mut |_, _| {})?;
        Ok(per_row(start.elapsed(), mark.loaded))
    }

    /// The same parse, then the entries that the loader has made, in the order of the rows. Finding them is not timed.
    fn raw(&self, file: &Path, round: u64) -> Attempt<f64> {
        let loaded = self.open_loaded(&format!("load-{round}"))?;
        let snapshot = loaded.store().snapshot();
        let number = loaded.schema().masters().next().map(|(_, id)| loaded.schema().number(id));
        let prefix = block_prefix(number.ok_or("no master")?, &[]);
        let path = self.folder.join("load.redb");
        let _ = std::fs::remove_file(&path);
        let raw = redb::Database::builder().set_cache_size(CACHE).create(&path)?;
        let mut rows = JsonLines::new(BufReader::with_capacity(1 << 20, File::open(file)?), 0, 0);
        let (mut timed, mut count) = (Duration::ZERO, 0);
        loop {
            let start = Instant::now();
            let mut records = Vec::with_capacity(TOGETHER);
            while records.len() < TOGETHER
                && let Some(row) = rows.next()?
            {
                let json = row.content.map_err(|refusal| refusal.to_string())?;
                let incoming = Incoming::read(&self.model.conceptual, self.class, json);
                records.push(incoming.map_err(|refusal| refusal.to_string())?);
            }
            timed += start.elapsed();
            if records.is_empty() {
                return Ok(per_row(timed, count));
            }
            count += records.len() as u64;
            let mut entries = Vec::new();
            for incoming in &records {
                let identity = incoming.record.identity(&self.model.conceptual).ok_or("no id")?;
                let mut block = prefix.clone();
                encode(&askloom_model::Value::Reference(identity), &mut block);
                for entry in snapshot.prefix(&block, Direction::Ascending)? {
                    let entry = entry?;
                    entries.push((entry.key.to_vec(), entry.value.to_vec()));
                }
            }
            let start = Instant::now();
            let transaction = raw.begin_write()?;
            let mut table = transaction.open_table(DATA)?;
            for (key, value) in &entries {
                table.insert(key.as_slice(), value.as_slice())?;
            }
            drop(table);
            transaction.commit()?;
            timed += start.elapsed();
        }
    }

    fn open_loaded(&self, name: &str) -> Attempt<Database> {
        let options = Options::default().cache(CACHE);
        let design = simple::design(&self.model);
        Ok(Database::open(self.folder.join(name), &options, self.model.clone(), design)?)
    }

    /// Resident memory at some points of a long load.
    fn memory(&self) -> Attempt {
        let rows = std::env::var("ASKLOOM_BENCH_ROWS").ok().and_then(|text| text.parse().ok());
        let rows: u64 = rows.unwrap_or(5_000_000);
        let file = self.folder.join("many.jsonl");
        write(&file, rows)?;
        let every = (rows / 5).max(1);
        let seconds = self.ours(&file, "many", &mut |loaded| {
            if loaded.is_multiple_of(every) {
                let name = format!("memory after {} % of {rows} rows", loaded * 100 / rows);
                println!("{{ \"name\": \"{name}\", \"value\": {}, \"unit\": \"MB\" }}", resident());
            }
        })?;
        println!(
            "{{ \"name\": \"load of {rows} rows\", \"value\": {:.3}, \"unit\": \"µs\" }}",
            seconds * 1e6
        );
        Ok(std::fs::remove_file(&file)?)
    }
}

#[expect(clippy::cast_precision_loss, reason = "rows are counted in millions")]
fn per_row(time: Duration, rows: u64) -> f64 {
    time.as_secs_f64() / rows.max(1) as f64
}

/// A file of players whose names come in no order.
fn write(path: &Path, rows: u64) -> Attempt {
    let mut out = BufWriter::new(File::create(path)?);
    let mut random = Random(3);
    for number in 0..rows {
        // The number itself keeps names apart.
        let name = format!("{:08x}{number:x}", random.next() >> 32);
        let (score, last) = (random.below(1_000), random.below(10_000));
        writeln!(
            out,
            "{{\"username\":\"{name}\",\"firstName\":\"First{last}\",\"lastName\":\"Last{last}\",\"score\":{score}}}"
        )?;
    }
    Ok(out.flush()?)
}

/// What the process holds in memory, in megabytes; 0 where the system does not say.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
