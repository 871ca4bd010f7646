//! `cargo xtask promise`: more cases of the promise than the tests run, faster, on all cores.

use crate::repository::{Outcome, cargo};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many cases
    #[arg(long, default_value_t = 20_000)]
    cases: u64,

    /// The seed of the first case; a failure prints its own
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Switch on one mistake after the other, and see that each is caught within so many cases
    #[arg(long)]
    faults: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let (test, cases) = match args.faults {
        true => ("run::mistakes_are_caught", args.cases.min(2_000)),
        false => ("run::everything_is_met", args.cases),
    };
    let build =
        ["test", "--quiet", "--profile", "promise", "--package", "askloom-embedded", "--test", "promise"];
    let status = cargo()
        .args(build)
        .args(["--", "--exact", test, "--include-ignored", "--nocapture"])
        .env("ASKLOOM_PROMISE_CASES", cases.to_string())
        .env("ASKLOOM_PROMISE_SEED", args.seed.to_string())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the promise is broken".to_owned()) }
}
