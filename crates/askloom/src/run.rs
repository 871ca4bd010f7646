//! Runs a statement of a model on an open store.

use crate::error::Error;
use crate::statement::Statement;
use askloom_embedded::database::Database;
use askloom_engine::RunError;
use askloom_engine::execute::{Answer, Arguments, Continuation};
use askloom_engine::write::{Inputs, Outcome, Stopped, uuids_needed};
use askloom_model::{Conceptual, Query, Value, Write, column_to_json, identity_to_json};
use askloom_plan::ask;
use jiff::Timestamp;
use serde_json::Value as Json;
use uuid::Uuid;

/// A call of a statement.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    pub statement: Statement<'c>,
    pub arguments: &'c Arguments,
    /// The clock of the statement.
    pub now: Timestamp,
    /// Of a query with PAGE: where the page before said that this one starts.
    pub page: Option<&'c str>,
}

impl<'c> Call<'c> {
    /// A call by the system's clock, from the first page on.
    #[must_use]
    pub fn new(statement: Statement<'c>, arguments: &'c Arguments) -> Self {
        Self { statement, arguments, now: Timestamp::now(), page: None }
    }
}

/// What a statement gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Rows(Page),
    Written(Written),
}

/// Rows of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub rows: Rows,
    /// Where the next page starts, if there is one.
    pub next: Option<String>,
}

/// Rows under names. Values are as [`column_to_json`] makes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Json>>,
}

/// What a write did.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The write by its name.
    pub name: String,
    /// How many statements it has.
    pub statements: usize,
    /// How many instances each statement matched, of those that were done.
    pub matched: Vec<u64>,
    /// The instances that were made.
    pub made: Vec<MadeInstance>,
    /// Of a write that says `@apart`: the first statement that was not done.
    pub stopped: Option<Stopped>,
}

/// An instance that a write made.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeInstance {
    pub class: String,
    pub id: Json,
}

/// Runs a statement. A write gets uuids and an id of its own.
pub fn run(database: &Database, call: &Call<'_>) -> Result<Reply, Error> {
    let Call { statement, arguments, now, page } = *call;
    let conceptual = &database.schema().model.conceptual;
    match statement {
        Statement::Query(query) => {
            let after: Option<Continuation> = page.map(str::parse).transpose()?;
            let answer = database.query(query, arguments, now, after.as_ref())?;
            Ok(Reply::Rows(shown(conceptual, query, answer)))
        }
        Statement::Ask(ask) => {
            let answer = database.ask(ask, arguments, now)?;
            // Its rows are those of the query that it means.
            let query = ask::query(conceptual, ask)
                .ok_or_else(|| Error::Input("this `ask` cannot be run yet".to_owned()))?;
            Ok(Reply::Rows(shown(conceptual, &query, answer)))
        }
        Statement::Write(write) => {
            let outcome = written(database, write, arguments, now)?;
            Ok(Reply::Written(told(conceptual, write, outcome)))
        }
    }
}

/// What a query gave, as it is shown.
fn shown(conceptual: &Conceptual, query: &Query, answer: Answer) -> Page {
    let row = |row: &Vec<Value>| {
        let columns = query.columns.iter().zip(row);
        columns.map(|(column, value)| column_to_json(conceptual, query, &column.value, value)).collect()
    };
    let rows = Rows { rows: answer.rows.iter().map(row).collect(), columns: answer.columns };
    Page { rows, next: answer.next.map(|next| next.to_string()) }
}

fn written(
    database: &Database,
    write: &Write,
    given: &Arguments,
    now: Timestamp,
) -> Result<Outcome, RunError> {
    let needed = uuids_needed(&database.schema().model, write, given)?;
    let uuids = (0..needed).map(|_| Uuid::now_v7()).collect();
    database.write(write, given, &Inputs { now, uuids, id: Some(Uuid::now_v7()) })
}

fn told(conceptual: &Conceptual, write: &Write, outcome: Outcome) -> Written {
    let made = outcome.made.iter().map(|(class, id)| MadeInstance {
        class: conceptual.classes[*class].name.clone(),
        id: identity_to_json(conceptual, *class, id),
    });
    Written {
        name: write.header.name.clone(),
        statements: write.steps.len(),
        made: made.collect(),
        matched: outcome.matched,
        stopped: outcome.stopped,
    }
}
