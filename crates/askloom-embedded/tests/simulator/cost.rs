//! What a write costs when nobody else is there: operations by kind. The table in `docs/decisions/level-three.md` is this.

use crate::double::{Habits, Op, State};
use crate::port::{Process, Waits};
use crate::scenarios::{A, B, rules, value};
use crate::toy::{Do, KeyOf, Program};
use crate::verdict;
use askloom_engine::intents::Refresh;

/// Reads, plain writes and conditional writes.
#[derive(Debug, PartialEq, Eq, Default)]
struct Cost {
    reads: usize,
    writes: usize,
    swaps: usize,
}

/// A write of A by itself, then what one row adds to it.
fn cost(refresh: Refresh, what: Do, rows: bool) -> Cost {
    let rules = rules(refresh, KeyOf::Referrer);
    let to = rows.then_some(B);
    let mut state: State = verdict::settled(rules, &[(A, value(1, to)), (B, value(1, None))]);
    let program = Program::Write { id: A, write: 1, what, clock: 0 };
    let (mut process, mut waits) = Process::start(rules, program);
    let mut cost = Cost::default();
    while let Waits::For(op) = waits {
        match op {
            Op::Read(_) | Op::ReadAnchor(_) | Op::Referrers(_) | Op::Hints => cost.reads += 1,
            Op::Put(..) | Op::PutReferrer(..) | Op::PutHint(_) | Op::DropHint(_) => cost.writes += 1,
            Op::Swap(..) | Op::SwapAnchor(..) => cost.swaps += 1,
        }
        waits = process.answer(state.apply(&op, Habits::default()));
    }
    cost
}

fn of_one_row(refresh: Refresh, what: Do) -> Cost {
    let (with, without) = (cost(refresh, what, true), cost(refresh, what, false));
    Cost {
        reads: with.reads - without.reads,
        writes: with.writes - without.writes,
        swaps: with.swaps - without.swaps,
    }
}

#[test]
fn a_row_costs_what_the_decision_says() {
    let (same_key, other_key) = (Do::Data(2), Do::Field(2));
    for refresh in [Refresh::Checked, Refresh::Stamped] {
        let alone = cost(refresh, same_key, false);
        assert_eq!(alone, Cost { reads: 1, writes: 2, swaps: 2 }, "{refresh:?}");
    }
    let checked = of_one_row(Refresh::Checked, same_key);
    assert_eq!(checked, Cost { reads: 3, writes: 1, swaps: 1 });
    let checked = of_one_row(Refresh::Checked, other_key);
    assert_eq!(checked, Cost { reads: 3, writes: 2, swaps: 2 });
    let stamped = of_one_row(Refresh::Stamped, same_key);
    assert_eq!(stamped, Cost { reads: 6, writes: 1, swaps: 0 });
    let stamped = of_one_row(Refresh::Stamped, other_key);
    assert_eq!(stamped, Cost { reads: 6, writes: 2, swaps: 1 });
}
