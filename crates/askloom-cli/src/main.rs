//! The `askloom` program.
//!
//! Arguments in, text out: each command is a file under `command/` that asks the library, `askloom`, and prints:
//! results on standard output, messages on standard error. Nothing here decides anything about a model.

mod answer;
mod args;
mod cli;
mod command;
mod embedded;
mod exit;
mod limits;
mod markdown;
mod progress;
mod render;
mod screen;

use clap::Parser;
use exit::Exit;
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
        Err(error) => {
            let (message, exit) = (error.to_string(), Exit::from(&error));
            if let Some(found) = render::refusal(error, screen.style()) {
                screen.complain(&found);
            }
            screen.error(&message);
            exit.code()
        }
    }
}
