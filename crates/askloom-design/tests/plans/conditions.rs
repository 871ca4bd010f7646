//! Conditions as they are printed: the language reads them as the same.

use askloom_lang::{Memory, check};
use askloom_model::Model;
use askloom_plan::cost::{Asked, Statistics, selectivity};
use askloom_plan::planner::condition_text;
use std::path::Path;

const CLASSES: &str = "
entity Person {
  id pid: int
  nick: text?
  paid: bool
  mood: enum(low, high)
  `two words`: text?
  tags: text[*]
  nums: int[*] @avg(3) @distinct(10)
  flags: bool[*]
  born: date
  ref boss: Person? @tree inverse reports
  part sites: Site[*]
}
value Site { place: geo?, about: text? }
";

/// Conditions, and how they are printed if not as they are written.
const CONDITIONS: [(&str, &str); 30] = [
    ("nick = :a AND born >= '2026-01-02' AND mood != 'high'", ""),
    ("nick = 'it''s' OR (pid < 3 AND nums = -1)", ""),
    ("nick IS NOT NULL AND NOT nick IS NULL", "nick IS NOT NULL AND nick IS NOT NULL"),
    ("nick NOT IN ('a', 'b')", ""),
    ("NOT nick IN :list", "nick NOT IN :list"),
    ("nick NOT STARTS WITH :a AND pid NOT BETWEEN 1 AND 2", ""),
    ("paid AND NOT paid", "paid = true AND NOT paid = true"),
    ("flags OR NOT flags", "flags = true OR NOT flags = true"),
    ("tags IN :list", ""),
    ("tags NOT IN :list", ""),
    ("NOT tags IN :list", ""),
    ("NOT (tags IN ('a', 'b'))", "NOT tags IN ('a', 'b')"),
    ("NOT tags NOT IN :list", ""),
    ("nums NOT BETWEEN :a AND :b AND NOT nums BETWEEN :a AND :b", ""),
    ("tags NOT STARTS WITH 'a' AND NOT tags STARTS WITH 'a'", ""),
    ("reports.nick IS NOT NULL", ""),
    ("NOT reports.nick IS NULL", ""),
    ("sites.about NOT MATCHES :a AND NOT sites.about MATCHES :a", ""),
    ("nick NOT MATCHES 'a'", ""),
    ("reports NOT UNDER :a AND NOT reports UNDER :a AND Person UNDER :a", ""),
    ("reports.boss NOT ABOVE :a AND boss NOT ABOVE :a", ""),
    ("sites.place NOT WITHIN 3 KM OF :a", ""),
    ("NOT sites.place WITHIN :a KM OF :b", ""),
    ("sites.place IN BOX (:a, :b)", ""),
    ("sites.place NOT IN BOX (:a, :b)", ""),
    ("NOT sites.place IN BOX (:a, :b)", ""),
    ("NOT (nick = :a OR tags NOT IN :list)", ""),
    ("NOT NOT tags = :a AND (nick = :b AND (nick = :c AND pid = 1))", ""),
    ("`two words` = 'a' AND reports.`two words` IS NOT NULL", ""),
    ("nick NOT IN (boss.nick, 'a') AND nick IN (tags, 'a') AND nick NOT IN (tags, 'a')", ""),
];

fn parsed(condition: &str) -> Model {
    let text = format!("{CLASSES}query q: SELECT pid FROM Person WHERE {condition}\n");
    let checked = check(&Memory::default().with("m.loom", text), Path::new("m.loom"));
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| &d.message).collect();
    assert!(errors.is_empty(), "{condition}: {errors:?}");
    checked.model
}

#[test]
fn printed_conditions_are_read_as_the_same() {
    for (condition, printed) in CONDITIONS {
        let model = parsed(condition);
        let query = &model.workload.queries[0];
        let text = condition_text(&model.conceptual, query).unwrap();
        assert_eq!(text, if printed.is_empty() { condition } else { printed });
        let again = parsed(&text);
        assert_eq!(again.workload.queries[0].condition, query.condition, "{condition}");
    }
}

/// The share of persons for whom a condition is estimated to hold.
fn share(condition: &str) -> f64 {
    let model = parsed(condition);
    let query = &model.workload.queries[0];
    let asked = Asked { positions: &query.positions, skew: 0.0, stated: None };
    selectivity(&Statistics::new(&model.conceptual), asked, query.condition.as_ref().unwrap())
}

#[test]
fn some_element_does_not_is_likely_and_none_does_is_less_so() {
    let is = |condition: &str, wanted: f64| {
        let found = share(condition);
        assert!((found - wanted).abs() < 1e-9, "{condition}: {found}, not {wanted}");
    };
    is("nums IN (1, 2)", 1.0 - 0.8_f64.powi(3));
    is("NOT nums IN (1, 2)", 0.8_f64.powi(3));
    is("nums NOT IN (1, 2)", 1.0 - 0.2_f64.powi(3));
    is("nums NOT BETWEEN 1 AND 2", 1.0 - 0.25_f64.powi(3));
}
