//! The language judges rules as they are carried out.

use crate::{checked, class, models, reference, rules};
use askloom_design::partition::legal;
use askloom_model::{Code, Contents, Model, Rule};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Every representation of the examples is legal for each class that it is about.
#[test]
fn the_examples_are_legal() {
    let mut count = 0;
    let examples = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).unwrap();
    for folder in examples.filter_map(|entry| std::fs::read_dir(entry.unwrap().path()).ok()) {
        for file in folder.map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|extension| extension == "loom") {
                let model = checked(&std::fs::read_to_string(&file).unwrap()).model;
                count += representations_are_legal(&model);
            }
        }
    }
    assert!(count > 10, "only {count} pairs of a class and a representation");
}

fn representations_are_legal(model: &Model) -> usize {
    let conceptual = &model.conceptual;
    let is_root = |&class: &askloom_model::ClassId| conceptual.aggregate_root(class) == Some(class);
    let mut count = 0;
    for representation in &model.representations {
        for root in conceptual.classes.ids().filter(is_root) {
            let is_about = |rule: &Rule| rule.class.is_none_or(|class| conceptual.is_kind_of(class, root));
            if representation.class.is_none_or(|class| class == root)
                && representation.rules.iter().any(is_about)
            {
                assert_eq!(legal(conceptual, root, &representation.rules), Ok(()), "{}", representation.name);
                count += 1;
            }
        }
    }
    count
}

/// Random rules: the check says what is missed, and which rules take nothing, exactly if it is so.
#[test]
fn the_check_agrees_on_random_rules() {
    let (mut judged, mut missing, mut unreached) = (0, 0, 0);
    for seed in 0..1500 {
        let mut random = Rng::with_seed(seed);
        let text = models::model(&mut random);
        let conceptual = checked(&text).model.conceptual;
        let root = class(&conceptual, "E");
        let rules = rules::rules(&conceptual, &mut random);
        let mut whole = text.clone();
        writeln!(whole, "represent E {{").unwrap();
        for rule in &rules {
            writeln!(whole, "  {}", rules::text(&conceptual, rule)).unwrap();
        }
        writeln!(whole, "}}").unwrap();
        let found = checked(&whole);
        let says = |code: Code| found.diagnostics.iter().filter(move |diagnostic| diagnostic.code == code);
        // A rule that is about something else hides what is missed only because of it.
        if says(Code::RuleOtherClass).next().is_some() || says(Code::RuleUnknownField).next().is_some() {
            continue;
        }
        judged += 1;
        let taken = reference::taken(&conceptual, &rules, root);
        let misses: Vec<&str> = says(Code::RuleMissesField).map(|diagnostic| &*diagnostic.message).collect();
        assert_eq!(misses.is_empty(), taken.missed.is_empty(), "seed {seed}\n{whole}{misses:?} {taken:?}");
        assert_eq!(misses.is_empty(), legal(&conceptual, root, &rules).is_ok(), "seed {seed}\n{whole}");
        missing += usize::from(!misses.is_empty());
        // A part that can hold nothing is taken as a whole or not at all, and the check does not ask which.
        let parts = ["V0", "V1", "V2", "P"].map(|name| class(&conceptual, name));
        if parts.iter().any(|&part| reference::kinds(&conceptual, part).is_empty()) {
            continue;
        }
        let never: BTreeSet<usize> = says(Code::RuleNeverReached)
            .map(|diagnostic| {
                let before = &whole[..diagnostic.span().start as usize];
                let first = whole[..whole.find("represent E").unwrap()].matches('\n').count() + 1;
                before.matches('\n').count() - first
            })
            .collect();
        let expected: BTreeSet<usize> =
            (0..rules.len()).filter(|rule| !taken.reached.contains(rule)).collect();
        assert_eq!(never, expected, "seed {seed}\n{whole}");
        unreached += never.len();
    }
    assert!(judged > 300 && missing > 100 && unreached > 100, "{judged} {missing} {unreached}");
}

/// A model's only representation is what its masters have.
#[test]
fn representations_are_in_force() {
    let classes =
        "entity A { id k: int, x: text? }\nentity B { id k: int, part p: V[*] }\nvalue V { y: int }\n";
    let rules = |represent: &str, name: &str| -> Vec<String> {
        let model = checked(&format!("{classes}{represent}")).model;
        let design = askloom_design::simple::design(&model);
        let master = design.master(class(&model.conceptual, name)).unwrap();
        match &design.collections[master].contents {
            Contents::Aggregate(rules) => {
                rules.iter().map(|rule| rules::text(&model.conceptual, rule)).collect()
            }
            Contents::Fields(_) => panic!("a master has no fields"),
        }
    };
    assert_eq!(rules("", "A"), ["/A/*"]);
    let one = "represent * { /B/*/p[*], /*/*/* }";
    assert_eq!(rules(one, "A"), ["/*/*/*"]);
    assert_eq!(rules(one, "B"), ["/B/*/`p`[*]", "/*/*/*"]);
    let own = "represent * { /*/*/* }\nrepresent A { /A/*/** }";
    assert_eq!(rules(own, "A"), ["/A/*/**"]);
    assert_eq!(rules(own, "B"), ["/*/*/*"]);
    let several = "represent * as a { /*/*/* }\nrepresent * as b { /*/* }";
    assert_eq!(rules(several, "A"), ["/A/*"]);
    // An error of the model, by which nothing may be lost.
    assert_eq!(rules("represent A { /A/*/x }", "A"), ["/A/*"]);
}
