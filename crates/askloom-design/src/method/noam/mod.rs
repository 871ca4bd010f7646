//! NoAM: an aggregate for each root, in a block of its own, split into entries by what is used together.

use super::{Decision, Paper, Proposal};
use crate::cost::Costing;
use crate::saved::rule_text;
use crate::simple;
use askloom_model::{Contents, Design, Diagnostic, Model, Origin, Table};
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

/// The design.
pub fn propose(model: &Model, _costing: &Costing<'_>) -> Result<Proposal, Vec<Diagnostic>> {
    let mut design = Design { method: "noam".to_owned(), collections: Table::default() };
    simple::masters(model, Origin::Method, &mut design);
    let decisions: Vec<Decision> = Vec::new();
    let paper = Paper::Noam(blocks(model, &design));
    Ok(Proposal { design, decisions, paper })
}

fn blocks(model: &Model, design: &Design) -> Blocks {
    let conceptual = &model.conceptual;
    let one = |collection: &askloom_model::Collection| BlockCollection {
        name: collection.name.clone(),
        key: collection
            .block_key
            .iter()
            .map(|field| simple::leaf_name(conceptual, field.path.leaf))
            .collect(),
        rules: match &collection.contents {
            Contents::Aggregate(rules) => rules.iter().map(|rule| rule_text(conceptual, rule)).collect(),
            Contents::Fields(_) | Contents::Nested(_) => Vec::new(),
        },
    };
    Blocks { collections: design.collections.iter().map(|(_, collection)| one(collection)).collect() }
}
