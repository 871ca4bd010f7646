//! Symmetric links of part entities that are replaced by ones of the same id, on the embedded store.

use super::{Scratch, assert_sound, query, write};
use askloom_embedded::database::Database;
use askloom_model::{Element, Identity, Model, Record, Value};

const MODEL: &str = "
entity Team { id t: int, part lead: Lead?, part deputy: Lead?, part crew: Seat[*] }
entity Lead { id m: int, ref pals: Lead[*] inverse pals }
entity Seat { id s: int, ref beside: Seat[*] inverse beside }
query pals: SELECT m, p.m AS pal FROM Lead JOIN pals AS p
query beside: SELECT s, b.s AS other FROM Seat JOIN beside AS b
write store: STORE Team
write save: UPSERT Team
write setLead: UPDATE Team SET lead = :lead WHERE t = :t
write setBoth: UPDATE Team SET lead = :lead, deputy = :deputy WHERE t = :t
";

/// A part of a class: its id, and the ids that it is linked to.
fn part(model: &Model, class: &str, id: i64, links: &[i64]) -> Value {
    let conceptual = &model.conceptual;
    let class = conceptual.classes.iter().find(|(_, row)| row.name == class).unwrap().0;
    let mut members = conceptual.all_members(class);
    let (own, set) = (members.next().unwrap(), members.next().unwrap());
    let mut record = Record::new(class);
    record.set(own, Value::Int(id));
    record.set(set, Value::Set(links.iter().map(|&id| Identity::from([Value::Int(id)])).collect()));
    Value::Record(Box::new(record))
}

fn crew(model: &Model, seats: &[(i64, &[i64])]) -> Value {
    let elements = (0..).zip(seats);
    let seat = |(ordinal, &(id, links)): (u64, &(i64, &[i64]))| Element {
        ordinal,
        value: part(model, "Seat", id, links),
    };
    Value::List(elements.map(seat).collect())
}

#[track_caller]
fn assert_links(database: &Database, name: &str, expected: &[[i64; 2]]) {
    let expected: Vec<Vec<Value>> = expected.iter().map(|pair| pair.map(Value::Int).to_vec()).collect();
    assert_eq!(query(database, name, &[]).0, expected);
    assert_sound(database);
}

#[test]
fn stored_parts_lose_the_links_that_they_are_no_longer_given() {
    let folder = Scratch::new();
    let (database, _) = folder.apply(MODEL).unwrap();
    let model = &database.schema().model;
    let store = |team: i64, seats: &[(i64, &[i64])]| {
        write(&database, "store", &[("t", Value::Int(team)), ("crew", crew(model, seats))]).unwrap();
    };
    store(1, &[(1, &[]), (2, &[1]), (3, &[])]);
    store(2, &[(8, &[1, 3])]);
    assert_links(&database, "beside", &[[1, 2], [1, 8], [2, 1], [3, 8], [8, 1], [8, 3]]);
    // Of two that are replaced both, it is enough that one is given the other.
    store(1, &[(1, &[]), (3, &[8]), (2, &[1])]);
    assert_links(&database, "beside", &[[1, 2], [2, 1], [3, 8], [8, 3]]);
    store(1, &[(1, &[]), (2, &[]), (3, &[])]);
    assert_links(&database, "beside", &[]);
}

#[test]
fn set_parts_lose_the_links_that_they_are_no_longer_given() {
    let folder = Scratch::new();
    let (database, _) = folder.apply(MODEL).unwrap();
    let model = &database.schema().model;
    let lead = |id: i64, pals: &[i64]| part(model, "Lead", id, pals);
    let team = |write_name: &str, given: &[(&str, Value)]| {
        let mut all = vec![("t", Value::Int(1))];
        all.extend(given.iter().cloned());
        assert_eq!(write(&database, write_name, &all).unwrap().matched, [1]);
    };
    write(&database, "store", &[("t", Value::Int(2)), ("lead", lead(2, &[]))]).unwrap();
    team("store", &[("lead", lead(1, &[2]))]);
    assert_links(&database, "pals", &[[1, 2], [2, 1]]);
    team("setLead", &[("lead", lead(1, &[]))]);
    assert_links(&database, "pals", &[]);
    team("setLead", &[("lead", lead(1, &[2]))]);
    team("save", &[]);
    assert_links(&database, "pals", &[[1, 2], [2, 1]]);
    team("save", &[("lead", lead(1, &[]))]);
    assert_links(&database, "pals", &[]);
    // Who changes places with another in one statement lives on, too.
    team("setBoth", &[("lead", lead(1, &[2])), ("deputy", lead(3, &[2]))]);
    team("setBoth", &[("lead", lead(3, &[2])), ("deputy", lead(1, &[]))]);
    assert_links(&database, "pals", &[[2, 3], [3, 2]]);
}
