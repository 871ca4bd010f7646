//! A process that writes by statements and is killed, again and again: every acknowledged write is there, no write is
//! there in part, and every copy is right.

use super::bank::{self, deposit, found, numbers, transfer};
use super::{Scratch, assert_sound, open};
use askloom_embedded::database::Database;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const WRITERS: u64 = 4;
/// One of each writer's own, and two between which all of them move things.
const ACCOUNTS: u64 = WRITERS + 2;

#[test]
fn acknowledged_writes_survive_kills() {
    kill_and_check(6);
}

#[test]
#[ignore = "slow"]
fn acknowledged_writes_survive_many_kills() {
    kill_and_check(60);
}

fn kill_and_check(times: u64) {
    let folder = Scratch::new();
    let (database, _) = folder.apply(bank::MODEL).unwrap();
    found(&database, ACCOUNTS);
    drop(database);
    let mut acknowledged: BTreeMap<u64, i64> = BTreeMap::new();
    let mut total = 0;
    for life in 0..times {
        // From before the store is open to well within its work; spread evenly, without luck.
        let delay = Duration::from_millis(20 + life * 61 % 300);
        for (writer, number) in live_and_die(&folder, delay) {
            acknowledged.insert(writer, number);
            total += 1;
        }
        let database = folder.open(bank::MODEL);
        check(&database, &mut acknowledged);
    }
    println!("{total} acknowledged writes in {times} lives");
    assert!(total > times, "hardly anything was written: {total}");
}

fn check(database: &Database, acknowledged: &mut BTreeMap<u64, i64>) {
    let (balances, _) = numbers(database, "balances");
    for writer in 0..WRITERS {
        let said = acknowledged.get(&writer).copied().unwrap_or(0);
        let found = balances[usize::try_from(writer).unwrap()];
        // The last one may have been written, and its answer lost.
        assert!(found == said || found == said + 1, "writer {writer}: {said} acknowledged, {found} found");
        acknowledged.insert(writer, found);
    }
    let moved: i64 = balances[usize::try_from(WRITERS).unwrap()..].iter().sum();
    assert_eq!(moved, 0, "a half of a transfer was written");
    assert_sound(database);
}

/// Starts writers, kills them after `delay`, and returns what they said they had written, in order.
fn live_and_die(folder: &Scratch, delay: Duration) -> Vec<(u64, i64)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::write_until_killed", "--nocapture", "--ignored"])
        .env("ASKLOOM_WRITE", &folder.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        // The last line may be torn; a whole one ends in a full stop.
        lines.filter_map(|line| acknowledgement(&line)).collect::<Vec<_>>()
    });
    thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

fn acknowledgement(line: &str) -> Option<(u64, i64)> {
    let (writer, number) = line.strip_prefix("done ")?.strip_suffix('.')?.split_once(' ')?;
    Some((writer.parse().ok()?, number.parse().ok()?))
}

/// Not a test: what the child does.
#[test]
#[ignore = "slow"]
fn write_until_killed() {
    let Some(folder) = std::env::var_os("ASKLOOM_WRITE") else { return };
    let database = open(folder.as_ref(), bank::MODEL).unwrap();
    let (balances, _) = numbers(&database, "balances");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (database, balances) = (&database, &balances);
            scope.spawn(move || {
                for number in balances[usize::try_from(writer).unwrap()] + 1.. {
                    bank::done(transfer(database, WRITERS + writer % 2, WRITERS + (writer + 1) % 2));
                    if bank::done(deposit(database, writer, 1)) {
                        // One write a line, so that lines of several threads do not mix.
                        let line = format!("\ndone {writer} {number}.\n");
                        let _ = std::io::stdout().lock().write_all(line.as_bytes());
                    }
                }
            });
        }
    });
}
