//! Models and what is said about them, side by side in plain text. `cargo xtask bless` writes what is said.
//!
//! A file of `tests/fixtures` holds cases:
//!
//! ```text
//! === what the case shows
//! --- model.loom
//! entity A { id a: int }
//! --- says
//! clean
//! ```

use crate::project::{files, summary};
use askloom_lang::{Memory, check};
use std::path::Path;

struct Case {
    title: String,
    files: Vec<(String, String)>,
    says: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for block in text.split("=== ").skip(1) {
        let (title, rest) = block.split_once('\n').unwrap();
        let mut case = Case { title: title.to_owned(), files: Vec::new(), says: String::new() };
        for part in rest.split("--- ").skip(1) {
            let (name, body) = part.split_once('\n').unwrap_or((part, ""));
            match name {
                "says" => case.says = body.trim_end().to_owned(),
                name => case.files.push((name.to_owned(), body.to_owned())),
            }
        }
        cases.push(case);
    }
    cases
}

fn said(case: &Case) -> String {
    let world =
        case.files.iter().fold(Memory::default(), |world, (name, text)| world.with(name, text.as_str()));
    summary(&check(&world, Path::new(&case.files.first().expect("a case has a model").0)))
}

fn written(cases: &[Case], says: &[String]) -> String {
    let mut text = String::new();
    for (case, says) in cases.iter().zip(says) {
        text.push_str(&format!("=== {}\n", case.title));
        for (name, body) in &case.files {
            text.push_str(&format!("--- {name}\n{body}"));
        }
        text.push_str(&format!("--- says\n{says}\n\n"));
    }
    text
}

#[test]
fn fixtures_say_what_they_said() {
    let bless = std::env::var_os("ASKLOOM_BLESS").is_some();
    let mut failures = Vec::new();
    for file in files("crates/askloom-lang/tests/fixtures", "txt") {
        let text = std::fs::read_to_string(&file).unwrap();
        let cases = cases(&text);
        let says: Vec<String> = cases.iter().map(said).collect();
        if bless {
            std::fs::write(&file, written(&cases, &says)).unwrap();
        }
        for (case, says) in cases.iter().zip(&says).filter(|(case, says)| case.says != **says) {
            failures.push(format!("{}: {}\n{says}", file.file_name().unwrap().display(), case.title));
        }
    }
    assert!(bless || failures.is_empty(), "{}\n\n`cargo xtask bless` accepts this", failures.join("\n\n"));
}
