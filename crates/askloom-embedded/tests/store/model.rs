//! The store against a `BTreeMap`: random batches, conditions, ranges and snapshots, reopened in between.

use super::{Scratch, small};
use askloom_embedded::store::{Batch, Condition, Conflict, Direction, Outcome, Snapshot, Store};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Debug, Clone)]
enum Step {
    Commit { conditions: Vec<Check>, changes: Vec<(Vec<u8>, Option<Vec<u8>>)> },
    Read { start: Bound<Vec<u8>>, end: Bound<Vec<u8>>, descending: bool, limit: usize },
    Prefix { prefix: Vec<u8>, descending: bool },
    Keep,
    Reopen,
}

#[derive(Debug, Clone)]
enum Check {
    Absent(Vec<u8>),
    Present(Vec<u8>),
    Equals(Vec<u8>, Vec<u8>),
    StartsWith(Vec<u8>, Vec<u8>),
    /// Against the kept snapshot of this number, counted modulo how many there are.
    Unchanged(Vec<u8>, usize),
    UnchangedRange(Bound<Vec<u8>>, Bound<Vec<u8>>, usize),
}

/// Few keys, so that they meet; with bytes at both ends of the order.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0, b'a', b'b', 0xff]), 1..4)
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::collection::vec(prop::sample::select(b"xy".to_vec()), 0..3),
        1 => (1000..9000_usize).prop_map(|length| vec![b'x'; length]),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![key().prop_map(Bound::Included), key().prop_map(Bound::Excluded), Just(Bound::Unbounded)]
}

fn check() -> impl Strategy<Value = Check> {
    prop_oneof![
        key().prop_map(Check::Absent),
        key().prop_map(Check::Present),
        (key(), value()).prop_map(|(key, value)| Check::Equals(key, value)),
        (key(), value()).prop_map(|(key, value)| Check::StartsWith(key, value)),
        (key(), any::<usize>()).prop_map(|(key, since)| Check::Unchanged(key, since)),
        (bound(), bound(), any::<usize>())
            .prop_map(|(start, end, since)| Check::UnchangedRange(start, end, since)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let change = (key(), prop::option::weighted(0.7, value()));
    let commit = (prop::collection::vec(check(), 0..3), prop::collection::vec(change, 0..8));
    prop_oneof![
        10 => commit.prop_map(|(conditions, changes)| Step::Commit { conditions, changes }),
        4 => (bound(), bound(), any::<bool>(), 0..20_usize)
            .prop_map(|(start, end, descending, limit)| Step::Read { start, end, descending, limit }),
        2 => (prop::collection::vec(prop::sample::select(vec![0, b'a', b'b', 0xff]), 0..3), any::<bool>())
            .prop_map(|(prefix, descending)| Step::Prefix { prefix, descending }),
        2 => Just(Step::Keep),
        1 => Just(Step::Reopen),
    ]
}

/// The store, and what it should hold; each kept snapshot with what it should hold.
struct Pair {
    folder: Scratch,
    store: Option<Store>,
    map: Map,
    kept: Vec<(Snapshot, Map)>,
}

impl Pair {
    fn new() -> Self {
        let folder = Scratch::new();
        let store = folder.open();
        let mut pair = Self { folder, store: Some(store), map: Map::new(), kept: Vec::new() };
        pair.keep();
        pair
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn keep(&mut self) {
        self.kept.push((self.store().snapshot(), self.map.clone()));
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Commit { conditions, changes } => self.commit(conditions, changes),
            Step::Read { start, end, descending, limit } => self.read(start, end, *descending, *limit),
            Step::Prefix { prefix, descending } => self.prefix(prefix, *descending),
            Step::Keep => self.keep(),
            Step::Reopen => self.reopen(),
        }
    }

    fn commit(&mut self, conditions: &[Check], changes: &[(Vec<u8>, Option<Vec<u8>>)]) {
        let expected = conditions.iter().position(|check| !self.holds(check)).map(|condition| {
            let found = key_of(&conditions[condition]).and_then(|key| self.map.get(key).cloned());
            Conflict { condition, found }
        });
        let batch = conditions.iter().fold(Batch::new(), |batch, check| batch.when(self.condition(check)));
        let batch = changes.iter().fold(batch, |batch, (key, value)| match value {
            Some(value) => batch.put(key.clone(), value.clone()),
            None => batch.delete(key.clone()),
        });
        match (self.store().commit(batch).unwrap(), expected) {
            (Outcome::Conflict(conflict), expected) => assert_eq!(Some(conflict), expected),
            (Outcome::Committed { position }, expected) => {
                assert_eq!(expected, None);
                assert_eq!(self.store().snapshot().position(), position);
                for (key, value) in changes {
                    match value {
                        Some(value) => drop(self.map.insert(key.clone(), value.clone())),
                        None => drop(self.map.remove(key)),
                    }
                }
            }
        }
    }

    fn since(&self, number: usize) -> &(Snapshot, Map) {
        &self.kept[number % self.kept.len()]
    }

    fn holds(&self, check: &Check) -> bool {
        match check {
            Check::Absent(key) => !self.map.contains_key(key),
            Check::Present(key) => self.map.contains_key(key),
            Check::Equals(key, value) => self.map.get(key) == Some(value),
            Check::StartsWith(key, start) => self.map.get(key).is_some_and(|value| value.starts_with(start)),
            Check::Unchanged(key, since) => self.map.get(key) == self.since(*since).1.get(key),
            Check::UnchangedRange(start, end, since) => {
                let bounds = (start.clone(), end.clone());
                within(&self.map, &bounds) == within(&self.since(*since).1, &bounds)
            }
        }
    }

    fn condition(&self, check: &Check) -> Condition {
        match check.clone() {
            Check::Absent(key) => Condition::Absent { key },
            Check::Present(key) => Condition::Present { key },
            Check::Equals(key, value) => Condition::Equals { key, value },
            Check::StartsWith(key, start) => Condition::StartsWith { key, start },
            Check::Unchanged(key, since) => Condition::Unchanged { key, since: self.since(since).0.clone() },
            Check::UnchangedRange(start, end, since) => {
                Condition::UnchangedRange { range: (start, end), since: self.since(since).0.clone() }
            }
        }
    }

    /// In every snapshot that is kept, and in the present.
    fn read(&self, start: &Bound<Vec<u8>>, end: &Bound<Vec<u8>>, descending: bool, limit: usize) {
        let now = (self.store().snapshot(), self.map.clone());
        for (snapshot, map) in self.kept.iter().chain([&now]) {
            let bounds = (start.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice));
            let entries = snapshot.range(bounds, direction(descending)).unwrap().take(limit);
            let mut expected = within(map, &(start.clone(), end.clone()));
            if descending {
                expected.reverse();
            }
            expected.truncate(limit);
            assert_eq!(listed(entries), expected);
        }
    }

    fn prefix(&self, prefix: &[u8], descending: bool) {
        let snapshot = self.store().snapshot();
        let mut expected = within(&self.map, &(Bound::Unbounded, Bound::Unbounded));
        expected.retain(|(key, _)| key.starts_with(prefix));
        if descending {
            expected.reverse();
        }
        assert_eq!(listed(snapshot.prefix(prefix, direction(descending)).unwrap()), expected);
    }

    fn reopen(&mut self) {
        self.kept.clear();
        let before = self.store().snapshot().position();
        self.store = None;
        let store = Store::open(&self.folder, &small()).unwrap();
        assert_eq!(store.snapshot().position(), before);
        self.store = Some(store);
        self.keep();
    }
}

fn key_of(check: &Check) -> Option<&Vec<u8>> {
    match check {
        Check::Absent(key)
        | Check::Present(key)
        | Check::Equals(key, _)
        | Check::StartsWith(key, _)
        | Check::Unchanged(key, _) => Some(key),
        Check::UnchangedRange(..) => None,
    }
}

/// By filter, not by `BTreeMap::range`: that one panics on bounds that exclude each other.
fn within(map: &Map, bounds: &(Bound<Vec<u8>>, Bound<Vec<u8>>)) -> Vec<(Vec<u8>, Vec<u8>)> {
    use std::ops::RangeBounds;
    map.iter()
        .filter(|(key, _)| bounds.contains(*key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn listed<'s>(
    entries: impl Iterator<Item = Result<askloom_embedded::store::Entry<'s>, askloom_embedded::store::Error>>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    entries.map(|entry| entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec())).unwrap()).collect()
}

fn direction(descending: bool) -> Direction {
    if descending { Direction::Descending } else { Direction::Ascending }
}

fn run(steps: &[Step]) {
    let mut pair = Pair::new();
    for step in steps {
        pair.take(step);
    }
    pair.read(&Bound::Unbounded, &Bound::Unbounded, false, usize::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_an_ordered_map(steps in prop::collection::vec(step(), 1..60)) {
        run(&steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "slow"]
    fn the_store_is_an_ordered_map_for_long(steps in prop::collection::vec(step(), 1..200)) {
        run(&steps);
    }
}

/// Readers check, while writers go on, that each snapshot shows every batch whole and only up to its position.
#[test]
fn snapshots_are_consistent_while_writes_go_on() {
    let folder = Scratch::new();
    let store = folder.open();
    let parts = |n: u64| (0..20_u8).fold(Batch::new(), |batch, part| batch.put([part], n.to_be_bytes()));
    super::committed(&store, parts(1));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let snapshot = store.snapshot();
                    let entries = listed(snapshot.range(.., Direction::Ascending).unwrap());
                    assert_eq!(entries.len(), 20);
                    let expected = snapshot.position().to_be_bytes();
                    assert!(entries.iter().all(|(_, value)| value == &expected), "half a batch was seen");
                    assert!(snapshot.position() >= last, "time went back");
                    last = snapshot.position();
                }
            });
        }
        for n in 2..2000 {
            assert_eq!(super::committed(&store, parts(n)), n);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
