//! What comes after an aggregate that is gone has a higher version: an INSERT of an id that was deleted goes on from the
//! version that was left, and an UPSERT that makes something which expires starts by the clock.

use crate::cassandra::Cqlsh;
use crate::data::model;
use crate::dynamodb::Aws;
use crate::harness::Shell;
use crate::hbase::Hbase;
use crate::mongodb::Mongosh;
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_model::{CollectionId, Model, Value};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::planner;
use askloom_plan::program::{self, Action, How, Preconditions, Read};
use askloom_target::generate::{Options, Sample, Source, Statement};
use std::collections::HashMap;
use uuid::Uuid;

const NOTES: &str = "
@count(1000)
entity Note { id name: text, body: text?, tag: text? }
@count(1000) @ttl(1 days)
entity Session { id name: text, body: text? }
@rate(1/s)
write add: INSERT Note
@rate(1/s)
write remove: DELETE Note WHERE name = :name
@rate(1/s)
write enter: UPSERT Session
";

const STAMP: u64 = 1_800_000_000_000_000;
/// 2100
const EXPIRES: &str = "2100-01-01T00:00:00Z";

struct Writer<'w> {
    model: &'w Model,
    layout: &'w Layout,
    costing: Costing<'w>,
    options: Options,
}

impl Writer<'_> {
    fn text(&self, name: &str, given: &[(&str, &str)], version: Option<u64>) -> String {
        let write = self.model.workload.writes.iter().find(|write| write.header.name == name).unwrap();
        let given: HashMap<String, Value> = given
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Value::Text((*value).to_owned())))
            .collect();
        let plan = planner::write::plan(&self.costing, self.model, &self.layout.design, write).unwrap();
        let mut program = program::write(self.layout, write, &plan, Some(&given));
        let all = program.versioned(self.layout);
        assert_eq!(all.len(), 1, "{all:?}");
        let versions = all.into_iter().map(|of| (of.table, of.id, version)).collect();
        program.add_preconditions(&Preconditions {
            versions,
            stamp: Some(STAMP),
            id: Some(Uuid::now_v7()),
            ..Preconditions::default()
        });
        program.expire(EXPIRES.parse().unwrap());
        // What it has read is known.
        program.steps.retain(|step| matches!(step.action, Action::Change(_)));
        let statements = vec![Statement { program, text: String::new(), write: true }];
        let options = self.options.clone();
        let source = Source { layout: self.layout, statements, sample: Vec::new(), options };
        let language = askloom_target::target(self.costing.capability.target).unwrap().language.unwrap();
        let files = language.generate(&source).files;
        files.iter().find(|file| file.name.starts_with("statements")).unwrap().text()
    }
}

/// The versions and the texts of all aggregates of a table.
fn held(shell: &mut dyn Shell, layout: &Layout, table: CollectionId) -> Vec<(u64, Vec<String>)> {
    let found = shell.read(layout, &Read::new(table, How::All)).unwrap();
    let one = |record: Sample| {
        let Sample::Block { block, .. } = record else { panic!("{record:?}") };
        let fields = block.fields.root.map(|root| root.fields).unwrap_or_default();
        let texts = fields.into_values().filter_map(|value| match value {
            Value::Text(text) => Some(text),
            _absent => None,
        });
        (block.version, texts.collect())
    };
    found.into_iter().map(one).collect()
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn goes_on(shell: &mut dyn Shell) {
    let model = model(NOTES);
    let target = askloom_target::target(shell.target()).unwrap();
    let costing = Costing::from(target);
    let design = method::design(Method::Noam, &model, &costing, &MethodOptions::default()).design;
    let layout = Layout::new(&model.conceptual, &design).asked_by(&method::questions(&model));
    let options = shell.clear("former");
    let source =
        Source { layout: &layout, statements: Vec::new(), sample: Vec::new(), options: options.clone() };
    for file in target.language.unwrap().generate(&source).files {
        if file.run.is_some() && !file.name.ends_with(".json") {
            shell.run(&file.text()).unwrap();
        }
    }
    // Where writes need a program of their own.
    if shell.target() == "hbase" {
        shell.run(include_str!("../../../askloom-target/src/hbase/mutate.rb")).unwrap();
    }
    let table = |name: &str| layout.tables().iter().find(|table| table.name == name).unwrap().collection;
    let (notes, sessions) = (table("Note"), table("Session"));
    let writer = Writer { model: &model, layout: &layout, costing, options };
    let first = [("name", "a"), ("body", "one"), ("tag", "x")];
    let second = [("name", "a"), ("body", "two")];
    shell.run(&writer.text("add", &first, None)).unwrap();
    assert_eq!(held(shell, &layout, notes), [(1, texts(&["a", "one", "x"]))]);
    shell.run(&writer.text("remove", &[("name", "a")], Some(1))).unwrap();
    assert_eq!(held(shell, &layout, notes), [(2, Vec::new())]);
    // It is refused without the version, and with another one.
    for version in [None, Some(1)] {
        let _ = shell.run(&writer.text("add", &second, version));
        assert_eq!(held(shell, &layout, notes), [(2, Vec::new())], "{version:?}");
    }
    shell.run(&writer.text("add", &second, Some(2))).unwrap();
    assert_eq!(held(shell, &layout, notes), [(3, texts(&["a", "two"]))]);

    // Where the version goes with what has expired, the first one is the clock.
    let starts = if matches!(shell.target(), "mongodb" | "dynamodb") { STAMP } else { 1 };
    shell.run(&writer.text("enter", &first[..2], None)).unwrap();
    assert_eq!(held(shell, &layout, sessions), [(starts, texts(&["a", "one"]))]);
    shell.run(&writer.text("enter", &second, Some(starts))).unwrap();
    assert_eq!(held(shell, &layout, sessions), [(starts + 1, texts(&["a", "two"]))]);
    let _ = shell.run(&writer.text("enter", &first[..2], None));
    assert_eq!(held(shell, &layout, sessions), [(starts + 1, texts(&["a", "two"]))]);
}

#[test]
#[ignore = "slow"]
fn versions_go_on_in_mongodb() {
    goes_on(&mut Mongosh::start("former"));
}

#[test]
#[ignore = "slow"]
fn versions_go_on_in_dynamodb() {
    goes_on(&mut Aws::start());
}

#[test]
#[ignore = "slow"]
fn versions_go_on_in_cassandra() {
    goes_on(&mut Cqlsh::start());
}

#[test]
#[ignore = "slow"]
fn versions_go_on_in_hbase() {
    goes_on(&mut Hbase::start("former"));
}
