//! Designs that do not fit into a store.

use crate::{EXAMPLES, example, model, propose};
use askloom_design::limits::{Broken, Limit, all_broken, broken};
use askloom_design::method::{self, Method, Options};
use askloom_model::{Model, Severity};
use askloom_plan::cost::{Costing, Statistics};

const WHOLE: &str = "/Game/*";
const APART: &str = "/Game/*/rounds[*]\n  /Game/*";

fn game(rounds: &str, rules: &str) -> Model {
    model(&format!(
        "@count(1000)\nentity Game {{ id gameId: uuid, title: text @size(20 B), part rounds: Round[*] {rounds} }}\n\
         value Round {{ moves: text @size(500 B) }}\n\
         @rate(10/s)\nquery game: SELECT * FROM Game WHERE gameId = :gameId\n\
         represent * as one {{\n  {rules}\n}}\n"
    ))
}

fn found(model: &Model, target: &str) -> Vec<Broken> {
    let design = propose(Method::Noam, model).design;
    let capability = askloom_target::target(target).unwrap().capability;
    let statistics = Statistics::new(&model.conceptual);
    let all = all_broken(capability, &statistics, &design);
    let one_by_one = design.collections.ids().flat_map(|id| broken(capability, &statistics, &design, id));
    assert_eq!(one_by_one.count(), all.len());
    all
}

fn limits(model: &Model, target: &str) -> Vec<(Limit, bool)> {
    found(model, target).iter().map(|broken| (broken.limit, broken.is_error())).collect()
}

#[test]
fn a_list_as_long_as_its_max_does_not_fit_into_one_record() {
    let model = game("@avg(12) @max(2_000)", WHOLE);
    let [one] = found(&model, "dynamodb")[..] else { panic!() };
    assert!((1_000_000.0..1_100_000.0).contains(&one.bytes) && one.most.value == 400 << 10, "{one:?}");
    assert!(one.is_error() && one.from_max && one.limit == Limit::Record);
    for roomy in ["mongodb", "cassandra", "hbase", "redis", "embedded"] {
        assert_eq!(limits(&model, roomy), [], "{roomy}");
    }
    let larger = game("@avg(12) @max(40_000)", WHOLE);
    for small in ["mongodb", "dynamodb", "cassandra", "hbase"] {
        assert_eq!(limits(&larger, small), [(Limit::Record, true)], "{small}");
    }
    assert_eq!(limits(&larger, "redis"), []);
}

#[test]
fn elements_apart_are_records_but_for_a_store_whose_record_is_the_whole() {
    let model = game("@avg(12) @max(40_000)", APART);
    assert_eq!(limits(&model, "mongodb"), [(Limit::Record, true)]);
    for apart in ["dynamodb", "cassandra", "hbase"] {
        assert_eq!(limits(&model, apart), [], "{apart}");
    }
    // Twenty megabytes are no partition that anybody would mind, two hundred are one, and it works.
    let model = game("@avg(12) @max(400_000)", APART);
    assert_eq!(limits(&model, "cassandra"), [(Limit::AdvisedBlock, false)]);
}

#[test]
fn averages_are_worth_a_warning() {
    let model = game("@avg(2_000)", WHOLE);
    assert_eq!(limits(&model, "dynamodb"), [(Limit::Record, false)]);
    let large = model_with_key(3_000);
    let keys = limits(&large, "dynamodb");
    assert!(keys.contains(&(Limit::BlockKey, false)) && keys.contains(&(Limit::EntryKey, false)), "{keys:?}");
    assert_eq!(limits(&model_with_key(900), "dynamodb"), []);
    assert!(limits(&model_with_key(40_000), "hbase").contains(&(Limit::BlockKey, false)));
    assert_eq!(limits(&model_with_key(40_000), "cassandra"), []);
    assert!(limits(&model_with_key(70_000), "cassandra").contains(&(Limit::BlockKey, false)));
}

fn model_with_key(bytes: u32) -> Model {
    model(&format!(
        "@count(1000)\nentity Page {{ id address: text @size({bytes} B), host: text @size(20 B), hits: int }}\n\
         @rate(10/s)\nquery pages: SELECT address FROM Page WHERE host = :host ORDER BY hits\n"
    ))
}

#[test]
fn it_is_said_what_to_change() {
    let model = game("@avg(12) @max(40_000)", WHOLE);
    let design = propose(Method::Noam, &model).design;
    let capability = askloom_target::target("mongodb").unwrap().capability;
    let said = found(&model, "mongodb")[0].diagnostic(capability, &model.conceptual, &design);
    assert_eq!(said.severity, Severity::Error);
    assert_eq!(
        said.message,
        "`Game`: a record has 19.1 MB with lists as long as @max, and MongoDB takes 16 MB at most"
    );
    assert!(said.hint.unwrap().starts_with("most of it is `rounds`"));
}

#[test]
fn the_examples_fit_everywhere() {
    for name in EXAMPLES {
        let model = example(name);
        let statistics = Statistics::new(&model.conceptual);
        for target in askloom_target::targets() {
            for method in Method::ALL {
                let design =
                    method::design(method, &model, &Costing::from(target), &Options::default()).design;
                let wrong = all_broken(target.capability, &statistics, &design);
                let wrong: Vec<_> = wrong.iter().filter(|broken| broken.is_error()).collect();
                assert!(wrong.is_empty(), "{name} {} {wrong:?}", target.capability.target);
            }
        }
    }
}
