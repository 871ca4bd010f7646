use super::designed;
use crate::args::{DataFormatName, StoreArgs};
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::embedded::bulk::Export;
use askloom::export::{named, write};
use askloom::human::amount_of;
use askloom::project::Project;
use std::fs;
use std::path::PathBuf;

/// Write everything in a store to files
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom export game.loom -o backup/\n  \
                  askloom export game.loom --format csv --entity Player\n\n\
                  One file for each entity that is no part of another, of one state of the store.\n\
                  `askloom load` reads them back: what `\"#\"` says of a row keeps its creation time\n\
                  and the ordinals of its lists.")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgs,

    /// Where the files go
    #[arg(long, short, value_name = "DIR", default_value = "export")]
    output: PathBuf,

    /// What the files hold
    #[arg(long, default_value = "jsonl")]
    format: DataFormatName,

    /// Only this entity
    #[arg(long, value_name = "NAME")]
    entity: Option<String>,

    /// The clock, for tests
    #[arg(long, hide = true)]
    now: Option<jiff::Timestamp>,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let designed = designed(&project, screen)?;
    let database = args.store.url(&project)?.open(&project, &designed)?;
    let format = args.format.format();
    let export = Export::new(&database, args.now.unwrap_or_else(jiff::Timestamp::now));
    let classes = match &args.entity {
        Some(name) => vec![named(&export, name)?],
        None => export.roots().collect(),
    };
    fs::create_dir_all(&args.output).map_err(|error| Error::writing(&args.output, &error))?;
    for class in classes {
        let name = &export.conceptual().classes[class].name;
        let path = args.output.join(format!("{name}.{}", format.extension()));
        let count = write(&export, class, format, &path)?;
        screen.print(&format!("{}: {}\n", path.display(), amount_of(count, "instance")))?;
    }
    Ok(Exit::Done)
}
