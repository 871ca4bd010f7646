//! Many writers of the same aggregates and of copies that hold several of them: nothing is lost, nothing is wrong.

use super::bank::{self, TEAMS, deposit, done, found, numbers, transfer};
use super::{Scratch, assert_sound, query, text, write};
use askloom_embedded::database::Database;
use askloom_model::Value;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const WRITERS: u64 = 16;
const ACCOUNTS: u64 = 24;

#[derive(Default)]
struct Counted {
    deposited: AtomicI64,
    hits: AtomicI64,
    writes: AtomicU64,
    given_up: AtomicU64,
}

#[test]
fn sixteen_writers_lose_nothing() {
    race(Duration::from_secs(2));
}

#[test]
#[ignore = "slow"]
fn sixteen_writers_lose_nothing_for_long() {
    race(Duration::from_secs(10));
}

fn race(time: Duration) {
    let folder = Scratch::new();
    let (database, _) = folder.apply(bank::MODEL).unwrap();
    found(&database, ACCOUNTS);
    let counted = Counted::default();
    let end = Instant::now() + time;
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (database, counted) = (&database, &counted);
            scope.spawn(move || compete(database, counted, writer, end));
        }
        // A reader sees one state: what is taken from one account has come to another.
        let (database, counted) = (&database, &counted);
        scope.spawn(move || {
            while Instant::now() < end {
                let low = counted.deposited.load(Ordering::SeqCst);
                let (_, sum) = numbers(database, "balances");
                assert!(sum >= low, "{sum} is less than the {low} that were acknowledged before");
            }
        });
    });
    let (writes, given_up) = (counted.writes.load(Ordering::SeqCst), counted.given_up.load(Ordering::SeqCst));
    println!("{writes} writes by {WRITERS} writers, {given_up} given up");
    assert!(writes > 50 && given_up * 100 <= writes, "only {writes} writes, {given_up} given up");
    check(&database, &counted);
    // What was written is what is read back after closing.
    drop(database);
    check(&folder.open(bank::MODEL), &counted);
}

fn compete(database: &Database, counted: &Counted, writer: u64, end: Instant) {
    let mut turn = writer;
    while Instant::now() < end {
        turn += 1;
        let one = turn.wrapping_mul(7919) % ACCOUNTS;
        let other = (one + 1 + turn % (ACCOUNTS - 1)) % ACCOUNTS;
        let name = text(&format!("team{}", turn % TEAMS));
        let was_done = match turn % 8 {
            0..=2 => {
                let was_done = done(deposit(database, one, 3));
                counted.deposited.fetch_add(3 * i64::from(was_done), Ordering::SeqCst);
                was_done
            }
            3 | 4 => done(transfer(database, one, other)),
            5 => {
                let was_done = done(write(database, "hit", &[("name", name), ("n", Value::Int(1))]));
                counted.hits.fetch_add(i64::from(was_done), Ordering::SeqCst);
                was_done
            }
            6 => {
                let title = text(&format!("title {}", turn % 5));
                done(write(database, "rename", &[("name", name), ("title", title)]))
            }
            _ => done(write(database, "change", &[("name", bank::account(one)), ("team", bank::team(turn))])),
        };
        let counter = if was_done { &counted.writes } else { &counted.given_up };
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

fn check(database: &Database, counted: &Counted) {
    assert_eq!(numbers(database, "balances").1, counted.deposited.load(Ordering::SeqCst));
    assert_eq!(numbers(database, "teams").1, counted.hits.load(Ordering::SeqCst));
    assert_sound(database);
    let (rows, from) = query(database, "ofTeam", &[("title", text("title 1"))]);
    assert_ne!(from, "Account", "a copy was to be read");
    assert!(rows.iter().all(|row| row[2] == text("title 1")), "{rows:?}");
}
