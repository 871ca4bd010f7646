//! What was met on a real server, and what a string could do to a shell.

use super::emit::text as escaped_text;
use super::key::{Key, row_key, split};
use super::read::{Limit, Request, Rows, Scan, range as range_of};
use super::schema::{HTable, named};
use super::value::{Cell, scalar, scalar_value};
use super::write::{Bound, Check, Mutation};
use askloom_model::{CollectionId, Id, Precision, Role, Type, Value};
use askloom_plan::layout::{Column, Field, Holds, Parts, Place, Shape, Source, Table};
use askloom_plan::program::{Bounds, Range, Term, ValueFrom};

fn column(name: &str, place: Place, ty: Type, optional: bool) -> Column {
    Column { name: name.to_owned(), place, source: Source::Node, holds: Holds::Scalar(ty), optional }
}

fn table(columns: Vec<Column>) -> Table {
    let shape = Shape::Rows(Parts::default());
    let collection = CollectionId::from_index(0);
    Table { collection, name: "Lobby".to_owned(), role: Role::Copy, columns, shape, shared: None }
}

/// By status, the newest first, then by name.
fn lobby() -> Table {
    table(vec![
        column("status", Place::Block, Type::Text, false),
        column("started", Place::Sort { descending: true }, Type::Int, true),
        column("name", Place::Row, Type::Text, false),
        column("first.score", Place::Value, Type::Int, true),
    ])
}

/// By status, then by a number that ends the key.
fn numbers() -> Table {
    table(vec![
        column("status", Place::Block, Type::Text, false),
        column("number", Place::Sort { descending: false }, Type::Int, true),
    ])
}

fn term(column: usize, value: impl Into<Option<Value>>) -> Term {
    Term { name: "x".into(), from: ValueFrom::Statement, value: value.into(), column: Some(column) }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn bounds(low: Option<(i64, bool)>, high: Option<(i64, bool)>) -> Bounds {
    let side = |side: Option<(i64, bool)>| side.map(|(number, is)| (term(1, Value::Int(number)), is));
    Bounds { column: 1, low: side(low), high: side(high), prefix: None }
}

fn scan(table: &Table, bounds: Option<Bounds>, backwards: bool, limit: Option<i64>) -> Scan {
    let block = vec![term(0, text("a"))];
    let limit = limit.map(|rows| Term {
        name: "rows".into(),
        from: ValueFrom::Statement,
        value: Some(Value::Int(rows)),
        column: None,
    });
    let range = Range { block, equal: Vec::new(), bounds, backwards, limit };
    range_of(&named(table, "lobby".to_owned()), table, &range)
}

/// Whether HBase would give a row. Backwards or not, it is the same rows.
fn gives(scan: &Scan, key: &[u8]) -> bool {
    match &scan.rows {
        Rows::All => true,
        Rows::Nothing => false,
        Rows::Under(prefix) => key.starts_with(prefix.bytes().unwrap()),
        Rows::Between { from, to, .. } => {
            key >= from.bytes().unwrap() && to.as_ref().is_none_or(|to| key < to.bytes().unwrap())
        }
    }
}

#[test]
fn keys_sort_as_values_do_and_come_apart_again() {
    let table = lobby();
    let mut random = fastrand::Rng::with_seed(7);
    let texts = ["", "\0", "a", "a\0", "a\0b", "ab", "\u{ff}", "'", "🎲"];
    let row = |random: &mut fastrand::Rng| {
        let number = if random.u8(..5) == 0 { Value::Null } else { Value::Int(random.i64(-3..3)) };
        let mut pick = || text(texts[random.usize(..texts.len())]);
        vec![pick(), number, pick(), Value::Null]
    };
    for _ in 0..2000 {
        let (one, other) = (row(&mut random), row(&mut random));
        let (key, next) = (row_key(&table, &one), row_key(&table, &other));
        let wanted = one[0].cmp(&other[0]).then(other[1].cmp(&one[1])).then(one[2].cmp(&other[2]));
        assert_eq!(key.cmp(&next), wanted, "{one:?} {other:?}");
        assert_eq!(split(&table, &key).unwrap(), one[..3]);
    }
    assert!(split(&table, b"\x06a\x00\x01").is_err());
}

#[test]
fn a_range_gives_what_lies_in_it_and_never_null() {
    for table in [lobby(), numbers()] {
        for low in [None, Some((0, true)), Some((0, false)), Some((2, true))] {
            for high in [None, Some((1, true)), Some((1, false)), Some((0, true)), Some((0, false))] {
                for backwards in [false, true] {
                    let scan = scan(&table, Some(bounds(low, high)), backwards, None);
                    for number in [None, Some(-1), Some(0), Some(1), Some(2)] {
                        let value = number.map_or(Value::Null, Value::Int);
                        let key = row_key(&table, &[text("a"), value, text("n"), Value::Null]);
                        let lies = number.is_some_and(|number| {
                            low.is_none_or(|(low, is)| if is { number >= low } else { number > low })
                                && high
                                    .is_none_or(|(high, is)| if is { number <= high } else { number < high })
                        });
                        assert_eq!(gives(&scan, &key), lies, "{low:?} {high:?} {number:?} {scan:?}");
                        let other = row_key(&table, &[text("b"), Value::Int(0), text("n"), Value::Null]);
                        assert!(!gives(&scan, &other));
                    }
                }
            }
        }
    }
}

#[test]
fn starts_with_is_a_half_open_range() {
    for descending in [false, true] {
        let place = Place::Sort { descending };
        let table =
            table(vec![column("s", Place::Block, Type::Text, false), column("t", place, Type::Text, true)]);
        let prefix = Some(term(1, text("a\0")));
        let scan = scan(&table, Some(Bounds { column: 1, low: None, high: None, prefix }), false, None);
        for (value, starts) in
            [("a", false), ("a\0", true), ("a\0\0z", true), ("a\u{1}", false), ("b", false), ("", false)]
        {
            assert_eq!(gives(&scan, &row_key(&table, &[text("a"), text(value)])), starts, "{value:?}");
        }
        assert!(!gives(&scan, &row_key(&table, &[text("a"), Value::Null])));
    }
}

#[test]
fn a_scan_from_a_key_to_itself_would_be_a_get_and_a_limit_of_none_no_limit() {
    let empty = scan(&numbers(), Some(bounds(Some((5, true)), Some((5, false)))), false, None);
    assert_eq!(empty.rows, Rows::Nothing);
    assert!(empty.text().starts_with("# "), "{}", empty.text());
    assert_eq!(scan(&numbers(), None, false, Some(0)).rows, Rows::Nothing);
    assert_eq!(scan(&numbers(), None, false, Some(1)).limit, Some(Limit::Rows(1)));
    let mut null = bounds(None, Some((5, true)));
    null.low = Some((term(1, Value::Null), true));
    assert_eq!(scan(&numbers(), Some(null), false, None).rows, Rows::Nothing);
}

#[test]
fn backwards_a_row_at_either_end_is_told_by_a_filter() {
    let back = scan(&numbers(), Some(bounds(Some((1, true)), Some((39, false)))), true, Some(2)).text();
    assert_eq!(
        back,
        r#"scan "lobby", {STARTROW => "\x06a\x00\x01\x03\x80\x00\x00\x00\x00\x00\x00'", "#.to_owned()
            + r#"FILTER => "RowFilter(<, 'binary:\x06a\x00\x01\x03\x80\x00\x00\x00\x00\x00\x00''') AND "#
            + r#"WHILE RowFilter(>=, 'binary:\x06a\x00\x01\x03\x80\x00\x00\x00\x00\x00\x00\x01')", "#
            + r#"REVERSED => true, LIMIT => 2}"#
    );
    // With more of the key behind, no row is an end.
    let back = scan(&lobby(), None, true, None).text();
    assert_eq!(
        back,
        r#"scan "lobby", {STARTROW => "\x06a\x00\x02", STOPROW => "\x06a\x00\x01", REVERSED => true}"#
    );
}

#[test]
fn slots_of_keys_say_how_they_are_written() {
    let table = lobby();
    let range = Range {
        block: vec![term(0, None)],
        equal: Vec::new(),
        bounds: Some(Bounds { column: 1, low: Some((term(1, None), false)), high: None, prefix: None }),
        backwards: false,
        limit: None,
    };
    let own = named(&table, "lobby".to_owned());
    let scan = range_of(&own, &table, &range);
    assert_eq!(scan.text(), "scan \"lobby\", {STARTROW => key(:x), STOPROW => key(:x) + inverted(:x)}");
    let range = Range { bounds: None, backwards: true, ..range };
    let scan = range_of(&own, &table, &range);
    assert_eq!(
        scan.text(),
        "scan \"lobby\", {STARTROW => after(key(:x)), STOPROW => key(:x), REVERSED => true}"
    );
}

#[test]
fn no_text_gets_out_of_its_quotes() {
    for (bytes, wanted) in [
        (&b"#{`rm`}"[..], r##""\#{`rm`}""##),
        (b"#$0 #@x", r##""\#$0 \#@x""##),
        (b"a\"; drop 'x' #", r##""a\"; drop 'x' \#""##),
        (b"\\x00\\", r#""\\x00\\""#),
        (b"}{tag}*$where\n\r\t\0\x7f\xff", r#""}{tag}*$where\x0a\x0d\x09\x00\x7f\xff""#),
        ("é".as_bytes(), r#""\xc3\xa9""#),
    ] {
        assert_eq!(escaped_text(bytes), wanted);
    }
}

#[test]
fn names_are_allowed_and_members_are_no_paths() {
    let copy = |names: &[&str]| {
        let columns = names.iter().map(|name| column(name, Place::Value, Type::Text, true)).collect();
        named(&table(columns), "t".to_owned())
    };
    let names = |table: &HTable| table.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let long = "x".repeat(2000);
    let found = names(&copy(&["first.score", "a:b", "_", "é", "A", "a", &long]));
    assert_eq!(
        found[..6],
        ["d:first.score", "d:a_b", "d:__", "d:___2", "d:A", "d:a_2"].map(str::to_owned)[..6]
    );
    assert!(found[6].len() <= 1002);
    let mut master = table(vec![column("rounds.moves", Place::Value, Type::Text, true)]);
    let (block, sort, carried) = (vec![Field::default()], Vec::new(), Vec::new());
    master.shape = Shape::Master { entries: true, block, sort, carried };
    assert_eq!(names(&named(&master, "t".to_owned())), ["d:rounds_moves"]);
    let tables = super::schema::TABLES.names(["Zookeeper", "zookeeper", "-ROOT-", ".META.", "a b", "ns:t"]);
    assert_eq!(tables, ["Zookeeper_", "zookeeper__2", "x_-ROOT-", "x_.META.", "a_b", "ns_t"]);
}

#[test]
fn a_row_without_values_keeps_a_cell() {
    let own = named(&lobby(), "lobby".to_owned());
    assert!(own.marked);
    let mut full = lobby();
    full.columns[3].optional = false;
    assert!(!named(&full, "lobby".to_owned()).marked);
    assert!(named(&numbers(), "lobby".to_owned()).marked);
}

#[test]
fn what_goes_is_never_at_the_timestamp_of_what_comes() {
    let stamp = || Bound::Slot("stamp".to_owned(), super::value::Packing::Long);
    let mutation = |put: Vec<(String, Bound)>, delete: &[&str], check| Mutation {
        table: "t".to_owned(),
        row: Key::of(b"r".to_vec()),
        check,
        at: stamp(),
        put,
        delete: delete.iter().map(|&name| name.to_owned()).collect(),
        ttl_ms: None,
    };
    let drop = mutation(Vec::new(), &["d"], Check::Nothing);
    assert_eq!(drop.text(), r#"deleteall "t", "r", "d", :stamp-1"#);
    let put = || vec![("d:a".to_owned(), Bound::Cell(Cell::Int(-1)))];
    assert_eq!(
        mutation(put(), &["d:b"], Check::Nothing).text(),
        r#"mutate "t", "r", :stamp, {"d:a" => [-1].pack("l>")}, delete: ["d:b"]"#
    );
    assert!(mutation(put(), &[], Check::Absent).text().ends_with(", version: :absent"));
    let mut joined = mutation(put(), &["d:b"], Check::Version(None));
    joined.join(mutation(vec![("d:b".to_owned(), stamp())], &["d:a", "d:c"], Check::Nothing));
    assert_eq!(joined.delete, ["d:c"]);
    assert_eq!(joined.put.len(), 2);
    // What expires says so, but never the version alone.
    let mut expires = mutation(put(), &[], Check::Absent);
    expires.ttl_ms = Some(7);
    assert!(expires.text().ends_with("}, ttl: 7, version: :absent"), "{}", expires.text());
    expires.put = vec![("i:n".to_owned(), stamp())];
    assert!(!expires.text().contains("ttl"), "{}", expires.text());
    let program = include_str!("mutate.rb");
    assert_eq!(program.matches("timestamp - 1").count(), 2);
}

#[test]
fn cells_hold_every_value_and_give_it_back() {
    let at = |nanoseconds| Value::Timestamp(jiff::Timestamp::from_nanosecond(nanoseconds).unwrap());
    let names = Type::Enum(["on".to_owned(), "off".to_owned()].into());
    let far = Value::Timestamp(jiff::Timestamp::MAX);
    for (value, ty) in [
        (text(""), Type::Text),
        (text("#{x}\0\n\""), Type::Text),
        (Value::Int(i64::from(i32::MIN)), Type::Int),
        (Value::Int(i64::MAX), Type::Long),
        (Value::double(-1.5e300).unwrap(), Type::Double),
        (Value::decimal(&"123456789012345678901234567890.5".parse().unwrap()).unwrap(), Type::Decimal),
        (Value::Bool(false), Type::Bool),
        (Value::Bool(true), Type::Bool),
        (Value::Enum(1), names),
        (Value::Date(jiff::civil::date(-5, 2, 3)), Type::Date),
        (Value::Time(jiff::civil::time(1, 2, 3, 4)), Type::Time),
        (at(-1_000_000), Type::Timestamp(Precision::Millis)),
        (at(253_402_207_200_999_000_000), Type::Timestamp(Precision::Millis)),
        (at(-1_000), Type::Timestamp(Precision::Micros)),
        (at(-1), Type::Timestamp(Precision::Nanos)),
        (far, Type::Timestamp(Precision::Nanos)),
        (Value::Uuid(uuid::Uuid::from_u128(7)), Type::Uuid),
        (Value::Blob(vec![0, 255]), Type::Blob),
        (Value::Json(serde_json::json!("a")), Type::Json),
        (Value::Json(serde_json::json!(null)), Type::Json),
    ] {
        let cell = scalar(&value, &ty).unwrap();
        assert_eq!(scalar_value(&cell.bytes(), &ty).unwrap(), value, "{ty} {cell:?}");
    }
    assert_eq!(scalar(&Value::Null, &Type::Int), None);
    assert_eq!(Cell::Double(1.5e300).literal(), "[1.5e300].pack(\"G\")");
}

#[test]
fn a_get_is_a_get() {
    let get = Request::Get { table: "t".to_owned(), row: Key::of(b"a\0".to_vec()) };
    assert_eq!(get.text(), r#"get "t", "a\x00""#);
}
