use super::designed;
use crate::args::StoreArgs;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::human::amount_of;
use askloom::project::Project;
use std::path::PathBuf;

/// Finish what was interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  askloom recover game.loom --store file:data/\n\n\
                  On the embedded store a write and its copies are one batch, so nothing is ever\n\
                  owed: its log is read to the end, as every opening does. Copies that are being\n\
                  filled are filled.")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let designed = designed(&project, screen)?;
    let store = args.store.url(&project)?;
    store.writable()?;
    let mut database = store.open(&project, &designed)?;
    let batches = amount_of(database.store().snapshot().position(), "batch");
    let open: Vec<String> = database.filling().map(str::to_owned).collect();
    let filled = database.fill(&mut |_, _| {})?;
    screen.say(&format!("{}: its log was read to the end, and holds with its tree {batches}", store.name()));
    if !open.is_empty() {
        screen.say(&format!("{} put into {}", amount_of(filled, "entry"), open.join(", ")));
    }
    screen.say("nothing is owed: a write and its copies are one batch here");
    Ok(Exit::Done)
}
