//! `cargo xtask bench`: runs a benchmark and keeps the run with all that is needed to judge it later, or compares it with
//! that of another revision.

mod beside;

use crate::machine::{Machine, machine, revision, rustc};
use crate::plot;
use crate::repository::{Outcome, cargo, output, read, write};
use clap::builder::PossibleValuesParser;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A benchmark prints one JSON object per line: `{ "name": "parse 1 MB", "value": 1.23, "unit": "ms" }`.
struct Benchmark {
    name: &'static str,
    /// The package that holds it.
    package: &'static str,
    /// The programs of the package that it is made of.
    programs: &'static [&'static str],
    /// The dependencies that it measures: their versions are kept with the run.
    measures: &'static [&'static str],
}

const BENCHMARKS: [Benchmark; 7] = [
    Benchmark { name: "lang", package: "askloom-lang", programs: &["lang"], measures: &[] },
    Benchmark { name: "design", package: "askloom-design", programs: &["design", "choice"], measures: &[] },
    Benchmark { name: "engine", package: "askloom-engine", programs: &["engine"], measures: &[] },
    Benchmark {
        name: "storage",
        package: "askloom-embedded",
        programs: &["storage"],
        measures: &["redb", "fjall"],
    },
    Benchmark { name: "embedded", package: "askloom-embedded", programs: &["embedded"], measures: &["redb"] },
    Benchmark { name: "database", package: "askloom", programs: &["database"], measures: &["redb"] },
    Benchmark { name: "profile", package: "askloom-embedded", programs: &["profile"], measures: &["redb"] },
];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(value_parser = PossibleValuesParser::new(BENCHMARKS.map(|benchmark| benchmark.name)))]
    name: String,

    /// Write nothing: fail where a value is worse than in the recorded run
    #[arg(long)]
    check: bool,

    /// With --check: by how many per cent a value may be worse
    #[arg(long, default_value_t = 50.0, value_name = "PERCENT")]
    tolerance: f64,

    #[command(flatten)]
    beside: beside::Beside,
}

#[derive(Debug, Serialize, Deserialize)]
struct Run {
    benchmark: String,
    date: String,
    revision: String,
    rustc: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    versions: BTreeMap<String, String>,
    machine: Machine,
    results: Vec<Measurement>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Measurement {
    name: String,
    value: f64,
    unit: String,
}

impl Measurement {
    /// How much worse than before, in per cent. For throughput and shares of a rival's speed less is worse, else
    /// more is.
    fn worse_than(&self, before: &Self) -> f64 {
        let more = if self.is_speed() { before.value / self.value } else { self.value / before.value };
        (more - 1.0) * 100.0
    }

    fn is_speed(&self) -> bool {
        self.unit.ends_with("/s") || self.unit.starts_with("% of")
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let benchmark = BENCHMARKS.iter().find(|benchmark| benchmark.name == args.name);
    let benchmark = benchmark.ok_or_else(|| format!("there is no benchmark `{}`", args.name))?;
    if let Some(revision) = &args.beside.beside {
        return beside::run(benchmark, revision, &args.beside);
    }
    let results = measure(benchmark)?;
    let path = PathBuf::from(format!("benches/runs/{}.json", args.name));
    let recorded = read(&path).ok().and_then(|text| serde_json::from_str::<Run>(&text).ok());
    let before = recorded.map(|run| run.results).unwrap_or_default();
    print!("{}", table(&results, &before));
    if args.check {
        return compare(&results, &before, args.tolerance);
    }
    let run = Run {
        benchmark: args.name.clone(),
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        revision: revision(),
        rustc: rustc(),
        versions: versions(benchmark.measures)?,
        machine: machine(),
        results,
    };
    let text = serde_json::to_string_pretty(&run).map_err(|error| error.to_string())?;
    write(&path, &format!("{text}\n"))?;
    eprintln!("wrote {}", path.display());
    pictured(&run)
}

/// The curve that the documents show of a run, if it has one: seconds of the choice by cost against statements.
fn pictured(run: &Run) -> Outcome {
    let point = |result: &Measurement| {
        let (_, statements) = result.name.strip_prefix("cost, ")?.split_once(" entities and ")?;
        Some((statements.strip_suffix(" statements")?.parse().ok()?, result.value))
    };
    let points: Vec<(f64, f64)> = run.results.iter().filter_map(point).collect();
    if points.is_empty() {
        return Ok(());
    }
    let title = "Seconds of the choice by cost, against statements";
    let path = Path::new("docs/images/choice.svg");
    write(path, &plot::svg(title, "statements", "seconds", &points))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// As the lock file has them: the first of a name, should there be several.
fn versions(packages: &[&str]) -> Outcome<BTreeMap<String, String>> {
    let lock = read(Path::new("Cargo.lock"))?;
    let version = |package: &&str| {
        let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
        Some(((*package).to_owned(), rest.split_once('"')?.0.to_owned()))
    };
    Ok(packages.iter().filter_map(version).collect())
}

fn measure(benchmark: &Benchmark) -> Outcome<Vec<Measurement>> {
    let mut lines = String::new();
    for program in benchmark.programs {
        let args = ["bench", "--quiet", "--package", benchmark.package, "--bench", program];
        eprintln!("running: cargo {}", args.join(" "));
        lines.push_str(&output(cargo().args(args))?);
    }
    measurements(&lines)
}

/// What a benchmark printed.
fn measurements(lines: &str) -> Outcome<Vec<Measurement>> {
    let results = lines.lines().filter(|line| line.starts_with('{')).map(|line| {
        serde_json::from_str(line).map_err(|error| format!("the benchmark printed `{line}`: {error}"))
    });
    let results: Vec<Measurement> = results.collect::<Result<_, _>>()?;
    if results.is_empty() { Err("the benchmark printed no measurement".to_owned()) } else { Ok(results) }
}

fn find<'a>(list: &'a [Measurement], name: &str) -> Option<&'a Measurement> {
    list.iter().find(|measurement| measurement.name == name)
}

fn table(results: &[Measurement], before: &[Measurement]) -> String {
    let width = results.iter().map(|result| result.name.chars().count()).max().unwrap_or(0);
    let row = |result: &Measurement| {
        let change = find(before, &result.name).map_or_else(
            || "new".to_owned(),
            |before| format!("was {:.3}, {}", before.value, change(result.worse_than(before))),
        );
        format!("{:width$}  {:>12.3} {:<6}  {change}\n", result.name, result.value, result.unit)
    };
    results.iter().map(row).collect()
}

fn change(percent: f64) -> String {
    let word = if percent > 0.0 { "worse" } else { "better" };
    format!("{:.0} % {word}", percent.abs())
}

fn compare(results: &[Measurement], before: &[Measurement], tolerance: f64) -> Outcome {
    if before.is_empty() {
        return Err("there is no recorded run to compare with".to_owned());
    }
    let missing = before.iter().filter(|old| find(results, &old.name).is_none());
    let missing = missing.map(|old| format!("`{}` is no longer measured", old.name));
    let worse = results.iter().filter_map(|result| {
        let percent = result.worse_than(find(before, &result.name)?);
        (percent > tolerance).then(|| format!("`{}` is {percent:.0} % worse", result.name))
    });
    let messages: Vec<String> = missing.chain(worse).collect();
    if messages.is_empty() { Ok(()) } else { Err(messages.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(value: f64, unit: &str) -> Vec<Measurement> {
        vec![Measurement { name: "parse".to_owned(), value, unit: unit.to_owned() }]
    }

    #[test]
    fn slower_is_worse_and_so_is_less_throughput() {
        let compare = |now, before, unit| compare(&measurement(now, unit), &measurement(before, unit), 50.0);
        assert!(compare(1.4, 1.0, "ms").is_ok());
        assert!(compare(1.6, 1.0, "ms").is_err());
        assert!(compare(0.1, 1.0, "ms").is_ok());
        assert!(compare(100.0, 160.0, "MB/s").is_err());
        assert!(compare(1000.0, 160.0, "MB/s").is_ok());
    }

    #[test]
    fn what_is_gone_or_was_never_there_is_said() {
        assert!(compare(&[], &measurement(1.0, "ms"), 50.0).is_err());
        assert!(compare(&measurement(1.0, "ms"), &[], 50.0).is_err());
    }
}
