//! Keys and strings that could be taken for something else.

use super::emit::java;
use super::key::{Component, Key, component, key, minor};
use super::read::{Bound, KeyRange, key_range};
use super::schema::{COLLECTIONS, SQL};
use super::write::Held;
use askloom_model::{AccessPath, CollectionId, Id, Role, Type, Value};
use askloom_plan::layout::{Column, Holds, Parts, Place, Shape, Source, Table};
use askloom_plan::program::{Bounds, Term, ValueFrom};

fn column(place: Place, ty: Type, optional: bool) -> Column {
    Column { name: "c".to_owned(), place, source: Source::Node, holds: Holds::Scalar(ty), optional }
}

fn table(columns: Vec<Column>) -> Table {
    let shape = Shape::Rows(Parts::default());
    let collection = CollectionId::from_index(0);
    Table { collection, name: "Lobby".to_owned(), role: Role::Copy, columns, shape, shared: None }
}

fn term(column: usize, value: Option<Value>) -> Term {
    Term { name: "x".into(), from: ValueFrom::Statement, value, column: Some(column) }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn keys_are_paths_with_what_they_cannot_hold_by_number() {
    let key = |id: &str| Key {
        major: vec![Component::Text("Player".into()), Component::Text(id.into())],
        ..Key::default()
    };
    let username = [Component::Text("username".into())];
    assert_eq!(key("mary").with(username).text(), "/Player/mary/-/username");
    for (id, wanted) in [
        ("-", "/Player/%2D"),
        ("a-b", "/Player/a-b"),
        ("a/-/b", "/Player/a%2F-%2Fb"),
        ("%2D", "/Player/%252D"),
        (":x", "/Player/%3Ax"),
        ("a:x", "/Player/a:x"),
        ("{tag}*$where\"'\n\0", "/Player/%7Btag%7D*$where%22'%0A%00"),
        ("é\u{2028}", "/Player/é%E2%80%A8"),
        ("", "/Player/"),
    ] {
        assert_eq!(key(id).text(), wanted);
    }
    let path: AccessPath = "games[0].rounds[12]".parse().unwrap();
    assert_eq!(key("mary").with(minor(&path)).text(), "/Player/mary/-/games%5B0%5D/rounds%5B12%5D");
}

#[test]
fn what_sorts_is_ordered_digits() {
    for descending in [false, true] {
        let sorts = column(Place::Sort { descending }, Type::Int, true);
        let digits: Vec<String> =
            [Value::Null, Value::Int(i64::MIN), Value::Int(-1), Value::Int(0), Value::Int(10)]
                .map(|value| component(&sorts, &value))
                .to_vec();
        assert!(digits.is_sorted_by(|a, b| if descending { a > b } else { a < b }), "{digits:?}");
    }
    let block = column(Place::Block, Type::Int, false);
    assert_eq!(component(&block, &Value::Int(-5)), "-5");
    assert_eq!(component(&column(Place::Block, Type::Text, true), &Value::Null), "00");
    // An empty text that can be null is another component than null.
    assert_ne!(component(&column(Place::Block, Type::Text, true), &text("")), "00");
}

#[test]
fn the_key_of_terms_has_both_paths() {
    let table = table(vec![
        column(Place::Block, Type::Text, false),
        column(Place::Sort { descending: false }, Type::Bool, false),
        column(Place::Row, Type::Text, false),
    ]);
    let terms = [term(2, None), term(0, Some(text("a b"))), term(1, Some(Value::Bool(true)))];
    assert_eq!(key("Lobby", &table, &terms).text(), "/Lobby/a%20b/-/0201/:x");
}

#[test]
fn null_is_in_no_range() {
    let range = |descending: bool, low: Option<Value>, high: Option<Value>| {
        let table = table(vec![column(Place::Sort { descending }, Type::Bool, true)]);
        let side = |value: Option<Value>| value.map(|value| (term(0, Some(value)), true));
        key_range(&table, &Bounds { column: 0, low: side(low), high: side(high), prefix: None })
    };
    let bound = |digits: &str, inclusive| Some((Bound::Text(digits.to_owned()), inclusive));
    let truth = || Some(Value::Bool(true));
    assert_eq!(
        range(false, None, truth()),
        Some(KeyRange::Between { start: bound("00", false), end: bound("0201", true) })
    );
    assert_eq!(
        range(true, None, truth()),
        Some(KeyRange::Between { start: bound("fdfe", true), end: bound("ff", false) })
    );
    assert_eq!(range(false, Some(Value::Null), truth()), None);
}

#[test]
fn no_text_gets_out_of_its_quotes() {
    assert_eq!(java("a\"b\\u0022\n\0\u{7f}"), r#""a\"b\\u0022\012\000\177""#);
    assert_eq!(java("é🎲"), "\"\\u00e9\\ud83c\\udfb2\"");
}

#[test]
fn names_are_allowed_and_different() {
    assert_eq!(COLLECTIONS.names(["Player", "a/b", "", "player"]), ["Player", "a/b", "x_", "player_2"]);
    assert_eq!(SQL.names(["Order", "é", "a.b", "a_b"]), ["Order_", "x__", "a_b", "a_b_2"]);
}

#[test]
fn slots_stand_between_the_texts_of_a_value() {
    let fields = [("a\"", Held::Json("x".into())), ("n", Held::Slot("version+1".to_owned()))];
    let object = Held::Object(fields.map(|(name, held)| (name.to_owned(), held)).to_vec());
    assert_eq!(object.java(), r#"json("{\"a\\\"\":\"x\",\"n\":" + :version+1 + "}")"#);
    assert_eq!(Held::Slot("x".to_owned()).java(), "json(:x)");
}
