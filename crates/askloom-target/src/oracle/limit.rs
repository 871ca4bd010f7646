//! What Oracle NoSQL would refuse, since it is too large. Its documentation has numbers for its cloud service alone, and
//! what those say of a row is said of a pair here; of keys of pairs it says nothing.

use super::capability::CAPABILITY;
use super::schema::Pairs;
use super::write::{Held, Operation, sample, transactions};
use crate::generate::{self, Source, too_large};
use askloom_plan::program::{Action, Step};

const STORE: &str = "Oracle NoSQL";

/// What is refused of all statements and records.
pub(super) fn refused(source: &Source<'_>, all: &[Pairs]) -> Vec<String> {
    let layout = source.layout;
    let step = |step: &Step| match &step.action {
        Action::Read(_) => Vec::new(),
        Action::Change(batch) => {
            let made = transactions(layout, all, batch);
            made.iter().flat_map(|(_, operations)| of_transaction(operations)).collect()
        }
    };
    generate::refused(source, step, |record| of_transaction(&sample(layout, all, record)))
}

fn of_transaction(operations: &[Operation]) -> Vec<String> {
    let most = |limit: Option<u64>| limit.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let record = most(CAPABILITY.limits.record.as_ref().map(|fact| fact.value));
    let request = most(CAPABILITY.limits.block.as_ref().map(|fact| fact.value));
    let sizes: Vec<usize> = operations.iter().map(size).collect();
    let mut found: Vec<String> =
        sizes.iter().filter_map(|&size| too_large("a pair", size, record, STORE)).collect();
    found.extend(too_large("what is put at once", sizes.iter().sum(), request, STORE));
    found
}

/// What is known of the bytes that a pair holds.
fn size(operation: &Operation) -> usize {
    match operation {
        Operation::Put(_, held) | Operation::PutIfAbsent(_, held) | Operation::PutIfVersion(_, held) => {
            bytes(held)
        }
        Operation::Delete(_) | Operation::DeleteOthers(_) => 0,
    }
}

fn bytes(held: &Held) -> usize {
    match held {
        Held::Json(json) => json.to_string().len(),
        Held::Slot(_) => 0,
        Held::Object(fields) => fields.iter().map(|(name, held)| name.len() + bytes(held)).sum(),
    }
}
