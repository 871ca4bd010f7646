//! Printed writes of the shop in redis-cli: what is unique, and what expires.

use crate::data::{example, now};
use crate::harness::Shell;
use crate::redis::{RedisCli, json};
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_model::{Model, Value};
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::planner;
use askloom_plan::program::{self, Action};
use askloom_target::generate::{Language, Options, Source, Statement};
use askloom_target::redis::{FUNCTIONS, Flavour};
use std::collections::HashMap;

const HOUR: i64 = 60 * 60 * 1000;

/// Prints writes with values.
struct Printer<'p> {
    model: &'p Model,
    layout: &'p Layout,
    costing: Costing<'p>,
    language: &'static dyn Language,
}

impl Printer<'_> {
    /// The calls that a write makes, each a line.
    fn calls(&self, name: &str, given: &[(&str, Value)]) -> Vec<String> {
        let write = self.model.workload.writes.iter().find(|write| write.header.name == name).unwrap();
        let given: HashMap<String, Value> =
            given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let plan = planner::write::plan(&self.costing, self.model, &self.layout.design, write).unwrap();
        let mut program = program::write(self.layout, write, &plan, Some(&given));
        // There are no others that it takes anything from.
        for step in &mut program.steps {
            if let Action::Change(batch) = &mut step.action {
                batch.changes.retain(|change| !format!("{change:?}").contains("\"other."));
            }
        }
        let statements = vec![Statement { program, text: String::new(), write: true }];
        let options = Options { prefix: "writes:".to_owned(), ..Options::default() };
        let source = Source { layout: self.layout, statements, sample: Vec::new(), options };
        let files = self.language.generate(&source).files;
        let text = files.iter().find(|file| file.name == "statements.redis").unwrap().text();
        text.lines().filter(|line| line.starts_with("FCALL askloom_write")).map(str::to_owned).collect()
    }
}

fn on(flavour: Flavour, target: &str, database: &str, test: impl Fn(&mut RedisCli, &Printer<'_>)) {
    let mut shell = RedisCli::start_in(flavour, database);
    let model = example("shop");
    let target = askloom_target::target(target).unwrap();
    let costing = Costing::from(target);
    let design = method::design(Method::Noam, &model, &costing, &MethodOptions::default()).design;
    let layout = Layout::new(&model.conceptual, &design).asked_by(&method::questions(&model));
    let printer = Printer { model: &model, layout: &layout, costing, language: target.language.unwrap() };
    shell.clear("writes");
    shell.run(FUNCTIONS).unwrap();
    test(&mut shell, &printer);
}

fn customer(id: u128, email: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("accountId", Value::Uuid(uuid(id))),
        ("email", Value::Text(email.to_owned())),
        ("name", Value::Text("Ada".to_owned())),
        ("createdAt", Value::Timestamp(now())),
    ]
}

fn uuid(number: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(number)
}

#[track_caller]
fn done(shell: &mut RedisCli, line: &str) -> serde_json::Value {
    json(&shell.send(line).unwrap()).unwrap()
}

/// How many keys there are, of those that tell one state from another here.
fn state(shell: &mut RedisCli) -> Vec<serde_json::Value> {
    let keys = ["writes:Account:{00000000-0000-0000-0000-000000000002}", "writes:AccountByEmail:{ada@x}"];
    keys.iter().map(|key| done(shell, &format!("EXISTS {key}"))).collect()
}

#[test]
#[ignore = "slow"]
fn a_second_customer_with_the_same_address_is_refused() {
    on(Flavour::Plain, "redis", "7", |shell, printer| {
        let register = |id: u128, email: &str| {
            let calls = printer.calls("register", &customer(id, email));
            assert_eq!(calls.len(), 1, "{calls:?}");
            calls[0].clone()
        };
        done(shell, &register(1, "ada@x"));
        let before = state(shell);
        assert_eq!(before, [0, 1]);
        let keys = done(shell, "DBSIZE");
        let refused = shell.send(&register(2, "ada@x")).unwrap_err();
        assert!(refused.contains("TAKEN writes:AccountByEmail:{ada@x}"), "{refused}");
        assert_eq!((state(shell), done(shell, "DBSIZE")), (before, keys));
        // Its own id is taken as well, and another address is free.
        assert!(shell.send(&register(1, "bob@x")).unwrap_err().contains("CONFLICT"));
        done(shell, &register(2, "bob@x"));
        assert_eq!(state(shell), [1, 1]);
    });
}

#[test]
#[ignore = "slow"]
fn in_a_cluster_the_address_is_taken_first() {
    on(Flavour::Cluster, "redis-cluster", "0", |shell, printer| {
        let register = |id: u128, stamp: &str| {
            let calls = printer.calls("register", &customer(id, "ada@x"));
            calls.into_iter().map(|call| call.replace(":stamp", stamp)).collect::<Vec<_>>()
        };
        let calls = register(1, "7");
        assert!(calls[0].contains("AccountByEmail") && calls[1].contains("writes:Account:{"), "{calls:?}");
        for call in &calls {
            done(shell, call);
        }
        let version = done(shell, "HGET writes:Account:{00000000-0000-0000-0000-000000000001} n");
        assert_eq!(version, serde_json::Value::from("7"));
        let refused = shell.send(&register(2, "8")[0]).unwrap_err();
        assert!(refused.contains("TAKEN"), "{refused}");
        assert_eq!(state(shell), [0, 1]);
    });
}

#[test]
#[ignore = "slow"]
fn a_cart_is_taken_away_an_hour_after_it_has_expired() {
    on(Flavour::Plain, "redis", "8", |shell, printer| {
        let month = 30 * 24 * HOUR;
        let ends = jiff::Timestamp::now().as_millisecond() + month;
        let calls = printer.calls("openCart", &[("cartId", Value::Uuid(uuid(3)))]);
        assert_eq!(calls.len(), 1);
        done(shell, &calls[0].replace(":expires", &ends.to_string()));
        let key = "writes:Cart:{00000000-0000-0000-0000-000000000003}";
        assert_eq!(done(shell, &format!("PEXPIRETIME {key}")), serde_json::Value::from(ends + HOUR));
        assert_eq!(done(shell, &format!("HGET {key} expires")), serde_json::Value::from(ends.to_string()));
        // What does not expire stays.
        done(shell, &printer.calls("register", &customer(1, "ada@x"))[0]);
        let stays = "PTTL writes:Account:{00000000-0000-0000-0000-000000000001}";
        assert_eq!(done(shell, stays), serde_json::Value::from(-1));
    });
}
