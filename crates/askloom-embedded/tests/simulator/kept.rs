//! What the exploration has found, kept.

use crate::explore::{Choice, Scenario, explore, replay};
use crate::scenarios::{CALM, LIMIT, TRIPLES, rules, scenario};
use crate::toy::KeyOf;
use askloom_engine::intents::Refresh;

/// Three writers, without anchors.
fn without_anchors(key_of: KeyOf, triple: usize) -> Scenario {
    scenario(rules(Refresh::Stamped, key_of), &TRIPLES[triple], CALM)
}

/// Each of the writers for some steps.
fn turns(turns: &[(usize, usize)]) -> Vec<Choice> {
    turns.iter().flat_map(|&(process, steps)| vec![Choice::Step(process); steps]).collect()
}

/// Why rows have anchors where the key hangs on two masters. The writer of A looks at (A1, B1) to list the key that the
/// row may have; then B becomes B2, and the row moves to (A1, B2); then A becomes A2; then B becomes B3. Who wrote B3
/// has seen A2 only, who wrote A2 has seen B1 and B3 only: nobody knows of the key (A1, B2), and its entry stays.
#[test]
fn without_anchors_a_key_of_two_masters_leaves_a_ghost() {
    let schedule = turns(&[(0, 4), (1, 16), (0, 2), (2, 16), (0, 9)]);
    let wrong = replay(&without_anchors(KeyOf::Both, 1), &schedule).expect("a ghost");
    assert_eq!(
        wrong,
        "the copy holds {(0, 10, 1, 2): (1, 1), (0, 10, 2, 3): (1, 1)} and should hold {(0, 10, 2, 3): (1, 1)}"
    );
}

/// Why one master is not enough either, if it is the target. The writer of B asks who refers to it; then a referrer is
/// inserted, and its row is put under the key of B1; then B becomes B2; then the referrer is deleted, knows of the key of
/// B2 only, and takes the way back away; then the writer of B asks again, and nobody is there who was not before.
#[test]
fn without_anchors_a_key_of_the_target_leaves_a_ghost() {
    let schedule = turns(&[(1, 5), (0, 13), (1, 1), (2, 13), (1, 10)]);
    let wrong = replay(&without_anchors(KeyOf::Target, 4), &schedule).expect("a ghost");
    assert_eq!(
        wrong,
        "the copy holds {(0, 10, 0, 2): (1, 1), (1, 10, 0, 1): (4, 1)} and should hold {(0, 10, 0, 2): (1, 1)}"
    );
}

/// Both take two interruptions, no fewer; with anchors there is no such schedule however often writers are interrupted.
#[test]
fn the_ghosts_are_as_small_as_they_can_be() {
    for scenario in [without_anchors(KeyOf::Both, 1), without_anchors(KeyOf::Target, 4)] {
        for (interruptions, found) in [(0, false), (1, false), (2, true)] {
            let bounded = Scenario { interruptions: Some(interruptions), ..scenario.clone() };
            let report = explore(&bounded, LIMIT);
            println!("{interruptions} interruptions: {} situations", report.situations);
            assert_eq!(report.wrong.is_some(), found, "with {interruptions} interruptions");
        }
    }
}
