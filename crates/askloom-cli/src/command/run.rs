use super::designed;
use crate::answer::{self, Form};
use crate::args::StoreArgs;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::human::amount;
use askloom::project::Project;
use askloom::run::{Call, Page, Reply, Written, run as run_statement};
use askloom::statement::{Statement, WrongArguments, arguments};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Run a query or a write of the model by its name
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom run game.loom lobby\n  \
                  askloom run game.loom setScore username=ada score=1200\n  \
                  askloom run game.loom addRound gameId=… status=playing round='{\"moves\": \"e4\"}'\n\n\
                  name=value takes text as it is, and JSON for lists, records and ids of several\n\
                  parts; name:=JSON takes JSON for everything, `null` too.")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    /// The name of a query or a write
    statement: String,

    /// Values of its parameters
    #[arg(value_name = "NAME=VALUE")]
    parameters: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,

    /// How to print what it gives
    #[arg(long, default_value = "table")]
    format: Form,

    /// For a query with PAGE: where the page before said that this one starts
    #[arg(long, value_name = "TOKEN")]
    page: Option<String>,

    /// The clock of the statement, for tests
    #[arg(long, hide = true)]
    now: Option<Timestamp>,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let designed = designed(&project, screen)?;
    let statement = Statement::named(&designed.model, &args.statement)?;
    let arguments = arguments(&designed.model, statement, &args.parameters).map_err(usage)?;
    if args.page.is_some() && !statement.has_pages() {
        return Err(Error::Call(format!("`{}` has no pages: it is no query with PAGE", args.statement)));
    }
    let store = args.store.url(&project)?;
    if let Statement::Write(_) = statement {
        store.writable()?;
    }
    let database = store.open(&project, &designed)?;
    let now = args.now.unwrap_or_else(Timestamp::now);
    let call = Call { statement, arguments: &arguments, now, page: args.page.as_deref() };
    match run_statement(&database, &call)? {
        Reply::Rows(page) => print(args.format, statement, &page, screen),
        Reply::Written(written) => change(args.format, written, screen),
    }
}

fn usage(wrong: WrongArguments) -> Error {
    Error::Call(format!("{wrong}\n\nUsage: askloom run FILE {}", wrong.usage))
}

fn print(form: Form, statement: Statement<'_>, page: &Page, screen: &mut Screen) -> Result<Exit, Error> {
    let more = if statement.has_pages() { vec![("next", json!(page.next))] } else { Vec::new() };
    screen.print(&answer::render(&page.rows, form, &more, screen.style()))?;
    screen.say(&amount(page.rows.rows.len(), "row"));
    if let Some(next) = &page.next {
        screen.say(&format!("there is more: --page {next}"));
    }
    Ok(Exit::Done)
}

fn change(form: Form, written: Written, screen: &mut Screen) -> Result<Exit, Error> {
    screen.print(&told(form, &written))?;
    match written.stopped {
        Some(stopped) => Err(Error::Input(format!("{}: {stopped}", written.name))),
        None => Ok(Exit::Done),
    }
}

pub(super) fn told(form: Form, written: &Written) -> String {
    match form {
        Form::Table => {
            let name = &written.name;
            let several = written.statements > 1;
            let matched = written.matched.iter().enumerate().map(|(step, count)| match several {
                true => format!("{name}, statement {}: {count} matched\n", step + 1),
                false => format!("{name}: {count} matched\n"),
            });
            let made = written.made.iter();
            let made = made.map(|made| format!("made {} {}\n", made.class, answer::plain(&made.id)));
            matched.chain(made).collect()
        }
        Form::Json => {
            let made = written.made.iter().map(|made| json!({"class": made.class, "id": made.id}));
            let made: Vec<Json> = made.collect();
            let answer = match &written.stopped {
                None => json!({"matched": written.matched, "made": made}),
                Some(stopped) => {
                    let stopped = json!({"statement": stopped.step + 1, "why": stopped.to_string()});
                    json!({"matched": written.matched, "made": made, "stopped": stopped})
                }
            };
            format!("{answer}\n")
        }
        Form::Csv => {
            let lines = written.matched.iter().enumerate();
            let lines = lines.map(|(step, count)| format!("{},{count}\r\n", step + 1));
            std::iter::once("statement,matched\r\n".to_owned()).chain(lines).collect()
        }
    }
}
