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
use coverage::Coverage;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Runs cases and fails with the first difference. What they were about, and what of it is too little, is printed.
fn compare(cases: u64, least: u64) {
    let first = number("ASKLOOM_WRITES_SEED", 1);
    let cases = number("ASKLOOM_WRITES_CASES", cases);
    let mut coverage = Coverage::default();
    for seed in first..first + cases {
        let mut random = Random::of(seed, &[]);
        let case = Case::random(seed, &mut random);
        if let Err(report) = case.run(&mut random, &mut coverage) {
            panic!("{report}");
        }
    }
    println!("{}", coverage.print());
    println!("{}", coverage.complaints(least).join("\n"));
}

#[test]
fn the_oracle_writes_as_sql_does() {
    compare(100, 0);
}
