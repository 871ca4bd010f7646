use crate::exit::Exit;
use crate::render::{self, Format, Report};
use crate::screen::Screen;
use askloom::Error;
use askloom::human::amount;
use askloom::lang::FixOutcome;
use askloom::model::Applicability;
use askloom::project::{Disk, read_reason, replace};
use std::path::{Path, PathBuf};

/// Check models, and say what is wrong and how to mend it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom check game.loom\n  askloom check --fix game.loom\n  \
                  askloom check --format github models/*.loom\n\n\
                  Exit code 1 if any model has an error. `askloom explain AL0101` tells\n\
                  more about a code.")]
pub(crate) struct Args {
    /// Models to check, one after the other; each reads its own imports
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How to print what was found
    #[arg(long, default_value = "human")]
    format: Format,

    /// Apply the fixes that say what was plainly meant
    #[arg(long)]
    fix: bool,

    /// With --fix: apply also those that a person should look at
    #[arg(long, requires = "fix")]
    unsafe_fixes: bool,
}

impl Args {
    fn fixes(&self) -> Option<Applicability> {
        match (self.fix, self.unsafe_fixes) {
            (false, _) => None,
            (true, false) => Some(Applicability::Safe),
            (true, true) => Some(Applicability::Suggested),
        }
    }
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let mut reports = Vec::new();
    for file in &args.files {
        let world = Disk::of(file);
        if let Some(up_to) = args.fixes() {
            write(&world, &askloom::lang::fix(&world, file, up_to), screen)?;
        }
        let mut report = Report { root: file.clone(), checked: askloom::lang::check(&world, file) };
        if let Some(up_to) = args.fixes() {
            leave_out(&mut report, up_to, screen);
        }
        if args.format.machine().is_none() {
            print(&report, screen)?;
        }
        reports.push(report);
    }
    if let Some(format) = args.format.machine() {
        screen.print(&render::machine(format, &reports))?;
    }
    Ok(Exit::any_wrong(reports.iter().any(|report| report.checked.errors > 0)))
}

fn print(report: &Report, screen: &mut Screen) -> Result<(), Error> {
    let style = screen.style();
    screen.print(&render::human(report, style))?;
    if screen.is_quiet() {
        return Ok(());
    }
    screen.print(&render::summary(report))
}

fn write(world: &Disk, outcome: &FixOutcome, screen: &mut Screen) -> Result<(), Error> {
    let mut names = Vec::new();
    for (path, text) in &outcome.files {
        let place = world.locate(path).map_err(|error| {
            Error::Input(format!("cannot write {}: {}", path.display(), read_reason(&error)))
        })?;
        replace(&place, text).map_err(|error| Error::writing(path, &error))?;
        names.push(name(path));
    }
    if outcome.applied > 0 {
        screen.say(&format!("{} applied in {}", amount(outcome.applied, "fix"), names.join(", ")));
    }
    Ok(())
}

/// Fixes that are still there after fixing were left out, each because it would bring another error to light: they are
/// not offered again.
fn leave_out(report: &mut Report, up_to: Applicability, screen: &mut Screen) {
    let mut left = 0;
    for diagnostic in &mut report.checked.diagnostics {
        let refused = diagnostic
            .fix
            .as_ref()
            .is_some_and(|fix| fix.applicability == Applicability::Safe || up_to == Applicability::Suggested);
        if refused {
            diagnostic.fix = None;
            left += 1;
        }
    }
    if left > 0 {
        screen.say(&format!("{} left out: applied, another error would show", amount(left, "fix")));
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
