//! What Redis is known to trip over, on a real one.

use crate::harness::Shell;
use crate::redis::{RedisCli, json};
use askloom_model::{CollectionId, Conceptual, Design, Id, Type, Value};
use askloom_plan::layout::{Column, Holds, Layout, Place, Source};
use askloom_plan::program::{Bounds, ColumnPredicate, How, Pushdown, Read, Term, ValueFrom};
use askloom_target::generate::Sample;
use askloom_target::redis::{
    FUNCTIONS, Flavour, Hash, Index, Kind, Number, RedisColumn, RedisTable, Shadow, read_command, sample,
};
use serde_json::Value as Json;

/// What the functions answer, and what is there afterwards.
struct Functions(RedisCli);

impl Functions {
    fn loaded(flavour: Flavour, database: &str) -> Self {
        let mut shell = RedisCli::start_in(flavour, database);
        shell.run(FUNCTIONS).unwrap();
        if flavour == Flavour::Plain {
            shell.empty();
        }
        Self(shell)
    }

    #[track_caller]
    fn done(&mut self, line: &str) -> Json {
        json(&self.0.send(line).unwrap()).unwrap()
    }

    #[track_caller]
    fn refused(&mut self, line: &str, why: &str) {
        let error = self.0.send(line).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
#[ignore = "slow"]
fn a_function_checks_everything_before_it_writes() {
    let mut redis = Functions::loaded(Flavour::Plain, "2");
    let exact = (1_u64 << 53) + 1;
    redis.done(&format!("FCALL askloom_write 1 g:{{a}} if 1 \"\" next 1 put 1 2 class G score {exact}"));
    let before = redis.done("HGETALL g:{a}");
    assert_eq!((&before["n"], &before["score"]), (&Json::from("1"), &Json::from(exact.to_string())));
    redis.refused("FCALL askloom_write 1 g:{a} if 1 \"\" next 1 put 1 1 score 0", "CONFLICT");
    // The second aggregate is not what was read, a step is none, a list is too short, a key is of another type.
    redis.refused("FCALL askloom_write 2 g:{a} g:{b} if 1 1 if 2 7 next 1 put 1 1 score 0", "CONFLICT");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 nonsense 1", "WRONG no such step");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 put 1 2 a b", "WRONG too few");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 row 1 m 0", "WRONG a key of type");
    redis.refused("FCALL askloom_write 1 g:{a} if 1 1 put 1 1 score 0 put 2 1 a b", "WRONG no such key");
    assert_eq!(redis.done("HGETALL g:{a}"), before);
}

#[test]
#[ignore = "slow"]
fn versions_are_no_doubles_and_lists_may_be_long() {
    let mut redis = Functions::loaded(Flavour::Plain, "3");
    let version = (1_u64 << 53) + 1;
    redis.done(&format!("HSET g:{{a}} n {version} system s class G x 1"));
    redis.refused(&format!("FCALL askloom_write 1 g:{{a}} if 1 {} next 1", version - 1), "CONFLICT");
    let fields: String = (0..20_000).map(|at| format!(" f{at} {at}")).collect();
    redis.done(&format!("FCALL askloom_write 1 g:{{a}} if 1 {version} next 1 put 1 20000{fields}"));
    assert_eq!(redis.done("HGET g:{a} n"), Json::from((version + 1).to_string()));
    assert_eq!(redis.done("HLEN g:{a}"), Json::from(20_004));
    // A deleted aggregate keeps its version and what the system knows.
    redis.done(&format!("FCALL askloom_write 1 g:{{a}} if 1 {} next 1 clear 1", version + 1));
    let left = redis.done("HGETALL g:{a}");
    assert_eq!(left, serde_json::json!({"n": (version + 2).to_string(), "system": "s"}));
}

#[test]
#[ignore = "slow"]
fn starting_with_finds_all_of_them() {
    let mut redis = Functions::loaded(Flavour::Plain, "4");
    // A prefix of a tag would stop at two hundred different ones.
    let rows: String = (0..500).map(|at| format!(" row 1 \"\\x06ab{at:04}\\x00\\x01\" 1 at {at}")).collect();
    redis.done(&format!("FCALL askloom_write 1 c:{{-}}{rows} row 1 \"\\x06aa\\x00\\x01\" 1 at -1"));
    let found = redis.done("FCALL_RO askloom_range 1 c:{-} \"[\\x06ab\" \"(\\x06ac\" asc -1");
    assert_eq!(found.as_array().unwrap().len(), 500);
    let last = redis.done("FCALL_RO askloom_range 1 c:{-} \"[\\x06ab\" \"(\\x06ac\" desc 2");
    assert_eq!(last, serde_json::json!([["at", "499"], ["at", "498"]]));
    redis.done("FCALL askloom_write 1 c:{-} norow 1 \"\\x06ab0499\\x00\\x01\"");
    let last = redis.done("FCALL_RO askloom_range 1 c:{-} - + desc 1");
    assert_eq!(last, serde_json::json!([["at", "498"]]));
    assert_eq!(redis.done("DBSIZE"), Json::from(501));
}

#[test]
#[ignore = "slow"]
fn a_call_in_a_cluster_reaches_one_tag_alone() {
    let mut redis = Functions::loaded(Flavour::Cluster, "0");
    redis.done("FCALL askloom_write 2 tag:{one} tag:{one}set next 1 row 2 m 1 a b");
    assert_eq!(
        redis.done("FCALL_RO askloom_range 1 tag:{one}set - + asc -1"),
        serde_json::json!([["a", "b"]])
    );
    redis.refused("FCALL askloom_write 2 tag:{one} tag:{two} next 1 next 2", "CROSSSLOT");
}

#[test]
#[ignore = "slow"]
fn an_older_write_that_arrives_late_changes_nothing() {
    let mut redis = Functions::loaded(Flavour::Cluster, "0");
    let (set, packed) = ("late:{one}", "late:{one}hash");
    let rows = |redis: &mut Functions| redis.done(&format!("FCALL_RO askloom_range 1 {set} - + asc -1"));
    let write = |redis: &mut Functions, steps: &str| {
        redis.done(&format!("FCALL askloom_write 2 {set} {packed} {steps}"));
    };
    redis.done(&format!("DEL {set} {set}:m {packed}"));
    // Stamps are no texts and no doubles.
    let (nine, ten) = (9_999_999_999_999_999_u64, 10_000_000_000_000_000_u64);
    let newest = ten + 1;
    write(&mut redis, &format!("newer_row 1 m {ten} 1 a ten newer_hash 2 {ten} 1 a ten"));
    let fields = |stamp: u64, a: &str| serde_json::json!([["stamp", stamp.to_string(), "a", a]]);
    for late in [
        format!("newer_row 1 m {nine} 2 a nine b nine newer_hash 2 {nine} 1 a nine"),
        format!("newer_norow 1 m {nine} newer_gone 2 {nine}"),
        // The same write once more, in part: what it put stays.
        format!("newer_row 1 m {ten} 1 a again newer_norow 1 m {ten} newer_gone 2 {ten}"),
    ] {
        write(&mut redis, &late);
        assert_eq!(rows(&mut redis), fields(ten, "ten"), "{late}");
        assert_eq!(redis.done(&format!("HGET {packed} a")), Json::from("ten"), "{late}");
    }
    write(&mut redis, &format!("newer_norow 1 m {newest} newer_gone 2 {newest}"));
    assert_eq!(rows(&mut redis), serde_json::json!([]));
    // What is left of it keeps the older ones away, and is no row.
    write(&mut redis, &format!("newer_row 1 m {ten} 1 a ten newer_hash 2 {ten} 1 a ten"));
    assert_eq!(rows(&mut redis), serde_json::json!([]));
    let left = redis.done(&format!("HGETALL {packed}"));
    assert_eq!((left["stamp"].as_str(), left["a"].as_str()), (Some(newest.to_string().as_str()), None));
    let goes = redis.done(&format!("PEXPIRETIME {set}:m")).as_i64().unwrap();
    let said = redis.done(&format!("HGET {set}:m gone"));
    assert_eq!(said, Json::from(goes.to_string()));
    let hash: Hash = left.as_object().unwrap().iter().map(as_field).collect();
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let table = RedisTable { stamped: true, ..searched(Vec::new()) };
    assert_eq!(table.record(&Layout::new(&conceptual, &design), &hash).unwrap(), None);
    // A version only grows, and a stamp is a number.
    let own = "late:{one}own";
    redis.done(&format!("DEL {own}"));
    redis.done(&format!("FCALL askloom_write 1 {own} at 1 {ten} put 1 1 a b"));
    for stamp in [nine.to_string(), ten.to_string(), "x".to_owned(), format!("0{newest}")] {
        redis.refused(&format!("FCALL askloom_write 1 {own} at 1 {stamp} put 1 1 a c"), "WRONG");
    }
    assert_eq!(redis.done(&format!("HGETALL {own}")), serde_json::json!({"n": ten.to_string(), "a": "b"}));
    redis.refused(&format!("FCALL askloom_write 1 {set} newer_norow 1 m stamp"), "WRONG no stamp");
    // Of one write, whatever its order, what it puts is there.
    let after = newest + 1;
    write(&mut redis, &format!("newer_norow 1 m {after} newer_row 1 m {after} 1 a after"));
    assert_eq!(rows(&mut redis), fields(after, "after"));
    assert_eq!(redis.done(&format!("PTTL {set}:m")), Json::from(-1));
    redis.done(&format!("DEL {set} {set}:m {packed} {own}"));
}

fn as_field((name, value): (&String, &Json)) -> (Vec<u8>, Vec<u8>) {
    (name.clone().into_bytes(), value.as_str().unwrap().as_bytes().to_vec())
}

#[test]
#[ignore = "slow"]
fn what_expires_says_when_and_goes_later() {
    const HOUR: i64 = 60 * 60 * 1000;
    let mut redis = Functions::loaded(Flavour::Plain, "5");
    let now = jiff::Timestamp::now().as_millisecond();
    let make = |at: i64, x: &str| {
        format!("FCALL askloom_write 1 c:{{a}} if 1 \"\" next 1 clear 1 put 1 2 class C {x} 1 expire 1 {at}")
    };
    let ends = now + 1000 * HOUR;
    redis.done(&make(ends, "x"));
    assert_eq!(redis.done("PEXPIRETIME c:{a}"), Json::from(ends + HOUR));
    let first = redis.done("HGETALL c:{a}");
    assert_eq!(first["expires"], Json::from(ends.to_string()));
    // It lives: its id is taken, and a change leaves the time as it is.
    redis.refused(&make(ends, "y"), "CONFLICT");
    let version: u64 = first["n"].as_str().unwrap().parse().unwrap();
    redis.done(&format!("FCALL askloom_write 1 c:{{a}} if 1 {version} next 1 put 1 1 x 2"));
    assert_eq!(redis.done("PEXPIRETIME c:{a}"), Json::from(ends + HOUR));
    redis.refused("FCALL askloom_write 1 c:{a} put 1 1 x 3 expire 1 soon", "WRONG no time");
    assert_eq!(redis.done("HGET c:{a} x"), Json::from("2"));
    // Its time is up, and it is still there: the id is free, nothing of it stays but its version, which goes on.
    redis.done(&format!("HSET c:{{a}} expires {now}"));
    redis.done(&make(ends + HOUR, "y"));
    let second = redis.done("HGETALL c:{a}");
    assert_eq!((second.get("x"), &second["y"]), (None, &Json::from("1")));
    let next: u64 = second["n"].as_str().unwrap().parse().unwrap();
    assert!(next > version + 1, "{next} {version}");
    // When Redis has taken it away, its version has been lost; the next one is higher all the same.
    redis.done("DEL c:{a}");
    redis.done(&make(ends, "z"));
    let third: u64 = redis.done("HGET c:{a} n").as_str().unwrap().parse().unwrap();
    assert!(third > next, "{third} {next}");
    // What was deleted stays until somebody sweeps, and gives its id free.
    redis.done(&format!("FCALL askloom_write 1 c:{{a}} if 1 {third} next 1 clear 1"));
    assert_eq!(redis.done("PTTL c:{a}"), Json::from(-1));
    redis.done(&make(ends, "x"));
}

#[test]
#[ignore = "slow"]
fn a_value_that_is_taken_is_refused() {
    let mut redis = Functions::loaded(Flavour::Plain, "6");
    let make = |id: &str, value: &str, others: &str| {
        format!(
            "FCALL askloom_write 2 a:{{{id}}} by:{{{value}}} if 1 \"\" free 2 {others} next 1 put 1 1 class A row 2 \
             {id} 1 id {id}"
        )
    };
    redis.done(&make("one", "ada@x", "1 one"));
    let before = redis.done("DBSIZE");
    redis.refused(&make("two", "ada@x", "1 two"), "TAKEN by:{ada@x}");
    assert_eq!(redis.done("DBSIZE"), before);
    assert_eq!(redis.done("ZRANGE by:{ada@x} 0 -1"), serde_json::json!(["one"]));
    // One's own is free, so is that of who is known to have expired, and nobody takes null.
    redis.done("FCALL askloom_write 2 a:{one} by:{ada@x} if 1 1 free 2 1 one next 1 row 2 one 1 id one");
    redis.done(&make("two", "ada@x", "2 two one"));
    redis.done(&make("three", "~", "1 three"));
    redis.done(&make("four", "~", "1 four"));
    redis.refused(&make("five", "~", "2 five"), "WRONG");
}

fn as_double(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        _other => None,
    }
}

/// Copies of one text and one number each, searched by both and sorted by both.
fn searched(numbers: Vec<Number>) -> RedisTable {
    let column = |name: &str, place: Place, ty: Type| {
        let holds = Holds::Scalar(ty);
        let of = Column { name: name.to_owned(), place, source: Source::Node, holds, optional: true };
        RedisColumn { field: name.to_owned(), of }
    };
    let shadow = |field: &str, of: &[(usize, bool)]| Shadow { field: field.to_owned(), of: of.to_vec() };
    let shadows = vec![
        shadow("by_word", &[(1, false)]),
        shadow("by_number", &[(2, false)]),
        shadow("by_number_desc_word", &[(2, true), (1, false)]),
    ];
    RedisTable {
        collection: CollectionId::from_index(0),
        prefix: "traps:".to_owned(),
        columns: vec![
            column("id", Place::Block, Type::Int),
            column("word", Place::Value, Type::Text),
            column("number", Place::Value, Type::Long),
        ],
        kind: Kind::Packed,
        stamped: false,
        search: Some(Index { name: "traps".to_owned(), shadows, numbers }),
    }
}

#[test]
#[ignore = "slow"]
fn a_search_means_what_it_says() {
    let mut shell = RedisCli::start(Flavour::Search);
    means_what_it_says(&mut shell, &searched(Vec::new()), "FT.AGGREGATE");
    // By numbers an index leads there; those that are the same as a double are told apart afterwards.
    let number = Number { field: "number_number".to_owned(), of: 2 };
    means_what_it_says(&mut shell, &searched(vec![number]), "FT.SEARCH");
}

fn means_what_it_says(shell: &mut RedisCli, table: &RedisTable, ranges: &str) {
    let (conceptual, design) = (Conceptual::default(), Design::default());
    let layout = Layout::new(&conceptual, &design);
    let tables = std::slice::from_ref(table);
    // Those that a TAG or a NUMERIC takes for one another, and those longer than a tag.
    let long = "x".repeat(5000);
    let words =
        ["a", "A", "a\0b", " a", "a ", "a,b", "", "*", "@x:{y}|-", "b", &(long.clone() + "1"), &(long + "2")];
    let numbers = [1 << 53, (1 << 53) + 1, -1, i64::MAX, i64::MIN, 0];
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (id, word) in words.iter().enumerate() {
        let number = numbers.get(id).map_or(Value::Null, |number| Value::Int(*number));
        rows.push(vec![Value::Int(id as i64), Value::Text((*word).to_owned()), number]);
    }
    // An index that is made later has them all when it says that it is ready.
    let put = |row: &Vec<Value>| {
        sample(&layout, tables, &Sample::Row { table: table.collection, cells: row.clone() })
    };
    let lines: Vec<String> = rows.iter().flat_map(put).map(|command| command.text()).collect();
    shell.clear("traps");
    shell.send(&lines.join("\n")).unwrap();
    shell.send(&table.create_index().unwrap().text()).unwrap();
    let mut waited = 0;
    loop {
        let info = shell.send("FT.INFO traps").unwrap().replace(":nan", ":null");
        let info = json(&info).unwrap();
        if info["percent_indexed"] == 1 && info["indexing"] == 0 {
            assert_eq!(info["hash_indexing_failures"], Json::from(0));
            break;
        }
        waited += 1;
        assert!(waited < 10_000, "{info}");
    }
    let mut found = |predicates: Vec<ColumnPredicate>, order: Vec<(usize, bool)>| -> Vec<Vec<Value>> {
        let read = Read {
            pushdown: Some(Box::new(Pushdown { predicates, order })),
            ..Read::new(table.collection, How::All)
        };
        let command = read_command(tables, &read).unwrap();
        let pushdown = read.pushdown.as_ref().unwrap();
        let ranged = pushdown.predicates.iter().any(|one| matches!(one, ColumnPredicate::Between(_)));
        assert!(command.text().starts_with(if ranged { ranges } else { "FT.SEARCH" }), "{}", command.text());
        let cells = |hash: &Hash| match table.record(&layout, hash).unwrap().unwrap() {
            Sample::Row { cells, .. } => cells,
            Sample::Block { .. } => Vec::new(),
        };
        let mut rows: Vec<Vec<Value>> = shell.found(&command).unwrap().iter().map(cells).collect();
        if read.pushdown.unwrap().order.is_empty() {
            rows.sort();
        }
        rows
    };
    let term = |column: usize, value: &Value| Term {
        name: "".into(),
        from: ValueFrom::Statement,
        value: Some(value.clone()),
        column: Some(column),
    };
    for row in &rows {
        assert_eq!(
            found(vec![ColumnPredicate::Equal(term(1, &row[1]))], Vec::new()),
            std::slice::from_ref(row)
        );
    }
    for row in rows.iter().filter(|row| !row[2].is_null()) {
        for (inclusive, low) in [(true, true), (true, false), (false, true), (false, false)] {
            let side = Some((term(2, &row[2]), inclusive));
            let (low_side, high_side) = if low { (side, None) } else { (None, side) };
            let bounds = Bounds { column: 2, low: low_side, high: high_side, prefix: None };
            let expected = rows.iter().filter(|other| {
                let within = if low { other[2] > row[2] } else { other[2] < row[2] };
                !other[2].is_null() && (within || (inclusive && other[2] == row[2]))
            });
            let expected: Vec<Vec<Value>> = expected.cloned().collect();
            let mut all = found(vec![ColumnPredicate::Between(Box::new(bounds))], Vec::new());
            if ranges == "FT.SEARCH" {
                let near = |other: &Vec<Value>| as_double(&other[2]) == as_double(&row[2]);
                all.retain(|other| expected.contains(other) || !near(other));
            }
            assert_eq!(all, expected);
        }
    }
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| b[2].cmp(&a[2]).then(a[1].cmp(&b[1])));
    assert_eq!(found(Vec::new(), vec![(2, true), (1, false)]), sorted);
}
