mod seen;

use super::design::MethodName;
use crate::exit::{Exit, Failure, words};
use crate::model::Designed;
use crate::pricing::PricingArgs;
use crate::replace::replace;
use crate::screen::Screen;
use crate::settings::{self, Settings};
use crate::statement::{Statement as Named, arguments_from_json};
use crate::{limits, native, sample, target};
use askloom_design::lower::{Arguments, Lowering, notes_of_not_generated};
use askloom_design::method::questions;
use askloom_model::Model;
use askloom_target::Target;
use askloom_target::generate::{File, Generated, Language, Options, Source, Statement, missing};
use askloom_target::layout::Layout;
use seen::{Given, Printer};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

const README: &str = "README.md";

/// How the README of a folder says where its files come from.
const MADE_BY: &str = "Made by `askloom generate";

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

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    let target = target::chosen(args.target.as_deref(), &args.file)?;
    let language = language(target)?;
    let pricing = PricingArgs::default().chosen(target, &args.file)?;
    let costing = pricing.costing();
    let method = args.method.map(MethodName::method);
    let Designed { model, sources, design, .. } =
        Designed::on(target.capability.target, &costing, method, &args.file, screen)?;
    if limits::say(&model, &design, target, screen) {
        return Ok(Exit::any_wrong(true));
    }
    let layout = Layout::new(&model.conceptual, &design).asked_by(&questions(&model));
    let given = args.params.as_deref().map_or_else(|| Ok(HashMap::new()), |file| params(&model, file))?;
    let arguments: HashMap<String, Arguments> =
        given.iter().map(|(name, given)| (name.clone(), given.arguments.clone())).collect();
    let lowering = Lowering {
        model: &model,
        design: &design,
        layout: &layout,
        costing: &costing,
        arguments: &arguments,
    };
    let mut statements = lowering.statements(&|header| native::text(&sources, header)).map_err(|why| {
        let hint = why.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default();
        Failure::Input(format!("{}[{}]: {}{hint}", why.severity.name(), why.code, why.message))
    })?;
    let sample = if args.sample { sample::records(&model, &design, &layout)? } else { Vec::new() };
    let settings = Settings::beside(&args.file)?.target.of(target.capability.target);
    language.settings(&layout, &settings).map_err(|why| {
        Failure::Input(format!("{}, [target.{}]: {why}", settings::FILE, target.capability.target))
    })?;
    let options = Options { prefix: args.prefix.clone(), faithful: args.faithful, settings };
    if let Some(file) = &args.params {
        complete(&mut statements, &given, &Printer { language, layout: &layout, options: &options }, file)?;
    }
    let missing = missing(&statements);
    let mut made = language.generate(&Source { layout: &layout, statements, sample, options });
    made.notes.extend(missing);
    made.notes.extend(notes_of_not_generated(&model));
    if !made.refused.is_empty() {
        let title = target.capability.title;
        return Err(Failure::Input(format!("{title} would refuse this:\n  {}", made.refused.join("\n  "))));
    }
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

fn language(target: &Target) -> Result<&'static dyn Language, Failure> {
    target.language.ok_or_else(|| {
        let name = target.capability.target;
        Failure::Call(format!(
            "{} has no language of its own: `askloom apply` creates it; --target names another store than {name}",
            target.capability.title
        ))
    })
}

/// Puts into the writes what the file says beside their parameters.
fn complete(
    statements: &mut [Statement],
    given: &HashMap<String, Given>,
    printer: &Printer<'_>,
    file: &Path,
) -> Result<(), Failure> {
    for statement in statements.iter_mut().filter(|statement| statement.write) {
        let name = statement.program.name.clone();
        if let Some(given) = given.get(&name) {
            let wrong = |why| Failure::Input(format!("{}: {name}: {why}", file.display()));
            printer.complete(statement, given).map_err(wrong)?;
        }
    }
    Ok(())
}

fn params(model: &Model, file: &Path) -> Result<HashMap<String, Given>, Failure> {
    let wrong = |why: String| Failure::Input(format!("{}: {why}", file.display()));
    let text =
        fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {}", words(&error))))?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let Some(statements) = json.as_object() else {
        return Err(wrong("it takes an object with a statement's name for each key".to_owned()));
    };
    let mut all = HashMap::new();
    for (name, given) in statements {
        let statement = Named::named(model, name)?;
        let wrong = |why: String| wrong(format!("{name}: {why}"));
        let mut given = given.clone();
        let mut beside = match given.as_object_mut() {
            Some(object) => Given::beside(object, matches!(statement, Named::Write(_))).map_err(wrong)?,
            None => Given::default(),
        };
        beside.arguments = arguments_from_json(model, statement, &given).map_err(wrong)?;
        all.insert(name.clone(), beside);
    }
    Ok(all)
}

fn write(
    folder: &Path,
    made: &Generated,
    model: &Path,
    target: &Target,
    screen: &mut Screen,
) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    refuse_to_replace(folder, made)?;
    for file in &made.files {
        let path = folder.join(&file.name);
        replace(&path, &file.text()).map_err(|error| Failure::writing(&path, &error))?;
        screen.say(&format!("wrote {}", path.display()));
    }
    let path = folder.join(README);
    replace(&path, &readme(made, model, target)).map_err(|error| Failure::writing(&path, &error))?;
    screen.say(&format!("wrote {}", path.display()));
    Ok(())
}

/// Files that were made before are made anew; others of the same names are somebody's own.
fn refuse_to_replace(folder: &Path, made: &Generated) -> Result<(), Failure> {
    let path = folder.join(README);
    if fs::read_to_string(&path).is_ok_and(|text| text.contains(MADE_BY)) {
        return Ok(());
    }
    let mut paths = made.files.iter().map(|file| folder.join(&file.name)).chain([path]);
    match paths.find(|path| path.exists()) {
        Some(path) => Err(Failure::Call(format!(
            "{} exists, and no {README} beside it says that askloom made it; -o takes another folder",
            path.display()
        ))),
        None => Ok(()),
    }
}

fn readme(made: &Generated, model: &Path, target: &Target) -> String {
    let name = model.file_name().unwrap_or(model.as_os_str()).to_string_lossy();
    let mut text = format!(
        "# {name} on {}\n\n{MADE_BY} {name} --target {}`: make it anew instead of changing it.\n",
        target.capability.title, target.capability.target
    );
    text.push_str("\n| file | run it |\n| --- | --- |\n");
    for file in &made.files {
        let run =
            file.run.as_ref().map_or("read it, fill the slots, paste".to_owned(), |run| format!("`{run}`"));
        text.push_str(&format!("| `{}` | {run} |\n", file.name));
    }
    text.push_str(
        "\nA slot such as `:gameId` stands for a value; `--params FILE` prints statements with values.\n",
    );
    if !made.notes.is_empty() {
        text.push('\n');
        for note in &made.notes {
            text.push_str(&format!("- {note}\n"));
        }
    }
    text
}
