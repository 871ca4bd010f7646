//! Random aggregates under random rules: after every write the keyspace holds exactly their entries.

use crate::{all_entries, class, entries, models, parse, records, rules, schema};
use askloom_embedded::codec::BlockEntry;
use askloom_embedded::keyspace::write as keyed;
use askloom_embedded::{KeyedSchema, KeyspaceRecords, Memory};
use askloom_engine::write::{Expect, Inputs};
use askloom_engine::{Instances, Reader};
use askloom_model::{ClassId, Conceptual, Identity, Member, Model, Record, Rule, Value};
use askloom_plan::partition::{diff, legal, split};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// What should be stored.
type Expected = BTreeMap<Identity, Record>;

struct Case {
    schema: KeyedSchema,
    root: ClassId,
    rules: Vec<Rule>,
    keyspace: Memory,
    expected: Expected,
    deleted: BTreeSet<Identity>,
}

fn inputs() -> Inputs {
    Inputs { now: "2026-06-01T00:00:00Z".parse().unwrap(), uuids: Vec::new(), id: None }
}

fn legal_rules(conceptual: &Conceptual, root: ClassId, random: &mut Rng) -> Vec<Rule> {
    loop {
        let rules = rules::rules(conceptual, random);
        if legal(conceptual, root, &rules).is_ok() {
            return rules;
        }
    }
}

/// An aggregate that the language allows, with one of a few ids.
fn aggregate(conceptual: &Conceptual, root: ClassId, random: &mut Rng) -> Record {
    let mut record = records::record(conceptual, root, random);
    complete(conceptual, &mut record, random);
    let n = random.u128(..3);
    match conceptual.classes[record.class].identifier.first() {
        Some(&id) => record.set(id, Value::Text(format!("e{n}"))),
        None => record.surrogate = Some(uuid::Uuid::from_u128(n)),
    }
    record
}

/// Gives a record what it must have. Ids of parts are all different.
fn complete(conceptual: &Conceptual, record: &mut Record, random: &mut Rng) {
    for member in conceptual.all_members(record.class).collect::<Vec<_>>() {
        if let Member::Attribute(id) = member {
            let attribute = &conceptual.attributes[id];
            if attribute.id {
                record.set(member, Value::Int(random.i32(..).into()));
            } else if !attribute.optional && record.get(member).is_absent() {
                record.set(member, records::value(conceptual, member, random));
            }
        }
    }
    for value in record.fields.values_mut() {
        match value {
            Value::Record(inner) => complete(conceptual, inner, random),
            Value::List(elements) => {
                for element in elements {
                    if let Value::Record(inner) = &mut element.value {
                        complete(conceptual, inner, random);
                    }
                }
            }
            _ => {}
        }
    }
}

impl Case {
    fn new(model: &Model, random: &mut Rng) -> Self {
        let root = class(&model.conceptual, "E");
        let rules = legal_rules(&model.conceptual, root, random);
        // Shown when the test fails.
        rules.iter().for_each(|rule| println!("{}", rules::text(&model.conceptual, rule)));
        let (keyspace, expected, deleted) = (Memory::new(), Expected::new(), BTreeSet::new());
        Self { schema: schema(model, root, &rules), root, rules, keyspace, expected, deleted }
    }

    fn conceptual(&self) -> &Conceptual {
        &self.schema.model.conceptual
    }

    /// True if something was written.
    fn step(&mut self, random: &mut Rng) -> bool {
        let record = aggregate(self.conceptual(), self.root, random);
        let id = record.identity(self.conceptual()).unwrap();
        let before = self.expected.get(&id).cloned();
        let change = if random.u8(..5) == 0 {
            let answer = keyed::delete(&self.schema, &self.keyspace, self.root, &id, &inputs()).unwrap();
            assert_eq!(answer.1, self.expected.remove(&id).is_some());
            if answer.1 {
                self.deleted.insert(id.clone());
            }
            answer.0
        } else {
            // An id is taken by an aggregate of another class of the hierarchy.
            let stored =
                keyed::store(&self.schema, &self.keyspace, record.clone(), Expect::Anything, &inputs());
            let is_taken = before.as_ref().is_some_and(|before| before.class != record.class);
            assert_eq!(stored.is_err(), is_taken, "{:?}", stored.err());
            let Ok((change, _)) = stored else { return false };
            self.expected.insert(id.clone(), record);
            change
        };
        self.puts_only_what_changed(&id, before.as_ref(), &change.puts);
        change.apply(&mut self.keyspace);
        !change.puts.is_empty()
    }

    fn puts_only_what_changed(
        &self,
        id: &Identity,
        before: Option<&Record>,
        puts: &BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    ) {
        let split = |record: Option<&Record>| {
            let entries = record.map(|record| split(self.conceptual(), &self.rules, record).unwrap());
            entries.unwrap_or_default()
        };
        let after = self.expected.get(id);
        let mut meant: BTreeSet<_> = diff(&split(before), &split(after))
            .into_keys()
            .map(|path| (id.clone(), BlockEntry::Aggregate(path)))
            .collect();
        if before.is_some() || after.is_some() {
            meant.insert((id.clone(), BlockEntry::System));
        }
        assert_eq!(entries(&self.schema, self.root, puts.keys()), meant);
    }

    fn check(&self) {
        let records = KeyspaceRecords { schema: &self.schema, keyspace: &self.keyspace };
        let reader = Reader::new(&records);
        let all: Expected = reader
            .all(self.root)
            .unwrap()
            .into_iter()
            .map(|(id, stored)| (id, stored.record.clone()))
            .collect();
        assert_eq!(all, self.expected);
        let records = KeyspaceRecords { schema: &self.schema, keyspace: &self.keyspace };
        let fresh = Reader::new(&records);
        for (id, record) in &self.expected {
            assert_eq!(fresh.aggregate(self.root, id).unwrap().unwrap().record, *record);
        }
        assert_eq!(all_entries(&self.schema, self.root, &self.keyspace), self.meant());
    }

    /// Every entry that should be there. What was deleted leaves its system entry.
    fn meant(&self) -> BTreeSet<(Identity, BlockEntry)> {
        let ids = self.expected.keys().chain(&self.deleted);
        let mut meant: BTreeSet<_> = ids.map(|id| (id.clone(), BlockEntry::System)).collect();
        for (id, record) in &self.expected {
            let paths = split(self.conceptual(), &self.rules, record).unwrap().into_keys();
            meant.extend(paths.map(|path| (id.clone(), BlockEntry::Aggregate(path))));
        }
        meant
    }
}

#[test]
fn the_keyspace_holds_the_entries_of_its_aggregates() {
    let mut writes = 0;
    for seed in 0..150 {
        let mut random = Rng::with_seed(seed);
        let text = models::model(&mut random);
        let run = || {
            let mut random = Rng::with_seed(seed);
            let mut case = Case::new(&parse(&text), &mut random);
            let mut written = 0;
            for _ in 0..12 {
                written += usize::from(case.step(&mut random));
                case.check();
            }
            written
        };
        writes += std::panic::catch_unwind(run).unwrap_or_else(|_| panic!("seed {seed}\n{text}"));
    }
    assert!(writes > 900, "only {writes} writes");
}

/// Blocks that were written by other rules are read, and the next write brings each under the new ones.
#[test]
fn a_block_follows_new_rules_with_its_next_write() {
    for seed in 0..100 {
        let mut random = Rng::with_seed(seed);
        let model = parse(&models::model(&mut random));
        let mut case = Case::new(&model, &mut random);
        for _ in 0..4 {
            case.step(&mut random);
        }
        case.rules = legal_rules(&model.conceptual, case.root, &mut random);
        case.schema = schema(&model, case.root, &case.rules);
        let records = KeyspaceRecords { schema: &case.schema, keyspace: &case.keyspace };
        let reader = Reader::new(&records);
        for (id, record) in &case.expected {
            assert_eq!(reader.aggregate(case.root, id).unwrap().unwrap().record, *record, "seed {seed}");
        }
        for record in case.expected.values() {
            let stored =
                keyed::store(&case.schema, &case.keyspace, record.clone(), Expect::Present, &inputs());
            stored.unwrap().0.apply(&mut case.keyspace);
        }
        case.check();
    }
}
