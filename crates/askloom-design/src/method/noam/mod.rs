//! NoAM: an aggregate for each root, in a block of its own, split into entries by what is used together.
//!
//! - [`aggregate`]: which classes are in which aggregate, and why;
//! - [`suggest`]: what queries want of other aggregates, which nobody copies in silence;
//! - [`usage`], [`cluster`], [`candidate`]: ways to cut an aggregate, by what statements use together;
//! - [`load`], [`choose`]: what the workload costs under each, and the cheapest.

mod aggregate;
mod candidate;
mod choose;
mod cluster;
mod load;
mod suggest;
mod usage;

pub(super) use choose::{Cuts, cuts};

use super::{Decision, Paper, Proposal};
use crate::saved::rule_text;
use crate::simple;
use askloom_model::{Contents, Design, Model, Origin, Role, Rule, Table};
use askloom_plan::cost::Costing;
use serde::Serialize;

/// The collections of blocks, as the paper has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocks {
    pub collections: Vec<BlockCollection>,
}

/// One collection: a block for each aggregate of a class, with entries by rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockCollection {
    pub name: String,
    /// What identifies a block.
    pub key: Vec<String>,
    /// As the paper writes them: `/Game/*/rounds[*]`.
    pub rules: Vec<String>,
}

/// Where the paper says which classes make an aggregate, and what an aggregate is for.
const AGGREGATES: &str = "NoAM, section 4.1";
/// Where it says how to cut one.
const PARTITIONING: &str = "NoAM, section 4.2";
/// Where guidelines that contradict each other are settled by measuring.
const CASE_STUDY: &str = "NoAM lecture, case study";
const OURS: &str = "askloom";

/// The design. An invariant over two aggregates never comes here: the check of the model refuses it (AL0601).
#[must_use]
pub fn propose(model: &Model, costing: &Costing<'_>) -> Proposal {
    let mut design = Design { method: "noam".to_owned(), collections: Table::default() };
    simple::masters(model, Origin::Method, &mut design);
    let mut decisions: Vec<Decision> = aggregate::decisions(model);
    decisions.extend(suggest::decisions(model));
    decisions.extend(choose::choose(model, costing, &mut design));
    let paper = Paper::Noam(blocks(model, &design));
    Proposal { design, decisions, paper }
}

fn blocks(model: &Model, design: &Design) -> Blocks {
    let conceptual = &model.conceptual;
    let one = |collection: &askloom_model::Collection| BlockCollection {
        name: collection.name.clone(),
        key: collection
            .key_fields()
            .map(|field| askloom_plan::naming::leaf_name(conceptual, field.path.leaf))
            .collect(),
        rules: match &collection.contents {
            Contents::Aggregate(rules) => texts(model, rules),
            Contents::Fields(_) | Contents::Nested(_) => Vec::new(),
        },
    };
    // What masters carry of others is none of the paper's blocks.
    let masters = design.collections.iter().filter(|(_, collection)| collection.role == Role::Master);
    Blocks { collections: masters.map(|(_, collection)| one(collection)).collect() }
}

fn texts(model: &Model, rules: &[Rule]) -> Vec<String> {
    rules.iter().map(|rule| rule_text(&model.conceptual, rule)).collect()
}

/// `a`, `a and b`, `a, b and c`.
fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [before @ .., last] => {
            let before: Vec<&str> = before.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", before.join(", "), last.as_ref())
        }
    }
}
