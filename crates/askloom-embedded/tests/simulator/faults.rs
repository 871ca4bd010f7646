//! A simulator that finds nothing says nothing: each of these mistakes must be found.

use crate::double::Habits;
use crate::explore::{Scenario, Sweeps, explore};
use crate::scenarios::{CALM, CRASH, DUPLICATE, LIMIT, LOSS, PAIRS, TRIPLES, rules, scenario};
use crate::toy::{Join, KeyOf, Rules};
use crate::walks::walk;
use askloom_engine::intents::{Fault, Refresh};
use askloom_model::OnDelete;

/// What finds a fault.
enum Found {
    Exploring { situations: usize, steps: usize, what: String },
    Walking { seed: u64, what: String },
}

/// Looks at small scenarios completely, then walks.
fn hunt(rules: Rules, habits: Habits) -> Option<Found> {
    let mut situations = 0;
    for scenario in hunting_grounds(rules) {
        let report = explore(&Scenario { habits, reduced: false, ..scenario }, LIMIT);
        situations += report.situations;
        if let Some(wrong) = report.wrong {
            let steps = wrong.schedule.len();
            return Some(Found::Exploring { situations, steps, what: wrong.what });
        }
    }
    let walked = |seed| Some(Found::Walking { seed, what: walk(rules, habits, seed).err()? });
    (1..2_000).find_map(walked)
}

fn hunting_grounds(rules: Rules) -> Vec<Scenario> {
    let mut grounds = Vec::new();
    for pair in &PAIRS {
        grounds.extend([CALM, CRASH].map(|mishaps| scenario(rules, pair, mishaps)));
    }
    grounds.extend([LOSS, DUPLICATE].map(|mishaps| scenario(rules, &PAIRS[0], mishaps)));
    for triple in &TRIPLES {
        let bounded = scenario(rules, triple, CALM);
        grounds.push(Scenario { interruptions: Some(2), ..bounded });
    }
    let swept = scenario(rules, &PAIRS[0], CRASH);
    grounds.push(Scenario { sweeps: Sweeps::AfterCrash, ..swept });
    grounds
}

fn must_find(name: &str, rules: Rules, habits: Habits) {
    match hunt(rules, habits) {
        Some(Found::Exploring { situations, steps, what }) => {
            println!("{name}: after {situations} situations, in {steps} steps: {what}");
        }
        Some(Found::Walking { seed, what }) => println!("{name}: by walk {seed}: {what}"),
        None => panic!("{name} was not found"),
    }
}

fn checked(fault: Fault) -> Rules {
    let join = Join { key_of: KeyOf::Both, checked: Some(OnDelete::Refuse) };
    Rules { join, refresh: Refresh::Checked, fault: Some(fault) }
}

#[test]
fn every_fault_is_found() {
    for fault in [
        Fault::AnnouncementSkipped,
        Fault::OldKeyKept,
        Fault::AnchorNotSwapped,
        Fault::MastersBeforeAnchor,
        Fault::AnchorOverwritten,
        Fault::HintAfterSwap,
        Fault::HintDroppedFirst,
        Fault::NothingOwed,
        Fault::OwedDroppedFirst,
        Fault::PreviousForgotten,
        Fault::ReferrerAfterRead,
        Fault::ReferrerStampedAhead,
        Fault::FenceSkipped,
        Fault::RetriedBlindly,
        Fault::ClosingSkipped,
        Fault::TouchSkipped,
        Fault::ClosedForEver,
    ] {
        let plain = Rules { fault: Some(fault), ..rules(Refresh::Checked, KeyOf::Both) };
        let about_references =
            matches!(fault, Fault::ClosingSkipped | Fault::TouchSkipped | Fault::ClosedForEver);
        must_find(
            &format!("{fault:?}"),
            if about_references { checked(fault) } else { plain },
            Habits::default(),
        );
    }
}

#[test]
fn every_fault_without_anchors_is_found() {
    for fault in [
        Fault::AnnouncementSkipped,
        Fault::OldKeyKept,
        Fault::RereadSkipped,
        Fault::CountedAnew,
        Fault::HintAfterSwap,
        Fault::NothingOwed,
    ] {
        let stamped = Rules { fault: Some(fault), ..rules(Refresh::Stamped, KeyOf::Referrer) };
        must_find(&format!("{fault:?}"), stamped, Habits::default());
    }
}

#[test]
fn a_store_that_keeps_no_tombstones_or_no_stamps_is_found() {
    for refresh in [Refresh::Checked, Refresh::Stamped] {
        let rules = rules(refresh, KeyOf::Referrer);
        must_find("no tombstones", rules, Habits { no_tombstones: true, ..Habits::default() });
        must_find("no stamps", rules, Habits { no_stamps: true, ..Habits::default() });
    }
}
