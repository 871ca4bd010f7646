//! Every page of a diagnostic shows what the program really says about its wrong example.

use crate::project::{Project, expect_file, repository};
use std::fs;

const TITLE: &str = "\n## What Askloom says\n";

#[test]
fn pages_show_real_output() {
    let mut pages: Vec<_> = fs::read_dir(repository().join("docs/diagnostics"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.sort();
    for path in pages.iter().filter(|path| path.file_name().unwrap() != "README.md") {
        let page = fs::read_to_string(path).unwrap();
        let files = wrong_example(&page);
        let Some((root, _)) = files.first() else { continue };
        let project = files.iter().fold(Project::new(), |project, (name, text)| project.with(name, text));
        let said = project.run(&["check", root]).stdout;
        expect_file(path, &with_output(&page, &said));
    }
}

/// The files of the section `Wrong`; the first one is the root.
fn wrong_example(page: &str) -> Vec<(String, String)> {
    let (_, section) = page.split_once("\n## Wrong\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut files = Vec::new();
    for fence in section.split("\n```").filter(|fence| !fence.trim().is_empty()) {
        let (info, body) = fence.split_once('\n').unwrap_or((fence, ""));
        let language = info.split_whitespace().next().unwrap_or_default();
        if ["loom", "pidm", "gdm"].contains(&language) {
            let name = info.split_once("file=").map(|(_, name)| name.trim().to_owned());
            files.push((name.unwrap_or(format!("model.{language}")), format!("{body}\n")));
        }
    }
    files
}

fn with_output(page: &str, said: &str) -> String {
    let (before, right) = page.split_once("\n## Right\n").unwrap();
    let before = before.split(TITLE).next().unwrap();
    format!("{before}{TITLE}\n```text\n{}\n```\n\n## Right\n{right}", said.trim_end())
}
