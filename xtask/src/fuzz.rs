//! `cargo xtask fuzz`: long runs need a nightly compiler and are started by hand; this says how.

use crate::repository::{Outcome, root};
use clap::builder::PossibleValuesParser;

const TARGETS: [&str; 1] = ["lang"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(value_parser = PossibleValuesParser::new(TARGETS))]
    target: String,

    /// How long it is to run
    #[arg(long, default_value_t = 600)]
    seconds: u64,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let Args { target, seconds } = args;
    println!("cargo install cargo-fuzz");
    println!("cargo +nightly fuzz run {target} -- -max_total_time={seconds}");
    let place = root().join(format!("fuzz/fuzz_targets/{target}.rs"));
    if place.exists() { Ok(()) } else { Err(format!("{} is not there yet", place.display())) }
}
