//! The repository around these tests, and models in memory.

use askloom_lang::{Checked, Memory, check};
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files directly in a folder with that extension, by name.
pub(crate) fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// Checks a model that is one file.
pub(crate) fn check_text(name: &str, text: &str) -> Checked {
    check(&Memory::default().with(name, text), Path::new(name))
}

/// Each diagnostic on a line of its own, with place, hint and fix.
pub(crate) fn summary(checked: &Checked) -> String {
    let mut lines = Vec::new();
    for diagnostic in &checked.diagnostics {
        let place = checked.sources.start(diagnostic.span());
        let file = checked.sources.path(diagnostic.span().file).display();
        let severity = diagnostic.severity.name();
        lines.push(format!(
            "{file}:{}:{} {} {severity}: {}",
            place.line, place.column, diagnostic.code, diagnostic.message
        ));
        for label in diagnostic.labels.iter().filter(|label| !label.text.is_empty()) {
            let place = checked.sources.start(label.span);
            lines.push(format!("  {}:{} {}", place.line, place.column, label.text));
        }
        lines.extend(diagnostic.hint.iter().map(|hint| format!("  hint: {hint}")));
        lines.extend(diagnostic.fix.iter().map(|fix| format!("  fix: {}", fix.title)));
    }
    if lines.is_empty() { "clean".to_owned() } else { lines.join("\n") }
}

/// The codes of a model's diagnostics, in order.
pub(crate) fn codes(checked: &Checked) -> Vec<&'static str> {
    checked.diagnostics.iter().map(|diagnostic| diagnostic.code.number()).collect()
}
