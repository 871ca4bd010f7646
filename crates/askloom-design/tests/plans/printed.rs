//! What plans print, for every statement of every example, side by side with the statement's name.
//! `cargo xtask bless` writes what is printed.

use crate::examples::{EXAMPLES, designed, example, root};
use askloom_model::{Design, Model};
use askloom_plan::cost::Costing;
use askloom_plan::planner::{self, write};

fn printed(costing: &Costing<'_>, model: &Model, design: &Design, implicit: bool) -> String {
    let mut text = String::new();
    for query in &model.workload.queries {
        let plan = planner::answer(costing, model, design, query).unwrap();
        text += &format!("=== {}\n", query.header.name);
        text += &planner::print(model, design, query, &plan);
        text += &planner::print_assumed(model, &plan.priced.assumed);
        text.push('\n');
    }
    for statement in &model.workload.writes {
        text += &format!("=== {}\n", statement.header.name);
        match write::plan(costing, model, design, statement) {
            Ok(plan) => {
                text += &write::print(model, design, Some(statement), &plan);
                text += &planner::print_assumed(model, &plan.assumed);
            }
            Err(diagnostic) => {
                text +=
                    &format!("{} {}\n{}\n", diagnostic.code, diagnostic.message, diagnostic.hint.unwrap());
            }
        }
        text.push('\n');
    }
    if implicit {
        for plan in write::implicit(costing, model, design).unwrap() {
            text += &format!("=== at any time\n{}\n", write::print(model, design, None, &plan));
        }
    }
    text
}

fn compare(name: &str, text: &str) {
    let file = root().join(format!("crates/askloom-design/tests/plans/expected/{name}.txt"));
    if std::env::var_os("ASKLOOM_BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(expected == text, "{name} prints\n{text}\n`cargo xtask bless` accepts this");
}

#[test]
fn every_statement_of_the_examples_prints_as_it_did() {
    for name in EXAMPLES {
        let (model, design) = designed(example(name));
        let implicit = name == "game";
        compare(
            &format!("{name}.embedded"),
            &printed(&askloom_target::embedded::costing(), &model, &design, implicit),
        );
    }
}

#[test]
fn the_game_prints_as_it_did_on_every_store() {
    let (model, design) = designed(example("game"));
    for target in askloom_target::targets().iter().skip(1) {
        let name = format!("game.{}", target.capability.target);
        compare(&name, &printed(&Costing::from(target), &model, &design, false));
    }
}

#[test]
fn nothing_is_wider_than_a_terminal() {
    for name in EXAMPLES {
        let (model, design) = designed(example(name));
        for target in askloom_target::targets() {
            for line in printed(&Costing::from(target), &model, &design, true).lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        }
    }
}
