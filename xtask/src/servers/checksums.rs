//! Files against the checksums that are kept beside the code.

use super::tool;
use crate::repository::Outcome;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Every file of the folder is in the list, every file of the list in the folder, and all are what they were.
pub(super) fn verify(folder: &Path, list: &Path) -> Outcome {
    let mut command = Command::new("sha256sum");
    command.args(["--check", "--strict", "--quiet"]).arg(list).current_dir(folder);
    tool::run(&mut command, "install GNU coreutils")
        .map_err(|message| format!("what was fetched is not what was pinned: {message}"))?;
    let text = fs::read_to_string(list).map_err(|error| format!("{}: {error}", list.display()))?;
    let listed: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let strangers: Vec<String> = names.filter(|name| !listed.contains(name.as_str())).collect();
    match strangers.as_slice() {
        [] => Ok(()),
        _ => Err(format!("what was fetched is not pinned: {}", strangers.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::scratch;
    use super::*;

    const OF_A: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.jar\n";

    #[test]
    fn a_changed_a_missing_and_an_unknown_file_are_refused() {
        let root = scratch("checksums");
        let (folder, list) = (root.join("lib"), root.join("sums"));
        fs::create_dir(&folder).unwrap();
        fs::write(&list, OF_A).unwrap();
        assert!(verify(&folder, &list).unwrap_err().contains("a.jar"));
        fs::write(folder.join("a.jar"), "a").unwrap();
        assert_eq!(verify(&folder, &list), Ok(()));
        fs::write(folder.join("b.jar"), "b").unwrap();
        assert_eq!(verify(&folder, &list).unwrap_err(), "what was fetched is not pinned: b.jar");
        fs::remove_file(folder.join("b.jar")).unwrap();
        fs::write(folder.join("a.jar"), "changed").unwrap();
        assert!(verify(&folder, &list).unwrap_err().contains("a.jar: FAILED"));
        fs::remove_dir_all(root).unwrap();
    }
}
