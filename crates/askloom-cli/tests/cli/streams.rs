//! What goes where, in colour or not, and what happens when nobody reads it.

use crate::project::Project;
use std::io::Read;
use std::process::Stdio;

const BROKEN: &str = "entity Player {\n  id username: text\n  score int\n}\n";

#[test]
fn a_pipe_gets_no_colour_unless_it_asks() {
    let project = Project::new().with("game.loom", BROKEN);
    let plain = project.run(&["check", "game.loom"]).exits(1).stdout;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let coloured = project.run(&["--color", "always", "check", "game.loom"]).exits(1).stdout;
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    let after = project.run(&["check", "game.loom", "--color=never"]).exits(1).stdout;
    assert_eq!(plain, after);
}

#[test]
fn no_color_is_honoured_and_a_flag_wins_over_it() {
    let project = Project::new();
    let run = |args: &[&str], variable: &str| {
        let output = project.command(args).env(variable, "1").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["explain", "AL0109"], "CLICOLOR_FORCE").contains('\u{1b}'));
    assert!(!run(&["explain", "AL0109"], "NO_COLOR").contains('\u{1b}'));
    assert!(run(&["explain", "AL0109", "--color", "always"], "NO_COLOR").contains('\u{1b}'));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let members: String = (0..900).map(|n| format!("  a{n} int\n")).collect();
    let project = Project::new().with("long.loom", format!("entity A {{\n  id key: int\n{members}}}\n"));
    for (args, code) in [(["check", "long.loom"], 1), (["completions", "bash"], 0)] {
        let mut child = project.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 1];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(code));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let project = Project::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = project.command(&["explain"]).stdout(full).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: cannot write the output: no space left"), "{message}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn completions_for_every_shell() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        project.run(&["completions", shell]).exits(0).prints("askloom").prints("check");
    }
    project.run(&["completions", "csh"]).exits(2);
}

#[test]
fn manual_pages() {
    let project = Project::new();
    project.run(&["man"]).exits(0).prints(".TH askloom 1");
    project.run(&["man", "check"]).exits(0).prints(".TH askloom-check 1");
    project.run(&["man", "nothing"]).exits(2).says("no command `nothing`");
}

#[test]
fn help_and_version_are_results() {
    let project = Project::new();
    assert!(project.run(&["--version"]).exits(0).stdout.starts_with("askloom "));
    for command in ["new", "tour", "check", "fmt", "explain", "completions", "man"] {
        let help = project.run(&[command, "--help"]).exits(0).prints("Example").stdout;
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
    project.run(&[]).exits(2).says("Usage");
}
