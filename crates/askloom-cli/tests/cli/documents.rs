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

/// Every command of the README's first five minutes does what it says.
#[test]
fn the_first_five_minutes_work() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, after) = readme.split_once("## The first five minutes").unwrap();
    let project = Project::new();
    let mut folder = String::new();
    let mut lobbies = Vec::new();
    for line in block(after, "```sh\n").lines() {
        for command in line.split('#').next().unwrap().split("&&").map(str::trim) {
            let words: Vec<&str> = command.split(' ').collect();
            if words[0] == "cd" {
                folder = words[1].to_owned();
                continue;
            }
            assert_eq!(words[0], "askloom", "{command}");
            let output = project.command(&words[1..]).current_dir(project.path(&folder)).output().unwrap();
            let ran = crate::project::Ran::from(output).exits(0);
            if command.contains(" lobby") && command.contains(" run ") {
                lobbies.push(ran.stdout);
            }
        }
    }
    assert!(lobbies[0].contains("310") && lobbies[1].contains("1200"), "{lobbies:?}");
}

fn block<'a>(text: &'a str, fence: &str) -> &'a str {
    let (_, after) = text.split_once(fence).unwrap();
    after.split_once("```").unwrap().0
}
