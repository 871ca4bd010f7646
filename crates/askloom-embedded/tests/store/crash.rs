//! A process that writes and is killed, again and again, on one folder: every batch that it acknowledged is there,
//! completely, and none is there in part.

use super::{Scratch, small};
use askloom_embedded::store::{Batch, Direction, Durability, Outcome, Store};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const WRITERS: u64 = 4;
const PARTS: u8 = 5;

#[test]
fn acknowledged_batches_survive_kills() {
    kill_and_check(Durability::Power, 15);
}

#[test]
fn acknowledged_batches_survive_kills_without_a_sync() {
    kill_and_check(Durability::Process, 15);
}

fn kill_and_check(durability: Durability, times: u64) {
    let folder = Scratch::new();
    // For each writer: the last batch that was acknowledged in any life.
    let mut acknowledged = BTreeMap::new();
    let mut total = 0;
    for life in 0..times {
        // From before the store is open to well within checkpoints; spread evenly, without luck.
        let delay = Duration::from_millis(life * 61 % 400);
        for (writer, number) in live_and_die(&folder, durability, delay) {
            acknowledged.insert(writer, number);
            total += 1;
        }
        check(&folder, &acknowledged);
    }
    assert!(total > times, "hardly anything was written: {total}");
}

/// Starts a writer, kills it after `delay`, and returns what it said it had committed, in order.
fn live_and_die(folder: &Scratch, durability: Durability, delay: Duration) -> Vec<(u64, u64)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::write_until_killed", "--nocapture", "--ignored"])
        .env("ASKLOOM_WRITE", &folder.0)
        .env("ASKLOOM_DURABILITY", format!("{durability:?}"))
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

fn acknowledgement(line: &str) -> Option<(u64, u64)> {
    let (writer, number) = line.strip_prefix("done ")?.strip_suffix('.')?.split_once(' ')?;
    Some((writer.parse().ok()?, number.parse().ok()?))
}

fn check(folder: &Scratch, acknowledged: &BTreeMap<u64, u64>) {
    let store = folder.open();
    let snapshot = store.snapshot();
    for writer in 0..WRITERS {
        let last = snapshot.get(&last_key(writer)).unwrap();
        let last = last.map_or(0, |value| u64::from_be_bytes(value[..].try_into().unwrap()));
        let said = acknowledged.get(&writer).copied().unwrap_or(0);
        assert!(last >= said, "writer {writer}: batch {said} was acknowledged, {last} is the last");
        // Each batch puts its parts and deletes those of the batch ten before it.
        let mut expected: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for number in (last.saturating_sub(9)).max(1)..=last {
            expected.extend((0..PARTS).map(|part| (part_key(writer, number, part), value(number, part))));
        }
        let entries = snapshot.prefix(&part_prefix(writer), Direction::Ascending).unwrap();
        let found: BTreeMap<_, _> = entries
            .map(|entry| entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec())).unwrap())
            .collect();
        assert!(
            found == expected,
            "writer {writer} at {last}: {} parts instead of {}",
            found.len(),
            expected.len()
        );
    }
}

/// Not a test: what the child does.
#[test]
#[ignore = "slow"]
fn write_until_killed() {
    let Some(folder) = std::env::var_os("ASKLOOM_WRITE") else { return };
    let process = std::env::var("ASKLOOM_DURABILITY").is_ok_and(|text| text == "Process");
    let durability = if process { Durability::Process } else { Durability::Power };
    let store = Store::open(folder, &small().durability(durability)).unwrap();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = &store;
            scope.spawn(move || write(store, writer));
        }
    });
}

fn write(store: &Store, writer: u64) {
    let last = store.snapshot().get(&last_key(writer)).unwrap().map(|value| value.to_vec());
    let last = last.map_or(0, |value| u64::from_be_bytes(value[..].try_into().unwrap()));
    for number in last + 1.. {
        let mut batch = Batch::new().put(last_key(writer), number.to_be_bytes());
        for part in 0..PARTS {
            batch = batch.put(part_key(writer, number, part), value(number, part));
            if number > 10 {
                batch = batch.delete(part_key(writer, number - 10, part));
            }
        }
        assert!(matches!(store.commit(batch).unwrap(), Outcome::Committed { .. }));
        // One write a line, so that lines of several threads do not mix.
        let _ = std::io::stdout().lock().write_all(format!("\ndone {writer} {number}.\n").as_bytes());
    }
}

fn last_key(writer: u64) -> Vec<u8> {
    [b"last ".as_slice(), &writer.to_be_bytes()].concat()
}

fn part_prefix(writer: u64) -> Vec<u8> {
    [b"part ".as_slice(), &writer.to_be_bytes()].concat()
}

fn part_key(writer: u64, number: u64, part: u8) -> Vec<u8> {
    [part_prefix(writer), number.to_be_bytes().to_vec(), vec![part]].concat()
}

fn value(number: u64, part: u8) -> Vec<u8> {
    let length = 50 + (number * 7919 + u64::from(part) * 104_729) % 6000;
    vec![part; usize::try_from(length).unwrap()]
}
