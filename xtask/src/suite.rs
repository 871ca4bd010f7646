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
            vec![format(), tidy_tree(), clippy(), all_tests(), doc_tests(), live()]
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
const TARGETS: [&str; 8] =
    ["test", "--quiet", "--workspace", "--profile", "ci", "--lib", "--bins", "--tests"];

fn tests() -> Step {
    Step { name: "tests", cost: Cost::Minutes, work: Work::Cargo(TARGETS.to_vec()) }
}

/// Those that take long too; some of them look at pages.
fn all_tests() -> Step {
    let args = [&TARGETS[..], &["--", "--include-ignored"]].concat();
    Step { name: "tests", cost: Cost::Minutes, work: Work::Given(browser::VARIABLE, browser::path, args) }
}

fn doc_tests() -> Step {
    let args = vec!["test", "--quiet", "--workspace", "--profile", "ci", "--doc"];
    Step { name: "doc tests", cost: Cost::Minutes, work: Work::Cargo(args) }
}

/// Tests that talk to servers: which servers, and what Cargo is told.
const LIVE: &[(&[&str], &[&str])] = &[];

fn live() -> Step {
    Step { name: "live servers", cost: Cost::Minutes, work: Work::Task(live_tests) }
}

/// One after the other, for a small machine does not hold all servers at once. Each test finds the URL of a
/// server in a variable that bears its name.
fn live_tests() -> Outcome {
    for (names, args) in LIVE {
        servers::with(names, |urls| {
            let status = cargo().args(*args).envs(urls.to_vec()).status();
            let status = status.map_err(|error| format!("cannot run cargo: {error}"))?;
            if status.success() { Ok(()) } else { Err(format!("cargo {} failed", args.join(" "))) }
        })?;
    }
    Ok(())
}
