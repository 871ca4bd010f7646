//! Debian's package archive, as the machine is set up to reach it, without installing anything.

use crate::repository::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Chromium draws no text without fonts, and a bare machine has none.
const FONTS: [&str; 2] = ["fonts-dejavu-core", "fonts-liberation"];

/// The lists of packages to go by.
pub(super) enum Lists {
    /// Those of the machine. A bare machine has none, and old ones name packages that are gone.
    System,
    /// Our own, fetched a moment ago.
    Own(PathBuf),
}

/// What to download: the browser, every library of its that the machine lacks, and fonts.
pub(super) struct Selection {
    pub(super) version: String,
    names: Vec<String>,
}

impl Lists {
    pub(super) fn fetch(folder: &Path) -> Outcome<Self> {
        let partial = folder.join("lists/partial");
        fs::create_dir_all(&partial).map_err(|error| format!("{}: {error}", partial.display()))?;
        let own = Self::Own(folder.to_owned());
        say(own.apt().args(["-qq", "update"]))?;
        Ok(own)
    }

    pub(super) fn select(&self) -> Outcome<Selection> {
        // It prints what it would fetch, and does not.
        let install = ["-qq", "install", "--print-uris", "--no-install-recommends", "chromium"];
        selection(&say(self.apt().args(install))?)
    }

    pub(super) fn download(&self, selection: &Selection, folder: &Path) -> Outcome {
        let mut apt = self.apt();
        apt.args(["-qq", "download"]).args(&selection.names).args(FONTS).current_dir(folder);
        say(&mut apt).map(drop)
    }

    fn apt(&self) -> Command {
        let mut apt = Command::new("apt-get");
        // Whoever is root must not hand the user's folder to another account; whoever is not cannot lock.
        apt.args(["-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=1"]);
        if let Self::Own(folder) = self {
            apt.arg("-o").arg(format!("Dir::State::lists={}", folder.join("lists").display()));
            apt.arg("-o").arg(format!("Dir::Cache={}", folder.display()));
        }
        apt
    }
}

/// Lines of `'address' name_version_architecture.deb size hash`.
fn selection(lines: &str) -> Outcome<Selection> {
    let files = lines.lines().filter_map(|line| line.split_whitespace().nth(1));
    let packages: Vec<(&str, &str)> = files.filter_map(|file| file.split_once('_')).collect();
    let browser = packages.iter().find(|(name, _)| *name == "chromium");
    let version =
        browser.and_then(|(_, rest)| rest.split('_').next()).ok_or("the archive has no chromium")?;
    let names = packages.iter().map(|(name, _)| (*name).to_owned()).collect();
    Ok(Selection { version: version.replace('%', "-"), names })
}

pub(super) fn unpack(package: &Path, folder: &Path) -> Outcome {
    say(Command::new("dpkg").arg("-x").arg(package).arg(folder)).map(drop)
}

/// What the command prints.
fn say(command: &mut Command) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_browsers() {
        let lines = "'a' libogg0_1.3.5-3_amd64.deb 1 h\n'b' chromium_156.0-1~deb12u1_amd64.deb 2 h\n";
        let selection = selection(lines).unwrap();
        assert_eq!(selection.version, "156.0-1~deb12u1");
        assert_eq!(selection.names, ["libogg0", "chromium"]);
    }

    #[test]
    fn an_archive_without_the_browser_is_said() {
        assert!(selection("'a' libogg0_1.3.5-3_amd64.deb 1 h\n").is_err());
    }
}
