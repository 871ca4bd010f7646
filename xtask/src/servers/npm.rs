//! Packages of Node's registry. Their checksums are in the lock file, and npm refuses what differs.

use super::tool;
use crate::repository::Outcome;
use std::path::Path;
use std::process::Command;

/// Fetches what `package-lock.json` names into `node_modules`, and runs no script of any package.
pub(super) fn install(folder: &Path) -> Outcome {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
    tool::run(&mut npm, "install Node.js 20 or newer with npm").map(drop)
}
