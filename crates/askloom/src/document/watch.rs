//! What deserves a look: large blocks, scans, statements without a plan, collections that nobody reads.

use super::bound::is_past_counting;
use super::note::{Note, SourceLine};
use super::{CollectionDocument, PlanDocument, Total};
use crate::human;
use crate::human::amount;
use askloom_model::{Keeper, Origin, Role, Words};

/// A block above this is worth a word on any store.
const LARGE_BLOCK: f64 = 1e8;

pub(super) fn watch(
    words: &Words,
    collections: &[CollectionDocument],
    plans: &[PlanDocument],
    total: &Total,
) -> Vec<Note> {
    let mut watch: Vec<Note> = plans.iter().flat_map(of_plan).collect();
    for collection in collections {
        let texts = [large(words, collection), unread(collection, plans)];
        let note =
            |text: String| Note::new(format!("{}: {text}", collection.name), collection.source.place.clone());
        watch.extend(texts.into_iter().flatten().map(note));
    }
    let Total { cost, requests, rows, bytes, storage, write_amplification: _ } = *total;
    if [cost, requests, rows, bytes, storage].into_iter().any(is_past_counting) {
        let text = "some figures are past counting: look at @rate, @count, @avg and @size";
        watch.push(Note::new(text.to_owned(), SourceLine::default()));
    }
    watch
}

fn of_plan(plan: &PlanDocument) -> Vec<Note> {
    let mut texts = Vec::new();
    if let Some(missing) = &plan.missing {
        texts.push(format!("no plan: {missing}"));
    }
    if plan.scans {
        texts.push(format!("goes through everything, {} entries a call", human::count(plan.rows())));
    }
    if plan.reads == "lagging" {
        texts.push("may see a copy that is behind its master".to_owned());
    }
    let note = |text: String| Note::new(format!("{}: {text}", plan.statement), plan.place.clone());
    texts.into_iter().map(note).collect()
}

fn large(words: &Words, collection: &CollectionDocument) -> Option<String> {
    // An index of stored fields has no blocks.
    if words.own_key.is_some() && collection.kept_by == Keeper::Store {
        return None;
    }
    let most = collection.estimate.largest_block_bytes;
    let large = human::bytes(most);
    if collection.block_key.is_empty() && collection.role != Role::Master {
        return Some(format!("all of it is under one {}: {large}", words.block));
    }
    (most > LARGE_BLOCK).then(|| format!("what is under one {} can grow to {large}", words.block))
}

/// A copy of the method's own that costs its writes and serves nobody. What was added is there for a reason.
fn unread(collection: &CollectionDocument, plans: &[PlanDocument]) -> Option<String> {
    let is_read = plans.iter().any(|plan| plan.reads_of(&collection.name));
    if collection.role == Role::Master || collection.origin == Origin::Added || is_read {
        return None;
    }
    let kept = match collection.kept_right_by.len() {
        0 => String::new(),
        1 => ", and 1 write keeps it right".to_owned(),
        several => format!(", and {} keep it right", amount(several, "write")),
    };
    Some(format!("no statement reads it{kept}"))
}
