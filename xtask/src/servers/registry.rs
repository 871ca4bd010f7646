//! All servers. Each is one file of the same shape; nothing outside that file asks for a server's name.

use super::launch::Launch;
use super::package::Package;
use super::state::Running;
use super::{cassandra, cassandra_3, dynamodb, hbase, mongodb, mongodb_3, redis, redis_cluster};
use crate::repository::Outcome;
use std::path::Path;

pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) size: Size,
    pub(super) packages: &'static [&'static Package],
    /// Starts every process, waits until the server answers and says its URL.
    pub(super) start: fn(&mut Launch) -> Outcome<String>,
    /// The first is the one meant if none is named.
    pub(super) shells: &'static [Shell],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Single,
    Cluster,
}

/// A program with which a person, or a test, talks to the server.
pub(super) struct Shell {
    pub(super) name: &'static str,
    pub(super) package: &'static Package,
    pub(super) line: Line,
}

/// The command line of a shell, given the folder of its package.
pub(super) enum Line {
    To(fn(&Path, &Running) -> Outcome<Vec<String>>),
    /// It works on files and needs no server.
    Alone(fn(&Path) -> Vec<String>),
}

pub(super) const ALL: [&Server; 8] = [
    &redis::SERVER,
    &redis_cluster::SERVER,
    &mongodb::SERVER,
    &mongodb_3::SERVER,
    &dynamodb::SERVER,
    &cassandra::SERVER,
    &cassandra_3::SERVER,
    &hbase::SERVER,
];

pub(super) fn find(name: &str) -> Outcome<&'static Server> {
    ALL.into_iter().find(|server| server.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|server| server.name).collect();
        format!("there is no server `{name}`; known are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_different_and_found() {
        let names: BTreeSet<&str> = ALL.iter().map(|server| server.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(names.iter().all(|name| find(name).is_ok_and(|server| server.name == *name)));
        assert!(find("oracle").is_err_and(|message| message.contains("redis-cluster")));
    }

    /// A fetched file that nobody pinned could change under us.
    #[test]
    fn every_package_is_pinned_by_checksum_and_names_no_registry() {
        let packages = ALL.iter().flat_map(|server| server.packages.iter().copied());
        let tools = ALL.iter().flat_map(|server| server.shells.iter().map(|shell| shell.package));
        for package in packages.chain(tools) {
            let marks = ["--hash=sha256:", "\"integrity\": \"sha512-", ".jar\n"];
            let pinned = package.files.iter().any(|(_, text)| marks.iter().any(|mark| text.contains(mark)));
            assert!(pinned, "{}", package.name);
            assert!(!package.files.iter().any(|(_, text)| text.contains("\"resolved\"")), "{}", package.name);
        }
    }
}
