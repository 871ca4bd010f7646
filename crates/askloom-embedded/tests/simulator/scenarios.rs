//! The scenarios that are explored completely: two and three writers of one row over two masters.

use crate::double::Habits;
use crate::explore::{Mishaps, Scenario, Sweeps, explore};
use crate::toy::{Do, Join, KeyOf, Program, Rules, Value};
use askloom_engine::intents::Refresh;
use askloom_model::OnDelete;

/// The referrer, its target, and another target.
pub(crate) const A: u8 = 0;
pub(crate) const B: u8 = 10;
pub(crate) const C: u8 = 11;

pub(crate) const fn value(field: u8, to: Option<u8>) -> Value {
    Value { field, data: field, to }
}

pub(crate) fn rules(refresh: Refresh, key_of: KeyOf) -> Rules {
    Rules { join: Join { key_of, checked: None }, refresh, fault: None }
}

/// One row of A and B, and C besides.
pub(crate) fn scenario(rules: Rules, writers: &[(u8, Do)], mishaps: Mishaps) -> Scenario {
    let program = |(number, &(id, what)): (usize, &(u8, Do))| Program::Write {
        id,
        write: number as u128 + 1,
        what,
        clock: 0,
    };
    Scenario {
        rules,
        habits: Habits::default(),
        values: vec![(A, value(1, Some(B))), (B, value(1, None)), (C, value(7, None))],
        writers: writers.iter().enumerate().map(program).collect(),
        mishaps,
        sweeps: Sweeps::Last,
        // Stamps that are sums can be equal: then the order of puts matters.
        reduced: rules.refresh == Refresh::Checked,
        interruptions: None,
    }
}

pub(crate) const CALM: Mishaps = Mishaps { crashes: 0, losses: 0, duplicates: 0 };
pub(crate) const CRASH: Mishaps = Mishaps { crashes: 1, ..CALM };
pub(crate) const LOSS: Mishaps = Mishaps { losses: 1, ..CALM };
pub(crate) const DUPLICATE: Mishaps = Mishaps { duplicates: 1, ..CALM };

pub(crate) const LIMIT: usize = 20_000_000;

/// Counts what was explored.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) scenarios: usize,
    pub(crate) situations: usize,
    pub(crate) steps: usize,
    pub(crate) ends: usize,
    largest: usize,
}

impl Tally {
    pub(crate) fn holds(&mut self, name: &str, scenario: &Scenario) {
        let report = explore(scenario, LIMIT);
        if let Some(wrong) = report.wrong {
            panic!("{name}:\n{}{}\n{:?}\n{scenario:?}", wrong.story, wrong.what, wrong.schedule);
        }
        self.scenarios += 1;
        self.situations += report.situations;
        self.steps += report.steps;
        self.ends += report.ends;
        self.largest = self.largest.max(report.situations);
    }

    pub(crate) fn print(&self, what: &str) {
        println!(
            "{what}: {} scenarios, {} situations (the largest {}), {} steps, {} ends",
            self.scenarios, self.situations, self.largest, self.steps, self.ends
        );
        assert!(self.ends > 0, "nothing was explored");
    }
}

/// Two writers in every way in which they can meet at the row.
pub(crate) const PAIRS: [[(u8, Do); 2]; 12] = [
    [(A, Do::Field(2)), (B, Do::Field(2))],
    [(A, Do::Data(2)), (B, Do::Field(2))],
    [(A, Do::Field(2)), (A, Do::Field(3))],
    [(B, Do::Field(2)), (B, Do::Data(3))],
    [(A, Do::Refer(Some(C))), (B, Do::Field(2))],
    [(A, Do::Refer(Some(C))), (C, Do::Field(2))],
    [(A, Do::Refer(None)), (A, Do::Field(2))],
    [(A, Do::Delete), (B, Do::Field(2))],
    [(A, Do::Field(2)), (B, Do::Delete)],
    [(A, Do::Delete), (A, Do::Store(value(3, Some(B))))],
    [(B, Do::Delete), (B, Do::Store(value(3, None)))],
    [(A, Do::Store(value(3, Some(C)))), (C, Do::Delete)],
];

/// Three writers of the row.
pub(crate) const TRIPLES: [[(u8, Do); 3]; 5] = [
    [(A, Do::Field(2)), (B, Do::Field(2)), (A, Do::Field(3))],
    [(A, Do::Field(2)), (B, Do::Field(2)), (B, Do::Field(3))],
    [(A, Do::Field(2)), (B, Do::Delete), (B, Do::Store(value(3, None)))],
    [(A, Do::Delete), (B, Do::Field(2)), (A, Do::Store(value(3, Some(B))))],
    // A row that comes and goes.
    [(1, Do::Store(value(4, Some(B)))), (B, Do::Field(2)), (1, Do::Delete)],
];

/// Clocks that run ahead make n jump.
fn with_clock(mut scenario: Scenario, writer: usize) -> Scenario {
    if let Some(Program::Write { clock, .. }) = scenario.writers.get_mut(writer) {
        *clock = 100;
    }
    scenario
}

#[test]
fn two_writers_leave_the_copy_right() {
    let mut tally = Tally::default();
    for pair in &PAIRS {
        for mishaps in [CALM, CRASH, LOSS, DUPLICATE] {
            let name = format!("{pair:?} with {mishaps:?}");
            let plain = scenario(rules(Refresh::Checked, KeyOf::Both), pair, mishaps);
            tally.holds(&name, &plain);
            tally.holds(&name, &with_clock(plain.clone(), 0));
            tally.holds(&name, &with_clock(plain, 1));
        }
    }
    tally.print("two writers");
}

/// Whether to explore what takes minutes and gigabytes.
fn far() -> bool {
    std::env::var("ASKLOOM_EXPLORE").is_ok_and(|how| how == "far")
}

#[test]
fn a_sweep_beside_the_writers_does_no_harm() {
    let mut tally = Tally::default();
    for pair in if far() { &PAIRS[..] } else { &PAIRS[..6] } {
        let crash = scenario(rules(Refresh::Checked, KeyOf::Both), pair, CRASH);
        tally.holds("a sweep after a crash", &Scenario { sweeps: Sweeps::AfterCrash, ..crash.clone() });
        if far() {
            tally.holds("a sweep from the start", &Scenario { sweeps: Sweeps::Always, ..crash });
        }
    }
    let calm = scenario(rules(Refresh::Checked, KeyOf::Both), &PAIRS[0], CALM);
    tally.holds("a sweep from the start", &Scenario { sweeps: Sweeps::Always, ..calm });
    tally.print("two writers and a sweep");
}

#[test]
#[ignore = "slow"]
fn three_writers_leave_the_copy_right() {
    let mut tally = Tally::default();
    let rules = rules(Refresh::Checked, KeyOf::Both);
    for (number, triple) in TRIPLES.iter().enumerate() {
        tally.holds(&format!("{triple:?}"), &scenario(rules, triple, CALM));
        if number == 0 || far() {
            tally.holds(&format!("{triple:?} with a crash"), &scenario(rules, triple, CRASH));
        }
        if far() {
            tally.holds(&format!("{triple:?} with a duplicate"), &scenario(rules, triple, DUPLICATE));
        }
    }
    tally.print("three writers");
}

#[test]
fn checked_references_never_dangle() {
    let mut tally = Tally::default();
    let mut rules = rules(Refresh::Checked, KeyOf::Both);
    rules.join.checked = Some(OnDelete::Refuse);
    let meetings: [&[(u8, Do)]; 4] = [
        &[(A, Do::Refer(Some(C))), (C, Do::Delete)],
        &[(1, Do::Store(value(4, Some(C)))), (C, Do::Delete)],
        &[(A, Do::Refer(Some(C))), (B, Do::Delete)],
        &[(C, Do::Delete), (C, Do::Store(value(5, None)))],
    ];
    for meeting in meetings {
        for mishaps in [CALM, CRASH, LOSS, DUPLICATE] {
            tally.holds(&format!("{meeting:?} with {mishaps:?}"), &scenario(rules, meeting, mishaps));
        }
        let swept = Scenario { sweeps: Sweeps::AfterCrash, ..scenario(rules, meeting, CRASH) };
        tally.holds("swept beside", &Scenario { interruptions: Some(2), ..swept });
    }
    tally.print("checked references");
}

/// Whoever refers to what is deleted goes with it, or lets go of it.
#[test]
fn what_follows_from_a_delete_is_done() {
    let mut tally = Tally::default();
    let meetings: [&[(u8, Do)]; 6] = [
        &[(B, Do::Delete)],
        &[(B, Do::Delete), (A, Do::Field(2))],
        &[(B, Do::Delete), (A, Do::Refer(Some(C)))],
        &[(B, Do::Delete), (1, Do::Store(value(4, Some(B))))],
        &[(B, Do::Delete), (B, Do::Store(value(5, None)))],
        &[(B, Do::Delete), (A, Do::Delete)],
    ];
    for how in [OnDelete::Cascade, OnDelete::Clear] {
        let mut rules = rules(Refresh::Checked, KeyOf::Both);
        rules.join.checked = Some(how);
        for meeting in meetings {
            let name = format!("{how:?}: {meeting:?}");
            // Alone, everything; with another, what a few interruptions can do.
            let few = |most: u8| (meeting.len() > 1).then_some(if far() { 2 } else { most });
            for (mishaps, most) in [(CALM, 2), (CRASH, 2), (LOSS, 1), (DUPLICATE, 1)] {
                let met = Scenario { interruptions: few(most), ..scenario(rules, meeting, mishaps) };
                tally.holds(&format!("{name} with {mishaps:?}"), &met);
            }
        }
    }
    tally.print("what follows from deletes");
}

#[test]
#[ignore = "slow"]
fn stamps_are_enough_where_the_key_hangs_on_the_referrer() {
    let mut tally = Tally::default();
    let rules = rules(Refresh::Stamped, KeyOf::Referrer);
    for pair in &PAIRS {
        for mishaps in [CALM, CRASH, LOSS, DUPLICATE] {
            let mut stamped = scenario(rules, pair, mishaps);
            tally.holds(&format!("{pair:?} with {mishaps:?}"), &stamped);
            stamped.habits.first_stays = true;
            tally.holds(&format!("{pair:?} with {mishaps:?}, the first stays"), &stamped);
        }
    }
    for triple in &TRIPLES {
        let mut stamped = scenario(rules, triple, CALM);
        stamped.interruptions = (!far()).then_some(3);
        tally.holds(&format!("{triple:?}"), &stamped);
    }
    tally.print("stamped, key of the referrer");
}
