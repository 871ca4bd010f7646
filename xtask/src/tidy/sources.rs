use crate::repository::{Outcome, read};
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 600;

/// Files that may be longer, and why.
const LONG: &[(&str, &str)] = &[];

/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 10] =
    ["util", "utils", "helper", "helpers", "common", "misc", "manager", "managers", "stuff", "shared"];

/// A file that cannot be read in one sitting hides things.
pub(super) fn length(files: &[PathBuf]) -> Outcome<Vec<String>> {
    let mut messages = Vec::new();
    for path in files.iter().filter(|path| is_rust(path)) {
        let lines = read(path)?.lines().count();
        let allowed = LONG.iter().any(|(long, _)| path == Path::new(long));
        if lines > MOST_LINES && !allowed {
            messages.push(format!("{} has {lines} lines; split it at {MOST_LINES}", path.display()));
        }
    }
    Ok(messages)
}

/// A file or folder is named after what it is about.
pub(super) fn names(files: &[PathBuf]) -> Outcome<Vec<String>> {
    let says_nothing = |path: &&PathBuf| {
        path.iter().any(|part| {
            let stem = Path::new(part).file_stem().unwrap_or(part).to_string_lossy();
            EMPTY_NAMES.contains(&&*stem)
        })
    };
    let bad = files.iter().filter(says_nothing);
    Ok(bad.map(|path| format!("{} says nothing of what it holds", path.display())).collect())
}

/// A reminder without somebody who owns it is a reminder to nobody: `(name)` has to follow.
pub(super) fn reminders(files: &[PathBuf]) -> Outcome<Vec<String>> {
    // In two pieces, so that this file does not break its own rule.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let mut messages = Vec::new();
    for path in files.iter().filter(|path| is_text(path)) {
        for (number, line) in (1..).zip(read(path)?.lines()) {
            if marks.iter().any(|mark| is_unowned(line, mark)) {
                messages.push(format!("{}:{number}: a reminder without an owner", path.display()));
            }
        }
    }
    Ok(messages)
}

fn is_unowned(line: &str, mark: &str) -> bool {
    let is_part_of_word = |text: Option<char>| text.is_some_and(char::is_alphanumeric);
    line.match_indices(mark).any(|(at, _)| {
        let (before, rest) = line.split_at(at);
        let after = rest.get(mark.len()..).unwrap_or_default();
        !is_part_of_word(before.chars().next_back())
            && !is_part_of_word(after.chars().next())
            && !after.starts_with('(')
    })
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn is_text(path: &Path) -> bool {
    let kinds = ["rs", "md", "toml", "loom", "pidm", "gdm"];
    path.extension().is_some_and(|extension| kinds.iter().any(|kind| extension == *kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_need_an_owner() {
        assert!(is_unowned("// MARK: later", "MARK"));
        assert!(is_unowned("MARK", "MARK"));
        assert!(!is_unowned("// MARK(ada): later", "MARK"));
        assert!(!is_unowned("BOOKMARKS", "MARK"));
    }

    #[test]
    fn empty_names_are_found_in_folders_too() {
        let files = ["src/util.rs", "common/x.rs", "src/utility.rs"].map(PathBuf::from);
        assert_eq!(names(&files).unwrap().len(), 2);
    }
}
