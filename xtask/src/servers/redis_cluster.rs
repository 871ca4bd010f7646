//! Redis Cluster: three masters, each with a replica. Search does not work across nodes, so no module is loaded.

use super::launch::Launch;
use super::redis::{PACKAGE, VERSION, ask, client, server};
use super::registry::{Line, Server, Shell, Size};
use super::state::Running;
use super::{ports, tool};
use crate::repository::Outcome;
use std::path::Path;
use std::process::Command;

pub(super) const SERVER: Server = Server {
    name: "redis-cluster",
    version: VERSION,
    size: Size::Cluster,
    packages: &[&PACKAGE],
    start,
    shells: &[Shell { name: "redis-cli", package: &PACKAGE, line: Line::To(shell) }],
};

const NODES: usize = 6;

fn start(launch: &mut Launch) -> Outcome<String> {
    let folder = launch.package(&PACKAGE)?;
    let clients: [u16; NODES] = ports::free()?;
    let buses: [u16; NODES] = ports::free()?;
    let addresses = clients.map(|port| format!("127.0.0.1:{port}"));
    for (number, ((port, bus), address)) in (1..).zip(clients.into_iter().zip(buses).zip(&addresses)) {
        let member = format!("node-{number}");
        let mut node = server(&folder, port, &launch.data(&member)?);
        node.args(["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]);
        node.args(["--cluster-announce-ip", "127.0.0.1", "--cluster-port"]).arg(bus.to_string());
        // A test that stops a node waits for its replica to take over; a second is the least that holds.
        node.args(["--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"]);
        launch.spawn(&member, address, &mut node)?;
    }
    for address in &addresses {
        launch.wait(|| ask(address, "PING\r\n").map(drop))?;
    }
    join(&folder, &addresses)?;
    for address in &addresses {
        launch.wait(|| agrees(address))?;
    }
    let [first, ..] = &addresses;
    Ok(format!("redis://{first}"))
}

fn join(folder: &Path, addresses: &[String]) -> Outcome {
    let line = client(folder);
    let Some((program, before)) = line.split_first() else { return Ok(()) };
    let mut create = Command::new(program);
    create.args(before).args(["--cluster", "create"]).args(addresses);
    create.args(["--cluster-replicas", "1", "--cluster-yes"]);
    tool::run(&mut create, "it is in the package of Redis").map(drop)
}

/// The node knows all others and every slot, and if it is a replica, it has caught up with its master.
fn agrees(address: &str) -> Outcome {
    let reply = ask(address, "CLUSTER INFO\r\nINFO replication\r\n")?;
    let whole = ["cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:6"];
    let linked = reply.contains("connected_slaves:1") || reply.contains("master_link_status:up");
    if linked && whole.iter().all(|line| reply.contains(line)) { Ok(()) } else { Err(reply) }
}

fn shell(folder: &Path, running: &Running) -> Outcome<Vec<String>> {
    let (host, port) = running.address()?;
    Ok([client(folder), ["-c", "-h", host, "-p", port].map(str::to_owned).to_vec()].concat())
}
