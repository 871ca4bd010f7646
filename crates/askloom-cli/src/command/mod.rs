//! The commands, one file each: its arguments with their help, and what it does.

mod apply;
mod check;
mod compare;
mod completions;
mod design;
mod docs;
mod explain;
mod export;
mod fmt;
mod generate;
mod load;
mod man;
mod new;
mod recover;
mod run;
mod sweep;
mod tour;
mod verify;

use crate::exit::Exit;
use crate::progress::Watch;
use crate::screen::Screen;
use askloom::Error;
use askloom::project::{Designed, Project};
use clap::Subcommand;

/// The design that the data of a project is stored by, while somebody sees how far it has come.
fn designed(project: &Project, screen: &Screen) -> Result<Designed, Error> {
    let watch = Watch::new(screen.is_quiet());
    project.designed_embedded(watch.progress())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(new::Args),
    Tour(tour::Args),
    Check(check::Args),
    Fmt(fmt::Args),
    Explain(explain::Args),
    Design(design::Args),
    Compare(compare::Args),
    Generate(generate::Args),
    Apply(apply::Args),
    Load(load::Args),
    Run(run::Args),
    Verify(verify::Args),
    Recover(recover::Args),
    Sweep(sweep::Args),
    Export(export::Args),
    Completions(completions::Args),
    Man(man::Args),
    Docs(docs::Args),
}

pub(crate) fn run(command: &Command, screen: &mut Screen) -> Result<Exit, Error> {
    match command {
        Command::New(args) => new::run(args, screen),
        Command::Tour(args) => tour::run(args, screen),
        Command::Check(args) => check::run(args, screen),
        Command::Fmt(args) => fmt::run(args, screen),
        Command::Explain(args) => explain::run(args, screen),
        Command::Design(args) => design::run(args, screen),
        Command::Compare(args) => compare::run(args, screen),
        Command::Generate(args) => generate::run(args, screen),
        Command::Apply(args) => apply::run(args, screen),
        Command::Load(args) => load::run(args, screen),
        Command::Run(args) => run::run(args, screen),
        Command::Verify(args) => verify::run(args, screen),
        Command::Recover(args) => recover::run(args, screen),
        Command::Sweep(args) => sweep::run(args, screen),
        Command::Export(args) => export::run(args, screen),
        Command::Completions(args) => completions::run(args, screen),
        Command::Man(args) => man::run(args, screen),
        Command::Docs(args) => docs::run(args, screen),
    }
}
