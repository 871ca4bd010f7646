//! `cargo xtask predicted`: what plans predict beside what running them counts, as a table in `docs/predicted.md`.

use crate::repository::{Outcome, cargo, root};

const PATH: &str = "docs/predicted.md";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many random models
    #[arg(long, default_value_t = 30)]
    models: u64,

    /// Instances of the largest class of an example
    #[arg(long, default_value_t = 60)]
    instances: u64,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let build =
        ["test", "--quiet", "--profile", "promise", "--package", "askloom-embedded", "--test", "predicted"];
    let path = root().join(PATH);
    let status = cargo()
        .args(build)
        .args(["--", "--exact", "run::everything", "--include-ignored", "--nocapture"])
        .env("ASKLOOM_PREDICTED", &path)
        .env("ASKLOOM_PREDICTED_SEEDS", args.models.to_string())
        .env("ASKLOOM_PREDICTED_INSTANCES", args.instances.to_string())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err("the statements could not be run".to_owned());
    }
    eprintln!("wrote {PATH}");
    Ok(())
}
