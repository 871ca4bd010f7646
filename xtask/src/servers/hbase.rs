//! HBase in one process, on the local file system, with its Thrift gateway, which is what the URL names.

use super::launch::Launch;
use super::package::Package;
use super::place::write;
use super::registry::{Line, Server, Shell, Size};
use super::state::Running;
use super::wire::Wire;
use super::{java, maven, ports};
use crate::repository::Outcome;
use std::path::Path;

pub(super) const SERVER: Server = Server {
    name: "hbase",
    version: "2.6.1",
    size: Size::Single,
    packages: &[&PACKAGE],
    start,
    shells: &[Shell { name: "hbase", package: &SHELL, line: Line::To(shell) }],
};

const PACKAGE: Package = Package {
    name: "hbase",
    version: "2.6.1",
    files: &[
        ("pom.xml", include_str!("pins/hbase/pom.xml")),
        ("jars.sha256", include_str!("pins/hbase/jars.sha256")),
        ("OneHBase.java", include_str!("java/OneHBase.java")),
    ],
    make,
};

/// The newest shell that the registry has; the protocol is the same.
const SHELL: Package = Package {
    name: "hbase-shell",
    version: "2.4.17",
    files: &[
        ("pom.xml", include_str!("pins/hbase-shell/pom.xml")),
        ("jars.sha256", include_str!("pins/hbase-shell/jars.sha256")),
        ("options", OPTIONS),
    ],
    make: maven::jars,
};

const OPTIONS: &str = include_str!("conf/hbase.options");

fn make(folder: &Path) -> Outcome {
    maven::jars(folder)?;
    java::compile(folder, "OneHBase.java", "lib/*")
}

fn start(launch: &mut Launch) -> Outcome<String> {
    let folder = launch.package(&PACKAGE)?;
    let [zookeeper, thrift] = ports::free()?;
    launch.remember(ZOOKEEPER, zookeeper);
    let address = format!("127.0.0.1:{thrift}");
    let data = launch.data("data")?;
    let path = data.display().to_string();
    let settings = include_str!("conf/hbase-site.xml").replace("[folder]", &path);
    write(&data.join("hbase-site.xml"), &settings.replace("[zookeeper]", &zookeeper.to_string()))?;
    write(&data.join("log4j.properties"), include_str!("conf/log4j.properties"))?;
    write(&data.join("options"), OPTIONS)?;
    let mut hbase = java::command("768m")?;
    hbase.arg(format!("@{path}/options"));
    for property in ["java.io.tmpdir", "hadoop.home.dir"] {
        hbase.arg(format!("-D{property}={path}"));
    }
    hbase.arg("-cp").arg(format!("{path}:{0}/classes:{0}/lib/*", folder.display()));
    hbase.args(["OneHBase", "start", "-b", "127.0.0.1", "-p"]).arg(thrift.to_string());
    launch.spawn("hbase", &address, &mut hbase)?;
    launch.wait(|| answers(&address))?;
    Ok(format!("thrift://{address}"))
}

const ZOOKEEPER: &str = "zookeeper";

/// Namespaces are kept in a table: they can be listed when the master, a region server and the gateway work.
const QUESTION: &str = "listNamespaceDescriptors";

fn answers(address: &str) -> Outcome {
    let mut wire = Wire::open(address)?;
    wire.send(&call(QUESTION))?;
    // The kind of message, the name again, a number, then the first field: its type and its number.
    let reply = wire.receive(4 + 4 + QUESTION.len() + 4 + 3)?;
    let kind = reply.get(3);
    let field = reply.last_chunk::<2>();
    if kind == Some(&REPLY) && field == Some(&[0, 0]) {
        return Ok(());
    }
    Err("the gateway answers with an exception".to_owned())
}

const CALL: u8 = 1;
const REPLY: u8 = 2;

/// A call without arguments in Thrift's binary protocol.
fn call(name: &str) -> Vec<u8> {
    let length = u32::try_from(name.len()).unwrap_or_default().to_be_bytes();
    [&[0x80, 1, 0, CALL], &length[..], name.as_bytes(), &[0, 0, 0, 1], &[0]].concat()
}

/// It reads commands from its input if there is no terminal; `-n` ends it at the first that fails.
fn shell(folder: &Path, running: &Running) -> Outcome<Vec<String>> {
    let java = java::home()?.join("bin/java").display().to_string();
    let folder = folder.display();
    let port = running.port(ZOOKEEPER)?;
    let line = [
        java,
        "-XX:TieredStopAtLevel=1".to_owned(),
        "-Xmx384m".to_owned(),
        format!("@{folder}/options"),
        "-cp".to_owned(),
        format!("{folder}/lib/*"),
        "org.jruby.JarBootstrapMain".to_owned(),
        "-Dhbase.zookeeper.quorum=127.0.0.1".to_owned(),
        format!("-Dhbase.zookeeper.property.clientPort={port}"),
        "-n".to_owned(),
    ];
    Ok(line.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_written_as_the_protocol_has_it() {
        assert_eq!(call("ab"), [0x80, 1, 0, 1, 0, 0, 0, 2, b'a', b'b', 0, 0, 0, 1, 0]);
    }
}
