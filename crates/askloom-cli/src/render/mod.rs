//! A diagnostic is data; these are the ways to show it. Each is a pure function of what was checked.

mod excerpt;
mod github;
mod human;
mod json;
mod place;
mod refusal;
mod sarif;
mod summary;

pub(crate) use human::diagnostics as human;
pub(crate) use refusal::refusal;
pub(crate) use summary::line as summary;

use askloom::lang::Checked;
use clap::ValueEnum;
use serde::Serialize;
use std::path::PathBuf;

/// One model that was checked, under the name that the user gave it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) root: PathBuf,
    pub(crate) checked: Checked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One JSON object
    Json,
    /// Workflow commands, which GitHub shows beside the lines
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// A format that another program reads: one text for all models together.
pub(crate) fn machine(format: Machine, reports: &[Report]) -> String {
    match format {
        Machine::Json => json::render(reports),
        Machine::Github => github::render(reports),
        Machine::Sarif => sarif::render(reports),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    Json,
    Github,
    Sarif,
}

impl Format {
    /// `None` for people, who read one model after the other.
    pub(crate) fn machine(self) -> Option<Machine> {
        match self {
            Self::Human => None,
            Self::Json => Some(Machine::Json),
            Self::Github => Some(Machine::Github),
            Self::Sarif => Some(Machine::Sarif),
        }
    }
}

/// JSON that a person can also read.
fn pretty(value: &impl Serialize) -> String {
    // Only a map with keys that are no strings, or a failing writer, could make this fail.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod sample;
