//! The servers that `cargo xtask servers` starts, and their shells.

use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The command line of the shell of a server, which is started if it does not run.
pub(crate) fn shell(name: &str) -> Vec<String> {
    let line = xtask(&["servers", "shell", name]);
    let words: Json = serde_json::from_str(&line).expect("a command line as JSON");
    words.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Starts a server if it does not run.
pub(crate) fn up(name: &str) {
    xtask(&["servers", "up", name, "--format", "json"]);
}

/// Whether a server runs already.
pub(crate) fn is_up(name: &str) -> bool {
    let status: Json =
        serde_json::from_str(&xtask(&["servers", "status", name, "--format", "json"])).unwrap();
    status[0]["health"] == "running"
}

/// Stops a server that was started from here.
pub(crate) fn down(name: &str) {
    xtask(&["servers", "down", name]);
}

fn xtask(args: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new(env!("CARGO")).current_dir(root).args(["xtask"]).args(args).output().unwrap();
    let complaint = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "cargo xtask {}: {complaint}", args.join(" "));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// A shell that stays open: a text goes in, and what it prints up to a mark comes back.
pub(crate) struct Session {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Vec<u8>>,
}

/// No file of statements here takes as long, also while other servers work beside.
const PATIENCE: Duration = Duration::from_secs(300);

impl Session {
    pub(crate) fn start(command: &[String], settings: &[(&str, &str)]) -> Self {
        let program = &command[0];
        // What it complains of comes in its place among what it prints.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 2>&1"])
            .args(command)
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        Self { child, input, lines }
    }

    /// Sends a text whose last line makes the shell print the mark on a line of its own.
    pub(crate) fn send(&mut self, text: &str, mark: &str) -> Result<String, String> {
        self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush()).map_err(|e| e.to_string())?;
        let mut all = String::new();
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                return Err(format!("no answer from the shell to {text}\nafter: {all}"));
            };
            let line = String::from_utf8_lossy(&line);
            if line.trim() == mark {
                return Ok(all);
            }
            all.push_str(&line);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
