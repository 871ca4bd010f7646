//! Every diagnostic has a page whose wrong example brings it about and whose right one, a near miss, is clean.

use crate::project::{read, root, summary};
use askloom_lang::{Checked, Memory, check};
use askloom_model::{Code, Severity};
use std::path::Path;

/// Their wrong examples cannot be written down as text, which `hostile` makes, or are about designs.
const NOT_TEXT: [Code; 12] = [
    Code::NotUtf8,
    Code::FileTooLarge,
    Code::UnknownExtension,
    Code::TooDeep,
    Code::TooManyDiagnostics,
    Code::TooMany,
    Code::NoPlan,
    Code::NotTogether,
    Code::DesignMalformed,
    Code::DesignOfAnotherModel,
    Code::TooLarge,
    Code::NotDesignedYet,
];

struct Example {
    files: Vec<(String, String)>,
}

impl Example {
    fn check(&self) -> Option<Checked> {
        let root = &self.files.first()?.0;
        let world =
            self.files.iter().fold(Memory::default(), |world, (name, text)| world.with(name, text.as_str()));
        Some(check(&world, Path::new(root)))
    }
}

fn section<'p>(page: &'p str, title: &str) -> &'p str {
    let start = page.find(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no section {title}"));
    let body = &page[start + title.len() + 5..];
    &body[..body.find("\n## ").unwrap_or(body.len())]
}

/// The fenced models of a section. ```` ```loom file=a.loom ```` names the file.
fn example(section: &str) -> Example {
    let mut files = Vec::new();
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut words = info.split_whitespace();
        let language = words.next().unwrap();
        let name = words.find_map(|word| word.strip_prefix("file=")).map(str::to_owned);
        if ["loom", "pidm", "gdm"].contains(&language) {
            files.push((name.unwrap_or(format!("model.{language}")), body.join("\n") + "\n"));
        }
    }
    Example { files }
}

/// All fenced models of a page, with their language.
pub(crate) fn fences(page: &str) -> Vec<(String, String)> {
    let files = example(page).files;
    files.into_iter().map(|(name, text)| (name.rsplit('.').next().unwrap().to_owned(), text)).collect()
}

fn page(code: Code) -> String {
    read(&format!("docs/diagnostics/{code}.md"))
}

#[test]
fn every_code_has_a_page_with_its_title() {
    for &code in Code::ALL {
        let page = page(code);
        assert_eq!(page.lines().next(), Some(format!("# {code}: {}", code.title()).as_str()));
        for title in ["Why it matters", "Wrong", "Right"] {
            assert!(!section(&page, title).trim().is_empty(), "{code}: {title} is empty");
        }
    }
    let pages = std::fs::read_dir(root().join("docs/diagnostics")).unwrap().count();
    assert_eq!(pages, Code::ALL.len() + 1, "a page without a code, or no index");
}

#[test]
fn wrong_examples_are_wrong_in_their_own_way_only() {
    let mut failures = Vec::new();
    for &code in Code::ALL.iter().filter(|code| !NOT_TEXT.contains(code)) {
        let checked =
            example(section(&page(code), "Wrong")).check().unwrap_or_else(|| panic!("{code}: no example"));
        let has = checked.diagnostics.iter().any(|diagnostic| diagnostic.code == code);
        let only = checked.diagnostics.iter().all(|d| d.code == code || d.severity == Severity::Note);
        if !has || !only {
            failures.push(format!("{code}:\n{}", summary(&checked)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn right_examples_are_clean() {
    let mut failures = Vec::new();
    for &code in Code::ALL {
        let Some(checked) = example(section(&page(code), "Right")).check() else {
            assert!(NOT_TEXT.contains(&code), "{code}: no right example");
            continue;
        };
        let grave = checked.diagnostics.iter().any(|d| d.severity != Severity::Note || d.code == code);
        if grave {
            failures.push(format!("{code}:\n{}", summary(&checked)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn models_in_the_language_reference_are_clean() {
    let reference = read("docs/language.md");
    let mut failures = Vec::new();
    for (index, fence) in reference.split("\n```loom\n").skip(1).enumerate() {
        let text = fence.split("\n```").next().unwrap();
        let checked = crate::project::check_text("model.loom", &format!("{text}\n"));
        if checked.diagnostics.iter().any(|d| d.severity != Severity::Note) {
            failures.push(format!("model {}:\n{text}\n{}", index + 1, summary(&checked)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
