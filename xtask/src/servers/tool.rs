//! Programs of the machine that fetch and build. They know their registries by their own settings.

use crate::repository::Outcome;
use std::io::ErrorKind;
use std::process::{Command, Output, Stdio};

/// How much of what a failed program said is worth repeating.
const TAIL: usize = 15;

/// What the program prints. `missing` says what to do if there is no such program.
pub(super) fn run(command: &mut Command, missing: &str) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            format!("`{name}` is missing: {missing}")
        } else {
            format!("`{name}` cannot be run: {error}")
        }
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("`{name}` failed ({}):\n{}", output.status, tail(&said(&output))))
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

pub(super) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(TAIL));
    last.map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_says_what_to_do() {
        let message = run(&mut Command::new("/nowhere/mvn"), "install Maven").unwrap_err();
        assert_eq!(message, "`/nowhere/mvn` is missing: install Maven");
    }

    #[test]
    fn a_failure_repeats_the_end_of_what_was_said() {
        let mut shell = Command::new("sh");
        let message = run(shell.args(["-c", "seq 1 40; echo no route >&2; exit 3"]), "").unwrap_err();
        assert!(message.contains("no route") && message.contains("  40"), "{message}");
        assert!(!message.contains("  20\n"), "{message}");
    }
}
