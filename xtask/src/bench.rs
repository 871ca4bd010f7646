//! `cargo xtask bench`: runs a benchmark and keeps the run with all that is needed to judge it later.

use crate::machine::{Machine, machine, revision, rustc};
use crate::repository::{Outcome, cargo, output, read, write};
use clap::builder::PossibleValuesParser;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Each benchmark and the package that holds it. It prints one JSON object per line:
/// `{ "name": "parse 1 MB", "value": 1.23, "unit": "ms" }`.
const BENCHMARKS: [(&str, &str); 1] = [("lang", "askloom-lang")];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(value_parser = PossibleValuesParser::new(BENCHMARKS.map(|(name, _)| name)))]
    name: String,

    /// Write nothing: fail where a value is worse than in the recorded run
    #[arg(long)]
    check: bool,

    /// With --check: by how many per cent a value may be worse
    #[arg(long, default_value_t = 50.0, value_name = "PERCENT")]
    tolerance: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Run {
    benchmark: String,
    date: String,
    revision: String,
    rustc: String,
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
    /// How much worse than before, in per cent. For throughput less is worse, else more is.
    fn worse_than(&self, before: &Self) -> f64 {
        let more =
            if self.unit.ends_with("/s") { before.value / self.value } else { self.value / before.value };
        (more - 1.0) * 100.0
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let results = measure(&args.name)?;
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
        machine: machine(),
        results,
    };
    let text = serde_json::to_string_pretty(&run).map_err(|error| error.to_string())?;
    write(&path, &format!("{text}\n"))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn measure(name: &str) -> Outcome<Vec<Measurement>> {
    let package = BENCHMARKS.iter().find(|(known, _)| *known == name).map_or(name, |(_, package)| package);
    let args = ["bench", "--quiet", "--package", package, "--bench", name];
    eprintln!("running: cargo {}", args.join(" "));
    let lines = output(cargo().args(args))?;
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
