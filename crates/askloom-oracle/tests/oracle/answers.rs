//! Answers written by hand.

use crate::fixture::run;
use std::path::Path;

#[test]
fn every_answer_is_the_one_that_was_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut answers = 0;
    let mut wrong = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        match run(&text) {
            Ok(run) => answers += run.answers,
            Err(message) => wrong.push(format!("{}, {message}", file.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(answers >= 350, "{answers} answers");
}
