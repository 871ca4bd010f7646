//! Every model in the repository: examples, the fences of its pages, the fixtures of the check.

use crate::project::{files, root};
use askloom_lang::Dialect;
use std::path::Path;

pub(super) struct Sample {
    /// Where it is from, for messages.
    pub(super) place: String,
    pub(super) dialect: Dialect,
    pub(super) text: String,
}

pub(super) fn corpus() -> Vec<Sample> {
    let mut samples = examples();
    let mut pages = files("docs", "md");
    pages.extend(files("docs/diagnostics", "md"));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        samples.extend(fences(&page.display().to_string(), &text));
    }
    for file in files("crates/askloom-lang/tests/fixtures", "txt") {
        let text = std::fs::read_to_string(&file).unwrap();
        samples.extend(cases(&file.display().to_string(), &text));
    }
    samples.extend(super::fixtures::fixtures().into_iter().map(|fixture| fixture.source()));
    assert!(samples.len() > 200, "only {} samples", samples.len());
    samples
}

fn examples() -> Vec<Sample> {
    let folders = std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let mut samples = Vec::new();
    for folder in folders.filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if let Some(dialect) = Dialect::of_path(&file) {
                let text = std::fs::read_to_string(&file).unwrap();
                samples.push(Sample { place: file.display().to_string(), dialect, text });
            }
        }
    }
    samples.sort_by(|a, b| a.place.cmp(&b.place));
    samples
}

fn fences(place: &str, page: &str) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let body: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let language = info.split([' ', '-']).next().unwrap_or_default();
        if let Some(dialect) = Dialect::ALL.into_iter().find(|dialect| dialect.extension() == language) {
            let place = format!("{place}:{}", number + 1);
            samples.push(Sample { place, dialect, text: body.join("\n") + "\n" });
        }
    }
    samples
}

/// The models of a file of fixtures: a line `--- NAME` before each, and what is said of it behind.
fn cases(place: &str, text: &str) -> Vec<Sample> {
    let parts = text.split("\n=== ").flat_map(|case| case.split("\n--- ").skip(1));
    let named = parts.filter_map(|part| part.split_once('\n'));
    let models = named.filter_map(|(name, body)| Some((Dialect::of_path(Path::new(name))?, body)));
    models
        .map(|(dialect, body)| Sample { place: place.to_owned(), dialect, text: format!("{body}\n") })
        .collect()
}
