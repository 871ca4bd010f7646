//! On what and of what a measurement was made.

use crate::repository::output;
use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory: String,
}

pub(crate) fn machine() -> Machine {
    Machine {
        cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(unknown),
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        memory: field("/proc/meminfo", "MemTotal").unwrap_or_else(unknown),
    }
}

pub(crate) fn rustc() -> String {
    output(Command::new("rustc").arg("--version")).map_or_else(|_| unknown(), |text| text.trim().to_owned())
}

/// The commit, and whether the tree differs from it.
pub(crate) fn revision() -> String {
    let git = |args: &[&str]| output(Command::new("git").args(args));
    let Ok(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return unknown() };
    let changed = git(&["status", "--porcelain"]).is_ok_and(|status| !status.is_empty());
    format!("{}{}", commit.trim(), if changed { " with changes" } else { "" })
}

/// The value of a `name : value` line.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn unknown() -> String {
    "unknown".to_owned()
}
