use crate::cli::Cli;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  mkdir -p ~/.local/share/bash-completion/completions\n  askloom completions bash > ~/.local/share/bash-completion/completions/askloom"
)]
pub(crate) struct Args {
    /// The shell that is to complete
    shell: Shell,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "askloom", &mut script);
    screen.print_bytes(&script)?;
    Ok(Exit::Done)
}
