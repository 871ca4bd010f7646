use super::designed;
use crate::args::StoreArgs;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::human::amount_of;
use askloom::project::Project;
use jiff::Timestamp;
use std::path::PathBuf;

/// Take away what has expired
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  askloom sweep inbox.loom --store file:data/\n\n\
                  What is past its @ttl is gone for every statement already; this gives its space\n\
                  back, and that of what was deleted more than ten days ago.")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgs,

    /// The clock by which things have expired, for tests
    #[arg(long, hide = true)]
    now: Option<Timestamp>,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let designed = designed(&project, screen)?;
    let store = args.store.url(&project)?;
    store.writable()?;
    let database = store.open(&project, &designed)?;
    let swept = database.sweep(args.now.unwrap_or_else(Timestamp::now))?;
    screen.print(&format!(
        "{} had expired, {} had parts that had, and {} were left of deleted ones\n",
        amount_of(swept.aggregates, "aggregate"),
        swept.parts,
        amount_of(swept.tombstones, "entry"),
    ))?;
    Ok(Exit::Done)
}
