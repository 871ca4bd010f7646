//! KVMod: a collection for each query, and those that share most of their fields made one.
//!
//! The paper merges by the names of fields alone. Two collections of the same names can have other rows, and then a
//! query over the merged one gives wrong answers; so here a merge needs the same rows too ([`grain`]). A merge that
//! the names would make and the rows refuse is told.

mod collection;
mod grain;
pub mod merge;

use super::{Decision, Paper, Proposal, complete};
use askloom_model::{
    Collection, Conceptual, Contents, Design, Keeper, KeyField, Leaf, Model, Origin, Path, PositionId, Role,
    Source, Table,
};
use askloom_plan::upkeep;
use collection::Draft;
use merge::{FieldNumber, Group, Threshold, merge};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;

const ALGORITHM_1: &str = "KVMod, algorithm 1";
const MERGING: &str = "KVMod, algorithms 2 and 3";
const ASKLOOM: &str = "askloom";

/// The collections as the paper prints them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Logical {
    pub collections: Vec<LogicalCollection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogicalCollection {
    pub name: String,
    /// The paper's generated key.
    pub key: String,
    pub fields: Vec<LogicalField>,
    pub queries: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogicalField {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    /// Some query orders by it: what the paper calls indexed.
    pub sorted: bool,
    /// Some query has it in its condition.
    pub searched: bool,
}

/// The design.
#[must_use]
pub fn propose(model: &Model, threshold: Threshold) -> Proposal {
    let conceptual = &model.conceptual;
    let questions = complete::questions(model);
    let drafts: Vec<Draft> = questions.iter().map(|query| Draft::new(conceptual, query)).collect();
    let fields = numbered(&drafts, |draft, field| Some((draft.root, draft.meaning(&field.path))));
    let groups = merge(&fields, threshold, &|a, b| grain::same(conceptual, &drafts, a, b));
    let mut decisions = first_decisions(&drafts);
    let mut design = Design { method: "kvmod".to_owned(), collections: Table::default() };
    let mut logical = Logical { collections: Vec::new() };
    for group in &groups {
        let merged = Draft::merged(conceptual, &drafts, group);
        if group.len() > 1 {
            decisions.push(merged_decision(&drafts, &fields, group, &merged));
        }
        logical.collections.push(merged.logical(conceptual));
        let collection = collection(conceptual, &merged, &mut decisions);
        let name = upkeep::unused(&design, collection.name.clone());
        design.collections.push(Collection { name, ..collection });
    }
    decisions.extend(refusals(conceptual, &drafts, &groups, threshold));
    Proposal { design, decisions, paper: Paper::Kvmod(logical) }
}

fn first_decisions(drafts: &[Draft]) -> Vec<Decision> {
    let says = |draft: &Draft| {
        let (sorted, searched) = (draft.names(|field| field.sorted), draft.names(|field| field.searched));
        let mut says = format!("{} fields, from SELECT, WHERE and ORDER BY", draft.fields.len());
        if !searched.is_empty() {
            says.push_str(&format!("; searched by {}", searched.join(", ")));
        }
        if !sorted.is_empty() {
            says.push_str(&format!("; sorted by {}", sorted.join(", ")));
        }
        says
    };
    drafts.iter().map(|draft| Decision::new(&draft.name, says(draft), ALGORITHM_1)).collect()
}

/// How many of the fields of the two collections that began a group are the same.
fn merged_decision(drafts: &[Draft], fields: &[Vec<FieldNumber>], group: &Group, merged: &Draft) -> Decision {
    let names: Vec<&str> = group.iter().filter_map(|&at| drafts.get(at)).map(|d| d.name.as_str()).collect();
    let mut says = format!("one collection of {}", names.join(" and "));
    if let [first, second] = group.as_slice()
        && let (Some(first), Some(second)) = (fields.get(*first), fields.get(*second))
    {
        let shared = first.iter().filter(|field| second.contains(field)).count();
        says.push_str(&format!(
            ": they share {shared} of {} and {shared} of {} fields",
            first.len(),
            second.len()
        ));
    }
    says.push_str(&format!("; {} fields together", merged.fields.len()));
    Decision::new(&merged.name, says, MERGING)
}

/// Equal things have equal numbers.
fn numbered<K: Hash + Eq>(
    drafts: &[Draft],
    key: impl Fn(&Draft, &collection::Field) -> Option<K>,
) -> Vec<Vec<FieldNumber>> {
    let mut numbers: HashMap<K, FieldNumber> = HashMap::new();
    let mut number = |key: K| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(key).or_insert(next)
    };
    let mut all = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let mut fields: Vec<FieldNumber> =
            draft.fields.iter().filter_map(|field| key(draft, field)).map(&mut number).collect();
        fields.sort_unstable();
        fields.dedup();
        all.push(fields);
    }
    all
}

/// Merges that the bare names of fields would make and that are not made, because the rows are others.
fn refusals(
    conceptual: &Conceptual,
    drafts: &[Draft],
    groups: &[Group],
    threshold: Threshold,
) -> Vec<Decision> {
    let names = numbered(drafts, |_, field| Some(field.bare.clone()));
    let found: RefCell<Vec<(usize, usize)>> = RefCell::default();
    let note = |a: &Group, b: &Group| {
        if let ([a], [b]) = (a.as_slice(), b.as_slice()) {
            found.borrow_mut().push((*a, *b));
        }
        false
    };
    let _ = merge(&names, threshold, &note);
    let together = |a: usize, b: usize| groups.iter().any(|group| group.contains(&a) && group.contains(&b));
    let mut decisions = Vec::new();
    for (a, b) in found.into_inner() {
        let (Some(first), Some(second)) = (drafts.get(a), drafts.get(b)) else { continue };
        if together(a, b) {
            continue;
        }
        if let Some(why) = grain::difference(conceptual, first, second) {
            let says = format!(
                "is not made one with {}, as the names of its fields would have it: {why}",
                second.name
            );
            decisions.push(Decision::new(&first.name, says, ASKLOOM));
        }
    }
    decisions
}

/// A collection of rows by their identity: first that of the root, then the others.
fn collection(conceptual: &Conceptual, draft: &Draft, decisions: &mut Vec<Decision>) -> Collection {
    let (held, left): (Vec<_>, Vec<_>) = draft
        .fields
        .iter()
        .partition(|field| askloom_plan::positions::is_held_at(conceptual, &draft.positions, &field.path));
    if !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|field| field.name.as_str()).collect();
        let says = format!("{} is not one value a row: it is looked up where it is", names.join(", "));
        decisions.push(Decision::new(&draft.name, says, ASKLOOM));
    }
    let main = <PositionId as askloom_model::Id>::from_index(0);
    let itself = Path { position: main, hops: Vec::new(), leaf: Leaf::Itself };
    Collection {
        name: draft.name.clone(),
        role: Role::Copy,
        origin: Origin::Method,
        keeper: Keeper::Ours,
        partition_of: None,
        source: Source { root: draft.root, positions: draft.positions.clone(), condition: None },
        block_key: vec![KeyField { path: itself, descending: false }],
        entry_key: Vec::new(),
        contents: Contents::Fields(held.into_iter().map(|field| field.path.clone()).collect()),
        reasons: vec![format!(
            "Holds what {} needs, a row for each of its rows.",
            draft.queries.join(" and ")
        )],
    }
}
