mod files;
mod job;
mod progress;

use crate::exit::{Exit, Failure};
use crate::model::Designed;
use crate::screen::Screen;
use crate::store::StoreArgs;
use askloom_store::bulk::Loader;
use clap::ValueEnum;
use job::Run;
use std::path::PathBuf;

/// Load data from files into a store
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom load game.loom data/\n  \
                  askloom load game.loom Player.csv games.jsonl --store file:data/\n  \
                  askloom load game.loom data/ --dry-run\n\n\
                  A file is of the entity that it or its folder is named after: Player.jsonl,\n\
                  players.csv, Player/part-1.jsonl. JSON lines hold one instance a line, lists\n\
                  included; CSV has columns by path (`home.city`) and JSON in cells for lists.\n\n\
                  Rows that cannot be loaded are listed with their lines, and the others are\n\
                  loaded; exit code 1 then. A load that was ended goes on where it was.")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    /// Files, or folders of files
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    #[command(flatten)]
    store: StoreArgs,

    /// Look at every row and write nothing; needs memory for what it would write
    #[arg(long)]
    dry_run: bool,

    /// Stop at the first row that cannot be loaded
    #[arg(long)]
    strict: bool,

    /// Load files from their beginning that were loaded, in part or whole, before
    #[arg(long)]
    restart: bool,

    /// What the files hold; without it their names say
    #[arg(long)]
    format: Option<DataFormat>,

    /// The clock of the load, for tests
    #[arg(long, hide = true)]
    now: Option<jiff::Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormat {
    Jsonl,
    Csv,
}

impl DataFormat {
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    let designed = Designed::read(&args.file, screen)?;
    let files = files::find(&designed.model.conceptual, &args.data, args.format, screen)?;
    let place = args.store.place(&args.file)?;
    if !args.dry_run {
        place.writable()?;
    }
    let mut database = place.open(&args.file, &designed)?;
    let now = args.now.unwrap_or_else(jiff::Timestamp::now);
    let loader = match args.dry_run {
        true => Loader::rehearsal(&mut database, now),
        false => Loader::new(&mut database, now)?,
    };
    let mut run = Run::new(loader, args.strict, screen);
    let conceptual = &designed.model.conceptual;
    let mut jobs = Vec::new();
    for file in files {
        jobs.push(run.start(file, args.restart)?);
    }
    let done = run.load(conceptual, &mut jobs)?;
    run.summary(&jobs, done, args.dry_run)
}
