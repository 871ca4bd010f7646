//! `cargo xtask bench NAME --beside REVISION`: the same benchmark of two revisions, in turns, so that what else the
//! machine does slows both.

use super::{Benchmark, Measurement, find, measurements};
use crate::repository::{Outcome, cargo, output, root};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, clap::Args)]
pub(super) struct Beside {
    /// Write nothing: run the benchmark of this revision too, in turns with that of the tree
    #[arg(long, value_name = "REVISION", conflicts_with = "check")]
    pub(super) beside: Option<String>,

    /// With --beside: how often each of the two runs
    #[arg(long, default_value_t = 5, value_name = "TIMES", requires = "beside")]
    rounds: usize,

    /// With --beside: fail where the tree has less than this share of the revision's speed
    #[arg(long, value_name = "RATIO", requires = "beside")]
    least: Option<f64>,
}

/// What one revision measured, run by run.
type Runs = Vec<Vec<Measurement>>;

pub(super) fn run(benchmark: &Benchmark, revision: &str, args: &Beside) -> Outcome {
    let commit =
        output(Command::new("git").args(["rev-parse", "--verify", &format!("{revision}^{{commit}}")]))?;
    let other = Revision::checked_out(commit.trim())?;
    let mut theirs = Vec::new();
    let mut ours = Vec::new();
    for program in benchmark.programs {
        theirs.push(other.build(benchmark, program)?);
        let mut build = cargo();
        build.args(["bench", "--package", benchmark.package]);
        ours.push(built(&mut build, program)?);
    }
    let (mut before, mut now) = (Runs::new(), Runs::new());
    for round in 1..=args.rounds {
        eprintln!("round {round} of {}", args.rounds);
        before.push(measured(&theirs)?);
        now.push(measured(&ours)?);
    }
    let compared = compared(&before, &now);
    if compared.is_empty() {
        return Err(format!("nothing is measured both here and at {revision}"));
    }
    print!("{}", table(&compared));
    let least = args.least.unwrap_or(0.0);
    let slower: Vec<String> = compared
        .iter()
        .filter(|compared| compared.ratio < least)
        .map(|compared| format!("`{}` has {:.3} of the speed that it had", compared.name, compared.ratio))
        .collect();
    if slower.is_empty() { Ok(()) } else { Err(slower.join("; ")) }
}

/// Another revision of the repository, in a worktree of its own under the target directory.
struct Revision {
    commit: String,
    folder: PathBuf,
}

impl Revision {
    fn checked_out(commit: &str) -> Outcome<Self> {
        let folder = root().join("target/beside").join(commit);
        if !folder.join("Cargo.toml").is_file() {
            output(Command::new("git").args(["worktree", "prune"]))?;
            output(Command::new("git").args(["worktree", "add", "--detach"]).arg(&folder).arg(commit))?;
        }
        Ok(Self { commit: commit.to_owned(), folder })
    }

    /// The program of a benchmark. One that the revision does not have is the tree's, if it is a single file: that uses
    /// no more than the library offered then, or it does not build.
    fn build(&self, benchmark: &Benchmark, program: &str) -> Outcome<PathBuf> {
        let package = match self.package(program)? {
            Some(package) => package,
            None => self.lay_beside(benchmark, program)?,
        };
        let mut build = cargo();
        build.args(["bench", "--package", &package, "--manifest-path"]).arg(self.folder.join("Cargo.toml"));
        build.env("CARGO_TARGET_DIR", root().join("target/beside/build"));
        built(&mut build, program)
    }

    /// The package of the revision that has the program: crates were renamed.
    fn package(&self, program: &str) -> Outcome<Option<String>> {
        let files =
            output(Command::new("git").args(["ls-tree", "-r", "--name-only", &self.commit, "crates"]))?;
        let package = |file: &str| {
            let (package, bench) = file.strip_prefix("crates/")?.split_once("/benches/")?;
            let is_it = bench == format!("{program}.rs") || bench == format!("{program}/main.rs");
            is_it.then(|| package.to_owned())
        };
        Ok(files.lines().find_map(package))
    }

    fn lay_beside(&self, benchmark: &Benchmark, program: &str) -> Outcome<String> {
        let package = Path::new("crates").join(benchmark.package);
        let file = package.join("benches").join(format!("{program}.rs"));
        let cannot = |error: std::io::Error| format!("{}: {error}", file.display());
        let to = self.folder.join(&file);
        fs::create_dir_all(self.folder.join(&package).join("benches")).map_err(cannot)?;
        fs::copy(root().join(&file), to).map_err(cannot)?;
        let manifest = self.folder.join(&package).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(cannot)?;
        let entry = format!("\n[[bench]]\nname = \"{program}\"\nharness = false\n");
        if !text.contains(&entry) {
            fs::write(&manifest, text + &entry).map_err(cannot)?;
        }
        Ok(benchmark.package.to_owned())
    }
}

/// Builds a benchmark; where its program is.
fn built(build: &mut Command, program: &str) -> Outcome<PathBuf> {
    build.args(["--bench", program, "--no-run", "--message-format", "json-render-diagnostics"]);
    eprintln!("building: {build:?}");
    let messages = output(build)?;
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_it = message.get("target")?.get("name")?.as_str()? == program;
        Some(PathBuf::from(message.get("executable")?.as_str().filter(|_| is_it)?))
    };
    let found = messages.lines().find_map(executable);
    found.ok_or_else(|| format!("cargo did not say where it put the benchmark `{program}`"))
}

fn measured(programs: &[PathBuf]) -> Outcome<Vec<Measurement>> {
    let mut lines = String::new();
    for program in programs {
        lines.push_str(&output(Command::new(program).arg("--bench"))?);
    }
    measurements(&lines)
}

/// What both measured.
#[derive(Debug)]
struct Compared {
    name: String,
    unit: String,
    before: f64,
    now: f64,
    /// How fast it is now, beside how fast it was: the median of the rounds.
    ratio: f64,
}

fn compared(before: &Runs, now: &Runs) -> Vec<Compared> {
    let values = |runs: &Runs, name: &str| -> Option<Vec<f64>> {
        runs.iter().map(|run| Some(find(run, name)?.value)).collect()
    };
    let compare = |measured: &Measurement| {
        let (then, since) = (values(before, &measured.name)?, values(now, &measured.name)?);
        let ratio = |(then, since): (&f64, &f64)| match measured.is_speed() {
            true => since / then,
            false => then / since,
        };
        let ratio = median(then.iter().zip(&since).map(ratio).collect());
        let (name, unit) = (measured.name.clone(), measured.unit.clone());
        Some(Compared { name, unit, before: median(then), now: median(since), ratio })
    };
    now.first().into_iter().flatten().filter_map(compare).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn table(compared: &[Compared]) -> String {
    let width = compared.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let row = |row: &Compared| {
        let Compared { name, unit, before, now, ratio } = row;
        format!("{name:width$}  {before:>12.3} → {now:>12.3} {unit:<6}  speed × {ratio:.3}\n")
    };
    compared.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(name: &str, unit: &str, values: &[f64]) -> Runs {
        let of =
            |value: &f64| vec![Measurement { name: name.to_owned(), value: *value, unit: unit.to_owned() }];
        values.iter().map(of).collect()
    }

    #[test]
    fn the_ratio_is_of_speeds_and_its_median_counts() {
        let ratio = |unit: &str| {
            // The second round was disturbed, for both or for one.
            let found = compared(&runs("get", unit, &[2.0, 8.0, 3.0]), &runs("get", unit, &[1.0, 8.0, 2.0]));
            found.first().map(|compared| compared.ratio)
        };
        assert_eq!(ratio("µs"), Some(1.5));
        assert_eq!(ratio("MB/s"), Some(2.0 / 3.0));
    }

    #[test]
    fn what_only_one_measures_is_not_compared() {
        assert!(compared(&runs("get", "µs", &[1.0]), &runs("put", "µs", &[1.0])).is_empty());
    }
}
