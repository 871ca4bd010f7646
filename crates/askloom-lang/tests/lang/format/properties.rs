//! What holds for every text, a model or not.

use super::corpus::{Sample, corpus};
use super::mutation::{Random, mutated, sprinkled};
use crate::project::{check_text, codes};
use askloom_lang::{Dialect, format};
use std::collections::BTreeSet;

/// The comments of a `.loom` text, in order.
fn comments(text: &str) -> Vec<String> {
    let mut comments = Vec::new();
    for line in text.split(['\n', '\r']) {
        let mut quote: Option<char> = None;
        for (at, c) in line.char_indices() {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
                None if line[at..].starts_with("//") => {
                    comments.push(line[at..].trim_end().to_owned());
                    break;
                }
                None => {}
            }
        }
    }
    comments
}

fn unchanged_when_repeated(place: &str, text: &str, dialect: Dialect) -> String {
    let once = format(text, dialect).text;
    let twice = format(&once, Dialect::Loom).text;
    assert!(
        once == twice,
        "{place}: not the same again\n--- source\n{text}\n--- once\n{once}\n--- twice\n{twice}"
    );
    once
}

fn meaning(text: &str, dialect: Dialect) -> (serde_json::Value, BTreeSet<&'static str>) {
    let checked = check_text(&format!("model.{}", dialect.extension()), text);
    let codes = codes(&checked).into_iter().collect();
    (serde_json::to_value(&checked.model).unwrap(), codes)
}

fn loom_means_the_same(place: &str, source: &str, formatted: &str) {
    let (before, after) = (meaning(source, Dialect::Loom), meaning(formatted, Dialect::Loom));
    assert!(
        before == after,
        "{place}: another meaning\n--- source\n{source}\n--- formatted\n{formatted}\n{:?}\n{:?}",
        before.1,
        after.1
    );
}

fn loom_keeps_comments(place: &str, source: &str, formatted: &str) {
    let (before, after) = (comments(source), comments(formatted));
    assert!(before == after, "{place}: other comments\n--- source\n{source}\n--- formatted\n{formatted}");
}

#[test]
fn every_model_of_the_repository_keeps_its_meaning_and_comments() {
    for Sample { place, dialect, text } in corpus() {
        let formatted = unchanged_when_repeated(&place, &text, dialect);
        if dialect == Dialect::Loom {
            loom_means_the_same(&place, &text, &formatted);
            loom_keeps_comments(&place, &text, &formatted);
        }
    }
}

#[test]
fn the_examples_are_in_the_canonical_style() {
    for Sample { place, dialect, text } in corpus() {
        if dialect == Dialect::Loom && place.contains("/examples/") {
            assert_eq!(format(&text, dialect).text, text, "{place}");
        }
    }
}

#[test]
fn a_converted_model_is_the_same_model() {
    // What only a dialect is told: that an annotation is ignored, that ends look like a pair, that OR binds
    // tighter, that a comment
    // has no end.
    const NOTES: [&str; 4] = ["AL0307", "AL0226", "AL0109", "AL0007"];
    for Sample { place, dialect, text } in corpus() {
        if dialect == Dialect::Loom {
            continue;
        }
        let formatted = format(&text, dialect).text;
        let (before, after) = (meaning(&text, dialect), meaning(&formatted, Dialect::Loom));
        let counted = |codes: BTreeSet<&'static str>| -> BTreeSet<_> {
            codes.into_iter().filter(|code| !NOTES.contains(code)).collect()
        };
        assert!(before.0 == after.0, "{place}: another model\n{text}\n{formatted}");
        assert_eq!(counted(before.1), counted(after.1), "{place}\n{text}\n{formatted}");
    }
}

#[test]
fn garbage_is_formatted_once_and_for_all() {
    let corpus: Vec<Sample> = corpus().into_iter().filter(|sample| sample.text.len() < 4000).collect();
    for seed in 0..rounds(2_000) {
        let mut random = Random::new(seed);
        let sample = &corpus[random.below(corpus.len())];
        let text = mutated(&sample.text, &mut random);
        let place = format!("{} with seed {seed}", sample.place);
        let formatted = unchanged_when_repeated(&place, &text, sample.dialect);
        if sample.dialect == Dialect::Loom {
            loom_keeps_comments(&place, &text, &formatted);
            loom_means_the_same(&place, &text, &formatted);
        }
    }
}

#[test]
fn comments_stay_between_any_two_words() {
    for (index, Sample { place, dialect, text }) in (0..).zip(corpus()) {
        if dialect != Dialect::Loom {
            continue;
        }
        for seed in 0..rounds(4) {
            let mut random = Random::new(1_000 * seed + index);
            let text = sprinkled(&text, &mut random, |random, n| match random.below(5) {
                0 => "\n".to_owned(),
                1 => format!("\n\n// n{n}\n"),
                _behind => format!("// n{n}\n"),
            });
            let place = format!("{place} with seed {seed}");
            let formatted = unchanged_when_repeated(&place, &text, Dialect::Loom);
            loom_keeps_comments(&place, &text, &formatted);
            loom_means_the_same(&place, &text, &formatted);
        }
    }
}

#[test]
fn a_conversion_keeps_comments_between_any_two_words() {
    for (index, Sample { place, dialect, text }) in (0..).zip(corpus()) {
        if dialect == Dialect::Loom || text.contains("/*") {
            continue;
        }
        for seed in 0..rounds(4) {
            let mut random = Random::new(1_000 * seed + index);
            // One of several lines ends a member, so that not all that follows can be converted.
            let several_lines = seed % 4 == 3;
            let sprinkled =
                sprinkled(&text, &mut random, |random, n| match several_lines && random.below(3) == 0 {
                    true => format!("/* n{n}!\n   n{n}? */ "),
                    false => format!("/* n{n}! n{n}? */ "),
                });
            let place = format!("{place} with seed {seed}");
            let formatted = unchanged_when_repeated(&place, &sprinkled, dialect);
            let marks = |text: &str| -> Vec<String> {
                let marks = text.split_whitespace().filter(|w| w.ends_with(['!', '?'])).map(str::to_owned);
                let mut marks: Vec<String> = marks.collect();
                // What then stands between an annotation and its member goes before both.
                if several_lines {
                    marks.sort_unstable();
                }
                marks
            };
            assert_eq!(marks(&sprinkled), marks(&formatted), "{place}\n{sprinkled}\n{formatted}");
            let (before, after) = (meaning(&sprinkled, dialect), meaning(&formatted, Dialect::Loom));
            assert!(several_lines || before.0 == after.0, "{place}: another model\n{sprinkled}\n{formatted}");
        }
    }
}

/// More of them on request, for a long run by hand.
fn rounds(few: u64) -> u64 {
    let asked = std::env::var("ASKLOOM_FORMAT_ROUNDS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(few)
}
