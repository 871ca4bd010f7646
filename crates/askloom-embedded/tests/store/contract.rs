//! Batches, conditions, snapshots, limits, one by one.

use super::{Scratch, committed, found, small};
use askloom_embedded::store::{
    Batch, Condition, Conflict, Direction, MAX_BATCH, MAX_KEY, MAX_VALUE, Outcome, Snapshot, Store,
};
use std::ops::Bound;

#[track_caller]
fn conflict(store: &Store, batch: Batch) -> Conflict {
    match store.commit(batch).unwrap() {
        Outcome::Conflict(conflict) => conflict,
        Outcome::Committed { position } => panic!("committed at {position}"),
    }
}

fn keys(snapshot: &Snapshot, direction: Direction) -> Vec<String> {
    let entries = snapshot.range(.., direction).unwrap();
    entries.map(|entry| String::from_utf8(entry.unwrap().key.to_vec()).unwrap()).collect()
}

#[test]
fn what_is_committed_is_read_and_stays() {
    let folder = Scratch::new();
    let store = folder.open();
    let first = committed(&store, Batch::new().put("a", "1").put("b", "2").put("a", "3"));
    let second = committed(&store, Batch::new().delete("b").delete("never there"));
    assert!(second > first);
    assert_eq!(found(&store, b"a").as_deref(), Some(&b"3"[..]), "changes are applied in their order");
    store.close().unwrap();
    let store = folder.open();
    assert_eq!(found(&store, b"a").as_deref(), Some(&b"3"[..]));
    assert_eq!(found(&store, b"b"), None);
    assert_eq!(store.snapshot().position(), second);
    assert!(committed(&store, Batch::new().put("c", "")) > second, "positions go on");
    assert_eq!(found(&store, b"c"), Some(Vec::new()), "an empty value is a value");
}

#[test]
fn a_failed_condition_says_which_and_why_and_nothing_is_written() {
    let folder = Scratch::new();
    let store = folder.open();
    let before = committed(&store, Batch::new().put("#", [&7_u64.to_be_bytes()[..], b"rest"].concat()));
    let version = |n: u64| n.to_be_bytes().to_vec();
    let batch = Batch::new().when_starting("#", version(7)).when_absent("#").put("x", "y").delete("#");
    let found_value = Some([&version(7)[..], b"rest"].concat());
    assert_eq!(conflict(&store, batch), Conflict { condition: 1, found: found_value.clone() });
    assert_eq!(found(&store, b"x"), None);
    assert_eq!(found(&store, b"#"), found_value);
    assert_eq!(conflict(&store, Batch::new().when_starting("#", version(8))).condition, 0);
    assert_eq!(conflict(&store, Batch::new().when_equal("#", version(7))).condition, 0);
    assert_eq!(conflict(&store, Batch::new().when_equal("none", "")).found, None);
    assert_eq!(conflict(&store, Batch::new().when(Condition::Present { key: b"none".to_vec() })).found, None);
    assert_eq!(store.snapshot().position(), before);
}

#[test]
fn a_batch_of_conditions_only_has_the_position_of_what_it_saw() {
    let folder = Scratch::new();
    let store = folder.open();
    let position = committed(&store, Batch::new().put("a", "1"));
    assert_eq!(committed(&store, Batch::new().when_equal("a", "1").when_absent("b")), position);
}

#[test]
fn a_read_set_is_validated_by_value() {
    let folder = Scratch::new();
    let store = folder.open();
    committed(&store, Batch::new().put("a", "1").put("b", "1"));
    let read = store.snapshot();
    committed(&store, Batch::new().put("b", "2").put("other", ""));
    let unchanged = Batch::new().when_unchanged("a", &read).when_unchanged("absent", &read).put("c", "");
    committed(&store, unchanged);
    let stale = Batch::new().when_unchanged("a", &read).when_unchanged("b", &read).put("d", "");
    assert_eq!(conflict(&store, stale), Conflict { condition: 1, found: Some(b"2".to_vec()) });
    assert_eq!(conflict(&store, Batch::new().when_unchanged("c", &read)).found, Some(Vec::new()));
    committed(&store, Batch::new().put("b", "1"));
    committed(&store, Batch::new().when_unchanged("b", &read));
}

#[test]
fn a_range_read_is_safe_from_phantoms() {
    let folder = Scratch::new();
    let store = folder.open();
    committed(&store, Batch::new().put("r1", "1").put("r3", "3").put("s", ""));
    let read = store.snapshot();
    let range = || (Bound::Included(&b"r"[..]), Bound::Excluded(&b"s"[..]));
    let same = || Batch::new().when_range_unchanged(range(), &read);
    committed(&store, Batch::new().put("s", "new").put("q", "").put("r3", "3"));
    committed(&store, same());
    for change in [Batch::new().put("r2", ""), Batch::new().put("r9", ""), Batch::new().put("r1", "x")] {
        committed(&store, change);
        assert_eq!(conflict(&store, same()), Conflict { condition: 0, found: None });
        committed(&store, Batch::new().delete("r2").delete("r9").put("r1", "1"));
        committed(&store, same());
    }
    committed(&store, Batch::new().delete("r3"));
    conflict(&store, same());
    let inverted = (Bound::Included(&b"z"[..]), Bound::Excluded(&b"a"[..]));
    committed(&store, Batch::new().when_range_unchanged(inverted, &read));
}

#[test]
fn a_read_set_of_another_store_is_not_taken_for_this_one() {
    let (here, there) = (Scratch::new(), Scratch::new());
    let (here, there) = (here.open(), there.open());
    assert_eq!(committed(&here, Batch::new().put("a", "1")), committed(&there, Batch::new().put("a", "2")));
    conflict(&here, Batch::new().when_unchanged("a", &there.snapshot()));
}

#[test]
fn ranges_go_both_ways_and_prefixes_end_where_they_should() {
    let folder = Scratch::new();
    let store = folder.open();
    let all: [&[u8]; 7] = [b"a", b"a\0", b"ab", b"a\xff", b"a\xff\xff", b"b", b"\xff\xff"];
    let batch = all.iter().fold(Batch::new(), |batch, key| batch.put(*key, "v"));
    committed(&store, batch);
    let snapshot = store.snapshot();
    let list = |entries: askloom_embedded::store::Entries<'_>| -> Vec<Vec<u8>> {
        entries.map(|entry| entry.unwrap().key.to_vec()).collect()
    };
    let mut expected: Vec<Vec<u8>> = all.iter().map(|key| key.to_vec()).collect();
    assert_eq!(list(snapshot.range(.., Direction::Ascending).unwrap()), expected);
    let starting = |prefix: &[u8]| list(snapshot.prefix(prefix, Direction::Ascending).unwrap());
    assert_eq!(starting(b"a"), expected[..5]);
    assert_eq!(starting(b"a\xff"), expected[3..5]);
    assert_eq!(starting(b"\xff"), expected[6..]);
    assert_eq!(starting(b""), expected);
    expected.reverse();
    assert_eq!(list(snapshot.range(.., Direction::Descending).unwrap()), expected);
    assert_eq!(list(snapshot.prefix(b"a", Direction::Descending).unwrap()), expected[2..]);
    let inverted = snapshot.range(&b"b"[..]..&b"a"[..], Direction::Ascending).unwrap();
    assert!(list(inverted).is_empty());
}

#[test]
fn a_snapshot_does_not_change_and_outlives_the_store() {
    let folder = Scratch::new();
    let store = folder.open();
    committed(&store, Batch::new().put("a", "1").put("b", "1"));
    let snapshot = store.snapshot();
    for n in 0..500_u32 {
        committed(
            &store,
            Batch::new().put("a", n.to_be_bytes()).put(format!("new {n}"), vec![0; 500]).delete("b"),
        );
    }
    assert_eq!(keys(&snapshot, Direction::Ascending), ["a", "b"]);
    store.close().unwrap();
    assert_eq!(keys(&snapshot, Direction::Descending), ["b", "a"]);
    assert_eq!(&*snapshot.get(b"a").unwrap().unwrap(), b"1");
    assert!(Store::open(&folder, &small()).unwrap_err().is_in_use());
    drop(snapshot);
    assert_eq!(keys(&folder.open().snapshot(), Direction::Ascending).len(), 501);
}

#[test]
fn limits_are_exact_and_nothing_is_written_beyond() {
    let folder = Scratch::new();
    let store = folder.open();
    let (key, value) = (vec![b'k'; MAX_KEY], vec![b'v'; MAX_VALUE]);
    committed(&store, Batch::new().put(key.clone(), value.clone()));
    assert_eq!(store.snapshot().get(&key).unwrap().map(|value| value.len()), Some(MAX_VALUE));
    let long_key = [&key[..], b"k"].concat();
    let refused = |batch: Batch| store.commit(batch.put("x", "y")).unwrap_err();
    for error in [
        refused(Batch::new().put(long_key.clone(), "")),
        refused(Batch::new().delete(long_key.clone())),
        refused(Batch::new().when_absent(long_key)),
        refused(Batch::new().put("", "")),
        refused(Batch::new().delete("")),
        refused(Batch::new().when_absent("")),
        refused(Batch::new().put("a", [&value[..], b"v"].concat())),
        refused((0..=MAX_BATCH / MAX_VALUE).fold(Batch::new(), |batch, _| batch.put("a", value.clone()))),
    ] {
        assert!(error.is_too_large() && !error.is_outcome_unknown(), "{error}");
    }
    assert_eq!(store.snapshot().range(.., Direction::Ascending).unwrap().count(), 1);
    drop(store);
    assert_eq!(found(&folder.open(), &key).map(|value| value.len()), Some(MAX_VALUE));
}
