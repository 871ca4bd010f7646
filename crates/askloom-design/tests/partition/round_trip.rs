//! Legal rules give every aggregate back; all others lose something of one.

use crate::{checked, class, models, records, reference, rules};
use askloom_model::{AccessPath, AccessStep, ClassId, Conceptual, Element, Id, Member, Record, Rule, Value};
use askloom_plan::partition::{Entries, JoinError, Problem, diff, join, legal, split};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};

const CASES: u64 = 400;
const RULE_SETS: usize = 12;
const AGGREGATES: usize = 6;

#[test]
fn exactly_the_legal_rules_round_trip() {
    let (mut accepted, mut rejected, mut entries) = (0, 0, 0);
    for seed in 0..CASES {
        let mut random = Rng::with_seed(seed);
        let text = models::model(&mut random);
        let found = checked(&text);
        assert!(found.errors == 0, "seed {seed}: {:?}\n{text}", found.diagnostics);
        let conceptual = &found.model.conceptual;
        let root = class(conceptual, "E");
        for _ in 0..RULE_SETS {
            let rules = rules::rules(conceptual, &mut random);
            let shown: Vec<String> = rules.iter().map(|rule| rules::text(conceptual, rule)).collect();
            let case = format!("seed {seed}\n{text}{}", shown.join("\n"));
            let missed = reference::taken(conceptual, &rules, root).missed;
            match legal(conceptual, root, &rules) {
                Ok(()) => {
                    assert!(missed.is_empty(), "{case}\nis said to be legal, but {missed:?}");
                    accepted += 1;
                    for _ in 0..AGGREGATES {
                        let record = records::record(conceptual, root, &mut random);
                        entries += round_trip(conceptual, root, &rules, &record, &case);
                    }
                }
                Err(problem) => {
                    rejected += 1;
                    loses(conceptual, &rules, &problem, &missed, &case);
                }
            }
        }
    }
    assert!(accepted > 1000 && rejected > 1000, "{accepted} accepted, {rejected} rejected");
    assert!(entries > 10_000, "only {entries} entries were made");
}

fn round_trip(conceptual: &Conceptual, root: ClassId, rules: &[Rule], record: &Record, case: &str) -> usize {
    let case = || format!("{case}\n{}", record.to_json(conceptual, root));
    let entries = split(conceptual, rules, record).unwrap_or_else(|untaken| panic!("{}\n{untaken}", case()));
    let count = entries.len();
    assert!(count > 0, "{}\nhas no entries", case());
    let expected = reference::placed(conceptual, rules, record).unwrap();
    assert_eq!(reference::held(conceptual, &entries), expected, "{}", case());
    let needed = markers(conceptual, root, record);
    for (path, value) in &entries {
        let mut empty = BTreeSet::new();
        empty_records(conceptual, value, path, &mut empty);
        assert!(empty.is_subset(&needed), "{}\nneeds nothing of {empty:?} in `{path}`", case());
    }
    let joined = join(conceptual, root, entries).unwrap_or_else(|error| panic!("{}\n{error}", case()));
    assert_eq!(joined, *record, "{}", case());
    count
}

/// The records that have to be written themselves: nothing inside them says that they are there, of which class they
/// are, or what surrogate they have.
fn markers(conceptual: &Conceptual, root: ClassId, record: &Record) -> BTreeSet<AccessPath> {
    let mut needed = BTreeSet::new();
    let whole = Value::Record(Box::new(record.clone()));
    visit(conceptual, root, &whole, &AccessPath::default(), &mut |declared, record, path| {
        if record.fields.is_empty() || record.class != declared || record.surrogate.is_some() {
            needed.insert(path.clone());
        }
    });
    needed
}

/// The records in an entry of which it holds nothing else.
fn empty_records(
    conceptual: &Conceptual,
    value: &Value,
    path: &AccessPath,
    found: &mut BTreeSet<AccessPath>,
) {
    let any = ClassId::from_index(0);
    visit(conceptual, any, value, path, &mut |_, record, path| {
        if record.fields.is_empty() {
            found.insert(path.clone());
        }
    });
}

/// Every record in a value, with the class that its place declares.
fn visit(
    conceptual: &Conceptual,
    declared: ClassId,
    value: &Value,
    path: &AccessPath,
    see: &mut dyn FnMut(ClassId, &Record, &AccessPath),
) {
    let below = |step: AccessStep| AccessPath([&*path.0, &[step]].concat());
    match value {
        Value::Record(record) => {
            see(declared, record, path);
            for (&member, value) in &record.fields {
                let target = match member {
                    Member::End(end) => conceptual.ends[end].target,
                    Member::Attribute(_) => continue,
                };
                let here = below(AccessStep::Field(conceptual.member_name(member).to_owned()));
                visit(conceptual, target, value, &here, see);
            }
        }
        Value::List(elements) => {
            for element in elements {
                let here = below(AccessStep::Element(element.ordinal));
                visit(conceptual, declared, &element.value, &here, see);
            }
        }
        _ => {}
    }
}

/// Makes the aggregate that the problem is about and shows that it cannot be split.
fn loses(
    conceptual: &Conceptual,
    rules: &[Rule],
    problem: &Problem,
    missed: &[(ClassId, Vec<reference::Field>)],
    case: &str,
) {
    let names: Vec<&str> = problem.steps.iter().map(|&(_, member)| conceptual.member_name(member)).collect();
    let is_missed = missed.iter().any(|(class, fields)| {
        *class == problem.steps[0].0
            && fields.iter().map(|field| field.name.as_str()).eq(names.iter().copied())
    });
    assert!(is_missed, "{case}\n{problem}, which is not so");
    let witness = witness(conceptual, &problem.steps);
    let untaken = split(conceptual, rules, &witness).expect_err(case);
    let atom = &reference::atoms(conceptual, &witness)[0];
    assert!(atom.path.0.starts_with(&untaken.0.0), "{case}\n{problem}, and {untaken}");
}

fn witness(conceptual: &Conceptual, steps: &[(ClassId, Member)]) -> Record {
    let (&(class, member), below) = steps.split_first().unwrap();
    let mut record = Record::new(class);
    let mut random = Rng::with_seed(1);
    let value = match below {
        [] => loop {
            let value = records::value(conceptual, member, &mut random);
            if !value.is_absent() {
                break value;
            }
        },
        below => {
            let inner = Value::Record(Box::new(witness(conceptual, below)));
            match member {
                Member::End(end) if conceptual.ends[end].cardinality.is_many() => {
                    Value::List(vec![Element { ordinal: 3, value: inner }])
                }
                _ => inner,
            }
        }
    };
    record.set(member, value);
    record
}

/// What is written for a change, put over what was there, is what would have been written anew.
#[test]
fn differences_lead_from_the_old_to_the_new() {
    for seed in 0..200 {
        let mut random = Rng::with_seed(seed);
        let found = checked(&models::model(&mut random));
        let conceptual = &found.model.conceptual;
        let root = class(conceptual, "E");
        let rules = rules::rules(conceptual, &mut random);
        if legal(conceptual, root, &rules).is_err() {
            continue;
        }
        let old = records::record(conceptual, root, &mut random);
        let mut new = old.clone();
        let other = records::record(conceptual, root, &mut random);
        match random.bool() {
            true => new = other,
            false => {
                let key = new.fields.keys().next().copied();
                key.map(|member| new.fields.remove(&member));
            }
        }
        let (old, new) = (split(conceptual, &rules, &old).unwrap(), split(conceptual, &rules, &new).unwrap());
        let changes = diff(&old, &new);
        let mut patched = old.clone();
        for (path, value) in &changes {
            assert_ne!(old.get(path), value.as_ref(), "seed {seed}: `{path}` is as it was");
            match value {
                Some(value) => patched.insert(path.clone(), value.clone()),
                None => patched.remove(path),
            };
        }
        assert_eq!(patched, new, "seed {seed}");
        assert_eq!(diff(&new, &new), BTreeMap::new());
    }
}

#[test]
fn entries_that_no_aggregate_has_are_refused() {
    let text = "entity E { id k: text, tags: text[*], part p: V? }\nvalue V { x: int? }";
    let found = checked(text);
    let conceptual = &found.model.conceptual;
    let root = class(conceptual, "E");
    let value = class(conceptual, "V");
    let field = |name: &str| AccessStep::Field(name.to_owned());
    let element = AccessStep::Element(0);
    let path = |steps: &[AccessStep]| AccessPath(steps.to_vec());
    let text = Value::Text("t".to_owned());
    let joined = |entries: Vec<(AccessPath, Value)>| join(conceptual, root, entries.into_iter().collect());

    assert_eq!(joined(vec![]), Err(JoinError::Nothing));
    let inside = path(&[field("k"), field("x")]);
    let through = joined(vec![(path(&[field("k")]), text.clone()), (inside.clone(), text.clone())]);
    assert_eq!(through, Err(JoinError::Misplaced(inside)));
    let tags = Value::List(vec![Element { ordinal: 0, value: text.clone() }]);
    let first = path(&[field("tags"), element]);
    let twice = joined(vec![(path(&[field("tags")]), tags), (first.clone(), text.clone())]);
    assert_eq!(twice, Err(JoinError::Twice(first)));
    let other = Value::Record(Box::new(Record::new(value)));
    assert_eq!(joined(vec![(path(&[]), other)]), Err(JoinError::Misplaced(path(&[]))));
    // A field that the model has no more is passed over.
    let gone: Entries =
        [(path(&[field("k")]), text.clone()), (path(&[field("old"), field("x")]), text)].into();
    assert_eq!(join(conceptual, root, gone).unwrap().fields.len(), 1);
}
