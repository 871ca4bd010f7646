//! What must hold of the tree and no compiler checks. One function per rule: it returns what breaks it.

mod crates;
mod documents;
mod sources;
mod stores;

use crate::repository::{Outcome, files};
use std::path::PathBuf;

/// A rule looks at the files of the repository and says what is wrong with them.
type Rule = fn(&[PathBuf]) -> Outcome<Vec<String>>;

const RULES: [(&str, Rule); 8] = [
    ("length", sources::length),
    ("names", sources::names),
    ("reminders", sources::reminders),
    ("crates", crates::program),
    ("stores", stores::files),
    ("pages", documents::pages),
    ("index", documents::index),
    ("links", documents::links),
];

pub(crate) fn run() -> Outcome {
    let files = files()?;
    let mut broken = 0;
    for (name, rule) in RULES {
        for message in rule(&files)? {
            eprintln!("tidy ({name}): {message}");
            broken += 1;
        }
    }
    match broken {
        0 => Ok(()),
        n => Err(format!("{n} things are not tidy")),
    }
}
