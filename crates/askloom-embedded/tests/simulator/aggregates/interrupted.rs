//! One write, interrupted at every operation by others that run to their end: it goes on after them, or has crashed.

use super::watched::Watched;
use super::{CROWDED, Case, Seen, Stepped, Told, at_once, parse, unchecked};
use crate::random::Random;
use askloom_design::simple;
use askloom_embedded::KeyedSchema;
use askloom_embedded::codec::Names;
use askloom_embedded::one_block::{OneBlock, Single, Writer};
use askloom_engine::intents::{Error, Fault, Outcome, WriteId};
use askloom_model::{Element, Member, Record, Value};
use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

/// Stores an instance of `CROWDED`, or deletes it.
#[derive(Clone, Copy)]
enum Act {
    X(i64),
    /// With the X that it refers to, and with the parts that it has, each with the X that that refers to.
    Y(i64, Option<i64>, &'static [(i64, Option<i64>)]),
    /// With its value, its Y, and the parts that it refers to.
    Z(i64, Option<i64>, Option<i64>, &'static [i64]),
    Delete(&'static str, i64),
}

fn record(schema: &KeyedSchema, class: &str, id: i64) -> Record {
    let class = schema.class(class).unwrap();
    let mut record = Record::new(class);
    record.set(schema.member(class, "k").unwrap(), Value::Int(id));
    record
}

fn reference(id: Option<i64>) -> Value {
    id.map_or(Value::Null, |id| Value::Reference(vec![Value::Int(id)]))
}

fn member(schema: &KeyedSchema, record: &Record, name: &str) -> Member {
    schema.member(record.class, name).unwrap()
}

impl Act {
    fn wish(self, schema: &KeyedSchema) -> super::Wish {
        let made = match self {
            Self::X(id) => record(schema, "X", id),
            Self::Y(id, x, parts) => {
                let mut made = record(schema, "Y", id);
                made.set(member(schema, &made, "r0"), reference(x));
                let part = |&(id, x): &(i64, Option<i64>)| {
                    let mut part = record(schema, "P", id);
                    part.set(member(schema, &part, "r1"), reference(x));
                    Value::Record(Box::new(part))
                };
                let parts = (0..).zip(parts.iter().map(part));
                let parts = parts.map(|(ordinal, value)| Element { ordinal, value }).collect();
                made.set(member(schema, &made, "o"), Value::List(parts));
                made
            }
            Self::Z(id, value, y, parts) => {
                let mut made = record(schema, "Z", id);
                made.set(member(schema, &made, "a0"), value.map_or(Value::Null, Value::Int));
                made.set(member(schema, &made, "r0"), reference(y));
                let parts = parts.iter().map(|id| vec![Value::Int(*id)]).collect();
                made.set(member(schema, &made, "r1"), Value::Set(parts));
                made
            }
            Self::Delete(class, id) => return ((schema.class(class).unwrap(), vec![Value::Int(id)]), None),
        };
        ((made.class, made.identity(&schema.model.conceptual).unwrap()), Some(made))
    }
}

/// Whether the first goes on when the others are done.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    GoesOn,
    HasCrashed,
}

struct Meeting {
    before: &'static [Act],
    first: Act,
    others: &'static [Act],
}

async fn act<B>(writer: &Writer<'_, B>, wish: super::Wish, write: WriteId) -> Result<Outcome, Error>
where
    B: askloom_engine::intents::Blocks<Terms = askloom_embedded::one_block::Aggregates>,
{
    match wish {
        (_, Some(record)) => writer.store(record, write).await,
        (id, None) => writer.delete(&id, write).await,
    }
}

impl<S: OneBlock> Case<'_, S> {
    fn promise(&mut self, act: Act) -> (WriteId, super::Wish) {
        let write = WriteId(self.wishes.len() as u128 + 1);
        let wish = act.wish(self.schema);
        self.wishes.insert(write, wish.clone());
        (write, wish)
    }

    fn note(&mut self, write: WriteId, done: Result<Outcome, Error>, told: &mut Told) {
        match done {
            Ok(Outcome::Done | Outcome::Owed) => told.done.push(write),
            Ok(Outcome::Unchanged) => {}
            Err(error) => {
                self.seen.count(&error);
                told.refused.push(write);
            }
        }
    }

    fn at_once(&mut self, done: Act, told: &mut Told) {
        let (write, wish) = self.promise(done);
        let blocks = Single { schema: self.schema, store: self.store };
        let writer = Writer { schema: self.schema, blocks: &blocks, now: self.now, fault: self.fault };
        let done = at_once(act(&writer, wish, write));
        self.note(write, done, told);
    }
}

/// Interrupts after a number of operations. False if the first write has fewer.
fn interrupt(
    (schema, unchecked): (&KeyedSchema, &KeyedSchema),
    meeting: &Meeting,
    after: usize,
    then: Then,
    fault: Option<Fault>,
) -> bool {
    let store = Watched::default();
    let now = "2026-06-01T00:00:00Z".parse().unwrap();
    let (wishes, seen) = (BTreeMap::new(), Seen::default());
    let mut case = Case { schema, unchecked, store: &store, now, fault, wishes, seen };
    let mut told = Told::default();
    for &done in meeting.before {
        case.at_once(done, &mut told);
    }
    assert_eq!(told.done.len(), meeting.before.len(), "the beginning is possible");
    let (write, wish) = case.promise(meeting.first);
    let blocks = Stepped(Single { schema, store: &store });
    let writer = Writer { schema, blocks: &blocks, now, fault };
    let mut first = Box::pin(act(&writer, wish, write));
    let mut step = || first.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    for _ in 0..after {
        if step().is_ready() {
            return false;
        }
    }
    let known = told.done.len();
    for &done in meeting.others {
        case.at_once(done, &mut told);
    }
    if then == Then::GoesOn {
        let done = loop {
            if let Poll::Ready(done) = step() {
                break done;
            }
        };
        case.note(write, done, &mut told);
    }
    case.sweep();
    case.check(&told, &mut Random::new(1));
    if then == Then::HasCrashed {
        // Who came later and was told that it is done has what it wanted.
        let held: BTreeMap<_, _> = case.held().into_iter().collect();
        for write in &told.done[known..] {
            let (id, wanted) = &case.wishes[write];
            assert_eq!(held.get(id), wanted.as_ref(), "a crash before has undone {write:?}");
        }
    }
    true
}

fn interrupt_everywhere(meeting: &Meeting, fault: Option<Fault>) -> usize {
    let model = parse(CROWDED);
    let design = simple::design(&model);
    let without = KeyedSchema::new(unchecked(&model), design.clone());
    let schema = KeyedSchema::new(model, design);
    let mut points = 0;
    for then in [Then::GoesOn, Then::HasCrashed] {
        points +=
            (0..).take_while(|&after| interrupt((&schema, &without), meeting, after, then, fault)).count();
    }
    points
}

const MEETINGS: [Meeting; 10] = [
    // One that refuses, and the delete that it would refuse.
    Meeting {
        before: &[Act::Y(1, None, &[])],
        first: Act::Delete("Y", 1),
        others: &[Act::Z(1, None, Some(1), &[])],
    },
    Meeting {
        before: &[Act::Y(1, None, &[])],
        first: Act::Z(1, None, Some(1), &[]),
        others: &[Act::Delete("Y", 1)],
    },
    // One that refuses comes to refer to what has to go, too.
    Meeting {
        before: &[Act::X(1), Act::Y(1, Some(1), &[])],
        first: Act::Delete("X", 1),
        others: &[Act::Z(1, None, Some(1), &[])],
    },
    // What has gone comes back, and others refer to it.
    Meeting {
        before: &[Act::Y(1, None, &[(1, None)]), Act::Z(1, None, None, &[1])],
        first: Act::Delete("Y", 1),
        others: &[Act::Y(1, None, &[(1, None)]), Act::Z(2, None, None, &[1])],
    },
    // The same, in another owner.
    Meeting {
        before: &[Act::Y(1, None, &[(1, None)]), Act::Z(1, None, None, &[1])],
        first: Act::Y(1, None, &[]),
        others: &[Act::Y(2, None, &[(1, None)]), Act::Z(2, None, None, &[1])],
    },
    // A part that two want.
    Meeting {
        before: &[Act::X(1), Act::Y(1, None, &[])],
        first: Act::Y(1, None, &[(1, None)]),
        others: &[Act::Y(2, None, &[(1, Some(1))])],
    },
    // A value that two want.
    Meeting { before: &[], first: Act::Z(1, Some(7), None, &[]), others: &[Act::Z(2, Some(7), None, &[])] },
    // Parts go by a cascade, and others let go of them.
    Meeting {
        before: &[Act::X(1), Act::Y(1, None, &[(1, Some(1)), (2, None)]), Act::Z(1, None, None, &[1, 2])],
        first: Act::Delete("X", 1),
        others: &[Act::Z(2, None, Some(1), &[2]), Act::Y(1, None, &[(1, None), (2, None), (3, None)])],
    },
    // Two deletes that want the same.
    Meeting {
        before: &[Act::X(1), Act::X(2), Act::Y(1, Some(1), &[(1, Some(2))]), Act::Z(1, None, None, &[1])],
        first: Act::Delete("X", 1),
        others: &[Act::Delete("X", 2)],
    },
    // A part changes its owner while somebody comes to refer to it.
    Meeting {
        before: &[Act::Y(1, None, &[(1, None)]), Act::Z(1, None, None, &[])],
        first: Act::Z(1, None, None, &[1]),
        others: &[Act::Y(1, None, &[]), Act::Y(2, None, &[(1, None)])],
    },
];

#[test]
fn an_interruption_does_no_harm_wherever_it_comes() {
    let points: usize = MEETINGS.iter().map(|meeting| interrupt_everywhere(meeting, None)).sum();
    println!("{points} interruptions");
    assert!(points > 200, "the writes are short");
}

#[test]
fn faults_are_found_by_interruptions() {
    for fault in [
        Fault::ClosingSkipped,
        Fault::TouchSkipped,
        Fault::FollowersUnlocked,
        Fault::NotFollowed,
        Fault::ComesBackEarly,
        Fault::ClaimUntouched,
    ] {
        let caught = MEETINGS.iter().position(|meeting| {
            let run = std::panic::AssertUnwindSafe(|| interrupt_everywhere(meeting, Some(fault)));
            std::panic::catch_unwind(run).is_err()
        });
        println!("{fault:?}: by meeting {}", caught.unwrap_or_else(|| panic!("{fault:?} was not found")));
    }
}
