//! What `generate` writes into a folder, beside what is expected. `ASKLOOM_BLESS=1` rewrites that.

use crate::project::{Project, expect_file};
use std::path::Path;

/// Those of some files that are written for an example, one below another.
pub(crate) fn generated(example: &str, words: &[&str], params: &str, files: &[&str]) -> String {
    let project = Project::new().with("params.json", params);
    project.run(&["new", "model", "--example", example]).exits(0);
    let file = format!("model/{example}.loom");
    // Texts that are as small as they can be: no copies but what a test is about.
    let method: &[&str] = if words.contains(&"--method") { &[] } else { &["--method", "noam"] };
    let args = ["generate", &file, "--params", "params.json", "-o", "out"];
    project.run(&[&args, method, words].concat()).exits(0);
    let mut text = String::new();
    for name in files {
        if project.exists(&format!("out/{name}")) {
            text.push_str(&format!("== {name}\n{}\n", project.read(&format!("out/{name}"))));
        }
    }
    text
}

#[track_caller]
pub(crate) fn expect(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    expect_file(&folder.join(name), text);
}
