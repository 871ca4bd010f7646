//! Packages of Maven's registry: what `pom.xml` names and all it needs, against a list of checksums.

use super::{checksums, tool};
use crate::repository::Outcome;
use std::path::Path;
use std::process::Command;

/// Pinned, for each version of Maven would take another one.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies";

/// Puts the jars into `lib`.
pub(super) fn jars(folder: &Path) -> Outcome {
    let lib = folder.join("lib");
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--quiet", COPY, "-DincludeScope=runtime"]).current_dir(folder);
    maven.arg(format!("-DoutputDirectory={}", lib.display()));
    tool::run(&mut maven, "install Maven (Debian: maven)")?;
    checksums::verify(&lib, &folder.join("jars.sha256"))
}
