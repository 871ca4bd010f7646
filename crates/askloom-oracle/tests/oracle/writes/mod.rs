//! The oracle's writes against SQL on SQLite: random models and random sequences of writes. Each write is executed by
//! the oracle and by statements of SQL that follow the definition of the language; then both answers and the whole
//! state of both sides have to be equal: every instance, attribute, element with its ordinal, reference and link.

mod arguments;
mod blueprint;
mod case;
mod change;
mod condition;
mod draw;
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

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn the_oracle_writes_as_sql_does() {
    let first = number("ASKLOOM_WRITES_SEED", 1);
    for seed in first..first + number("ASKLOOM_WRITES_CASES", 100) {
        let mut random = Random::of(seed, &[]);
        let case = Case::random(seed, &mut random);
        if let Err(report) = case.run(&mut random, |_, _| {}) {
            panic!("{report}");
        }
    }
}
