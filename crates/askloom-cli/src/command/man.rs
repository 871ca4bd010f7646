use crate::cli::Cli;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use clap::CommandFactory;

/// Print the manual page, or that of one command
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  askloom man check > askloom-check.1 && man ./askloom-check.1")]
pub(crate) struct Args {
    /// A command; without it, the program as a whole
    command: Option<String>,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let mut program = Cli::command();
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .ok_or_else(|| Error::Call(format!("there is no command `{name}`; `askloom help` lists them")))?
            .clone(),
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| Error::Input(format!("cannot make the page: {error}")))?;
    screen.print_bytes(&text)?;
    Ok(Exit::Done)
}
