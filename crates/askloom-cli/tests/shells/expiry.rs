//! A cart of the shop, which expires: its printed write runs, the cart comes back, and the store knows when it may take it
//! away, but keeps the version where it can.

use crate::cassandra::Cqlsh;
use crate::data::{example, filled, schema};
use crate::dynamodb::Aws;
use crate::harness::Shell;
use crate::hbase::Hbase;
use crate::mongodb::Mongosh;
use crate::redis::{RedisCli, json};
use crate::samples::samples_of;
use askloom_design::method::{self, Method, Options as MethodOptions};
use askloom_model::Value;
use askloom_plan::cost::Costing;
use askloom_plan::layout::Layout;
use askloom_plan::planner;
use askloom_plan::program::{self, Action, How, Read};
use askloom_target::generate::{Sample, Source, Statement};
use askloom_target::redis::Flavour;
use std::collections::HashMap;

/// A month, and the hour that it is kept longer.
const KEPT: i64 = (30 * 24 + 1) * 60 * 60;
const STAMP: u64 = 1_800_000_000_000_000;

/// Opens a cart by what is printed, with some texts in the place of slots, and reads all carts. Gives the version.
fn opened(shell: &mut dyn Shell, slots: &[(&str, String)]) -> u64 {
    let model = example("shop");
    let target = askloom_target::target(shell.target()).unwrap();
    let costing = Costing::from(target);
    let design = method::design(Method::Noam, &model, &costing, &MethodOptions::default()).design;
    let layout = Layout::new(&model.conceptual, &design).asked_by(&method::questions(&model));
    let write = model.workload.writes.iter().find(|write| write.header.name == "openCart").unwrap();
    let id = Value::Uuid(uuid::Uuid::from_u128(3));
    let customer = Value::Reference(vec![Value::Uuid(uuid::Uuid::from_u128(4))]);
    let given = HashMap::from([("cartId".to_owned(), id.clone()), ("customer".to_owned(), customer.clone())]);
    let plan = planner::write::plan(&costing, &model, &layout.design, write).unwrap();
    let mut program = program::write(&layout, write, &plan, Some(&given));
    // There is no other cart that the customer could have had before.
    program.steps.retain_mut(|step| match &mut step.action {
        Action::Read(_) => false,
        Action::Change(batch) => {
            batch.changes.retain(|change| change.each.is_once());
            true
        }
    });
    let statements = vec![Statement { program, text: String::new(), write: true }];
    let options = shell.clear("expiry");
    let source = Source { layout: &layout, statements, sample: Vec::new(), options };
    let files = target.language.unwrap().generate(&source).files;
    let (statements, others): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.name.starts_with("statements"));
    for file in others.into_iter().filter(|file| !file.name.ends_with(".json")) {
        shell.run(&file.text()).unwrap();
    }
    let mut text = statements[0].text();
    for (slot, value) in slots {
        assert!(text.contains(slot), "no {slot} in {text}");
        text = text.replace(slot, value);
    }
    shell.run(&text).unwrap();
    let class = model.conceptual.classes.iter().find(|(_, row)| row.name == "Cart").unwrap().0;
    let table = design.master(class).unwrap();
    let found = shell.read(&layout, &Read::new(table, How::All)).unwrap();
    let [Sample::Block { block, .. }] = found.as_slice() else { panic!("{found:?}") };
    let root = block.fields.root.as_ref().unwrap();
    let known = root.fields.values().filter(|value| !value.is_absent());
    assert_eq!((&block.identity, root.class), (&vec![id.clone()], class));
    assert_eq!(known.collect::<Vec<_>>(), [&id, &customer]);
    block.version
}

/// 2100, in milliseconds.
const SAMPLED: i64 = 4_102_444_800_000;

/// Puts a cart in as `--sample` does, with a text in the place of another, and reads all carts.
fn sampled(shell: &mut dyn Shell, (from, to): (&str, &str)) -> Vec<Sample> {
    let target = askloom_target::target(shell.target()).unwrap();
    let costing = Costing::from(target);
    let model = example("shop");
    let design = method::design(Method::Noam, &model, &costing, &MethodOptions::default()).design;
    let schema = schema(model, design, target);
    let questions = method::questions(&schema.model);
    let layout = Layout::new(&schema.model.conceptual, &schema.design).asked_by(&questions);
    let held = samples_of(&schema, &filled(&schema, false));
    let class = schema.model.conceptual.classes.iter().find(|(_, row)| row.name == "Cart").unwrap().0;
    let cart = schema.design.master(class).unwrap();
    let mut cart = held
        .into_iter()
        .find(|record| matches!(record, Sample::Block { table, .. } if *table == cart))
        .unwrap();
    let Sample::Block { table, block } = &mut cart else { panic!("{cart:?}") };
    let (table, expires) = (*table, block.expires.as_mut().unwrap());
    assert_eq!(expires.after_ms, Some(30 * 24 * 60 * 60 * 1000));
    expires.at.value = Some(Value::Int(SAMPLED));
    let options = shell.clear("sampled");
    let source = Source { layout: &layout, statements: Vec::new(), sample: vec![cart], options };
    for file in target.language.unwrap().generate(&source).files {
        if file.run.is_some() && !file.name.ends_with(".json") {
            let text = file.text();
            assert!(!file.name.starts_with("sample") || text.contains(from), "no {from} in {text}");
            shell.run(&text.replace(from, to)).unwrap();
        }
    }
    shell.read(&layout, &Read::new(table, How::All)).unwrap()
}

#[test]
#[ignore = "slow"]
fn records_of_a_sample_expire_as_others_do() {
    let mut shell = Mongosh::start("sampled");
    assert_eq!(sampled(&mut shell, ("", "")).len(), 1);
    let told = shell.load("print('\\n' + db.Cart.findOne().expires.getTime())").unwrap();
    assert!(told.lines().any(|line| line == SAMPLED.to_string()), "{told}");

    let mut shell = Aws::start();
    assert_eq!(sampled(&mut shell, ("", "")).len(), 1);
    let told = shell.send("aws dynamodb scan --table-name sampled.Cart").unwrap();
    assert_eq!(told[0]["Items"][0]["expires"]["N"], (SAMPLED / 1000 + 3600).to_string());

    let mut shell = Cqlsh::start();
    assert_eq!(sampled(&mut shell, ("", "")).len(), 1);
    let told = shell.send("SELECT JSON ttl(n) AS stays, ttl(class) AS goes FROM cart;").unwrap();
    let row = told.lines().find_map(|line| serde_json::from_str::<serde_json::Value>(line.trim()).ok());
    let row = row.unwrap_or_else(|| panic!("{told}"));
    assert!(row["stays"].is_null() && (1..=KEPT).contains(&row["goes"].as_i64().unwrap()), "{row}");

    let mut shell = RedisCli::start_in(Flavour::Plain, "12");
    assert_eq!(sampled(&mut shell, ("PEXPIREAT", "PEXPIREAT")).len(), 1);
    let keys = json(&shell.send("KEYS *Cart:*").unwrap()).unwrap();
    let key = keys[0].as_str().unwrap().replace('\\', "\\\\");
    let told = json(&shell.send(&format!("PEXPIRETIME \"{key}\"")).unwrap()).unwrap();
    assert_eq!(told, SAMPLED + 3_600_000);
}

#[test]
#[ignore = "slow"]
fn records_of_a_sample_expire_in_hbase() {
    let mut shell = Hbase::start("sampled");
    let kept = format!("{}", KEPT * 1000);
    let found = sampled(&mut shell, (&kept, &kept));
    assert!(
        matches!(found.as_slice(), [Sample::Block { block, .. }] if block.fields.root.is_some()),
        "{found:?}"
    );
    // Of one that was to be kept until now, the version alone is left.
    let found = sampled(&mut shell, (&kept, "-1000"));
    assert!(
        matches!(found.as_slice(), [Sample::Block { block, .. }] if block.fields.root.is_none() && block.version > 0),
        "{found:?}"
    );
}

#[test]
#[ignore = "slow"]
fn mongodb_has_an_index_that_takes_a_cart_away() {
    let mut shell = Mongosh::start("expiry");
    let at = "ISODate('2100-01-01T00:00:00Z')".to_owned();
    let slots = [(":expires", at.clone()), (":stamp", format!("Long('{STAMP}')"))];
    assert_eq!(opened(&mut shell, &slots), STAMP);
    let told = format!(
        "const cart = db.Cart.findOne({{ expires: {at} }}); const by = db.Cart.getIndexes().find((one) => \
         one.key.expires); print('\\n' + [cart !== null, by.expireAfterSeconds].join(' '))"
    );
    let told = shell.load(&told).unwrap();
    assert!(told.lines().any(|line| line == "true 3600"), "{told}");
}

#[test]
#[ignore = "slow"]
fn dynamodb_has_an_attribute_that_takes_a_cart_away() {
    let mut shell = Aws::start();
    let at = "4102444800".to_owned();
    // A token that was there in the last ten minutes makes it the same write once more, which does nothing.
    let token = jiff::Timestamp::now().as_nanosecond().to_string();
    let slots = [(":expires+1hour", at.clone()), (":stamp", STAMP.to_string()), (":w", token)];
    assert_eq!(opened(&mut shell, &slots), STAMP);
    let told = shell
        .send(
            "aws dynamodb describe-time-to-live --table-name expiry.Cart\n\
             aws dynamodb scan --table-name expiry.Cart\n\
             aws dynamodb describe-time-to-live --table-name expiry.Account",
        )
        .unwrap();
    let of = |at: usize, name: &str| told[at]["TimeToLiveDescription"][name].clone();
    assert_eq!((of(0, "AttributeName"), of(0, "TimeToLiveStatus")), ("expires".into(), "ENABLED".into()));
    assert_eq!(told[1]["Items"][0]["expires"]["N"], at);
    assert_eq!(of(2, "TimeToLiveStatus"), "DISABLED");
}

#[test]
#[ignore = "slow"]
fn cassandra_takes_all_but_the_version_away() {
    let mut shell = Cqlsh::start();
    assert_eq!(opened(&mut shell, &[(":stamp", STAMP.to_string())]), 1);
    let told = shell.send("SELECT JSON n, ttl(n) AS stays, ttl(class) AS goes FROM cart;").unwrap();
    let row = told.lines().find_map(|line| serde_json::from_str::<serde_json::Value>(line.trim()).ok());
    let row = row.unwrap_or_else(|| panic!("{told}"));
    assert_eq!((row["n"].as_i64(), row["stays"].is_null()), (Some(1), true), "{row}");
    assert!((1..=KEPT).contains(&row["goes"].as_i64().unwrap()), "{row}");
}

#[test]
#[ignore = "slow"]
fn hbase_takes_all_but_the_version_away() {
    let mut shell = Hbase::start("expiry");
    assert_eq!(opened(&mut shell, &[(":stamp", STAMP.to_string())]), 1);
    // Those of a cart that was to be kept until now are gone at once.
    let name = "expiry.expiry.Cart";
    let told = shell
        .send(&format!(
            "mutate \"{name}\", \"old\", 1, {{\"i:n\" => [1].pack(\"q>\"), \"d:x\" => \"x\"}}, ttl: -1\n\
             get \"{name}\", \"old\"\n"
        ))
        .unwrap();
    let cells: Vec<&str> = told.lines().filter(|line| line.trim().starts_with("CELL ")).collect();
    let digits = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(cells.len() == 1 && cells[0].contains(&digits("i:n")), "{told}");
}
