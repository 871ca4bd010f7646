//! A server on its way up. Each process is recorded the moment it exists: if the start is interrupted, the next
//! `up` or `down` still knows what to stop.

use super::package::Package;
use super::place::{Place, create};
use super::process::Process;
use super::state::{Keeper, Member, Running};
use super::tool::tail;
use crate::repository::{Outcome, root};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Loaded machines start servers many times slower than idle ones.
const LIMIT: Duration = Duration::from_secs(180);

/// In the message of a start that is worth another try.
pub(super) const PORT_TAKEN: &str = ", for a port was taken meanwhile";

pub(super) struct Launch<'a> {
    place: &'a Place,
    state: Running,
}

impl<'a> Launch<'a> {
    pub(super) fn new(place: &'a Place, name: &str, version: &str, keeper: Keeper) -> Outcome<Self> {
        let state = Running {
            name: name.to_owned(),
            version: version.to_owned(),
            url: String::new(),
            keeper,
            checkout: root(),
            members: Vec::new(),
            ports: Vec::new(),
        };
        state.save(place)?;
        Ok(Self { place, state })
    }

    pub(super) fn package(&self, package: &Package) -> Outcome<PathBuf> {
        package.ensure(self.place)
    }

    /// A folder for the data of one member; it goes when the server stops.
    pub(super) fn data(&self, member: &str) -> Outcome<PathBuf> {
        let folder = self.place.run(&self.state.name).join(member);
        create(&folder)?;
        Ok(folder)
    }

    /// Starts a process that outlives this one and does not hear what is typed at it.
    pub(super) fn spawn(&mut self, member: &str, address: &str, command: &mut Command) -> Outcome {
        let path = self.log(member);
        let log = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let copy = log.try_clone().map_err(|error| format!("{}: {error}", path.display()))?;
        command.stdin(Stdio::null()).stdout(log).stderr(copy);
        detach(command);
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let Some(process) = Process::of(child.id()) else {
            let _ = child.wait();
            return Err(self.ended(member));
        };
        self.state.members.push(Member { name: member.to_owned(), address: address.to_owned(), process });
        self.state.save(self.place)
    }

    pub(super) fn remember(&mut self, name: &str, port: u16) {
        self.state.ports.push((name.to_owned(), port));
    }

    /// Until the probe succeeds; not longer than the processes live.
    pub(super) fn wait(&self, mut probe: impl FnMut() -> Outcome) -> Outcome {
        let end = Instant::now() + LIMIT;
        loop {
            let Err(message) = probe() else { return Ok(()) };
            if let Some(member) = self.state.members.iter().find(|member| !member.process.is_alive()) {
                return Err(self.ended(&member.name));
            }
            if Instant::now() > end {
                let logs: Vec<String> =
                    self.state.members.iter().map(|member| self.said(&member.name)).collect();
                let seconds = LIMIT.as_secs();
                return Err(format!("no answer within {seconds} s: {message}\n{}", logs.join("\n")));
            }
            sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn state(&self) -> &Running {
        &self.state
    }

    pub(super) fn ready(mut self, url: String) -> Outcome<Running> {
        self.state.url = url;
        self.state.save(self.place)?;
        Ok(self.state)
    }

    fn ended(&self, member: &str) -> String {
        // Java says it far above the end of what it says.
        let text = self.read(member);
        let marks = ["already in use", "in use by another"];
        let why = if marks.iter().any(|mark| text.contains(mark)) { PORT_TAKEN } else { "" };
        format!("the process ended by itself{why}\n{}", self.said(member))
    }

    fn said(&self, member: &str) -> String {
        format!("{member} said:\n{}", tail(&self.read(member)))
    }

    fn read(&self, member: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.log(member)).unwrap_or_default()).into_owned()
    }

    fn log(&self, member: &str) -> PathBuf {
        self.place.run(&self.state.name).join(format!("{member}.log"))
    }
}

#[cfg(unix)]
fn detach(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn detach(_: &mut Command) {}
