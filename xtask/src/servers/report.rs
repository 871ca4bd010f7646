//! What runs, for people and for programs.

use super::Format;
use super::place::Place;
use super::registry::Server;
use super::state::{Health, Member, Running};
use crate::repository::Outcome;
use serde::Serialize;

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    version: &'a str,
    health: Health,
    url: Option<&'a str>,
    members: &'a [Member],
}

impl<'a> Row<'a> {
    fn of(running: &'a Running) -> Self {
        Self {
            name: &running.name,
            version: &running.version,
            health: running.health(),
            url: Some(running.url.as_str()).filter(|url| !url.is_empty()),
            members: &running.members,
        }
    }

    fn stopped(server: &Server) -> Self {
        Self { name: server.name, version: server.version, health: Health::Stopped, url: None, members: &[] }
    }

    fn text(&self) -> String {
        let processes: Vec<String> =
            self.members.iter().map(|member| member.process.pid.to_string()).collect();
        match self.health {
            Health::Running => {
                format!("{} {} (processes {})", self.name, self.url.unwrap_or_default(), processes.join(" "))
            }
            Health::Broken => format!("{} broken: `up` starts it afresh, `down` clears it", self.name),
            Health::Stopped => format!("{} stopped", self.name),
        }
    }
}

pub(super) fn started(servers: &[Running], format: Format) -> Outcome {
    match format {
        Format::Json => json(&servers.iter().map(Row::of).collect::<Vec<_>>()),
        Format::Text => {
            for running in servers {
                println!("{} {}", running.name, running.url);
            }
            Ok(())
        }
    }
}

pub(super) fn status(place: &Place, servers: &[&Server], format: Format) -> Outcome {
    let states: Vec<(&Server, Option<Running>)> = servers
        .iter()
        .map(|server| Ok((*server, Running::load(place, server.name)?)))
        .collect::<Outcome<_>>()?;
    let rows: Vec<Row> = states
        .iter()
        .map(|(server, state)| state.as_ref().map_or_else(|| Row::stopped(server), Row::of))
        .collect();
    match format {
        Format::Json => json(&rows),
        Format::Text => {
            rows.iter().for_each(|row| println!("{}", row.text()));
            Ok(())
        }
    }
}

fn json(rows: &[Row]) -> Outcome {
    println!("{}", serde_json::to_string_pretty(rows).map_err(|error| error.to_string())?);
    Ok(())
}
