//! Every store is laid out alike, so that who knows one finds the way in all.

use crate::repository::Outcome;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

const STORES: &str = "crates/askloom-target/src";

/// What each folder of a store has; whatever else it needs is its own.
const FILES: [&str; 8] = ["mod", "capability", "profile", "schema", "value", "read", "write", "emit"];

/// Folders that are no store's, and the embedded store, which has no language to print.
const OTHERS: [&str; 3] = ["embedded", "layout", "program"];

/// A store has the same files as the others.
pub(super) fn files(files: &[PathBuf]) -> Outcome<Vec<String>> {
    let inside: Vec<&Path> = files.iter().filter_map(|path| path.strip_prefix(STORES).ok()).collect();
    let folder = |path: &&Path| match path.components().next() {
        Some(Component::Normal(first)) if path.components().count() > 1 => {
            Some(first.to_string_lossy().into_owned())
        }
        _ => None,
    };
    let stores: BTreeSet<String> =
        inside.iter().filter_map(folder).filter(|name| !OTHERS.contains(&name.as_str())).collect();
    let mut messages = Vec::new();
    for store in stores {
        for file in FILES {
            let path = Path::new(&store).join(file).with_extension("rs");
            if !inside.contains(&path.as_path()) {
                messages.push(format!("{STORES}/{store} has no {file}.rs, which every store has"));
            }
        }
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(name: &str, without: &str) -> Vec<PathBuf> {
        let files = FILES.iter().filter(|file| **file != without);
        files.map(|file| PathBuf::from(format!("{STORES}/{name}/{file}.rs"))).collect()
    }

    #[test]
    fn a_store_without_a_file_is_named() {
        let mut all = store("one", "");
        all.extend(store("two", "emit"));
        all.extend(
            ["lib.rs", "embedded/codec.rs", "program/mod.rs"].map(|file| Path::new(STORES).join(file)),
        );
        let found = files(&all).unwrap();
        assert_eq!(found, [format!("{STORES}/two has no emit.rs, which every store has")]);
    }
}
