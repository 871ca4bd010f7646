//! Processes by id and start time: an id alone may belong to somebody else by now.

use super::tool;
use crate::repository::Outcome;
use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Process {
    pub(super) pid: u32,
    /// In ticks since the machine was started.
    started: u64,
    /// Which start of the machine that was.
    boot: String,
}

impl Process {
    /// The process that has this id now, unless it is over and only waits to be noticed.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(Self { pid, started: started(&stat)?, boot: boot.trim().to_owned() })
    }

    pub(super) fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Ends it at once, for what it would still write is thrown away, and waits until it is gone.
    pub(super) fn kill(&self) -> Outcome {
        let end = Instant::now() + Duration::from_secs(20);
        if self.is_alive() {
            let killed =
                tool::run(Command::new("kill").args(["-KILL", &self.pid.to_string()]), "install procps");
            // It may have ended in between, which is as good.
            if let Err(message) = killed
                && self.is_alive()
            {
                return Err(message);
            }
        }
        while self.is_alive() {
            if Instant::now() > end {
                return Err(format!("process {} does not end", self.pid));
            }
            sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// The name of the program is in parentheses and may hold anything; what follows the last one is regular.
fn started(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    // Of all fields it is the 22nd; the id, the name and the state are read.
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let fields: Vec<String> = (4..40).map(|number| number.to_string()).collect();
        let stat = |state: &str| format!("7 (a) b (c) {state} {}", fields.join(" "));
        assert_eq!(started(&stat("S")), Some(22));
        assert_eq!(started(&stat("Z")), None);
        assert_eq!(started("7 (a) S 1"), None);
    }

    #[test]
    fn an_id_that_now_belongs_to_another_is_left_alone() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let now = Process::of(child.id()).unwrap();
        let earlier = Process { started: now.started - 1, ..now.clone() };
        let before_the_reboot = Process { boot: "another".to_owned(), ..now.clone() };
        for other in [earlier, before_the_reboot] {
            assert!(!other.is_alive());
            other.kill().unwrap();
            assert!(now.is_alive());
        }
        now.kill().unwrap();
        assert!(!now.is_alive());
        child.wait().unwrap();
    }
}
