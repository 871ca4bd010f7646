use crate::cli::Cli;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::pricing;
use clap::CommandFactory;

/// Print the reference of all commands as Markdown
#[derive(Debug, clap::Args)]
#[command(hide = true, after_help = "Example:\n  askloom docs > docs/commands.md")]
pub(crate) struct Args {
    /// Where costs come from instead
    #[arg(long)]
    costs: bool,
}

const HEAD: &str = "\
# Commands

Results go to standard output, messages to standard error. Exit codes: 0 done,
1 the input is wrong (and what is wrong is printed), 2 the call is wrong, 3 a
store could not be reached.

<!-- Made by `cargo xtask bless` from the program's own help: edit that instead. -->
";

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    if args.costs {
        screen.print(&pricing::page())?;
        return Ok(Exit::Done);
    }
    let mut program = Cli::command().term_width(80);
    program.build();
    let mut text = HEAD.to_owned();
    for command in program.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
        if command.get_name() != "help" {
            let help = help(command);
            text.push_str(&format!("\n## {}\n\n```text\n{help}```\n", command.get_name()));
        }
    }
    screen.print(&text)?;
    Ok(Exit::Done)
}

fn help(command: &mut clap::Command) -> String {
    let text = command.render_help().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
