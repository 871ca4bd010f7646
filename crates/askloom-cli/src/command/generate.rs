use crate::args::MethodName;
use crate::exit::Exit;
use crate::limits;
use crate::progress::Watch;
use crate::screen::Screen;
use askloom::error::{Error, io_reason};
use askloom::generate::{GenerateOptions, MADE_BY, Params, generate, language, readme};
use askloom::project::{CostChoice, Project, replace};
use askloom::target::Target;
use askloom::target::generate::{File, Generated};
use std::fs;
use std::path::{Path, PathBuf};

const README: &str = "README.md";

/// Print the schema and the statements in a store's own language
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom generate game.loom --target cassandra\n  \
                  askloom generate game.loom --target dynamodb -o dynamodb/\n  \
                  askloom generate game.loom --target redis --params values.json\n\n\
                  FILE of --params: {\"lobby\": {}, \"continueGame\": {\"gameId\": \"…\"}}\n\
                  Statements that it names are printed with these values, the others with\n\
                  slots such as :gameId. A write also takes what was read before it, and times, if\n\
                  its text has slots for them:\n\
                  \x20 \"$version\": 3            the version that was read, or of an INSERT the one\n\
                  \x20                          that a deleted one left; null if there was none\n\
                  \x20 \"$version\": {\"Game\": 3}  the same of several aggregates, by collection\n\
                  \x20 \"$stamp\": 1800000000000000\n\
                  \x20                          more than the version, and not less than the clock\n\
                  \x20                          in microseconds since 1970\n\
                  \x20 \"$expires\": \"2030-01-31T12:00:00Z\"\n\
                  \x20                          when readers no longer see what it makes")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    /// The store. Without it ASKLOOM_TARGET, then askloom.toml beside the model
    #[arg(long, value_name = "STORE")]
    target: Option<String>,

    /// How to design. Without it the saved design for the store, then noam
    #[arg(long)]
    method: Option<MethodName>,

    /// Values of parameters, as JSON: by statement, then by name
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,

    /// As the papers print it, their slips included
    #[arg(long)]
    faithful: bool,

    /// Goes before the name of every table or key
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,

    /// With some made-up records, to try it out
    #[arg(long)]
    sample: bool,

    /// Write files and a README into a folder instead of printing them
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let target = project.target(args.target.as_deref())?;
    language(target)?;
    let pricing = project.pricing(target, &CostChoice::default())?;
    let costing = pricing.costing();
    let method = args.method.map(MethodName::method);
    let watch = Watch::new(screen.is_quiet());
    let designed = project.designed(target.capability.target, &costing, method, watch.progress())?;
    drop(watch);
    if limits::say(&designed, target, screen) {
        return Ok(Exit::any_wrong(true));
    }
    let options = GenerateOptions {
        params: args.params.as_deref().map(params).transpose()?,
        faithful: args.faithful,
        prefix: args.prefix.clone(),
        sample: args.sample,
        settings: project.settings()?.target.of(target.capability.target),
    };
    let made = generate(&designed, target, &costing, &options)?;
    match &args.output {
        Some(folder) => write(folder, &made, &args.file, target, screen)?,
        None => {
            let files: Vec<String> = made.files.iter().map(File::text).collect();
            screen.print(&files.join("\n"))?;
            for note in &made.notes {
                screen.say(&format!("note: {note}"));
            }
        }
    }
    Ok(Exit::Done)
}

fn params(file: &Path) -> Result<Params, Error> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file)
        .map_err(|error| Error::Input(format!("{name}: cannot be read: {}", io_reason(&error))))?;
    Ok(Params { file: name, text })
}

fn write(
    folder: &Path,
    made: &Generated,
    model: &Path,
    target: &Target,
    screen: &mut Screen,
) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
    refuse_to_replace(folder, made)?;
    for file in &made.files {
        let path = folder.join(&file.name);
        replace(&path, &file.text()).map_err(|error| Error::writing(&path, &error))?;
        screen.say(&format!("wrote {}", path.display()));
    }
    let path = folder.join(README);
    replace(&path, &readme(made, model, target)).map_err(|error| Error::writing(&path, &error))?;
    screen.say(&format!("wrote {}", path.display()));
    Ok(())
}

/// Files that were made before are made anew; others of the same names are somebody's own.
fn refuse_to_replace(folder: &Path, made: &Generated) -> Result<(), Error> {
    let path = folder.join(README);
    if fs::read_to_string(&path).is_ok_and(|text| text.contains(MADE_BY)) {
        return Ok(());
    }
    let mut paths = made.files.iter().map(|file| folder.join(&file.name)).chain([path]);
    match paths.find(|path| path.exists()) {
        Some(path) => Err(Error::Call(format!(
            "{} exists, and no {README} beside it says that askloom made it; -o takes another folder",
            path.display()
        ))),
        None => Ok(()),
    }
}
