//! Cassandra, one node.

use super::launch::Launch;
use super::package::Package;
use super::place::write;
use super::registry::{Line, Server, Shell, Size};
use super::state::Running;
use super::{cql, java, maven, pip, ports};
use crate::repository::Outcome;
use std::path::Path;
use std::process::Command;

pub(super) const SERVER: Server = Server {
    name: "cassandra",
    version: VERSION,
    size: Size::Single,
    packages: &[&PACKAGE],
    start: start::<1>,
    shells: &[SHELL],
};

pub(super) const VERSION: &str = "5.0.9";

pub(super) const PACKAGE: Package = Package {
    name: "cassandra",
    version: VERSION,
    files: &[
        ("pom.xml", include_str!("pins/cassandra/pom.xml")),
        ("jars.sha256", include_str!("pins/cassandra/jars.sha256")),
    ],
    make: maven::jars,
};

pub(super) const SHELL: Shell = Shell { name: "cqlsh", package: &CQLSH, line: Line::To(shell) };

const CQLSH: Package = Package {
    name: "cqlsh",
    version: "6.2.2",
    files: &[(pip::REQUIREMENTS, include_str!("pins/cqlsh.txt"))],
    make: pip::install,
};

/// What a node is told.
struct Node<'a> {
    address: &'a str,
    cql: u16,
    storage: u16,
    seeds: &'a str,
    token: i64,
}

/// So many nodes. They have the same ports on addresses of their own, as drivers expect of a cluster.
pub(super) fn start<const NODES: usize>(launch: &mut Launch) -> Outcome<String> {
    let folder = launch.package(&PACKAGE)?;
    let hosts: Vec<String> = (1..=NODES).map(|number| format!("127.0.0.{number}")).collect();
    let [cql, storage] = ports::free_on(&hosts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let seeds: Vec<String> = hosts.iter().map(|host| format!("{host}:{storage}")).collect();
    let seeds = seeds.join(",");
    let addresses: Vec<String> = hosts.iter().map(|host| format!("{host}:{cql}")).collect();
    for ((number, host), address) in (1..).zip(&hosts).zip(&addresses) {
        let member = format!("node-{number}");
        let node = Node { address: host, cql, storage, seeds: &seeds, token: token(number - 1, NODES) };
        let mut command = server(&folder, &launch.data(&member)?, &node)?;
        launch.spawn(&member, address, &mut command)?;
    }
    for address in &addresses {
        // A table of the system that has three replicas: read at all of them, it shows whether this node sees
        // the others. A schema that is changed before they do is not agreed upon for a minute.
        launch.wait(|| cql::answers(address, if NODES == 1 { cql::ONE } else { cql::ALL }))?;
    }
    Ok(format!("cassandra://{}", addresses.join(",")))
}

/// The ring in equal parts.
fn token(index: usize, nodes: usize) -> i64 {
    let part = (u128::from(u64::MAX) + 1) * index as u128 / nodes.max(1) as u128;
    i64::MIN.wrapping_add_unsigned(u64::try_from(part).unwrap_or_default())
}

fn server(folder: &Path, data: &Path, node: &Node) -> Outcome<Command> {
    let path = data.display().to_string();
    let words = [
        ("<address>", node.address.to_owned()),
        ("<cql>", node.cql.to_string()),
        ("<storage>", node.storage.to_string()),
        ("<seeds>", node.seeds.to_owned()),
        ("<token>", node.token.to_string()),
        ("<folder>", path.clone()),
    ];
    let template = include_str!("conf/cassandra.yaml").to_owned();
    let settings = words.iter().fold(template, |text, (word, value)| text.replace(word, value));
    write(&data.join("cassandra.yaml"), &settings)?;
    write(&data.join("logback.xml"), include_str!("conf/logback.xml"))?;
    write(&data.join("options"), include_str!("conf/cassandra.options"))?;
    let mut cassandra = java::unpinned("512m")?;
    cassandra.arg("-Xms256m").arg(format!("@{path}/options"));
    cassandra.arg(format!("-Dcassandra.config=file://{path}/cassandra.yaml"));
    cassandra.arg(format!("-Dlogback.configurationFile={path}/logback.xml"));
    for property in ["cassandra.storagedir", "cassandra.logdir", "cassandra.triggers_dir", "java.io.tmpdir"] {
        cassandra.arg(format!("-D{property}={path}"));
    }
    cassandra.arg("-cp").arg(folder.join("lib/*")).arg("org.apache.cassandra.service.CassandraDaemon");
    Ok(cassandra)
}

fn shell(folder: &Path, running: &Running) -> Outcome<Vec<String>> {
    let (host, port) = running.address()?;
    Ok([pip::line(folder, "cqlsh"), [host, port].map(str::to_owned).to_vec()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_part_the_ring_equally() {
        assert_eq!(token(0, 1), i64::MIN);
        let three = [token(0, 3), token(1, 3), token(2, 3)];
        assert_eq!(three, [i64::MIN, -3_074_457_345_618_258_603, 3_074_457_345_618_258_602]);
    }
}
