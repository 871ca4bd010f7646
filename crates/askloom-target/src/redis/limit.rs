//! What Redis would refuse, since it is too large.

use super::command::{Command, Piece};
use super::read::command;
use super::schema::{Flavour, RedisTable};
use super::write::{calls, sample};
use crate::generate::{self, Source, too_large};
use askloom_plan::program::{Action, Step};

/// The most bytes of one string, be it a key, a field or what it holds, by default.
const STRING: usize = 512 << 20;
/// The most strings of one command.
const STRINGS: usize = 1 << 20;
const STORE: &str = "Redis";

/// What is refused of all statements and records.
pub(super) fn refused(source: &Source<'_>, tables: &[RedisTable], flavour: Flavour) -> Vec<String> {
    let layout = source.layout;
    let step = |step: &Step| match &step.action {
        Action::Read(read) => command(tables, read).iter().flat_map(of_command).collect(),
        Action::Change(batch) => {
            let all = calls(layout, tables, flavour, &[], batch);
            all.iter().flat_map(|call| of_command(&call.command())).collect()
        }
    };
    generate::refused(source, step, |record| {
        sample(layout, tables, record).iter().flat_map(of_command).collect()
    })
}

fn of_command(command: &Command) -> Vec<String> {
    of(command, STRING, STRINGS)
}

fn of(command: &Command, longest: usize, most: usize) -> Vec<String> {
    let known = |piece: &Piece| match piece {
        Piece::Known(bytes) => bytes.len(),
        Piece::Slot(_) => 0,
    };
    let sizes = command.args.iter().map(|arg| arg.pieces().iter().map(known).sum());
    let mut found: Vec<String> =
        sizes.filter_map(|size| too_large("a key or a value", size, longest, STORE)).collect();
    let count = command.args.len();
    if count > most {
        found.push(format!("a command has {count} words, and {STORE} takes {most} at most"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::command::Arg;
    use super::*;

    #[test]
    fn a_string_and_a_command_have_a_limit() {
        let command = |bytes: usize| {
            Command::new("HSET key field").arg(Arg::known(vec![b'x'; bytes - 1]).then(Arg::text("y")))
        };
        assert_eq!(of(&command(9), 9, 4), Vec::<String>::new());
        assert_eq!(of(&command(10), 9, 4), ["a key or a value has 10 bytes, and Redis takes 9 at most"]);
        assert_eq!(of(&command(9), 9, 3), ["a command has 4 words, and Redis takes 3 at most"]);
        // What is not known yet has no size.
        let open = Command::new("HGETALL").arg(Arg::text("Game:").then(Arg::slot("aRatherLongName")));
        assert_eq!(of(&open, 9, 4), Vec::<String>::new());
    }
}
