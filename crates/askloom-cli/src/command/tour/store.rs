//! The part of the tour that has a store: made in the system's folder for passing things, and gone at the end.

use crate::answer::{self, Form};
use crate::command::{run, verify};
use crate::embedded::Example;
use crate::screen::Style;
use askloom::Error;
use askloom::design::simple;
use askloom::embedded::database::Database;
use askloom::embedded::store::{Durability, Options};
use askloom::engine::write::Inputs;
use askloom::model::{Model, Record};
use askloom::run::{Call, Reply, run as run_statement};
use askloom::statement::{Statement, arguments};
use jiff::Timestamp;
use std::path::PathBuf;

/// What a person would type, with what the program prints.
const TYPED: [&str; 3] = ["run lobby", "run setScore username=ada score=1200", "run lobby"];

pub(super) fn played(example: &Example, model: &Model, style: Style) -> Result<String, Error> {
    let folder = Folder::new();
    let options = Options::default().durability(Durability::Process).cache(16 << 20).log(1 << 20);
    let (database, _) = Database::apply(&folder.0, &options, model.clone(), simple::design(model))?;
    fill(&database, example)?;
    let mut text = String::new();
    for line in TYPED {
        text.push_str(&format!("$ askloom {}\n", line.replacen("run", "run game.loom", 1)));
        text.push_str(&carried_out(&database, line, style)?);
    }
    let verified = database.verify(Timestamp::now(), &mut |_| {})?;
    text.push_str(&format!("$ askloom verify game.loom\n{}\n", verify::summary(&verified)));
    Ok(text)
}

fn carried_out(database: &Database, line: &str, style: Style) -> Result<String, Error> {
    let model = &database.schema().model;
    let mut words = line.split(' ').skip(1);
    let statement = Statement::named(model, words.next().unwrap_or_default())?;
    let given = arguments(model, statement, &words.collect::<Vec<_>>())?;
    Ok(match run_statement(database, &Call::new(statement, &given))? {
        Reply::Rows(page) => answer::render(&page.rows, Form::Table, &[], style),
        Reply::Written(written) => run::told(Form::Table, &written),
    })
}

/// Stores the example's own data.
fn fill(database: &Database, example: &Example) -> Result<(), Error> {
    let conceptual = &database.schema().model.conceptual;
    let broken = |why: String| Error::Input(format!("the data of the example: {why}"));
    for (class, row) in conceptual.classes.iter() {
        let text = example.text(&format!("data/{}.jsonl", row.name)).unwrap_or_default();
        for line in text.lines() {
            let json = serde_json::from_str(line).map_err(|error| broken(error.to_string()))?;
            let record = Record::from_json(conceptual, class, &json)
                .map_err(|errors| broken(errors.into_iter().map(|error| error.message).collect()))?;
            let inputs = Inputs { now: Timestamp::now(), uuids: Vec::new(), id: None };
            database.load(&record, &inputs)?;
        }
    }
    Ok(())
}

/// A folder that is gone with this.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("askloom-tour-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for passing things, which the system empties.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
