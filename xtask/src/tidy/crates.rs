//! Which crates may stand on which, where `cargo` would let more through.

use crate::repository::{Outcome, read};
use std::path::{Path, PathBuf};

const PROGRAM: &str = "crates/askloom-cli/Cargo.toml";

/// The program stands on the library only: what it needs, a server or an editor needs too.
pub(super) fn program(_: &[PathBuf]) -> Outcome<Vec<String>> {
    let manifest = read(Path::new(PROGRAM))?;
    let below = below_the_library(&manifest);
    Ok(below.map(|name| format!("{PROGRAM} depends on {name}: let `askloom` offer what it needs")).collect())
}

/// The crates of ours among the dependencies; those of tests are no part of the program.
fn below_the_library(manifest: &str) -> impl Iterator<Item = &str> {
    let section = manifest.split("\n[").find_map(|section| section.strip_prefix("dependencies]"));
    let names = section.unwrap_or_default().lines().filter_map(|line| line.split(['.', '=', ' ']).next());
    names.filter(|name| name.starts_with("askloom-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_program_itself_depends_on_counts() {
        let manifest = "[package]\nname = \"x\"\n\n[dependencies]\naskloom.workspace = true\n\
                        askloom-model = \"1\"\n\n[dev-dependencies]\naskloom-lang.workspace = true\n";
        assert_eq!(below_the_library(manifest).collect::<Vec<_>>(), ["askloom-model"]);
    }
}
