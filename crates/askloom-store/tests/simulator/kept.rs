//! What the exploration has found, kept.

use crate::explore::{Choice, Scenario, explore, replay};
use crate::scenarios::{CALM, LIMIT, TRIPLES, rules, scenario};
use crate::toy::KeyOf;
use askloom_store::intents::Refresh;

/// A writer of A, two of B; the key hangs on both. Without anchors.
fn without_anchors() -> Scenario {
    scenario(rules(Refresh::Stamped, KeyOf::Both), &TRIPLES[1], CALM)
}

/// Why rows have anchors where the key hangs on two masters. The writer of A looks at (A1, B1) to list the key that the
/// row may have; then B becomes B2, and the row moves to (A1, B2); then A becomes A2; then B becomes B3. Who wrote B3
/// has seen A2 only, who wrote A2 has seen B1 and B3 only: nobody knows of the key (A1, B2), and its entry stays.
#[test]
fn without_anchors_a_key_of_two_masters_leaves_a_ghost() {
    let turns = [(0, 4), (1, 16), (0, 2), (2, 16), (0, 9)];
    let schedule: Vec<Choice> =
        turns.iter().flat_map(|&(process, steps)| vec![Choice::Step(process); steps]).collect();
    let wrong = replay(&without_anchors(), &schedule).expect("a ghost");
    assert_eq!(
        wrong,
        "the copy holds {(0, 10, 1, 2): (1, 1), (0, 10, 2, 3): (1, 1)} and should hold {(0, 10, 2, 3): (1, 1)}"
    );
}

/// It takes two interruptions, no fewer; with anchors there is no such schedule however often writers are interrupted.
#[test]
fn the_ghost_is_as_small_as_it_can_be() {
    for (interruptions, found) in [(0, false), (1, false), (2, true)] {
        let bounded = Scenario { interruptions: Some(interruptions), ..without_anchors() };
        let report = explore(&bounded, LIMIT);
        println!("{interruptions} interruptions: {} situations", report.situations);
        assert_eq!(report.wrong.is_some(), found, "with {interruptions} interruptions");
    }
}
