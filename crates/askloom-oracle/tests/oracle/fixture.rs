//! A fixture is a plain text: a model, data, and statements with their answers. Answers are written by hand from
//! the definition of the language; nothing in here can write them.
//!
//! ```text
//! == model                     the text of a model
//! == data                      lines of `Class {…}`
//! == now 2026-01-01T00:00:00Z  sets the clock
//! == query NAME {parameters}   the rows, one JSON array a line, in order
//! == page NAME {parameters}    the rows of the next page, then `more` or `end`
//! == ask NAME [ids]            the tuples
//! == write NAME {parameters}   `matched 1 2`, or `error …`
//! == create CLASS {…}          `ok` or `error …`; likewise `replace`
//! == delete CLASS id           `true`, `false` or `error …`
//! ```
//!
//! Lines that start with `#` are comments, except in a model. Made uuids are `…0001`, `…0002` and so on.

use askloom_lang::Memory;
use askloom_model::{
    ClassId, Conceptual, Model, Parameter, ParameterType, Record, Severity, Value, identity_from_json,
    parameter_from_json, row_to_json,
};
use askloom_oracle::{Continuation, Inputs, Parameters, QueryError, State, WriteError, uuids_needed};
use jiff::Timestamp;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::Path;
use uuid::Uuid;

/// The model of a text, which has to be free of errors.
pub(crate) fn model(text: &str) -> Model {
    let checked = askloom_lang::check(&Memory::default().with("m.loom", text), Path::new("m.loom"));
    let errors = checked.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let errors: Vec<&str> = errors.map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(checked.errors, 0, "{text}\n{}", errors.join("\n"));
    checked.model
}

pub(crate) fn class(conceptual: &Conceptual, name: &str) -> ClassId {
    let found = conceptual.classes.iter().find(|(_, class)| class.name == name);
    found.unwrap_or_else(|| panic!("no class {name}")).0
}

pub(crate) struct Run {
    model: Model,
    state: State,
    now: Timestamp,
    made: u128,
    pages: HashMap<String, Option<Continuation>>,
    /// How many answers were compared.
    pub(crate) answers: usize,
}

/// Runs a fixture; the message of the first answer that is another one.
pub(crate) fn run(text: &str) -> Result<Run, String> {
    let mut run = Run {
        model: Model::default(),
        state: State::new(),
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
        made: 0,
        pages: HashMap::new(),
        answers: 0,
    };
    for (line, head, body) in sections(text) {
        run.section(&head, &body).map_err(|message| format!("line {line}: {head}\n{message}"))?;
    }
    Ok(run)
}

fn sections(text: &str) -> Vec<(usize, String, Vec<String>)> {
    let mut sections: Vec<(usize, String, Vec<String>)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("== "), sections.last_mut()) {
            (Some(head), _) => sections.push((index + 1, head.to_owned(), Vec::new())),
            (None, Some((_, _, body))) => body.push(line.to_owned()),
            (None, None) => assert!(line.is_empty() || line.starts_with('#'), "text before a section"),
        }
    }
    sections
}

impl Run {
    fn section(&mut self, head: &str, body: &[String]) -> Result<(), String> {
        let mut words = head.splitn(3, ' ');
        let (kind, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let argument = words.next().unwrap_or("{}");
        if kind == "model" {
            self.model = model(&body.join("\n"));
            return Ok(());
        }
        let body: Vec<&str> = body
            .iter()
            .map(String::as_str)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();
        if kind == "now" {
            self.now = name.parse().map_err(|error| format!("{error}"))?;
            return Ok(());
        }
        if kind == "data" {
            return self.load(&body);
        }
        let argument: Json = serde_json::from_str(argument).map_err(|error| error.to_string())?;
        let found = match kind {
            "query" => self.query(name, &argument),
            "page" => self.page(name, &argument),
            "ask" => self.ask(name, &argument),
            "write" => vec![self.write(name, &argument)],
            "create" | "replace" => vec![self.store(kind, name, &argument)],
            "delete" => vec![self.delete(name, &argument)],
            other => return Err(format!("no section is called {other}")),
        };
        self.answers += 1;
        compare(&body, &found)
    }

    fn record(&self, name: &str, json: &Json) -> Result<Record, String> {
        let class = class(&self.model.conceptual, name);
        Record::from_json(&self.model.conceptual, class, json)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    fn load(&mut self, body: &[&str]) -> Result<(), String> {
        let mut records = Vec::new();
        for line in body {
            let (name, json) = line.split_once(' ').ok_or("a line of data is `Class {…}`")?;
            let json = serde_json::from_str(json).map_err(|error| format!("{line}: {error}"))?;
            records.push(self.record(name, &json).map_err(|error| format!("{line}: {error}"))?);
        }
        let inputs = self.inputs(records.len() * 4);
        self.state.load(&self.model, &records, &inputs).map_err(|error| format!("{error:?}"))?;
        Ok(())
    }

    fn inputs(&mut self, uuids: usize) -> Inputs {
        let uuids = (0..uuids)
            .map(|_| {
                self.made += 1;
                Uuid::from_u128(0x7000_8000_0000_0000_0000 + self.made)
            })
            .collect();
        Inputs { now: self.now, uuids }
    }

    fn query(&self, name: &str, argument: &Json) -> Vec<String> {
        let query = self.model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
        let parameters = parameters(&self.model.conceptual, &query.parameters, argument);
        match self.state.query(&self.model, query, &parameters, self.now) {
            Ok(rows) => {
                rows.iter().map(|row| row_to_json(&self.model.conceptual, query, row).to_string()).collect()
            }
            Err(error) => vec![query_error(&error)],
        }
    }

    fn page(&mut self, name: &str, argument: &Json) -> Vec<String> {
        let query = self.model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
        let parameters = parameters(&self.model.conceptual, &query.parameters, argument);
        let after = self.pages.get(name).cloned().flatten();
        match self.state.page(&self.model, query, &parameters, self.now, after.as_ref()) {
            Ok(page) => {
                let row = |row: &Vec<Value>| row_to_json(&self.model.conceptual, query, row).to_string();
                let mut lines: Vec<String> = page.rows.iter().map(row).collect();
                lines.push(if page.next.is_some() { "more" } else { "end" }.to_owned());
                self.pages.insert(name.to_owned(), page.next);
                lines
            }
            Err(error) => vec![query_error(&error)],
        }
    }

    fn ask(&self, name: &str, argument: &Json) -> Vec<String> {
        let conceptual = &self.model.conceptual;
        let ask = self.model.workload.asks.iter().find(|ask| ask.header.name == name).unwrap();
        let ids = argument.as_array().unwrap().iter().zip(&ask.keys);
        let ids: Vec<_> =
            ids.map(|(id, &class)| identity_from_json(conceptual, class, id).unwrap()).collect();
        let row = |row: &Vec<Value>| {
            let whole = |(value, &class): (&Value, &ClassId)| match value {
                Value::Record(record) => record.to_json(conceptual, class),
                other => panic!("{other:?}"),
            };
            row.iter().zip(&ask.results).map(whole).collect::<Json>().to_string()
        };
        match self.state.ask(&self.model, ask, &ids, self.now) {
            Ok(rows) => rows.iter().map(row).collect(),
            Err(error) => vec![query_error(&error)],
        }
    }

    fn write(&mut self, name: &str, argument: &Json) -> String {
        let write =
            self.model.workload.writes.iter().find(|write| write.header.name == name).unwrap().clone();
        let given = write_parameters(&self.model, &write, argument);
        let inputs = match uuids_needed(&self.model, &write, &given) {
            Ok(needed) => self.inputs(needed),
            Err(error) => {
                let plenty = Inputs { now: self.now, uuids: vec![Uuid::nil(); 8] };
                assert_eq!(
                    self.state.clone().write(&self.model, &write, &given, &plenty),
                    Err(error.clone())
                );
                return write_error(&self.model.conceptual, &error);
            }
        };
        let before = self.state.clone();
        match self.state.write(&self.model, &write, &given, &inputs) {
            Ok(outcome) => {
                let counts: Vec<String> = outcome.matched.iter().map(ToString::to_string).collect();
                let stopped = outcome.stopped.map(|at| {
                    let why = write_error(&self.model.conceptual, &at.why);
                    format!(", statement {} {why}", at.step)
                });
                format!("matched {}{}", counts.join(" "), stopped.unwrap_or_default())
            }
            Err(error) => {
                assert_eq!(before, self.state, "an error changes nothing");
                write_error(&self.model.conceptual, &error)
            }
        }
    }

    fn store(&mut self, kind: &str, name: &str, json: &Json) -> String {
        let record = match self.record(name, json) {
            Ok(record) => record,
            Err(error) => return format!("error {error}"),
        };
        let inputs = self.inputs(8);
        let before = self.state.clone();
        let result = match kind {
            "create" => self.state.create(&self.model, &record, &inputs).map(drop),
            _replace => self.state.replace(&self.model, &record, &inputs),
        };
        match result {
            Ok(()) => "ok".to_owned(),
            Err(error) => {
                assert_eq!(before, self.state, "an error changes nothing");
                write_error(&self.model.conceptual, &error)
            }
        }
    }

    fn delete(&mut self, name: &str, id: &Json) -> String {
        let class = class(&self.model.conceptual, name);
        let identity = identity_from_json(&self.model.conceptual, class, id).unwrap();
        match self.state.delete(&self.model, class, &identity, self.now) {
            Ok(found) => found.to_string(),
            Err(error) => write_error(&self.model.conceptual, &error),
        }
    }
}

/// The parameters of the text, and the fields of each INSERT.
pub(crate) fn write_parameters(model: &Model, write: &askloom_model::Write, argument: &Json) -> Parameters {
    let conceptual = &model.conceptual;
    let mut declared = write.parameters.clone();
    for step in &write.steps {
        let Some(class) = step.fields_of() else { continue };
        for member in conceptual.all_members(class) {
            let Some((ty, _)) = conceptual.insertable(member) else { continue };
            let name = conceptual.member_name(member).to_owned();
            declared.push(Parameter { name, ty, span: Default::default() });
        }
    }
    parameters(conceptual, &declared, argument)
}

/// Values by name. What has no declared parameter is passed on as it is, for the oracle to refuse.
pub(crate) fn parameters(conceptual: &Conceptual, declared: &[Parameter], argument: &Json) -> Parameters {
    let mut given = Parameters::new();
    for (name, json) in argument.as_object().expect("parameters are an object") {
        let parameter = declared.iter().find(|parameter| parameter.name == *name);
        let ty = parameter.map_or(ParameterType::Basic(askloom_model::Type::Json), |p| p.ty.clone());
        let value = parameter_from_json(conceptual, &ty, json).unwrap_or(Value::Json(json.clone()));
        given.insert(name.clone(), value);
    }
    given
}

fn query_error(error: &QueryError) -> String {
    format!("error {error:?}")
}

/// The kind of an error, and the name of what it is about.
pub(crate) fn write_error(conceptual: &Conceptual, error: &WriteError) -> String {
    let member = |member| conceptual.member_name(member).to_owned();
    let end = |end| conceptual.ends[end].name.clone();
    let about = match error {
        WriteError::MissingParameter { name }
        | WriteError::UnknownParameter { name }
        | WriteError::WrongType { name } => name.clone(),
        WriteError::AlreadyExists { class, .. }
        | WriteError::NotFound { class, .. }
        | WriteError::ImmutableEntity { class }
        | WriteError::NotARoot { class } => conceptual.classes[*class].name.clone(),
        WriteError::Required { member: m }
        | WriteError::OutOfRange { member: m }
        | WriteError::NotUnique { member: m }
        | WriteError::Immutable { member: m } => member(*m),
        WriteError::TooMany { member: m, max, count } => format!("{} {count} of {max}", member(*m)),
        WriteError::RequiredEnd { end: e }
        | WriteError::UpperBound { end: e }
        | WriteError::Refused { end: e }
        | WriteError::NoSuchTarget { end: e } => end(*e),
        WriteError::StepMatchedNothing { step } => step.to_string(),
        WriteError::MissingUuid => String::new(),
    };
    let debug = format!("{error:?}");
    let kind = debug.split([' ', '{']).next().unwrap_or_default();
    format!("error {kind} {about}")
}

/// Line by line; rows as JSON, so that blanks do not matter.
fn compare(expected: &[&str], found: &[String]) -> Result<(), String> {
    let json =
        |line: &str| serde_json::from_str::<Json>(line).map_or_else(|_| line.to_owned(), |j| j.to_string());
    let expected: Vec<String> = expected.iter().map(|line| json(line)).collect();
    if expected == found {
        return Ok(());
    }
    Err(format!("expected:\n  {}\nfound:\n  {}", expected.join("\n  "), found.join("\n  ")))
}
