//! What Redis, its shell and its search module are known to trip over.

use super::command::Command;
use super::schema::{CLASS, Kind, LONGEST_TAG, RedisColumn, SYSTEM, VERSION, tag};
use super::value::{field, key_part, ordered, sorted_bytes, value};
use super::*;
use askloom_model::{CollectionId, Conceptual, CopyLevel, Design, Id, Precision, Type, Value};
use askloom_plan::layout::{Column, Holds, Layout, Place, Source};
use askloom_plan::program::{
    Action, Batch, Bounds, Change, ChangeKind, ColumnPredicate, Each, EachChange, How, Note, Preconditions,
    Pushdown, Range, Read, Step, Term, ValueFrom,
};
use std::collections::BTreeSet;

fn column(name: &str, place: Place, ty: Type) -> RedisColumn {
    let of = Column {
        name: name.to_owned(),
        place,
        source: Source::Node,
        holds: Holds::Scalar(ty),
        optional: true,
    };
    RedisColumn { field: name.to_owned(), of }
}

const UP: Place = Place::Sort { descending: false };
const DOWN: Place = Place::Sort { descending: true };

fn table(kind: Kind, columns: Vec<RedisColumn>) -> RedisTable {
    let collection = CollectionId::from_index(0);
    RedisTable { collection, prefix: "C:".to_owned(), columns, kind, stamped: false, search: None }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn term(column: usize, value: Option<Value>) -> Term {
    Term { name: format!("p{column}").into(), from: ValueFrom::Statement, value, column: Some(column) }
}

const NASTY: [&str; 24] = [
    "", "a", "A", "a b", " a", "a\0b", "\0", "}", "{", "{tag}", "a}b", "*", "a*", "?", "[a-z]", "\\", "\"",
    "'", "\n", "$where", ":name", ",", "~", "%",
];

/// How redis-cli takes a line apart.
fn split(line: &str) -> Vec<Vec<u8>> {
    let mut bytes = line.bytes().peekable();
    let mut args = Vec::new();
    while let Some(&first) = bytes.peek() {
        if first == b' ' {
            bytes.next();
            continue;
        }
        let mut arg = Vec::new();
        if first == b'"' {
            bytes.next();
            loop {
                match bytes.next().expect("a closing quote") {
                    b'"' => break,
                    b'\\' => match bytes.next().unwrap() {
                        b'x' => {
                            let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                            let digits = std::str::from_utf8(&digits).unwrap().to_owned();
                            arg.push(u8::from_str_radix(&digits, 16).unwrap());
                        }
                        b'n' => arg.push(b'\n'),
                        b'r' => arg.push(b'\r'),
                        b't' => arg.push(b'\t'),
                        other => arg.push(other),
                    },
                    plain => arg.push(plain),
                }
            }
        } else {
            while let Some(plain) = bytes.next_if(|byte| *byte != b' ') {
                assert!(!matches!(plain, b'"' | b'\'' | b'\\' | b'\n'), "{line}");
                arg.push(plain);
            }
        }
        args.push(arg);
    }
    args
}

#[test]
fn the_shell_reads_back_every_byte_that_is_printed() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..2000 {
        let mut bytes: Vec<u8> = (0..random.usize(..12)).map(|_| random.u8(..)).collect();
        if random.bool() {
            bytes.extend(NASTY[random.usize(..NASTY.len())].as_bytes());
        }
        let command = Command::new("HSET").arg(Arg::known(bytes.clone())).word("end");
        let line = command.text();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(split(&line), [b"HSET".to_vec(), bytes, b"end".to_vec()], "{line}");
    }
}

#[test]
fn keys_are_all_different_and_nothing_in_them_ends_the_tag_or_is_a_pattern() {
    let own = column("id", Place::Block, Type::Text);
    let mut keys = BTreeSet::new();
    for value in NASTY.into_iter().map(text).chain([Value::Null]) {
        let part = key_part(&own.of, &value);
        assert!(!part.is_empty());
        assert!(
            !part.contains(['{', '}', '*', '?', '[', ']', '\\', '"', '\'', '\n', '\0', ' ', ',', '$']),
            "{part}"
        );
        assert!(!part.starts_with(':'), "{part}");
        assert!(keys.insert(part.clone()), "{value:?}: {part}");
    }
    // Readable where nothing is in the way.
    assert_eq!(key_part(&own.of, &text("GMMX-2 é")), "GMMX-2%20é");
    let two = table(
        Kind::Packed,
        vec![column("a", Place::Block, Type::Text), column("b", Place::Block, Type::Text)],
    );
    let key = |a: &str, b: &str| {
        let key = two.block_key(&[term(0, Some(text(a))), term(1, Some(text(b)))]);
        String::from_utf8(key.bytes().unwrap().to_vec()).unwrap()
    };
    let mut keys = BTreeSet::new();
    for a in NASTY {
        for b in NASTY {
            let key = key(a, b);
            assert!(key.starts_with("C:{") && key.ends_with('}') && key.matches('}').count() == 1, "{key}");
            assert!(keys.insert(key));
        }
    }
    let none = table(Kind::Spread, Vec::new()).block_key(&[]);
    assert_eq!(none.bytes(), Some(b"C:{-}".as_slice()), "a tag must not be empty");
}

#[test]
fn a_prefix_means_no_more_in_a_pattern_than_it_says() {
    let mut own = table(Kind::Packed, Vec::new());
    own.prefix = "a*?[b]^\\:C:".to_owned();
    assert_eq!(own.pattern(), "a\\*\\?\\[b\\]\\^\\\\:C:{*");
}

fn layout_of(conceptual: &Conceptual, design: &Design) -> Layout {
    Layout::new(conceptual, design)
}

#[test]
fn values_come_back_to_the_last_digit() {
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = layout_of(&conceptual, &design);
    let decimal = |digits: &str| Value::decimal(&digits.parse().unwrap()).unwrap();
    let at = |text: &str| Value::Timestamp(text.parse().unwrap());
    let double = |number: f64| Value::double(number).unwrap();
    let cases = vec![
        (Type::Long, Value::Int(i64::MIN)),
        // A double, which Lua and NUMERIC have, cannot tell these apart.
        (Type::Long, Value::Int((1 << 53) + 1)),
        (Type::Double, double(1e308)),
        (Type::Double, double(5e-324)),
        (Type::Double, double(-0.1)),
        (Type::Decimal, decimal("1234567890123456789012345678901.234")),
        (Type::Decimal, decimal("-0.000000000000000000000000000001")),
        (Type::Bool, Value::Bool(false)),
        (Type::Timestamp(Precision::Nanos), at("2026-01-02T03:04:05.123456789Z")),
        (Type::Timestamp(Precision::Millis), at("-000009-01-02T03:04:05.120Z")),
        (Type::Blob, Value::Blob(vec![0, 255, 10, 34])),
        (Type::Blob, Value::Blob(Vec::new())),
        (Type::Json, Value::Json(serde_json::json!({"a": [1, null, "\u{0}"]}))),
    ];
    let texts = NASTY.into_iter().map(|nasty| (Type::Text, text(nasty)));
    for (ty, given) in cases.into_iter().chain(texts) {
        let own = column("x", Place::Value, ty);
        let bytes = field(&layout, &own.of, &given).unwrap();
        assert_eq!(value(&layout, &own.of, &bytes).unwrap(), given);
    }
    assert_eq!(field(&layout, &column("x", Place::Value, Type::Text).of, &Value::Null), None);
}

fn read_range(of: &RedisTable, range: Range) -> Vec<Vec<u8>> {
    let read = Read::new(of.collection, How::Range(Box::new(range)));
    let command = read_command(std::slice::from_ref(of), &read).unwrap();
    command.args.iter().map(|arg| arg.bytes().unwrap().to_vec()).collect()
}

/// Whether BYLEX takes a member.
fn is_between(member: &[u8], low: &[u8], high: &[u8]) -> bool {
    let from = match low {
        b"-" => true,
        b"+" => false,
        [b'[', from @ ..] => member >= from,
        other => panic!("{other:?}"),
    };
    let to = match high {
        b"+" => true,
        [b'(', to @ ..] => member < to,
        other => panic!("{other:?}"),
    };
    from && to
}

#[test]
fn ranges_hold_exactly_what_compares_so_and_never_null() {
    let mut random = fastrand::Rng::with_seed(5);
    let texts = ["", "a", "a\0", "a\0b", "ab", "b", "\u{10ffff}", "é"];
    for round in 0..4000 {
        let place = if random.bool() { UP } else { DOWN };
        let own = table(
            Kind::Spread,
            vec![
                column("a", UP, Type::Text),
                column("b", place, Type::Text),
                column("id", Place::Row, Type::Int),
            ],
        );
        let pick = |random: &mut fastrand::Rng| text(texts[random.usize(..texts.len())]);
        let any = |random: &mut fastrand::Rng| if random.u8(..5) == 0 { Value::Null } else { pick(random) };
        let equal = if random.bool() { vec![term(0, Some(any(&mut random)))] } else { Vec::new() };
        let at = equal.len();
        let side =
            |random: &mut fastrand::Rng| random.bool().then(|| (term(at, Some(pick(random))), random.bool()));
        let (low, high) = (side(&mut random), side(&mut random));
        let prefix = (round % 4 == 0).then(|| term(at, Some(pick(&mut random))));
        let bounds = Bounds { column: at, low: low.clone(), high: high.clone(), prefix: prefix.clone() };
        let backwards = random.bool();
        let block = Vec::new();
        let range = Range { block, equal: equal.clone(), bounds: Some(bounds), backwards, limit: None };
        let args = read_range(&own, range);
        assert_eq!(args[6], if backwards { b"desc".to_vec() } else { b"asc".to_vec() });
        for _ in 0..20 {
            let cells = [any(&mut random), any(&mut random), Value::Int(random.i64(-2..2))];
            let member: Vec<u8> =
                own.columns.iter().zip(&cells).flat_map(|(column, cell)| ordered(&column.of, cell)).collect();
            let cell = &cells[at];
            let in_range = match (&prefix, cell) {
                (_, Value::Null) => false,
                (Some(term), Value::Text(cell)) => {
                    let Some(Value::Text(start)) = &term.value else { unreachable!() };
                    cell.starts_with(start.as_str())
                }
                (_, cell) => {
                    low.as_ref().is_none_or(|(term, inclusive)| {
                        let bound = term.value.as_ref().unwrap();
                        cell > bound || (*inclusive && cell == bound)
                    }) && high.as_ref().is_none_or(|(term, inclusive)| {
                        let bound = term.value.as_ref().unwrap();
                        cell < bound || (*inclusive && cell == bound)
                    })
                }
            };
            let expected = in_range && equal.iter().all(|term| term.value.as_ref() == Some(&cells[0]));
            assert_eq!(is_between(&member, &args[4], &args[5]), expected, "{args:?} {cells:?} {place:?}");
        }
    }
}

#[test]
fn nothing_compares_with_null() {
    let own = table(Kind::Spread, vec![column("a", DOWN, Type::Text)]);
    let bounds =
        Bounds { column: 0, low: Some((term(0, Some(Value::Null)), true)), high: None, prefix: None };
    let range =
        Range { block: Vec::new(), equal: Vec::new(), bounds: Some(bounds), backwards: false, limit: None };
    let args = read_range(&own, range);
    assert!(!is_between(&ordered(&own.columns[0].of, &text("a")), &args[4], &args[5]));
}

#[test]
fn tags_tell_apart_what_the_search_module_would_not() {
    let digits = |value: &Value| tag(&sorted_bytes(value, false));
    let values = [
        text("a"),
        text("A"),
        text("a\0b"),
        text(" a"),
        text("a "),
        text(""),
        Value::Null,
        text("a,b"),
        text("*"),
        text("@x:{y}|-\\"),
    ];
    let tags: BTreeSet<String> = values.iter().map(digits).collect();
    assert_eq!(tags.len(), values.len());
    assert!(
        tags.iter().all(|tag| !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_hexdigit())),
        "{tags:?}"
    );
    let (even, odd) = (digits(&Value::Int(1 << 53)), digits(&Value::Int((1 << 53) + 1)));
    assert!(even < odd, "{even} {odd}");
    // Too long for a tag: what differs at the very end still does.
    let long = |last: &str| digits(&text(&("x".repeat(5000) + last)));
    assert!(long("a") != long("b") && long("a").len() <= LONGEST_TAG);
    assert!(long("a").starts_with(&digits(&text("x"))[..4]));
}

fn searched() -> RedisTable {
    let mut own = table(
        Kind::Packed,
        vec![
            column("id", Place::Block, Type::Text),
            column("city", Place::Value, Type::Text),
            column("level", Place::Value, Type::Int),
        ],
    );
    let shadow = |field: &str, of: &[(usize, bool)]| Shadow { field: field.to_owned(), of: of.to_vec() };
    own.search = Some(Index {
        name: "C".to_owned(),
        shadows: vec![
            shadow("by_city", &[(1, false)]),
            shadow("by_level", &[(2, false)]),
            shadow("by_level_desc_city", &[(2, true), (1, false)]),
        ],
        numbers: Vec::new(),
    });
    own
}

#[test]
fn a_search_is_never_cut_short_and_its_values_are_digits() {
    let own = searched();
    let bounds =
        Bounds { column: 2, low: None, high: Some((term(2, Some(Value::Int(7))), true)), prefix: None };
    let known = vec![
        ColumnPredicate::Equal(term(1, Some(text("a*|@{}\"\n$where")))),
        ColumnPredicate::Between(Box::new(bounds)),
    ];
    let pushdown = Pushdown { predicates: known, order: vec![(2, true), (1, false)] };
    let read = Read { pushdown: Some(Box::new(pushdown)), ..Read::new(own.collection, How::All) };
    let line = read_command(std::slice::from_ref(&own), &read).unwrap().text();
    assert_eq!(
        line,
        "FT.AGGREGATE C \"@by_city:{06612a7c407b7d220a2477686572650001}\" FILTER \"@by_level > '00' && \
         @by_level <= '038000000000000007'\" SORTBY 2 @by_level_desc_city ASC MAX 1000000 LIMIT 0 1000000 LOAD * \
         TIMEOUT 0 DIALECT 2"
    );
    // With a number, an index leads there, and no more is needed.
    let mut numbered = own.clone();
    let numbers = vec![Number { field: "number_level".to_owned(), of: 2 }];
    numbered.search = numbered.search.map(|index| Index { numbers, ..index });
    let line = read_command(std::slice::from_ref(&numbered), &read).unwrap().text();
    assert_eq!(
        line,
        "FT.SEARCH C \"@by_city:{06612a7c407b7d220a2477686572650001} @number_level:[-inf 7]\" \
         SORTBY by_level_desc_city ASC LIMIT 0 1000000 TIMEOUT 0 DIALECT 2"
    );
    // What no shadow is of is left to the client: everything is read.
    let pushdown =
        Pushdown { predicates: vec![ColumnPredicate::Equal(term(0, Some(text("x"))))], order: Vec::new() };
    let read = Read { pushdown: Some(Box::new(pushdown)), ..Read::new(own.collection, How::All) };
    let line = read_command(std::slice::from_ref(&own), &read).unwrap().text();
    assert_eq!(line, "FCALL_RO askloom_page 0 0 \"C:{*\" 1000");
}

#[test]
fn a_search_with_slots_says_what_goes_into_them() {
    let own = searched();
    let bounds = Bounds { column: 2, low: Some((term(2, None), false)), high: None, prefix: None };
    let pushdown = Pushdown {
        predicates: vec![ColumnPredicate::Equal(term(1, None)), ColumnPredicate::Between(Box::new(bounds))],
        order: Vec::new(),
    };
    let read = Read { pushdown: Some(Box::new(pushdown)), ..Read::new(own.collection, How::All) };
    let line = read_command(std::slice::from_ref(&own), &read).unwrap().text();
    assert!(
        line.contains("\"@by_city:{:hex(p1)}\"") && line.contains("\"@by_level > ':hex(p2)'\""),
        "{line}"
    );
}

#[test]
fn every_shadow_is_there_even_of_null() {
    let own = searched();
    let shadows = &own.search.as_ref().unwrap().shadows;
    let cells = [text("k"), Value::Null, Value::Null];
    assert!(shadows.iter().all(|shadow| !shadow.digits(&cells).is_empty()));
    let more = [text("k"), text("b"), Value::Int(3)];
    // Descending, the greater comes first, and null last.
    assert!(shadows[2].digits(&more) < shadows[2].digits(&cells));
}

fn batch(changes: Vec<Change>) -> Batch {
    Batch { changes, level: CopyLevel::AtomicUnit, preconditions: Preconditions::default() }
}

fn change(table: usize, kind: ChangeKind) -> Change {
    Change {
        table: CollectionId::from_index(table),
        class: askloom_model::ClassId::from_index(0),
        kind,
        each: EachChange::Once,
        unique: false,
        expires: None,
    }
}

fn two_tables() -> Vec<RedisTable> {
    let master = table(
        Kind::Master,
        vec![column("id", Place::Block, Type::Text), column("score", Place::Value, Type::Long)],
    );
    let mut copy =
        table(Kind::Spread, vec![column("score", UP, Type::Long), column("id", Place::Row, Type::Text)]);
    copy.collection = CollectionId::from_index(1);
    copy.prefix = "Top:".to_owned();
    vec![master, copy]
}

fn set_and_row(value: Value) -> Batch {
    let key = vec![term(0, Some(text("}x")))];
    batch(vec![
        change(0, ChangeKind::Set { key: key.clone(), set: vec![term(1, Some(value.clone()))] }),
        change(1, ChangeKind::PutRow(vec![term(0, Some(value)), term(1, Some(text("}x")))])),
    ])
}

#[test]
fn a_write_is_one_call_that_checks_before_it_writes() {
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = layout_of(&conceptual, &design);
    let tables = two_tables();
    let made = calls(&layout, &tables, Flavour::Plain, &[], &set_and_row(Value::Int((1 << 53) + 1)));
    assert_eq!(made.len(), 1);
    assert_eq!(
        made[0].command().text(),
        "FCALL askloom_write 2 \"C:{%7dx}\" \"Top:{-}\" if 1 :version next 1 put 1 1 score 9007199254740993 row 2 \
         \"\\x03\\x80 \\x00\\x00\\x00\\x00\\x00\\x01\\x06}x\\x00\\x01\" 2 score 9007199254740993 id \"}x\""
    );
    // Null takes the field away.
    let none = calls(&layout, &tables, Flavour::Plain, &[], &set_and_row(Value::Null));
    assert!(none[0].command().text().contains("next 1 cut 1 1 score row 2"), "{}", none[0].command().text());
}

#[test]
fn what_was_read_beside_it_is_checked_too() {
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = layout_of(&conceptual, &design);
    let tables = two_tables();
    let read = Read::new(CollectionId::from_index(0), How::Block(vec![term(0, Some(text("other")))]));
    let note = Note::CheckedTarget(askloom_model::EndId::from_index(0));
    let step = Step { note, each: Each::Once, action: Action::Read(read) };
    let made = calls(&layout, &tables, Flavour::Plain, &[step], &set_and_row(Value::Int(1)));
    let line = made[0].command().text();
    assert!(
        line.starts_with("FCALL askloom_write 3 \"C:{%7dx}\" \"Top:{-}\" \"C:{other}\" if 1 :version if 3 :")
    );
}

#[test]
fn in_a_cluster_every_call_has_one_tag() {
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = layout_of(&conceptual, &design);
    let tables = two_tables();
    let made = calls(&layout, &tables, Flavour::Cluster, &[], &set_and_row(Value::Int(1)));
    let keys: Vec<usize> = made.iter().map(|call| call.keys.len()).collect();
    assert_eq!(keys, [1, 1]);
    // The aggregate first; its version is checked where it is.
    assert_eq!((made[0].checks.len(), made[1].checks.len()), (1, 0));
}

#[test]
fn what_follows_in_a_cluster_has_the_stamp_of_its_write() {
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = layout_of(&conceptual, &design);
    let mut tables = two_tables();
    tables[1].stamped = true;
    let mut batch = set_and_row(Value::Int(1));
    batch.changes.push(change(1, ChangeKind::DropRow(vec![term(0, None), term(1, None)])));
    let lines = |batch: &Batch| -> Vec<String> {
        calls(&layout, &tables, Flavour::Cluster, &[], batch)
            .iter()
            .map(|call| call.command().text())
            .collect()
    };
    let made = lines(&batch);
    assert!(made[0].ends_with("if 1 :version at 1 :stamp put 1 1 score 1"), "{made:?}");
    assert!(made[1].contains(" newer_row 1 ") && made[1].contains(" :stamp 2 score 1 id "), "{made:?}");
    assert!(made[1].ends_with("newer_norow 1 :bytes(p0,p1) :stamp"), "{made:?}");
    // A value that is unique is taken before the aggregate changes.
    batch.changes[1].unique = true;
    let made = lines(&batch);
    assert!(made[0].starts_with("FCALL askloom_write 1 \"Top:{-}\" free 1 1 ") && made[1].contains("at 1"));
}

#[test]
fn the_functions_keep_what_the_fields_of_a_master_are_called() {
    assert!(FUNCTIONS.starts_with("#!lua name=askloom\n"));
    for name in [VERSION, SYSTEM] {
        assert!(FUNCTIONS.contains(&format!("{name} = true")), "{name}");
    }
    assert_ne!(CLASS, VERSION);
    for function in ["askloom_range", "askloom_page", "askloom_write"] {
        assert_eq!(FUNCTIONS.matches(&format!("'{function}'")).count(), 1);
    }
    assert!(FUNCTIONS.lines().all(|line| line.len() <= 120));
}

#[test]
fn names_stay_apart_from_the_systems_and_from_each_other() {
    let long = "x".repeat(300);
    let wanted = [VERSION, SYSTEM, CLASS, "n", "Class", "a.b", "a_b", "9", "", "}", "été", &long, &long];
    let names = super::schema::NAMES.names(wanted);
    let different: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    assert_eq!(different.len(), wanted.len(), "{names:?}");
    assert_eq!(names[..3], [VERSION, SYSTEM, CLASS].map(str::to_owned));
    // A path of an entry has a bracket, a dot or a parenthesis, and so is no name of a field.
    assert!(names.iter().all(|name| name.len() <= 200 && !name.contains(['.', '[', '(', '-'])), "{names:?}");
}

#[test]
fn a_record_of_nulls_is_there_all_the_same() {
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = layout_of(&conceptual, &design);
    let own = table(Kind::Spread, vec![column("a", UP, Type::Text)]);
    let record = crate::generate::Sample::Row { table: own.collection, cells: vec![Value::Null] };
    let commands = sample(&layout, std::slice::from_ref(&own), &record);
    let lines: Vec<String> = commands.iter().map(Command::text).collect();
    assert_eq!(lines, ["HSET \"C:{-}:\\x00\" - \"\"", "ZADD \"C:{-}\" 0 \"\\x00\""]);
    let hash = Hash::from([(b"-".to_vec(), Vec::new())]);
    assert_eq!(own.record(&layout, &hash).unwrap(), Some(record));
    assert_eq!(own.record(&layout, &Hash::new()).unwrap(), None);
}
