use super::designed;
use crate::args::StoreArgs;
use crate::exit::Exit;
use crate::progress::ProgressLine;
use crate::screen::Screen;
use askloom::Error;
use askloom::embedded::database::Applied;
use askloom::human::{self, amount_of};
use askloom::project::{EMBEDDED, Project};
use askloom::target::embedded::CAPABILITY;
use askloom::words;
use std::path::PathBuf;

/// Make a store ready for a model, or extend it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom apply game.loom --store file:data/\n  \
                  askloom apply game.loom --dry-run\n\n\
                  Data that is there stays. What adds to the model is applied, and new copies are\n\
                  filled; what would change stored data is refused with the difference.")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgs,

    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,

    /// Write the design beside the model, as FILE.embedded.design, to be
    /// reviewed and committed; from then on it is the one that is used
    #[arg(long, conflicts_with = "dry_run")]
    save: bool,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let designed = designed(&project, screen)?;
    let store = args.store.url(&project)?;
    if args.dry_run {
        let applied = store.preview(&designed)?;
        screen.print(&words::collections(&designed.model, &designed.design, &CAPABILITY.words))?;
        screen.say(&said(&applied, &store.name(), "would be"));
        return Ok(Exit::Done);
    }
    let (mut database, applied) = store.apply(&designed)?;
    let mut progress = ProgressLine::new(screen.is_quiet());
    let filled = database.fill(&mut |name, entries| {
        let entries = human::count(entries as f64);
        progress.show(|elapsed| format!("filling {name}: {entries} entries, {} s", elapsed.as_secs()));
    })?;
    progress.clear();
    screen.say(&said(&applied, &store.name(), "is"));
    if filled > 0 {
        screen.say(&format!("{} put into new copies", amount_of(filled, "entry")));
    }
    if args.save {
        let path = project.save_design(EMBEDDED, &designed.model, &designed.design)?;
        screen.say(&format!("its design is saved in {}", path.display()));
    }
    Ok(Exit::Done)
}

fn said(applied: &Applied, store: &str, verb: &str) -> String {
    match applied {
        Applied::Created => format!("{store} {verb} made for this model"),
        Applied::Unchanged => format!("{store} has this model and design already: nothing to do"),
        Applied::Extended(differences) => {
            let lines: String = differences.iter().map(|difference| format!("\n  {difference}")).collect();
            format!("{store} {verb} extended:{lines}")
        }
    }
}
