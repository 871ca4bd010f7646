//! The `askloom` program.
//!
//! Each command is a file under `command/`. It reads what it needs through [`world::Disk`], asks the
//! language crate, and prints: results on standard output, messages on standard error. Nothing here
//! decides anything about a model.

mod answer;
mod cli;
mod command;
mod document;
mod embedded;
mod exit;
mod fit;
mod human;
mod limits;
mod markdown;
mod model;
mod native;
mod picture;
mod pricing;
mod progress;
mod render;
mod replace;
mod sample;
mod screen;
mod settings;
mod statement;
mod store;
mod target;
mod words;
mod world;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(cli) => run(&cli),
        Err(error) => {
            // Help and the version come this way too. A closed pipe is nobody's mistake.
            let _ = error.print();
            u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
        }
    }
}

fn run(cli: &cli::Cli) -> ExitCode {
    let mut screen = screen::Screen::new(cli.color, cli.quiet);
    let result = command::run(&cli.command, &mut screen).and_then(|exit| {
        screen.flush()?;
        Ok(exit)
    });
    match result {
        Ok(exit) => exit.code(),
        Err(failure) => {
            screen.error(&failure.to_string());
            failure.exit().code()
        }
    }
}
