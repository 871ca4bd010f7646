//! What costs are worked out by: names, files, prices, and what is wrong with them.

use crate::project::{Project, expect_file, repository};
use serde_json::Value;

fn game() -> Project {
    let project = Project::new();
    project.run(&["new", ".", "--example", "game"]).exits(0);
    project
}

fn design(project: &Project, more: &[&str]) -> Value {
    let args = [&["design", "game.loom", "--method", "noam", "--format", "json"], more].concat();
    serde_json::from_str(&project.run(&args).exits(0).stdout).unwrap()
}

const DYNAMODB: [&str; 2] = ["--target", "dynamodb"];

#[test]
fn a_model_by_its_name() {
    let project = game();
    let requests = design(&project, &["--cost-model", "request-count"]);
    assert_eq!((&requests["unit"], &requests["cost_model"]), (&"requests".into(), &"request-count".into()));
    assert_eq!(requests["total"]["cost"], requests["total"]["requests"]);
    for plan in requests["plans"].as_array().unwrap() {
        let steps: f64 =
            plan["steps"].as_array().unwrap().iter().map(|s| s["requests"].as_f64().unwrap()).sum();
        assert!((steps - plan["cost"].as_f64().unwrap()).abs() < 1e-9, "{plan}");
    }
    let published = design(&project, &["--cost-model", "cassandra-published", "--target", "cassandra"]);
    assert_eq!(published["unit"], "units");
    let own = design(&project, &["--target", "cassandra"]);
    assert_eq!((&own["unit"], &own["cost_model"]), (&"ms".into(), &Value::Null));
}

#[test]
fn every_command_that_prices_takes_it() {
    let project = game();
    let by = ["--cost-model", "request-count"];
    let said = "costs: by request-count";
    project
        .run(&[&["design", "game.loom"], &by[..]].concat())
        .exits(0)
        .prints(" requests a second")
        .prints(said);
    project
        .run(&[&["compare", "game.loom"], &by[..]].concat())
        .exits(0)
        .prints("requests a second")
        .prints(said);
    project
        .run(&[&["explain", "game.loom", "lobby"], &by[..]].concat())
        .exits(0)
        .prints("requests")
        .prints(said);
}

#[test]
fn a_flag_wins_over_a_variable_and_that_over_the_settings() {
    let project = game().with("own.toml", "unit = \"coins\"\nread-request = 1\n");
    let settings = project.read("askloom.toml");
    let project = project.with("askloom.toml", format!("cost-model = \"own.toml\"\n{settings}"));
    assert_eq!(design(&project, &[])["unit"], "coins");
    let args = ["design", "game.loom", "--format", "json"];
    let unit = |more: &[&str]| -> Value {
        let mut command = project.command(&[&args[..], more].concat());
        let output = command.env("ASKLOOM_COST_MODEL", "request-count").output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["unit"].clone()
    };
    assert_eq!(unit(&[]), "requests");
    assert_eq!(unit(&["--cost-model", "cassandra-published"]), "units");
    // The file that the settings name is beside them.
    let inside = Project::new().with("deep/own.toml", "unit = \"coins\"\n");
    inside.run(&["new", "deep/game", "--example", "game"]).exits(0);
    let inside = inside.with("deep/game/askloom.toml", "cost-model = \"../own.toml\"\n");
    inside.run(&["design", "deep/game/game.loom"]).exits(0).prints("coins a second");
}

#[test]
fn a_file_of_ones_own_numbers() {
    let project = game()
        .with("own.toml", "unit = \"coins\"\nread-request = 2\nwrite-request = 2\n")
        .with("based.toml", "based-on = \"dynamodb\"\nmillion-write-units = 0\n");
    let own = design(&project, &["--cost-model", "own.toml"]);
    let number = |document: &Value, of: &str| document["total"][of].as_f64().unwrap();
    assert!((number(&own, "cost") - 2.0 * number(&own, "requests")).abs() < 1e-6);
    let based = design(&project, &[&DYNAMODB[..], &["--cost-model", "based.toml"]].concat());
    let start =
        based["plans"].as_array().unwrap().iter().find(|plan| plan["statement"] == "startGame").unwrap();
    let puts = start["steps"].as_array().unwrap().iter().filter(|step| step["puts"].as_f64() > Some(0.0));
    assert!(
        puts.clone().count() > 0 && puts.clone().all(|step| step["cost"].as_f64() < Some(0.2)),
        "{start}"
    );
    assert!(based["money"]["storage"].as_f64().unwrap() > 0.0, "still dollars: {}", based["money"]);
}

#[test]
fn what_is_wrong_with_a_model_is_told() {
    let project = game()
        .with("negative.toml", "unit = \"ms\"\n\nrow = -0.5\n")
        .with("unknown.toml", "unit = \"ms\"\nrwo = 1\n")
        .with("large.toml", format!("# {}\nunit = \"ms\"\n", "x".repeat(70_000)))
        .with("bytes.toml", [0xff, 0xfe, 0x00]);
    let by = |model: &str| project.run(&["design", "game.loom", "--cost-model", model]);
    by("requests")
        .exits(2)
        .says("there is no cost model `requests`; there are request-count, cassandra-published")
        .says("end in .toml");
    by("own.json").exits(2).says("end in .toml");
    by("none.toml").exits(1).says("cannot read none.toml: no such file");
    by("negative.toml").exits(1).says("negative.toml:3: `row` is -0.5");
    by("unknown.toml")
        .exits(1)
        .says("unknown.toml:2: `rwo` is no key here; there are unit, based-on")
        .says("row,");
    by("large.toml").exits(1).says("larger than 64 KB");
    by("bytes.toml").exits(1).says("no text in UTF-8");
    for command in ["compare", "explain"] {
        project
            .run(&[command, "game.loom", "--cost-model", "requests"])
            .exits(2)
            .says("there is no cost model");
    }
}

#[test]
fn prices_have_a_date_and_another_list_takes_their_place() {
    let list =
        std::fs::read_to_string(repository().join("crates/askloom-target/src/dynamodb/prices.toml")).unwrap();
    let dearer = "date = 2031-02-03\nmode = \"on-demand\"\nregion = \"mars-1\"\nmillion-read-units = 0.25\n\
                  million-write-units = 1.25\ngigabyte-month = 0.5\n";
    let project = game().with("same.toml", &list).with("dearer.toml", dearer);
    let printed = "prices: on-demand, us-east-1, list of 2024-11-01 (--prices FILE)";
    for command in ["design", "compare", "explain"] {
        project.run(&[&[command, "game.loom"], &DYNAMODB[..]].concat()).exits(0).prints(printed);
    }
    let at = |file: &str| design(&project, &[&DYNAMODB[..], &["--prices", file]].concat());
    let (own, same, twice) = (design(&project, &DYNAMODB), at("same.toml"), at("dearer.toml"));
    assert_eq!(own["money"], same["money"]);
    assert_eq!((&own["prices"]["file"], &same["prices"]["file"]), (&Value::Null, &"same.toml".into()));
    assert_eq!(twice["prices"]["region"], "mars-1");
    for of in ["requests", "storage"] {
        let number = |document: &Value| document["money"][of].as_f64().unwrap();
        assert!((number(&twice) / number(&own) - 2.0).abs() < 1e-9, "{of}");
    }
    let with = [&["design", "game.loom", "--prices", "dearer.toml"], &DYNAMODB[..]].concat();
    project.run(&with).exits(0).prints("prices: on-demand, mars-1, list of 2031-02-03 in dearer.toml");
}

#[test]
fn what_is_wrong_with_prices_is_told() {
    let project = game().with("some.toml", "date = 2031-02-03\nmode = \"on-demand\"\n");
    let priced = |args: &[&str]| project.run(&[&["design", "game.loom"], args].concat());
    priced(&["--prices", "some.toml"]).exits(2).says("is not paid by the request");
    let dynamodb = |file| priced(&["--target", "dynamodb", "--prices", file]);
    dynamodb("some.toml").exits(1).says("some.toml: `region` is missing");
    dynamodb("none.toml").exits(1).says("cannot read none.toml: no such file");
    priced(&["--target", "dynamodb", "--prices", "some.toml", "--cost-model", "request-count"]).exits(2);
}

#[test]
fn every_number_is_shown_with_its_source() {
    let project = game();
    let shown = project.run(&["explain", "game.loom", "lobby", "--all"]).exits(0).stdout;
    assert!(shown.contains(", in µs: measured on one machine"), "{shown}");
    assert!(shown.contains("request that reads") && shown.contains("measured by `cargo xtask"), "{shown}");
    assert!(shown.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{shown}");
    let without = project.run(&["explain", "game.loom", "lobby"]).exits(0).stdout;
    assert!(shown.starts_with(&without) && !without.contains("request that reads"));
    let published = ["explain", "game.loom", "lobby", "--all", "--cost-model", "cassandra-published"];
    project.run(&published).exits(0).prints("step that reads").prints("NoSE");
    let prices = ["explain", "game.loom", "lobby", "--all", "--target", "dynamodb"];
    project.run(&prices).exits(0).prints("the price list").prints("gigabyte a month");
}

#[test]
fn the_page_of_sources_is_current() {
    let page = Project::new().run(&["docs", "--costs"]).exits(0).stdout;
    expect_file(&repository().join("docs/cost-sources.md"), &page);
}
