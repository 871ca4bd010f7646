//! The command line as data: help, man page, completions and `docs/commands.md` all come from here.

use crate::command::Command;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, ValueEnum};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

#[derive(Debug, Parser)]
#[command(
    name = "askloom",
    version,
    about = "Designs NoSQL databases from what an application stores and asks",
    after_help = "Example:\n  askloom new game && askloom check game/game.loom\n\n\
                  New here? `askloom tour` takes a minute and leaves nothing behind.",
    styles = STYLES,
    max_term_width = 80,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour; NO_COLOR is honoured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Say nothing but results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "`{}` has no example", command.get_name());
        }
    }
}
