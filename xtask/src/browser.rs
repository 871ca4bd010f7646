//! `cargo xtask browser`: a chromium for the tests that look at pages. Whatever the machine has is used; else
//! Debian's packages are unpacked into a folder of the user's, and nothing is installed.

mod debian;
mod unpacked;

use crate::cache;
use crate::repository::Outcome;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Tells the tests which browser to start.
pub(crate) const VARIABLE: &str = "ASKLOOM_BROWSER";

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub(crate) fn run() -> Outcome {
    println!("{}", path()?.display());
    Ok(())
}

/// A browser that starts: the one that was named, the machine's, the one fetched before, or one fetched now.
pub(crate) fn path() -> Outcome<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).map(PathBuf::from) {
        return if starts(&named) {
            Ok(named)
        } else {
            Err(format!("{VARIABLE} names no browser that starts"))
        };
    }
    let cache = cache::folder()?;
    let known = on_path(env::var_os("PATH")).into_iter().chain(unpacked::complete(&cache));
    match known.into_iter().find(|browser| starts(browser)) {
        Some(browser) => Ok(browser),
        None => fetch(&cache),
    }
}

fn fetch(cache: &Path) -> Outcome<PathBuf> {
    eprintln!("fetching chromium into {}", cache.display());
    let browser = unpacked::fetch(cache)?;
    if starts(&browser) { Ok(browser) } else { Err(format!("{} does not start", browser.display())) }
}

/// Some systems have a `chromium` that only says where to get one: being there is not enough.
fn starts(browser: &Path) -> bool {
    let mut command = Command::new(browser);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn on_path(path: Option<OsString>) -> Vec<PathBuf> {
    let folders: Vec<PathBuf> = path.iter().flat_map(env::split_paths).collect();
    let all = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.filter(|browser| browser.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_cannot_run_does_not_start() {
        assert!(!starts(Path::new("/nowhere/chromium")));
        assert!(!starts(Path::new("/dev/null")));
    }

    #[test]
    fn a_path_without_browsers_has_none() {
        assert!(on_path(None).is_empty());
        assert!(on_path(Some("/nowhere:/dev".into())).is_empty());
    }
}
