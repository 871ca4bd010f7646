//! Ranges of keys against ranges of values.

use super::*;
use crate::dynamodb::key::Order;
use crate::dynamodb::schema::key;
use crate::dynamodb::value::key_value;
use askloom_model::{CollectionId, Precision};
use askloom_plan::layout::{Column, Holds, Place, Source};
use askloom_plan::program::ValueFrom;
use std::cmp::Ordering;

#[derive(Clone)]
struct Sorted {
    ty: Type,
    optional: bool,
    descending: bool,
}

fn sorted(ty: Type) -> Sorted {
    Sorted { ty, optional: false, descending: false }
}

fn column(name: &str, of: &Sorted, place: Place) -> Column {
    Column {
        name: name.to_owned(),
        place,
        source: Source::Node,
        holds: Holds::Scalar(of.ty.clone()),
        optional: of.optional,
    }
}

/// A table with one text as its partition key.
fn table(sorts: &[Sorted]) -> DynamoTable {
    let mut columns = vec![column("p", &sorted(Type::Text), Place::Block)];
    for (at, of) in sorts.iter().enumerate() {
        columns.push(column(&format!("s{at}"), of, Place::Sort { descending: of.descending }));
    }
    let named: Vec<(&Column, String)> = columns.iter().map(|column| (column, column.name.clone())).collect();
    let attributes = columns.iter().map(|of| Attribute {
        name: of.name.clone(),
        of: of.clone(),
        in_key: true,
        filled: false,
    });
    DynamoTable {
        collection: CollectionId::from_index(0),
        name: "Copy".to_owned(),
        partition: key(&named, vec![0], Order::Free),
        sort: (!sorts.is_empty()).then(|| key(&named, (1..=sorts.len()).collect(), Order::Kept)),
        attributes: attributes.collect(),
        system: None,
        stamps: None,
        index: None,
        faithful: false,
        set: None,
        turned: false,
        shared: None,
        goes: None,
    }
}

fn term(column: usize, value: Option<Value>) -> Term {
    Term { name: format!("v{column}").into(), from: ValueFrom::Statement, value, column: Some(column) }
}

fn values(ty: &Type, random: &mut fastrand::Rng) -> Value {
    let texts =
        ["", "\0", "\0a", " ", "!", "#", "#a", "$", "$23", "%", "a", "a b", "a#", "ab", "b", "\u{10ffff}"];
    let text = |random: &mut fastrand::Rng| texts[random.usize(..texts.len())].to_owned();
    match ty {
        Type::Text => Value::Text(text(random)),
        Type::Int | Type::Long => {
            Value::Int([-1_000_000, -2, -1, 0, 1, 2, 9, 10, 999_999, 1_000_000][random.usize(..10)])
        }
        Type::Enum(_) => Value::Enum(random.u32(..3)),
        Type::Bool => Value::Bool(random.bool()),
        Type::Decimal => {
            let all = [
                "-1.5",
                "-1",
                "0",
                "0.0000000000000000000000000000000001",
                "1",
                "1.5",
                "1.50000000000000000000000000000001",
                "10",
            ];
            Value::decimal(&all[random.usize(..all.len())].parse().unwrap()).unwrap()
        }
        Type::Double => Value::double([-1e308, -1.5, 0.0, 5e-324, 1.5, 1e308][random.usize(..6)]).unwrap(),
        Type::Timestamp(_) => Value::Timestamp(
            jiff::Timestamp::from_millisecond(
                [-70_000_000_000_000, -1, 0, 1, 1_800_000_000_000][random.usize(..5)],
            )
            .unwrap(),
        ),
        Type::Date => {
            Value::Date(jiff::civil::date([-44, 0, 2026][random.usize(..3)], 3, [1, 15][random.usize(..2)]))
        }
        Type::Time => {
            Value::Time(jiff::civil::time(random.i8(9..12), 0, 0, [0, 5, 100_000_000][random.usize(..3)]))
        }
        Type::Uuid => Value::Uuid(uuid::Uuid::from_u128(random.u128(..4) << (120 * random.u32(..2)))),
        Type::Blob => Value::Blob(text(random).into_bytes()),
        Type::Geo | Type::Json => Value::Null,
    }
}

fn some(of: &Sorted, random: &mut fastrand::Rng) -> Value {
    if of.optional && random.u8(..4) == 0 { Value::Null } else { values(&of.ty, random) }
}

fn compare(a: &Dynamo, b: &Dynamo) -> Ordering {
    match (a, b) {
        (Dynamo::S(a), Dynamo::S(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Dynamo::B(a), Dynamo::B(b)) => a.cmp(b),
        (Dynamo::N(a), Dynamo::N(b)) => a.parse::<BigDecimal>().unwrap().cmp(&b.parse().unwrap()),
        _different => panic!("{a:?} {b:?}"),
    }
}

fn known(bound: &Bound) -> &Dynamo {
    let Bound::Value(value) = bound else { panic!("{bound:?}") };
    let empty = match value {
        Dynamo::S(text) => text.is_empty(),
        Dynamo::B(bytes) => bytes.is_empty(),
        Dynamo::N(digits) => {
            let (digits, _) = digits.parse::<BigDecimal>().unwrap().normalized().into_bigint_and_exponent();
            assert!(digits.magnitude().to_string().len() <= 38, "N has 38 digits: {digits}");
            false
        }
        _other => false,
    };
    assert!(!empty, "no key is empty");
    value
}

/// What DynamoDB would do.
fn holds(test: &Test, key: &Dynamo) -> bool {
    let by = |bound: &Bound| compare(key, known(bound));
    match test {
        Test::AtLeast(low) => by(low).is_ge(),
        Test::AtMost(high) => by(high).is_le(),
        Test::Above(low) => by(low).is_gt(),
        Test::Below(high) => by(high).is_lt(),
        Test::Between(low, high) => {
            assert!(compare(known(low), known(high)).is_le(), "DynamoDB refuses {test:?}");
            by(low).is_ge() && by(high).is_le()
        }
        Test::Starts(start) => match (known(start), key) {
            (Dynamo::S(start), Dynamo::S(key)) => key.starts_with(start),
            (Dynamo::B(start), Dynamo::B(key)) => key.starts_with(start),
            (start, key) => panic!("{start:?} {key:?}"),
        },
    }
}

fn types() -> Vec<Type> {
    vec![
        Type::Text,
        Type::Int,
        Type::Long,
        Type::Enum(["a", "b", "c"].map(str::to_owned).into()),
        Type::Bool,
        Type::Decimal,
        Type::Double,
        Type::Timestamp(Precision::Millis),
        Type::Date,
        Type::Time,
        Type::Uuid,
        Type::Blob,
    ]
}

#[test]
fn keys_sort_as_their_values_and_come_back() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..3_000 {
        let (sorts, table) = random_table(&mut random);
        let sort = table.sort.as_ref().unwrap();
        let row =
            |random: &mut fastrand::Rng| -> Vec<Value> { sorts.iter().map(|of| some(of, random)).collect() };
        let rows = [row(&mut random), row(&mut random)];
        let [a, b] = [0, 1].map(|at| key_value(&table, sort, &rows[at].iter().collect::<Vec<_>>()).unwrap());
        let directed = sorts.iter().zip(rows[0].iter().zip(&rows[1]));
        let expected = directed.fold(Ordering::Equal, |before, (of, (a, b))| {
            before.then(if of.descending { b.cmp(a) } else { a.cmp(b) })
        });
        assert_eq!(compare(&a, &b), expected, "{rows:?} {a:?} {b:?}");
        assert_eq!(crate::dynamodb::value::key_back(&table, sort, &a).as_ref(), Some(&rows[0]));
        known(&Bound::Value(a));
    }
}

#[test]
fn no_two_partitions_share_a_key() {
    let mut random = fastrand::Rng::with_seed(6);
    let types = types();
    for _ in 0..3_000 {
        let length = random.usize(1..4);
        let drawn: Vec<Sorted> =
            (0..length).map(|_| sorted(types[random.usize(..types.len())].clone())).collect();
        let of: Vec<Column> =
            drawn.iter().enumerate().map(|(at, of)| column(&format!("p{at}"), of, Place::Block)).collect();
        let named: Vec<(&Column, String)> = of.iter().map(|column| (column, column.name.clone())).collect();
        let mut table = table(&drawn);
        table.partition = key(&named, (0..length).collect(), Order::Free);
        table.attributes.remove(0);
        let row = |random: &mut fastrand::Rng| -> Vec<Value> {
            drawn.iter().map(|of| values(&of.ty, random)).collect()
        };
        let rows = [row(&mut random), row(&mut random)];
        let keys = [0, 1]
            .map(|at| key_value(&table, &table.partition, &rows[at].iter().collect::<Vec<_>>()).unwrap());
        assert_eq!(keys[0] == keys[1], rows[0] == rows[1], "{rows:?} {keys:?}");
        let unreadable = drawn
            .iter()
            .any(|of| matches!(of.ty, Type::Double | Type::Blob) || (length > 1 && of.ty == Type::Decimal));
        assert_eq!(matches!(keys[0], Dynamo::B(_)), unreadable, "{drawn:?}", drawn = keys[0]);
    }
}

fn random_table(random: &mut fastrand::Rng) -> (Vec<Sorted>, DynamoTable) {
    let types = types();
    let plain = random.bool();
    let one = |random: &mut fastrand::Rng| Sorted {
        ty: types[random.usize(..types.len())].clone(),
        optional: !plain && random.u8(..3) == 0,
        descending: !plain && random.u8(..3) == 0,
    };
    // Joined texts are the harder half of it.
    let joined =
        |random: &mut fastrand::Rng| sorted(types[[0, 0, 1, 3, 4, 7, 8, 9, 10][random.usize(..9)]].clone());
    let length = random.usize(1..4);
    let readable = random.bool();
    let sorts: Vec<Sorted> =
        (0..length).map(|_| if readable { joined(random) } else { one(random) }).collect();
    let table = table(&sorts);
    (sorts, table)
}

#[test]
fn a_range_of_keys_has_the_rows_of_the_range_of_values() {
    let mut random = fastrand::Rng::with_seed(4);
    for round in 0..6_000 {
        let (sorts, table) = random_table(&mut random);
        let sort = table.sort.as_ref().unwrap();
        let equal: Vec<Value> =
            sorts.iter().take(random.usize(..=sorts.len())).map(|of| some(of, &mut random)).collect();
        let next = sorts.get(equal.len());
        let mut bounds = None;
        if let Some(of) = next.filter(|_| random.u8(..4) > 0) {
            let side = |random: &mut fastrand::Rng| {
                let end = (term(equal.len() + 1, Some(values(&of.ty, random))), random.bool());
                (random.u8(..3) > 0).then_some(end)
            };
            let (low, high) = (side(&mut random), side(&mut random));
            let prefix = (of.ty == Type::Text && random.bool())
                .then(|| term(equal.len() + 1, Some(values(&of.ty, &mut random))));
            let (low, high) = if prefix.is_some() { (None, None) } else { (low, high) };
            if low.is_some() || high.is_some() || prefix.is_some() {
                bounds = Some(Bounds { column: equal.len() + 1, low, high, prefix });
            }
        }
        let range = Range {
            block: vec![term(0, Some(Value::Text("p".to_owned())))],
            equal: equal.iter().enumerate().map(|(at, value)| term(at + 1, Some(value.clone()))).collect(),
            bounds: bounds.clone(),
            backwards: false,
            limit: None,
        };
        let found = super::range(&table, &range);
        for _ in 0..30 {
            let mut row: Vec<Value> = sorts.iter().map(|of| some(of, &mut random)).collect();
            if random.u8(..3) > 0 {
                row.iter_mut().zip(&equal).for_each(|(cell, value)| cell.clone_from(value));
            }
            let expected = row.iter().zip(&equal).all(|(a, b)| a == b)
                && bounds.as_ref().is_none_or(|bounds| inside(bounds, &row[equal.len()]));
            let key = key_value(&table, sort, &row.iter().collect::<Vec<_>>()).unwrap();
            let is_in = match &found {
                Some(Request::Query { sort: Some(sort), .. }) => holds(&sort.1, &key),
                Some(Request::Query { sort: None, .. }) => true,
                None => false,
                Some(other) => panic!("{other:?}"),
            };
            assert_eq!(is_in, expected, "round {round}: {row:?} {key:?} in {range:?} by {found:?}");
        }
    }
}

fn inside(bounds: &Bounds, value: &Value) -> bool {
    let end = |term: &Term| term.value.clone().unwrap();
    if let (Some(prefix), Value::Text(text)) = (&bounds.prefix, value) {
        let Value::Text(prefix) = end(prefix) else { panic!() };
        return text.starts_with(&prefix);
    }
    let low = bounds.low.as_ref().is_none_or(|(term, inclusive)| {
        let order = value.cmp(&end(term));
        order.is_gt() || (*inclusive && order.is_eq())
    });
    let high = bounds.high.as_ref().is_none_or(|(term, inclusive)| {
        let order = value.cmp(&end(term));
        order.is_lt() || (*inclusive && order.is_eq())
    });
    !value.is_null() && low && high
}

#[test]
fn null_is_no_key_and_no_rows_are_no_request() {
    let table = table(&[sorted(Type::Int)]);
    assert_eq!(block(&table, &[term(0, Some(Value::Null))]), None);
    assert_eq!(block(&table, &[]), None);
    let mut range = Range {
        block: vec![term(0, Some(Value::Text(String::new())))],
        equal: Vec::new(),
        bounds: None,
        backwards: true,
        limit: Some(Term {
            name: "rows".into(),
            from: ValueFrom::Statement,
            value: Some(Value::Int(0)),
            column: None,
        }),
    };
    assert_eq!(super::range(&table, &range), None);
    range.limit = None;
    let Some(Request::Query { partition, backwards: true, .. }) = super::range(&table, &range) else {
        panic!()
    };
    assert_eq!(partition.1, Bound::Value(Dynamo::S("\0".to_owned())), "no key is empty");
}

#[test]
fn slots_say_what_the_key_is_made_of() {
    let table = table(&[sorted(Type::Text), sorted(Type::Int)]);
    let text = |bound: &Bound| match bound {
        Bound::Slot { text, .. } => text.clone(),
        Bound::Value(value) => panic!("{value:?}"),
    };
    let range = |low: bool, high: bool| {
        let side = |there: bool| there.then(|| (term(2, None), false));
        let bounds = Some(Bounds { column: 2, low: side(low), high: side(high), prefix: None });
        let equal = vec![term(1, Some(Value::Text("a#".to_owned())))];
        let range = Range { block: vec![term(0, None)], equal, bounds, backwards: false, limit: None };
        let Some(Request::Query { sort: Some(sort), partition, .. }) = super::range(&table, &range) else {
            panic!()
        };
        let Test::Between(low, high) = sort.1 else { panic!() };
        assert_eq!(text(&partition.1), ":v0");
        [text(&low), text(&high)]
    };
    assert_eq!(range(true, true), ["a$23#:v2 (the next)", "a$23#:v2 (the one before)"]);
    assert_eq!(range(true, false), ["a$23#:v2 (the next)", "a$23$"]);
    assert_eq!(range(false, true), ["a$23#", "a$23#:v2 (the one before)"]);
}

#[test]
fn a_look_up_of_one_item_is_one_of_many() {
    let table = table(&[]);
    let key = record(&table, &[term(0, None)]).unwrap();
    let one = Request::Get { table: table.name.clone(), key: key.clone() };
    assert_eq!(repeated(one), Request::BatchGet { table: table.name, keys: vec![key] });
}

#[test]
fn what_is_too_large_is_told() {
    use crate::dynamodb::too_large;
    let table = table(&[sorted(Type::Text)]);
    let item = |partition: usize, sort: usize, rest: usize| {
        let text = |length: usize| Dynamo::S("x".repeat(length));
        vec![
            ("p".to_owned(), text(partition)),
            ("s0".to_owned(), text(sort)),
            ("rest".to_owned(), text(rest)),
        ]
    };
    assert_eq!(too_large(&table, &item(2_048, 1_024, 400_000)), None);
    for (large, said) in [
        (item(2_049, 1, 1), "`p` has 2049 bytes, and a key of its kind at most 2048"),
        (item(1, 1_025, 1), "`s0` has 1025 bytes, and a key of its kind at most 1024"),
        (
            item(1, 1, 409_600),
            "the item has 409609 bytes, most of them in `rest`, and one of DynamoDB at most 409600",
        ),
    ] {
        assert_eq!(too_large(&table, &large).as_deref(), Some(said));
    }
}
