//! Everything a contributor runs, as `cargo xtask …`.

mod bench;
mod bless;
mod browser;
mod cache;
mod fuzz;
mod index;
mod machine;
mod plot;
mod predicted;
mod promise;
mod repository;
mod servers;
mod step;
mod suite;
mod tidy;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", about = "Everything a contributor runs")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run every check and every test; what CI runs
    Test(suite::Args),
    /// Check what the compiler and clippy cannot: sizes, names, pages, links
    Tidy,
    /// Rewrite expected outputs and generated documents; look at the diff
    Bless,
    /// Print the path of a browser for the tests; fetches one if the machine has none
    Browser,
    /// Fetch, start and stop real servers for tests
    Servers(servers::Args),
    /// Run a benchmark, and record it or compare it with the recorded run
    Bench(bench::Args),
    /// Say how to run a fuzz target for long
    Fuzz(fuzz::Args),
    /// Compare plans with what queries mean, on random models, data, designs and writes
    Promise(promise::Args),
    /// Compare what plans predict with what running them counts, and write the table
    Predicted(predicted::Args),
}

fn main() -> ExitCode {
    let result = match Xtask::parse().task {
        Task::Test(args) => suite::run(&args),
        Task::Tidy => tidy::run(),
        Task::Bless => bless::run(),
        Task::Browser => browser::run(),
        Task::Servers(args) => servers::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Promise(args) => promise::run(&args),
        Task::Predicted(args) => predicted::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
