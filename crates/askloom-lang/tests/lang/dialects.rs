//! PIDM and GDM mean what their authors mean by them, and the same as their `.loom` translations.

use crate::project::{check_text, codes, summary};
use askloom_lang::{Dialect, format};
use askloom_model::{Condition, Severity, Type};

fn model(name: &str, text: &str) -> serde_json::Value {
    let checked = check_text(name, text);
    assert_eq!(checked.errors, 0, "{text}\n{}", summary(&checked));
    serde_json::to_value(&checked.model).unwrap()
}

/// The dialect's text and the `.loom` text mean the same, and `fmt` finds the way.
fn same(name: &str, dialect: Dialect, text: &str, loom: &str) {
    assert_eq!(model(name, text), model("m.loom", loom), "{text}");
    let converted = format(text, dialect);
    assert!(!converted.left_broken, "{text}");
    assert_eq!(model("m.loom", &converted.text), model("m.loom", loom), "{}", converted.text);
}

#[test]
fn pidm_members() {
    same(
        "m.pidm",
        Dialect::Pidm,
        "Entity Passenger {\n  id idPassport unique\n  name : string\n  birth datetime\n  adult boolean\n  miles number\n  \
         Ref Flight[*] flights\n  email text unique\n}\nENTITY Flight { id code unique\n ref Passenger[1] pilot\n}\n",
        "entity Passenger {\n  id idPassport: text\n  name: text\n  birth: timestamp\n  adult: bool\n  miles: decimal\n  \
         ref flights: Flight[*]\n  unique email: text\n}\nentity Flight {\n  id code: text\n  ref pilot: Passenger\n}\n",
    );
}

#[test]
fn pidm_entities_without_id_get_a_surrogate() {
    let checked = check_text("m.pidm", "entity A { name text }");
    assert_eq!(codes(&checked), ["AL0208"]);
    assert_eq!(checked.diagnostics[0].severity, Severity::Note);
}

#[test]
fn pidm_comments_of_both_kinds() {
    same(
        "m.pidm",
        Dialect::Pidm,
        "/* one\n * two */ entity A { // three\n id a unique /* four */\n}\n//five",
        "entity A { id a: text }",
    );
}

#[test]
fn gdm_members_and_queries() {
    same(
        "m.gdm",
        Dialect::Gdm,
        "@highlyUpdated\nentity Artifact {\n  id artifactId unique\n  text title\n  text[*] authors\n  number year\n  \
         @highlyUpdated number rating\n  ref Venue[1] venue\n  text doi unique\n}\nentity Venue {\n  id venueId\n  text name\n}\n\
         query Q1: select art.title, v.name as venue from Artifact as art including art.venue as v\n  \
         where v.name = \"?1\" and art.year >= \"2010\" order by art.year desc\n",
        "@highlyUpdated\nentity Artifact {\n  id artifactId: text\n  title: text\n  authors: text[*]\n  year: decimal\n  \
         @highlyUpdated\n  rating: decimal\n  ref venue: Venue\n  unique doi: text\n}\nentity Venue {\n  id venueId: text\n  \
         name: text\n}\nquery Q1: SELECT art.title, v.name AS venue FROM Artifact AS art JOIN art.venue AS v\n  \
         WHERE v.name = :name AND art.year >= 2010 ORDER BY art.year DESC\n",
    );
}

const TWO: &str = "entity A {\n  id a: int\n  b: int\n  c: int\n}\n";
const TWO_GDM: &str = "entity A {\n  id a: int\n  int b\n  int c\n}\n";

/// `a or b and c` is `(a or b) and c` in GDM, and `a or (b and c)` elsewhere.
#[test]
fn or_binds_tighter_in_gdm_only() {
    let text = "query q: select b from A where a = 1 or b = 2 and c = 3\n";
    same(
        "m.gdm",
        Dialect::Gdm,
        &format!("{TWO_GDM}{text}"),
        &format!("{TWO}query q: SELECT b FROM A WHERE (a = 1 OR b = 2) AND c = 3"),
    );
    for name in ["m.loom", "m.pidm"] {
        let checked = check_text(name, &format!("{TWO}{text}"));
        assert_eq!(codes(&checked), ["AL0109"]);
        let condition = checked.model.workload.queries[0].condition.as_ref().unwrap();
        assert!(
            matches!(condition, Condition::Or(terms) if matches!(terms[1], Condition::And(_))),
            "{condition:?}"
        );
    }
    assert_eq!(codes(&check_text("m.gdm", &format!("{TWO_GDM}{text}"))), ["AL0109"]);
}

fn parameters(condition: &str) -> Vec<String> {
    let text = format!("{TWO}query q: SELECT b FROM A WHERE {condition}\n");
    let checked = check_text("m.loom", &text);
    assert_eq!(checked.errors, 0, "{}", summary(&checked));
    checked.model.workload.queries[0].parameters.iter().map(|p| p.name.clone()).collect()
}

#[test]
fn positional_parameters_are_named_after_their_attribute() {
    assert_eq!(parameters("b = ?"), ["b"]);
    assert_eq!(parameters("b = \"?\" AND c = \"?\""), ["b", "c"]);
    assert_eq!(parameters("b >= \"?\" AND b <= \"?\""), ["b_from", "b_to"]);
    assert_eq!(parameters("b BETWEEN ? AND ?"), ["b_from", "b_to"]);
    assert_eq!(parameters("b = ? OR b = ?"), ["b", "b_2"]);
    assert_eq!(parameters("b = :b OR b = ?"), ["b", "b_2"]);
    assert_eq!(parameters("b = ?1 OR c = ?1"), ["b"]);
    assert_eq!(parameters("A.b = \"?2\" AND c = \"?1\""), ["b", "c"]);
    assert_eq!(parameters("? < b AND ? > b"), ["b_from", "b_to"]);
    assert_eq!(parameters("b IN (?, ?)"), ["b", "b_2"]);
    assert_eq!(parameters("b IN ?"), ["b"]);
}

#[test]
fn the_dialects_forms_are_errors_in_loom() {
    for (member, code) in [
        ("b text", "AL0102"),
        ("text b", "AL0103"),
        ("text[*] b", "AL0103"),
        ("ref A[1] b", "AL0104"),
        ("b: string", "AL0205"),
        ("b: unique", "AL0205"),
    ] {
        let checked = check_text("m.loom", &format!("entity A {{ id a: int, {member} }}"));
        assert_eq!(codes(&checked), [code], "{member}: {}", summary(&checked));
        assert!(checked.diagnostics[0].fix.is_some(), "{member}");
    }
}

#[test]
fn keywords_are_names_where_a_name_is_due() {
    let text = "entity Order {\n  id id: uuid\n  date: date\n  key: text\n  query: text\n  ref: int\n  `a b`: text\n  \
                unique unique: int\n  ref from: Order? inverse to\n}\n\
                query q: SELECT date, key, query, ref, `a b`, Order.id FROM Order WHERE key = :key AND unique = 3\n  \
                ORDER BY date\nquery from: SELECT from.key AS select FROM Order\n";
    let checked = check_text("m.loom", text);
    assert_eq!(summary(&checked), "clean");
    assert_eq!(checked.model.workload.queries[0].columns.len(), 6);
    assert_eq!(checked.model.conceptual.attributes.iter().filter(|(_, a)| a.ty == Type::Text).count(), 3);
}
