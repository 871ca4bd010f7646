//! What the documents show is what the program prints.

use crate::project::{Project, expect_file, repository};
use std::fs;

#[test]
fn the_reference_of_commands_is_current() {
    let reference = Project::new().run(&["docs"]).exits(0).stdout;
    expect_file(&repository().join("docs/commands.md"), &reference);
}

/// The README's first model, checked: the block after it holds the answer.
#[test]
fn the_readme_shows_real_output() {
    let path = repository().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let model = block(&readme, "```loom\n");
    let project = Project::new().with("flights.loom", model);
    let answer = project.run(&["check", "flights.loom"]).stdout;
    let shown = block(&readme, "```console\n$ askloom check flights.loom\n");
    expect_file(&path, &readme.replacen(shown, &answer, 1));
}

fn block<'a>(text: &'a str, fence: &str) -> &'a str {
    let (_, after) = text.split_once(fence).unwrap();
    after.split_once("```").unwrap().0
}
