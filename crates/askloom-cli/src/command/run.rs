use crate::answer::{Form, Rows};
use crate::exit::{Exit, Failure};
use crate::model::Designed;
use crate::render::amount;
use crate::screen::Screen;
use crate::statement::{Statement, arguments};
use crate::store::StoreArgs;
use askloom_model::{Limit, Model, Query, Value, Write, column_to_json, identity_to_json};
use askloom_store::RunError;
use askloom_store::database::Database;
use askloom_store::execute::{Answer, Arguments, Continuation};
use askloom_store::write::{Inputs, Outcome, uuids_needed};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use uuid::Uuid;

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

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    let designed = Designed::read(&args.file, screen)?;
    let statement = Statement::named(&designed.model, &args.statement)?;
    let given = arguments(&designed.model, statement, &args.parameters)?;
    let pages = matches!(statement, Statement::Query(query) if matches!(query.limit, Some(Limit::Page(_))));
    if args.page.is_some() && !pages {
        return Err(Failure::Call(format!("`{}` has no pages: it is no query with PAGE", args.statement)));
    }
    let place = args.store.place(&args.file)?;
    if let Statement::Write(_) = statement {
        place.writable()?;
    }
    let database = place.open(&args.file, &designed)?;
    let now = args.now.unwrap_or_else(Timestamp::now);
    match statement {
        Statement::Query(query) => {
            let after: Option<Continuation> = args.page.as_deref().map(str::parse).transpose()?;
            let plan = database.plan(query)?;
            let answer = database.query(query, &plan, &given, now, after.as_ref())?;
            print(args, &database, query, answer, screen)
        }
        Statement::Ask(ask) => {
            let answer = database.ask(ask, &given, now)?;
            // Its rows are those of the query that it means.
            let query = askloom_design::ask::query(&database.schema().model.conceptual, ask)
                .ok_or_else(|| Failure::Input("this `ask` cannot be run yet".to_owned()))?;
            print(args, &database, &query, answer, screen)
        }
        Statement::Write(write) => change(args, &database, write, &given, now, screen),
    }
}

fn print(
    args: &Args,
    database: &Database,
    query: &Query,
    answer: Answer,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let rows = rows(database, query, &answer);
    let next = answer.next.map(|next| next.to_string());
    let more = match query.limit {
        Some(Limit::Page(_)) => vec![("next", json!(next))],
        Some(Limit::Rows(_)) | None => Vec::new(),
    };
    screen.print(&rows.render(args.format, &more, screen.style()))?;
    screen.say(&amount(rows.rows.len(), "row"));
    if let Some(next) = next {
        screen.say(&format!("there is more: --page {next}"));
    }
    Ok(Exit::Done)
}

/// What a query gave, as it is shown.
pub(super) fn rows(database: &Database, query: &Query, answer: &Answer) -> Rows {
    let conceptual = &database.schema().model.conceptual;
    let row = |row: &Vec<Value>| {
        let columns = query.columns.iter().zip(row);
        columns.map(|(column, value)| column_to_json(conceptual, query, &column.value, value)).collect()
    };
    Rows { columns: answer.columns.clone(), rows: answer.rows.iter().map(row).collect() }
}

fn change(
    args: &Args,
    database: &Database,
    write: &Write,
    given: &Arguments,
    now: Timestamp,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let outcome = written(database, write, given, now)?;
    screen.print(&told(args.format, &database.schema().model, write, &outcome))?;
    match outcome.stopped {
        Some(stopped) => Err(Failure::Input(format!("{}: {stopped}", write.header.name))),
        None => Ok(Exit::Done),
    }
}

/// Carries out a write with ids of its own.
pub(super) fn written(
    database: &Database,
    write: &Write,
    given: &Arguments,
    now: Timestamp,
) -> Result<Outcome, RunError> {
    let needed = uuids_needed(&database.schema().model, write, given)?;
    let uuids = (0..needed).map(|_| Uuid::now_v7()).collect();
    database.write(write, given, &Inputs { now, uuids, id: Some(Uuid::now_v7()) })
}

pub(super) fn told(form: Form, model: &Model, write: &Write, outcome: &Outcome) -> String {
    let conceptual = &model.conceptual;
    let made: Vec<(&str, Json)> = outcome
        .made
        .iter()
        .map(|(class, id)| {
            (conceptual.classes[*class].name.as_str(), identity_to_json(conceptual, *class, id))
        })
        .collect();
    match form {
        Form::Table => {
            let name = &write.header.name;
            let several = write.steps.len() > 1;
            let matched = outcome.matched.iter().enumerate().map(|(step, count)| match several {
                true => format!("{name}, statement {}: {count} matched\n", step + 1),
                false => format!("{name}: {count} matched\n"),
            });
            let made = made.iter().map(|(class, id)| format!("made {class} {}\n", crate::answer::plain(id)));
            matched.chain(made).collect()
        }
        Form::Json => {
            let made: Vec<Json> = made.iter().map(|(class, id)| json!({"class": class, "id": id})).collect();
            let answer = match &outcome.stopped {
                None => json!({"matched": outcome.matched, "made": made}),
                Some(stopped) => {
                    let stopped = json!({"statement": stopped.step + 1, "why": stopped.to_string()});
                    json!({"matched": outcome.matched, "made": made, "stopped": stopped})
                }
            };
            format!("{answer}\n")
        }
        Form::Csv => {
            let lines = outcome.matched.iter().enumerate();
            let lines = lines.map(|(step, count)| format!("{},{count}\r\n", step + 1));
            std::iter::once("statement,matched\r\n".to_owned()).chain(lines).collect()
        }
    }
}
