use crate::embedded::Example;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::error::{Error, io_reason};
use clap::builder::PossibleValuesParser;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The stores that a design can be made for.
const TARGETS: [&str; 5] = ["embedded", "redis", "mongodb", "dynamodb", "cassandra"];

use askloom::project::SETTINGS_FILE as SETTINGS;

/// Start a project from an example
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  askloom new game\n  askloom new flights --example airline --target dynamodb"
)]
pub(crate) struct Args {
    /// The folder to make; it must not exist, or be empty
    dir: PathBuf,

    /// The model to start from
    #[arg(long, value_name = "NAME", default_value = "game", value_parser = PossibleValuesParser::new(Example::names()))]
    example: String,

    /// The store that the database is for
    #[arg(long, value_name = "STORE", default_value = "embedded", value_parser = PossibleValuesParser::new(TARGETS))]
    target: String,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let unknown = || Error::Call(format!("there is no example `{}`", args.example));
    let example = Example::named(&args.example).ok_or_else(unknown)?;
    let model = example.model().ok_or_else(unknown)?;
    refuse_to_overwrite(&args.dir)?;
    let settings = settings(model, &args.target);
    let mut made = Vec::new();
    let own = example.files.iter().filter(|(name, _)| *name != SETTINGS).copied();
    for (name, bytes) in own.chain([(SETTINGS, settings.as_bytes())]) {
        write(&args.dir, name, bytes)?;
        made.push(format!("  {name}\n"));
    }
    screen.say(&format!("made {} from the example `{}`:", args.dir.display(), example.name));
    screen.print(&made.concat())?;
    let model = args.dir.join(model);
    screen.say(&next(&model.display().to_string()));
    Ok(Exit::Done)
}

fn next(model: &str) -> String {
    format!(
        "\nTry next:\n  askloom check {model}\n  askloom explain {model}   how each statement is \
         answered\n  askloom apply {model}     makes a store for it"
    )
}

fn settings(model: &str, target: &str) -> String {
    format!(
        "\
# Settings of this project, for the commands that design and run databases.
# A flag of a command wins over them, and so do ASKLOOM_TARGET and ASKLOOM_STORE.

# The file that says what is stored and what is asked.
model = \"{model}\"

# The store that the database is designed for:
# {}.
target = \"{target}\"

# Where data is. A folder is the embedded store, and is beside this file.
[store]
url = \"file:store/\"
",
        TARGETS.join(", ")
    )
}

fn refuse_to_overwrite(dir: &Path) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::Call(format!("{} {why}", dir.display())));
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => refuse("is not empty; name a folder that does not exist yet"),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            refuse("is a file; name a folder that does not exist yet")
        }
        Err(error) => refuse(&format!("cannot be used: {}", io_reason(&error))),
    }
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let path = dir.join(name);
    let folder = path.parent().unwrap_or(dir);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, bytes))
        .map_err(|error| Error::writing(&path, &error))
}
