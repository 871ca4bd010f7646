//! The scenarios that are explored completely.

use crate::double::Habits;
use crate::explore::{Mishaps, Report, Scenario, explore};
use crate::toy::{Do, Join, KeyOf, Program, Rules, Value};
use askloom_store::intents::Refresh;

/// The referrer, its target, and another one.
pub(crate) const A: u8 = 0;
pub(crate) const B: u8 = 10;
pub(crate) const C: u8 = 11;

pub(crate) fn value(field: u8, to: Option<u8>) -> Value {
    Value { field, data: field, to }
}

pub(crate) fn rules(refresh: Refresh, key_of: KeyOf) -> Rules {
    Rules { join: Join { key_of, checked: false }, refresh, fault: None }
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
        sweeps: false,
    }
}

pub(crate) const CALM: Mishaps = Mishaps { crashes: 0, losses: 0, duplicates: 0 };
pub(crate) const CRASH: Mishaps = Mishaps { crashes: 1, ..CALM };
pub(crate) const LOSS: Mishaps = Mishaps { losses: 1, ..CALM };
pub(crate) const DUPLICATE: Mishaps = Mishaps { duplicates: 1, ..CALM };

pub(crate) const LIMIT: usize = 30_000_000;

#[test]
fn try_it() {
    let two = [(A, Do::Field(2)), (B, Do::Field(2))];
    let three = [(A, Do::Field(2)), (B, Do::Field(2)), (A, Do::Field(3))];
    for (name, writers) in [("two", &two[..]), ("three", &three[..])] {
        for (kind, mishaps) in [("calm", CALM), ("crash", CRASH), ("loss", LOSS), ("duplicate", DUPLICATE)] {
            let start = std::time::Instant::now();
            let report = explore(&scenario(rules(Refresh::Checked, KeyOf::Both), writers, mishaps), LIMIT);
            println!("{name} {kind} {:?}", start.elapsed());
            print(&report);
        }
    }
}

pub(crate) fn print(report: &Report) {
    println!(
        "  {} situations, {} steps, {} ends, {} states",
        report.situations, report.steps, report.ends, report.states
    );
    if let Some(wrong) = &report.wrong {
        println!("{}{}\n{:?}", wrong.story, wrong.what, wrong.schedule);
    }
}
