//! The language judges rules as they are carried out.

use crate::{checked, class, models, reference, rules};
use askloom_model::{ClassId, Code, Contents, Model, Rule};
use askloom_plan::partition::legal;
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
    let is_root = |&class: &ClassId| conceptual.aggregate_root(class) == Some(class);
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

/// How often the check was compared, and how often it had something to say.
#[derive(Debug, Default)]
struct Judged {
    all: usize,
    missing: usize,
    unreached: usize,
}

/// Random rules: the check says what is missed, and which rules take nothing, exactly if it is so.
#[test]
fn the_check_agrees_on_random_rules() {
    for represented in ["E", "*"] {
        let mut judged = Judged::default();
        (0..1500).for_each(|seed| agrees(seed, represented, &mut judged));
        let Judged { all, missing, unreached } = judged;
        assert!(all > 300 && missing > 100 && unreached > 100, "{represented}: {judged:?}");
    }
}

fn agrees(seed: u64, represented: &str, judged: &mut Judged) {
    let mut random = Rng::with_seed(seed);
    let mut text = models::model(&mut random);
    let conceptual = checked(&text).model.conceptual;
    let rules = rules::rules(&conceptual, &mut random);
    writeln!(text, "represent {represented} {{").unwrap();
    let first = text.matches('\n').count();
    for rule in &rules {
        writeln!(text, "  {}", rules::text(&conceptual, rule)).unwrap();
    }
    writeln!(text, "}}").unwrap();
    let found = checked(&text);
    let says = |code: Code| found.diagnostics.iter().filter(move |diagnostic| diagnostic.code == code);
    // A rule that is about something else hides what is missed only because of it.
    if says(Code::RuleOtherClass).next().is_some() || says(Code::RuleUnknownField).next().is_some() {
        return;
    }
    judged.all += 1;

    let is_root = |&class: &ClassId| conceptual.aggregate_root(class) == Some(class);
    let roots: Vec<ClassId> = match represented {
        "*" => conceptual.classes.ids().filter(is_root).collect(),
        name => vec![class(&conceptual, name)],
    };
    let mut reached = BTreeSet::new();
    let (mut misses, mut is_legal) = (false, true);
    for root in roots {
        let taken = reference::taken(&conceptual, &rules, root);
        reached.extend(taken.reached);
        // A class that no rule is about keeps its own representation.
        if rules.iter().any(|rule| rule.class.is_none_or(|of| conceptual.is_kind_of(of, root))) {
            misses |= !taken.missed.is_empty();
            is_legal &= legal(&conceptual, root, &rules).is_ok();
        }
    }
    let said: Vec<&str> = says(Code::RuleMissesField).map(|diagnostic| &*diagnostic.message).collect();
    assert_eq!((!said.is_empty(), is_legal), (misses, !misses), "seed {seed}\n{text}{said:?}");
    judged.missing += said.len();

    // A part that can hold nothing is taken as a whole or not at all, and the check does not ask which.
    let parts = ["V0", "V1", "V2", "P"].map(|name| class(&conceptual, name));
    if parts.iter().any(|&part| reference::kinds(&conceptual, part).is_empty()) {
        return;
    }
    let line = |at: u32| text[..at as usize].matches('\n').count();
    let never: BTreeSet<usize> =
        says(Code::RuleNeverReached).map(|diagnostic| line(diagnostic.span().start) - first).collect();
    let expected: BTreeSet<usize> = (0..rules.len()).filter(|rule| !reached.contains(rule)).collect();
    assert_eq!(never, expected, "seed {seed}\n{text}");
    judged.unreached += never.len();
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
            Contents::Fields(_) | Contents::Nested(_) => panic!("a master holds aggregates"),
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
