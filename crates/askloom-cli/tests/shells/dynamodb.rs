//! The AWS CLI on DynamoDB Local, and cfn-lint on the template.

use crate::harness::{Shell, every_example};
use crate::server::{self, Session};
use askloom_target::dynamodb::{item_from_json, request, samples, tables};
use askloom_target::generate::{Options, Sample};
use askloom_target::layout::Layout;
use askloom_target::program::Read;
use serde_json::Value as Json;
use std::path::Path;

struct Aws {
    session: Session,
    prefix: String,
}

const MARK: &str = "askloom-mark";

impl Aws {
    fn start() -> Self {
        server::up("dynamodb");
        let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shells/dynamodb.py");
        let mut line = server::shell("dynamodb");
        // The environment, its Python, the script of the CLI, where the server is.
        let script = line.iter().position(|word| word.ends_with("/aws")).unwrap();
        line.splice(script..=script, ["-u".to_owned(), runner.display().to_string(), MARK.to_owned()]);
        Self { session: Session::start(&line, &[]), prefix: String::new() }
    }

    fn send(&mut self, text: &str) -> Result<Vec<Json>, String> {
        let printed = self.session.send(&format!("{text}\n{MARK}\n"), MARK)?;
        let mut answers = Vec::new();
        for line in printed.lines() {
            let mut json: Json = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            if json.get("error").is_some() {
                return Err(line.to_owned());
            }
            answers.push(json["answer"].take());
        }
        Ok(answers)
    }
}

impl Shell for Aws {
    fn target(&self) -> &'static str {
        "dynamodb"
    }

    fn clear(&mut self, name: &str) -> Options {
        self.prefix = format!("{name}.");
        let there = self.send("aws dynamodb list-tables").unwrap();
        let names = there[0]["TableNames"].as_array().unwrap().iter().filter_map(Json::as_str);
        let own = names.filter(|table| table.starts_with(&self.prefix));
        let drops: Vec<String> =
            own.map(|table| format!("aws dynamodb delete-table --table-name '{table}'\n")).collect();
        self.send(&drops.concat()).unwrap();
        Options { prefix: self.prefix.clone(), ..Options::default() }
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        // There is no Terraform here.
        if text.contains("\"aws_dynamodb_table\"") {
            return serde_json::from_str::<Json>(text).map(|_| ()).map_err(|error| error.to_string());
        }
        self.send(text).map(|_| ())
    }

    fn read(&mut self, layout: &Layout<'_>, read: &Read) -> Result<Vec<Sample>, String> {
        let all = tables(layout, &self.prefix, false);
        let text = request(layout, &all, read).ok_or("no such table")?.text();
        let mut items = Vec::new();
        for answer in self.send(&text)? {
            let several = answer.get("Items").and_then(Json::as_array).cloned();
            for json in several.into_iter().flatten().chain(answer.get("Item").cloned()) {
                items.push(item_from_json(&json).ok_or_else(|| format!("no item: {json}"))?);
            }
        }
        let table = all.iter().find(|table| table.collection == read.table).unwrap();
        samples(layout, table, &items).map_err(|error| error.0)
    }
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_the_aws_cli() {
    every_example(&mut Aws::start());
}
