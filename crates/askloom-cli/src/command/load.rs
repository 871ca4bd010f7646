mod progress;

use super::designed;
use crate::args::{DataFormatName, StoreArgs};
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::human::amount_of;
use askloom::load::{FileSummary, Load, LoadEvent, LoadSummary, find};
use askloom::project::Project;
use progress::Progress;
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
    format: Option<DataFormatName>,

    /// The clock of the load, for tests
    #[arg(long, hide = true)]
    now: Option<jiff::Timestamp>,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let designed = designed(&project, screen)?;
    let conceptual = &designed.model.conceptual;
    let mut progress = Progress::new(screen.is_quiet());
    let mut tell = |event: LoadEvent<'_>| say(event, &mut progress, screen);
    let format = args.format.map(DataFormatName::format);
    let files = find(conceptual, &args.data, format, &mut tell)?;
    let store = args.store.url(&project)?;
    if !args.dry_run {
        store.writable()?;
    }
    let mut database = store.open(&project, &designed)?;
    let now = args.now.unwrap_or_else(jiff::Timestamp::now);
    let mut load = match args.dry_run {
        true => Load::rehearsal(&mut database, now, args.strict, &mut tell),
        false => Load::new(&mut database, now, args.strict, &mut tell)?,
    };
    for file in files {
        load.add(file, args.restart)?;
    }
    let done = load.run(conceptual);
    progress.clear();
    summary(&done?, args.dry_run, screen)
}

fn say(event: LoadEvent<'_>, progress: &mut Progress, screen: &mut Screen) {
    match event {
        LoadEvent::NoEntity(path) => {
            screen.say(&format!("{} is no folder of an entity: left out", path.display()));
        }
        LoadEvent::NoData(path) => {
            screen.say(&format!("{} is no .jsonl or .csv file: left out", path.display()));
        }
        LoadEvent::Resumes { file, line } => screen.say(&format!("{file}: goes on after line {line}")),
        LoadEvent::Expects(bytes) => progress.expect(bytes),
        LoadEvent::Reads { file, bytes } => progress.row(file, bytes),
        LoadEvent::Rejects { file, line, why } => {
            progress.clear();
            screen.complain(&format!("{file}:{line}: {why}"));
        }
        LoadEvent::Dangles { file, line, field } => {
            progress.clear();
            screen.complain(&format!("{file}:{line}: {field}: refers to nothing; loaded all the same"));
        }
    }
}

fn summary(done: &LoadSummary, dry: bool, screen: &mut Screen) -> Result<Exit, Error> {
    if done.filled > 0 {
        screen.say(&format!("{} put into copies", amount_of(done.filled, "entry")));
    }
    let verb = if dry { "would be loaded" } else { "loaded" };
    for FileSummary { file, read, before, loaded, rejected } in &done.files {
        let earlier = match before {
            0 => String::new(),
            before => format!(" ({before} by an earlier run)"),
        };
        screen.print(&format!("{file}: {read} read{earlier}, {loaded} {verb}, {rejected} rejected\n"))?;
    }
    let sum = |count: fn(&FileSummary) -> u64| done.files.iter().map(count).sum::<u64>();
    let rejected = sum(|file| file.rejected);
    if done.files.len() > 1 {
        let (read, loaded) = (sum(|file| file.read), sum(|file| file.loaded));
        screen.print(&format!("in all: {read} read, {loaded} {verb}, {rejected} rejected\n"))?;
    }
    Ok(Exit::any_wrong(!done.done || rejected > 0))
}
