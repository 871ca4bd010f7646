//! What a user waits for: statements and loads on the embedded store, through this library alone, so that the same file
//! measures any revision that has it.
//!
//! `ASKLOOM_BENCH_MB` is about the size of the data (64 unless said otherwise). Prints one JSON object a line for
//! `cargo xtask bench`.

use askloom::design::method::Progress;
use askloom::engine::execute::Arguments;
use askloom::load::{Load, find};
use askloom::model::Model;
use askloom::run::{Call, Reply, run};
use askloom::statement::{Statement, arguments};
use askloom::{Designed, Project};
use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

type Attempt<T = ()> = Result<T, Box<dyn Error>>;

const MODEL: &str = "
@count(100_000)
entity Player { id name: text, city: text @distinct(200), score: int, about: text @size(120 B) }
query one: SELECT about, score FROM Player WHERE name = :name
query best: SELECT name, score FROM Player WHERE city = :city ORDER BY score DESC LIMIT 100
query above: SELECT name, about FROM Player WHERE city = :city AND score >= 500
query cities: SELECT city, COUNT(*) AS players FROM Player GROUP BY city
write keep: UPSERT Player
";

/// About as many bytes has a player in the file.
const PLAYER: u64 = 200;
const CITIES: u64 = 200;
/// The best of so many: what else the machine does only makes a round slower.
const ROUNDS: usize = 7;
const LONG: Duration = Duration::from_millis(300);
const ROUNDS_OF_LOAD: u32 = 3;

fn main() -> Attempt {
    let folder = std::env::var("ASKLOOM_BENCH_FOLDER").map_or_else(|_| std::env::temp_dir(), PathBuf::from);
    let folder = folder.join(format!("askloom-database-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("m.loom"), MODEL)?;
    let measured = measure(&folder);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(folder: &Path) -> Attempt {
    let project = Project::new(folder.join("m.loom"));
    let designed = project.designed_embedded(Progress::default())?;
    let names: Vec<&str> = designed.design.collections.iter().map(|(_, row)| row.name.as_str()).collect();
    eprintln!("the collections of the design: {}", names.join(", "));
    let players = (megabytes() << 20) / PLAYER;
    let file = folder.join("Player.jsonl");
    write_players(&file, players)?;
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS_OF_LOAD {
        best = best.min(load(folder, &project, &designed, round, players)?);
    }
    report("load of a row", best);
    let database = project.store(Some(&url(folder, ROUNDS_OF_LOAD - 1)))?.open(&project, &designed)?;
    let call = |statement: Statement<'_>, given: &Arguments| -> Attempt {
        let reply = run(&database, &Call::new(statement, given))?;
        match black_box(&reply) {
            Reply::Rows(page) if page.rows.rows.is_empty() => Err("a query found nothing".into()),
            Reply::Rows(_) | Reply::Written(_) => Ok(()),
        }
    };
    for (name, statement, calls) in [
        ("get", "one", Calls::Players),
        ("range of 100, descending", "best", Calls::Cities),
        ("range of a city, from a score on", "above", Calls::Cities),
        ("all, grouped", "cities", Calls::Same),
        ("durable write", "keep", Calls::Changes),
    ] {
        let statement = Statement::named(&designed.model, statement)?;
        let calls = calls.made(&designed.model, statement, players)?;
        report(name, best_round(&calls, |given| call(statement, given))?);
    }
    Ok(())
}

/// With which arguments a statement is called in turn.
enum Calls {
    Same,
    Players,
    Cities,
    /// Players as they are, with another score.
    Changes,
}

impl Calls {
    fn made(&self, model: &Model, statement: Statement<'_>, players: u64) -> Attempt<Vec<Arguments>> {
        let mut random = Random(5);
        let mut made = Vec::new();
        for _ in 0..1_000 {
            let player = Player::new(random.below(players));
            let texts = match self {
                Self::Same => Vec::new(),
                Self::Players => vec![format!("name={}", player.name)],
                Self::Cities => vec![format!("city={}", player.city)],
                Self::Changes => vec![
                    format!("name={}", player.name),
                    format!("city={}", player.city),
                    format!("score={}", random.below(1_000)),
                    format!("about={}", player.about),
                ],
            };
            made.push(arguments(model, statement, &texts)?);
        }
        Ok(made)
    }
}

/// Seconds for a call, in the best round.
fn best_round(calls: &[Arguments], act: impl Fn(&Arguments) -> Attempt) -> Attempt<f64> {
    let mut best = f64::INFINITY;
    let mut given = calls.iter().cycle();
    for _ in 0..ROUNDS {
        let (start, mut times) = (Instant::now(), 0_u32);
        while start.elapsed() < LONG || times == 0 {
            given.next().map_or(Ok(()), &act)?;
            times += 1;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(times));
    }
    Ok(best)
}

fn url(folder: &Path, round: u32) -> String {
    format!("file:{}", folder.join(format!("store-{round}")).display())
}

/// Seconds for a row.
#[expect(clippy::cast_precision_loss, reason = "players are counted in millions")]
fn load(folder: &Path, project: &Project, designed: &Designed, round: u32, players: u64) -> Attempt<f64> {
    let (mut database, _) = project.store(Some(&url(folder, round)))?.apply(designed)?;
    let conceptual = &designed.model.conceptual;
    let files = find(conceptual, &[folder.join("Player.jsonl")], None, &mut |_| {})?;
    let mut quiet = |_: askloom::load::LoadEvent<'_>| {};
    let start = Instant::now();
    let mut load = Load::new(&mut database, jiff::Timestamp::UNIX_EPOCH, true, &mut quiet)?;
    for file in files {
        load.add(file, false)?;
    }
    if !load.run(conceptual)?.done {
        return Err("a row was rejected".into());
    }
    Ok(start.elapsed().as_secs_f64() / players as f64)
}

struct Player {
    name: String,
    city: String,
    score: u64,
    about: String,
}

impl Player {
    /// Everything follows from the number.
    fn new(number: u64) -> Self {
        let mut random = Random(number);
        Self {
            // The number itself keeps names apart.
            name: format!("{:08x}{number:x}", random.next() >> 32),
            city: format!("city {}", random.below(CITIES)),
            score: random.below(1_000),
            about: (0..7).map(|_| format!("{:016x}", random.next())).collect(),
        }
    }
}

/// A file of players whose names come in no order.
fn write_players(path: &Path, players: u64) -> Attempt {
    let mut out = BufWriter::new(File::create(path)?);
    for Player { name, city, score, about } in (0..players).map(Player::new) {
        writeln!(out, "{{\"name\":\"{name}\",\"city\":\"{city}\",\"score\":{score},\"about\":\"{about}\"}}")?;
    }
    Ok(out.flush()?)
}

/// A small generator of random numbers (splitmix64): the same run everywhere, and no dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

fn megabytes() -> u64 {
    let given = std::env::var("ASKLOOM_BENCH_MB").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(64)
}

fn report(name: &str, seconds: f64) {
    println!("{{ \"name\": \"{name}\", \"value\": {:.4}, \"unit\": \"µs\" }}", seconds * 1e6);
}
