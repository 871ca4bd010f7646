//! Blind puts: which writes are, and what they are priced at.

use crate::examples::{designed, model, write as statement};
use askloom_model::{Model, WritePlan};
use askloom_plan::planner::write;

const READINGS: &str = "
@count(1_000) entity Sensor { id s: text, name: text }
@count(1_000_000) WORD entity Reading {
  id at: timestamp
  ref sensor: Sensor
  volts: int
  MEMBER
}
WORD entity Event { id e: uuid = uuid(), kind: text }
WORD entity Given { id g: int, kind: text }
QUERY
query ofKind: SELECT e FROM Event WHERE kind = :kind
query volts: SELECT at FROM Reading WHERE volts = :volts
write record: UPSERT Reading
write happen: INSERT Event
write make: INSERT Given
";

fn planned(name: &str, with: &[(&str, &str)]) -> (Model, WritePlan, bool) {
    let mut text = READINGS.to_owned();
    for (place, what) in with {
        text = text.replace(place, what);
    }
    for (place, what) in [("WORD", "immutable"), ("MEMBER", ""), ("QUERY", "")] {
        text = text.replace(place, what);
    }
    let (model, design) = designed(model(&text));
    let write = statement(&model, name);
    let plan = write::plan(&askloom_target::embedded::costing(), &model, &design, write).unwrap();
    let blind = write::is_blind_insert(&model, &design, &write.steps[0]);
    assert_eq!(plan.steps[0].blind, blind);
    let printed = write::print(&model, &design, Some(write), &plan);
    assert_eq!(printed.contains("blind put of"), blind, "{printed}");
    (model, plan, blind)
}

fn is_blind(name: &str, with: &[(&str, &str)]) -> bool {
    planned(name, with).2
}

#[test]
fn what_is_immutable_and_concerns_nobody_else_is_put_blindly() {
    assert!(is_blind("record", &[]), "the same id is the same value");
    assert!(is_blind("happen", &[]), "nobody else has the id");
    assert!(!is_blind("make", &[]), "somebody may have the id");
    assert!(!is_blind("record", &[("WORD", "")]));
    assert!(!is_blind("happen", &[("WORD", "")]));
    assert!(!is_blind("record", &[("MEMBER", "unique tag: text")]));
    assert!(!is_blind("record", &[("MEMBER", "made: timestamp = now()")]), "another value each time");
    assert!(!is_blind("record", &[("MEMBER", "checked ref unit: Sensor on delete refuse")]));
    assert!(!is_blind("record", &[("MEMBER", "ref few: Sensor inverse some: Reading[0..3]")]));
    assert!(!is_blind("record", &[("MEMBER", "part mark: Mark?\n}\nentity Mark { id m: int")]));
    assert!(is_blind("record", &[("MEMBER", "part spot: Spot?\n}\nvalue Spot { x: int")]));
}

#[test]
fn copies_that_hold_what_may_change_are_not_kept_blindly() {
    let named = "query named: SELECT at, sensor.name FROM Reading WHERE volts = :v ORDER BY sensor.name";
    assert!(!is_blind("record", &[("QUERY", named)]), "a sensor may get another name");
    let other = "MEMBER\n}\nimmutable entity Unit { id u: text, name: text";
    let with = [("MEMBER", other), ("MEMBER", "ref unit: Unit")];
    assert!(is_blind("record", &with));
    let of_unit = "query named: SELECT at, unit.name FROM Reading WHERE volts = :v ORDER BY unit.name";
    assert!(is_blind("record", &[with[0], with[1], ("QUERY", of_unit)]), "a unit never changes");
}

#[test]
fn a_blind_put_costs_no_read_and_no_version() {
    let (_, blind, _) = planned("happen", &[]);
    let (_, careful, _) = planned("happen", &[("WORD", "")]);
    let find = |plan: &WritePlan| plan.steps[0].find.estimate.requests;
    assert_eq!((find(&blind), find(&careful)), (0.0, 1.0));
    let puts = |plan: &WritePlan| plan.steps[0].master.estimate.puts;
    assert_eq!(puts(&careful) - puts(&blind), 1.0, "the version");
    assert!(blind.estimate.cost < careful.estimate.cost);
}
