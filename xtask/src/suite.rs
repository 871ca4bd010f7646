//! `cargo xtask test`: everything that must hold before a change is merged.

use crate::repository::{Outcome, cargo};
use crate::step::{Cost, Step, Work, run_all};
use crate::{browser, servers, tidy};
use clap::ValueEnum;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// `fast` leaves out what takes long
    #[arg(default_value = "all")]
    scope: Scope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    All,
    Fast,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let steps = match args.scope {
        Scope::Fast => vec![format(), tidy_tree(), clippy(), tests()],
        Scope::All => {
            vec![format(), tidy_tree(), clippy(), all_tests(), doc_tests()]
        }
    };
    run_all(&steps)
}

fn format() -> Step {
    Step { name: "format", cost: Cost::Seconds, work: Work::Cargo(vec!["fmt", "--all", "--check"]) }
}

fn tidy_tree() -> Step {
    Step { name: "tidy", cost: Cost::Seconds, work: Work::Task(tidy::run) }
}

fn clippy() -> Step {
    let args = vec!["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    Step { name: "clippy", cost: Cost::Minutes, work: Work::Cargo(args) }
}

/// Benchmarks are targets too, and are not run as tests: hence the list instead of `--all-targets`.
/// All are run whichever fails, so that one run tells everything.
const TARGETS: [&str; 9] =
    ["test", "--quiet", "--workspace", "--profile", "ci", "--lib", "--bins", "--tests", "--no-fail-fast"];

fn tests() -> Step {
    Step { name: "tests", cost: Cost::Minutes, work: Work::Cargo(TARGETS.to_vec()) }
}

/// Those that take long too; some of them look at pages, and some talk to servers.
fn all_tests() -> Step {
    Step { name: "tests", cost: Cost::Minutes, work: Work::Task(run_all_tests) }
}

/// The servers that many tests talk to. A test asks for its server itself, so that it also runs alone; this has them
/// stopped at the end. Clusters of MongoDB and Cassandra are up for the one test of each that starts and stops them.
const SERVERS: [&str; 6] = ["redis", "redis-cluster", "mongodb", "dynamodb", "cassandra", "hbase"];

fn run_all_tests() -> Outcome {
    let browser = browser::path()?;
    servers::with(&SERVERS, |urls| {
        let mut tests = cargo();
        tests.args(TARGETS).args(["--", "--include-ignored"]);
        tests.env(browser::VARIABLE, browser).envs(urls.to_vec());
        let status = tests.status().map_err(|error| format!("cannot run cargo: {error}"))?;
        if status.success() { Ok(()) } else { Err("some tests fail".to_owned()) }
    })
}

fn doc_tests() -> Step {
    let args = vec!["test", "--quiet", "--workspace", "--profile", "ci", "--doc"];
    Step { name: "doc tests", cost: Cost::Minutes, work: Work::Cargo(args) }
}
