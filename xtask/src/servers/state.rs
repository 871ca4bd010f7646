//! What runs, as a file: whoever stops a server is another process than the one that started it.

use super::place::{Place, create, remove, write};
use super::process::Process;
use crate::repository::Outcome;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

const FILE: &str = "state.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Running {
    pub(super) name: String,
    pub(super) version: String,
    /// Empty until the server answers.
    pub(super) url: String,
    pub(super) keeper: Keeper,
    /// The checkout it was started from: others may use it and not stop it.
    #[serde(default)]
    pub(super) checkout: PathBuf,
    pub(super) members: Vec<Member>,
    /// Ports that only this server's own tools need, by name.
    pub(super) ports: Vec<(String, u16)>,
}

/// Who decides when it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Keeper {
    /// Somebody who says `down`.
    Person,
    /// The last of the test runs that use it.
    Suite,
}

/// One process of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) address: String,
    #[serde(flatten)]
    pub(super) process: Process,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Health {
    Running,
    /// Some process has ended, or it was interrupted while starting.
    Broken,
    Stopped,
}

impl Running {
    pub(super) fn load(place: &Place, server: &str) -> Outcome<Option<Self>> {
        let path = place.run(server).join(FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        let state = serde_json::from_str(&text);
        state.map(Some).map_err(|error| {
            let folder = place.run(server);
            format!(
                "{}: {error}; stop what runs in {} and remove that folder",
                path.display(),
                folder.display()
            )
        })
    }

    /// Replaces the file in one step: a reader sees the state before or the state after.
    pub(super) fn save(&self, place: &Place) -> Outcome {
        let folder = place.run(&self.name);
        create(&folder)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        let next = folder.join("state.next");
        write(&next, &text)?;
        let path = folder.join(FILE);
        fs::rename(&next, &path).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(super) fn health(&self) -> Health {
        let whole = !self.url.is_empty() && self.members.iter().all(|member| member.process.is_alive());
        if whole { Health::Running } else { Health::Broken }
    }

    /// Ends its processes, and only those, and removes its data.
    pub(super) fn stop(&self, place: &Place) -> Outcome {
        for member in &self.members {
            member.process.kill()?;
        }
        remove(&place.run(&self.name))
    }

    pub(super) fn port(&self, name: &str) -> Outcome<u16> {
        let found = self.ports.iter().find(|(known, _)| known == name);
        found.map(|(_, port)| *port).ok_or_else(|| format!("{} has no port named {name}", self.name))
    }

    /// The address that tools connect to: the first member's.
    pub(super) fn address(&self) -> Outcome<(&str, &str)> {
        let first = self.members.first().and_then(|member| member.address.split_once(':'));
        first.ok_or_else(|| format!("{} has no address", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::scratch;
    use super::*;
    use std::process::Command;

    fn state(members: Vec<Member>) -> Running {
        Running {
            name: "redis".to_owned(),
            version: "1".to_owned(),
            url: "redis://127.0.0.1:1".to_owned(),
            keeper: Keeper::Person,
            checkout: PathBuf::new(),
            members,
            ports: vec![("bus".to_owned(), 2)],
        }
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let root = scratch("saved");
        let place = Place::at(root.clone());
        assert_eq!(Running::load(&place, "redis").unwrap(), None);
        let process = Process::of(std::process::id()).unwrap();
        let member = Member { name: "a".to_owned(), address: "127.0.0.1:1".to_owned(), process };
        let state = state(vec![member]);
        state.save(&place).unwrap();
        let loaded = Running::load(&place, "redis").unwrap().unwrap();
        assert_eq!(loaded, state);
        assert_eq!(loaded.health(), Health::Running);
        assert_eq!(loaded.address().unwrap(), ("127.0.0.1", "1"));
        assert_eq!(loaded.port("bus").unwrap(), 2);
        assert!(loaded.port("other").is_err());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_state_that_cannot_be_read_says_what_to_do() {
        let root = scratch("unreadable");
        let place = Place::at(root.clone());
        fs::create_dir_all(place.run("redis")).unwrap();
        fs::write(place.run("redis").join(FILE), "{").unwrap();
        let message = Running::load(&place, "redis").unwrap_err();
        assert!(message.contains("remove that folder"), "{message}");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn stopping_ends_the_members_and_removes_the_data() {
        let root = scratch("stopping");
        let place = Place::at(root.clone());
        let mut children = [(); 2].map(|()| Command::new("sleep").arg("600").spawn().unwrap());
        let member = |child: &std::process::Child| Member {
            name: "a".to_owned(),
            address: String::new(),
            process: Process::of(child.id()).unwrap(),
        };
        let state = state(children.iter().map(member).collect());
        state.save(&place).unwrap();
        children[0].kill().unwrap();
        children[0].wait().unwrap();
        assert_eq!(state.health(), Health::Broken);
        state.stop(&place).unwrap();
        children[1].wait().unwrap();
        assert!(!place.run("redis").exists());
        fs::remove_dir_all(root).unwrap();
    }
}
