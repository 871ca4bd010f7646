//! The oracle's writes against SQL on SQLite: random models and random sequences of writes. Each write is executed by
//! the oracle and by statements of SQL that follow the definition of the language; then both answers and the whole
//! state of both sides have to be equal: every instance, attribute, element with its ordinal, reference and link.

mod arguments;
mod blueprint;
mod case;
mod change;
mod condition;
mod coverage;
mod draw;
mod draw_arguments;
mod engine;
mod facts;
mod fitting;
mod link;
mod rules;
mod scalar;
mod statement;
mod tables;
mod text;
mod unsaid;
mod whole;

use askloom_oracle::Random;
use case::Case;
use coverage::{Coverage, Demand};

/// A number that the environment gives.
fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// Runs cases and fails with the first difference, or if they were about too little. Who gives other cases wants to see
/// differences only.
fn compare(cases: u64, demand: Demand) {
    let (first, count) = (given("ASKLOOM_WRITES_SEED"), given("ASKLOOM_WRITES_CASES"));
    let as_ever = first.is_none() && count.is_none();
    let (first, count) = (first.unwrap_or(1), count.unwrap_or(cases));
    let mut coverage = Coverage::default();
    for seed in first..first + count {
        let mut random = Random::of(seed, &[]);
        let case = Case::random(seed, &mut random);
        if let Err(report) = case.run(&mut random, &mut coverage) {
            panic!("{report}");
        }
    }
    let complaints = coverage.complaints(demand).join("\n");
    println!("{}\n{complaints}", coverage.print());
    assert!(!as_ever || complaints.is_empty(), "{complaints}");
}

#[test]
fn the_oracle_writes_as_sql_does() {
    compare(100, Demand::EveryRefusal);
}

#[test]
#[ignore = "slow"]
fn the_oracle_writes_as_sql_does_in_many_cases() {
    compare(2_000, Demand::EveryPair);
}
