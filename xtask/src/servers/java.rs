//! The Java that servers run on. Cassandra refuses anything but 17, so all of them use that one.

use super::tool;
use crate::repository::Outcome;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "17";
const MISSING: &str = "install a JDK 17 (Debian: openjdk-17-jdk-headless) or set JAVA_HOME to one";

/// What every server gets: they are small, short-lived and many.
const FLAGS: [&str; 4] = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xss256k"];

/// Java with a heap of this size.
pub(super) fn command(heap: &str) -> Outcome<Command> {
    let mut java = Command::new(home()?.join("bin/java"));
    give(&mut java, heap);
    Ok(java)
}

/// The same for a server that would keep its whole heap in memory, which the administrator is allowed to and
/// nobody else: it costs half a gigabyte more.
pub(super) fn unpinned(heap: &str) -> Outcome<Command> {
    if !is_administrator() {
        return command(heap);
    }
    let mut java = Command::new("prlimit");
    java.args(["--memlock=65536:65536", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]);
    java.arg(home()?.join("bin/java"));
    give(&mut java, heap);
    Ok(java)
}

fn give(java: &mut Command, heap: &str) {
    java.args(FLAGS).arg(format!("-Xmx{heap}"));
}

fn is_administrator() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    user.and_then(|user| user.split_whitespace().nth(1)) == Some("0")
}

/// Compiles one source of ours into `classes`.
pub(super) fn compile(folder: &Path, source: &str, class_path: &str) -> Outcome {
    let mut compiler = Command::new(home()?.join("bin/javac"));
    compiler.args(["-nowarn", "-d", "classes", "-cp", class_path, source]).current_dir(folder);
    tool::run(&mut compiler, MISSING).map(drop)
}

/// The first that is a JDK of the right version: the one that was named, then the machine's.
pub(super) fn home() -> Outcome<PathBuf> {
    let named = env::var_os("JAVA_HOME").map(PathBuf::from);
    let mut installed: Vec<PathBuf> =
        fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    installed.sort();
    let on_path =
        env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let on_path = on_path.filter_map(|folder| fs::canonicalize(folder.join("java")).ok());
    let on_path = on_path.filter_map(|java| Some(java.parent()?.parent()?.to_owned()));
    let mut all = named.into_iter().chain(installed).chain(on_path);
    all.find(|home| is_right(home)).ok_or_else(|| format!("Java {VERSION} is missing: {MISSING}"))
}

/// By its `release` file, which every JDK has: asking the program costs a start of Java each time.
fn is_right(home: &Path) -> bool {
    let release = fs::read_to_string(home.join("release")).unwrap_or_default();
    home.join("bin/javac").is_file() && major(&release) == Some(VERSION)
}

fn major(release: &str) -> Option<&str> {
    let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    line.trim_matches('"').split('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_release_file() {
        assert_eq!(major("IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"17.0.15\"\n"), Some("17"));
        assert_eq!(major("JAVA_VERSION=\"25\"\n"), Some("25"));
        assert_eq!(major(""), None);
    }
}
