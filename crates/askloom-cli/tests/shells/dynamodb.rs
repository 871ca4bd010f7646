//! The AWS CLI on DynamoDB Local, and cfn-lint on the template.

use crate::data::{example, holding, schema};
use crate::files::{Folder, Follow, some_examples};
use crate::harness::{Count, Shell, What, every_example, one_design};
use crate::samples::samples_of;
use crate::server::{self, Session};
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_lang::Memory as Files;
use askloom_model::{Collection, Contents, Keeper, KeyField, Leaf, Path as ModelPath, Record};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::program::Read;
use askloom_target::dynamodb::{item_from_json, request, samples, tables};
use askloom_target::generate::{Options, Sample, Source};
use serde_json::Value as Json;
use std::path::Path;

pub(crate) struct Aws {
    session: Session,
    line: Vec<String>,
    prefix: String,
    settings: serde_json::Map<String, Json>,
}

const MARK: &str = "askloom-mark";

impl Aws {
    pub(crate) fn start() -> Self {
        server::up("dynamodb");
        let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shells/dynamodb.py");
        let mut line = server::shell("dynamodb");
        // The environment, its Python, the script of the CLI, where the server is.
        let script = line.iter().position(|word| word.ends_with("/aws")).unwrap();
        line.splice(script..=script, ["-u".to_owned(), runner.display().to_string(), MARK.to_owned()]);
        let session = Session::start(&line, &[]);
        Self { session, line, prefix: String::new(), settings: serde_json::Map::new() }
    }

    pub(crate) fn send(&mut self, text: &str) -> Result<Vec<Json>, String> {
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

    fn options(&self) -> Options {
        Options { prefix: self.prefix.clone(), settings: self.settings.clone(), ..Options::default() }
    }

    /// The records in answers to a read.
    pub(crate) fn decoded(
        &self,
        layout: &Layout,
        read: &Read,
        answers: &[Json],
    ) -> Result<Vec<Sample>, String> {
        let mut items = Vec::new();
        for answer in answers {
            let several = answer.get("Items").and_then(Json::as_array).cloned();
            for json in several.into_iter().flatten().chain(answer.get("Item").cloned()) {
                items.push(item_from_json(&json).ok_or_else(|| format!("no item: {json}"))?);
            }
        }
        let all = tables(layout, &self.options());
        let table = all.iter().find(|table| table.collection == read.table).unwrap();
        samples(layout, table, &items).map_err(|error| error.0)
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
        self.options()
    }

    fn run(&mut self, text: &str) -> Result<(), String> {
        // There is no Terraform here.
        if text.contains("\"aws_dynamodb_table\"") {
            return serde_json::from_str::<Json>(text).map(|_| ()).map_err(|error| error.to_string());
        }
        self.send(text).map(|_| ())
    }

    fn read(&mut self, layout: &Layout, read: &Read) -> Result<Vec<Sample>, String> {
        let all = tables(layout, &self.options());
        let text = request(layout, &all, read).ok_or("no such table")?.text();
        let answers = self.send(&text)?;
        self.decoded(layout, read, &answers)
    }
}

impl Follow for Aws {
    fn programs(&self) -> Vec<(&'static str, Vec<String>)> {
        let (_service, line) = self.line.split_last().unwrap();
        let once = |word: &String| if word == MARK { "once".to_owned() } else { word.clone() };
        vec![("aws", line.iter().map(once).collect())]
    }

    fn paste(&mut self, _: &Folder, _: &str, blocks: &[&str]) -> Vec<String> {
        let paste = |block: &&str| self.session.send(&format!("{block}\n{MARK}\n"), MARK).unwrap();
        blocks.iter().map(paste).collect()
    }

    fn shown(
        &mut self,
        layout: &Layout,
        read: &Read,
        block: &str,
        shown: &str,
    ) -> Result<Vec<Sample>, String> {
        // No key is in the range: nothing is asked.
        if !block.contains("\naws ") {
            return Ok(Vec::new());
        }
        let first = shown.lines().next().ok_or("no answer")?;
        let answer: Json = serde_json::from_str(first).map_err(|error| error.to_string())?;
        if answer.get("error").is_some() {
            return Err(first.to_owned());
        }
        self.decoded(layout, read, &[answer["answer"].clone()])
    }
}

#[test]
#[ignore = "slow"]
fn the_files_of_dynamodb_run_as_the_readme_says() {
    some_examples(&mut Aws::start());
}

#[test]
#[ignore = "slow"]
fn every_example_runs_in_the_aws_cli() {
    every_example(&mut Aws::start());
}

#[test]
#[ignore = "slow"]
fn no_text_means_more_than_it_says_in_the_aws_cli() {
    crate::peculiar::texts(&mut Aws::start(), Method::Qodm);
}

#[test]
#[ignore = "slow"]
fn any_name_is_a_name_in_the_aws_cli() {
    crate::peculiar::names(&mut Aws::start());
}

#[test]
#[ignore = "slow"]
fn classes_share_partitions_in_the_aws_cli() {
    crate::item_collections::partitions(&mut Aws::start());
}

/// Keys that start as the settings want it, of every kind: joined texts, bytes, one column.
#[test]
#[ignore = "slow"]
fn keys_start_as_the_settings_say() {
    let model = example("blog");
    let target = askloom_target::target("dynamodb").unwrap();
    for method in [Method::Noam, Method::Kvmod] {
        let design = method::design(method, &model, &Costing::from(target), &MethodOptions::default()).design;
        let mut aws = Aws::start();
        let starts = design.collections.iter().map(|(_, one)| {
            (one.name.clone(), serde_json::json!([format!("{}#", one.name.to_uppercase()), "é"]))
        });
        aws.settings.insert("keys".to_owned(), Json::Object(starts.collect()));
        let mut count = Count::default();
        one_design(
            &mut aws,
            format!("starts_{}", method.name()),
            &model,
            design,
            What { nasty: true, writes: true },
            &mut count,
        );
        assert!(count.queries > 5 && count.rows > 0, "{count:?}");
    }
}

/// Two orders of the same rows: the second is a local index of the first.
#[test]
#[ignore = "slow"]
fn another_order_of_a_copy_is_a_local_index() {
    let text = "\
        @count(20_000)\nentity Customer { id name: text, country: text @distinct(50) }\n\
        @count(600_000)\nentity Order {\n  id number: long\n  ref customer: Customer\n  total: decimal\n  day: date\n}\n\
        @rate(10/s)\nquery newest: SELECT number FROM Order WHERE customer.country = :country ORDER BY day DESC LIMIT 20\n\
        @rate(10/s)\nquery largest: SELECT number FROM Order WHERE customer.country = :country ORDER BY total DESC LIMIT 20\n";
    let checked = askloom_lang::check(&Files::default().with("m.loom", text), Path::new("m.loom"));
    assert_eq!(checked.errors, 0);
    let target = askloom_target::target("dynamodb").unwrap();
    let mut model = checked.model;
    askloom_plan::ask::name_ways_back(&mut model);
    let costing = Costing::from(target);
    let mut design = method::design(Method::Noam, &model, &costing, &MethodOptions::default()).design;
    // NewestIndex once more, sorted by the total.
    let newest = design.collections.iter().find(|(_, one)| one.name == "NewestIndex").unwrap().1.clone();
    let total = model.conceptual.attributes.iter().find(|(_, row)| row.name == "total").unwrap().0;
    let path = ModelPath { leaf: Leaf::Attribute(total), ..newest.entry_key[0].path.clone() };
    let entry_key = vec![KeyField { path, descending: true }];
    design.collections.push(Collection { name: "LargestIndex".to_owned(), entry_key, ..newest });
    askloom_design::native::hand_over(&model, &costing, &mut design);
    let kept = design.collections.iter().filter(|(_, one)| one.keeper == Keeper::Store);
    assert_eq!(kept.map(|(_, one)| one.name.as_str()).collect::<Vec<_>>(), ["LargestIndex"]);
    let mut count = Count::default();
    let what = What { nasty: true, writes: true };
    one_design(&mut Aws::start(), "local".to_owned(), &model, design, what, &mut count);
    assert!(count.queries >= 6 && count.rows > 0, "{count:?}");
}

/// The design of a method with the records of the example's own data files, as it is printed with `--faithful`.
fn as_in_the_paper(name: &str, method: Method, records: &[(&str, &str)]) -> (String, Vec<String>) {
    let model = example(name);
    let target = askloom_target::target("dynamodb").unwrap();
    let costing = Costing::from(target);
    let mut design = method::design(method, &model, &costing, &MethodOptions::default()).design;
    // The figure is by the rules of "elementsEtf", which the method weighs against others.
    let rules = model.representations.iter().find(|rules| rules.name == "elementsEtf");
    for id in design.collections.ids().collect::<Vec<_>>() {
        let collection = &mut design.collections[id];
        if let (Contents::Aggregate(own), Some(rules)) = (&mut collection.contents, rules) {
            let root = collection.source.root;
            *own = rules.rules.iter().filter(|rule| rule.class == Some(root)).cloned().collect();
        }
    }
    let schema = schema(model, design, target);
    let layout = Layout::new(&schema.model.conceptual, &schema.design);
    let conceptual = &schema.model.conceptual;
    let record = |(class, json): &(&str, &str)| {
        let class = conceptual.classes.iter().find(|(_, row)| row.name == *class).unwrap().0;
        let json = serde_json::from_str(json).unwrap();
        Record::from_json(conceptual, class, &json).unwrap()
    };
    let sample = samples_of(&schema, &holding(&schema, records.iter().map(record)));
    let options = Options { faithful: true, ..Options::default() };
    let source = Source { layout: &layout, statements: Vec::new(), sample, options };
    let made = target.language.unwrap().generate(&source);
    (made.files[0].text(), made.files[1].blocks.iter().map(|block| block.text.clone()).collect())
}

/// The items of a table, without blanks.
fn put(texts: &[String], table: &str) -> Vec<String> {
    let single = format!("\"TableName\":\"{table}\",\"Item\":");
    let several = format!("{{\"RequestItems\":{{\"{table}\":[");
    let mut items = Vec::new();
    for text in texts.iter().map(|text| text.replace(['\n', ' '], "")) {
        if let Some((_, item)) = text.split_once(&single) {
            items.push(item.strip_suffix("}'").unwrap().to_owned());
        } else if let Some((_, all)) = text.split_once(&several) {
            let all = all.strip_suffix("}}]}}'").unwrap().strip_prefix("{\"PutRequest\":{\"Item\":").unwrap();
            items.extend(all.split("}},{\"PutRequest\":{\"Item\":").map(str::to_owned));
        }
    }
    items
}

/// "Data Modeling in the NoSQL World", figure 7.
#[test]
fn noam_is_printed_as_in_its_figure() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/noam-game/data");
    let mut files: Vec<_> = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts: Vec<(String, String)> = files
        .iter()
        .map(|file| {
            (file.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(file).unwrap())
        })
        .collect();
    let records: Vec<(&str, &str)> =
        texts.iter().flat_map(|(class, text)| text.lines().map(move |line| (class.as_str(), line))).collect();
    let (schema, puts) = as_in_the_paper("noam-game", Method::Noam, &records);
    assert!(
        schema.contains("\"KeySchema\": [{\"AttributeName\": \"username\", \"KeyType\": \"HASH\"}]"),
        "{schema}"
    );
    let games = |lines: &[(&str, &str)]| -> String {
        let one = |(at, (game, opponent)): (usize, &(&str, &str))| {
            format!(
                ",\"games[{at}]\":{{\"M\":{{\"game\":{{\"S\":\"Game:{game}\"}},\"opponent\":{{\"S\":\"Player:{opponent}\"}}}}}}"
            )
        };
        lines.iter().enumerate().map(one).collect()
    };
    let mary = games(&[("2345", "rick"), ("2611", "ann")]);
    let rick = games(&[("2345", "mary"), ("7425", "ann"), ("1241", "johnny")]);
    assert_eq!(
        put(&puts, "Player"),
        [
            format!(
                r#"{{"username":{{"S":"mary"}},"firstName":{{"S":"Mary"}},"lastName":{{"S":"Wilson"}}{mary}}}"#
            ),
            format!(
                r#"{{"username":{{"S":"rick"}},"firstName":{{"S":"Ricky"}},"lastName":{{"S":"Doe"}},"score":{{"N":"42"}}{rick}}}"#
            )
        ]
    );
    let game = &put(&puts, "Game")[0];
    let start = r#"{"id":{"S":"2345"},"firstPlayer":{"S":"Player:mary"},"secondPlayer":{"S":"Player:rick"},"rounds[0]":{"M":{"#;
    assert!(game.starts_with(start) && game.contains("\"rounds[1]\""), "{game}");
}

/// "QODM", figure 10: the hash key, the range key and the string set of Q1, whose name is too short for DynamoDB.
#[test]
fn qodm_is_printed_as_in_its_figure() {
    let message = |id: &str, mailbox: &str, labels: &str| {
        format!(
            r#"{{"messageId": "{id}", "mailbox": "{mailbox}", "labels": [{labels}], "from": {{}}, "date": "2013-01-01T00:00:00Z", "size": 1}}"#
        )
    };
    let (one, two) = (r#"["John@test.com", 1]"#, r#"["John@test.com", 2]"#);
    let first = message("550e8400-e29b-41d4-a716-446655440000", "John@test.com", one);
    let second = message("892e8300-e29b-41d4-a716-446655440000", "John@test.com", &format!("{one}, {two}"));
    let third = message("a0232400-e29b-41d4-a716-446655440000", "Kelly@test.com", r#"["Kelly@test.com", 1]"#);
    let label = |mailbox: &str, id: u8| {
        format!(r#"{{"mailbox": "{mailbox}", "labelId": {id}, "name": "inbox", "counters": {{}}}}"#)
    };
    let labels = [label("John@test.com", 1), label("John@test.com", 2), label("Kelly@test.com", 1)];
    let records = [
        ("Mailbox", r#"{"address": "John@test.com"}"#),
        ("Mailbox", r#"{"address": "Kelly@test.com"}"#),
        ("Label", labels[0].as_str()),
        ("Label", labels[1].as_str()),
        ("Label", labels[2].as_str()),
        ("Message", first.as_str()),
        ("Message", second.as_str()),
        ("Message", third.as_str()),
    ];
    let (schema, puts) = as_in_the_paper("inbox", Method::Qodm, &records);
    assert!(schema.contains("\"MailboxID\"") && schema.contains("\"LabelID\""), "{schema}");
    let row = |mailbox: &str, label: u8, ids: &str| {
        format!(
            r#"{{"MailboxID":{{"S":"{mailbox}"}},"LabelID":{{"N":"{label}"}},"Messages":{{"SS":[{ids}]}}}}"#
        )
    };
    let both = r#""550e8400-e29b-41d4-a716-446655440000","892e8300-e29b-41d4-a716-446655440000""#;
    assert_eq!(
        put(&puts, "Q1_"),
        [
            row("John@test.com", 1, both),
            row("John@test.com", 2, "\"892e8300-e29b-41d4-a716-446655440000\""),
            row("Kelly@test.com", 1, "\"a0232400-e29b-41d4-a716-446655440000\""),
        ]
    );
}
