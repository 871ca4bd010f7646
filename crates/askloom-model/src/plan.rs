//! How a statement is answered over a design: one structure that is priced, printed and executed.

use crate::{
    CollectionId, Column, Comparison, Condition, EndId, InSet, Limit, Operand, OrderTerm, Path, PositionId,
};
use serde::Serialize;

/// A plan of a query: how its rows are found, then what is done with them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    pub access: Access,
    /// Positions that the access does not give, in the order in which they are joined.
    pub joins: Vec<JoinStep>,
    /// What the access and the joins do not already guarantee.
    pub filter: Option<Condition>,
    pub group_by: Vec<Path>,
    /// `None`: rows come in this order already.
    pub sort: Option<Vec<OrderTerm>>,
    pub limit: Option<Limit>,
    pub columns: Vec<Column>,
    pub estimate: Estimate,
}

/// Where the first rows come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Access {
    pub collection: CollectionId,
    pub how: Reading,
    /// For each position of the collection, the query's position that it stands for.
    pub positions: Vec<PositionId>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// One aggregate by its id.
    GetBlock { key: Vec<Operand> },
    /// The entries of one block: those equal to some leading fields, then within a range.
    Range {
        key: Vec<Operand>,
        equal: Vec<Operand>,
        range: Option<KeyRange>,
        /// From the last entry to the first.
        backwards: bool,
        /// No more rows than the query's LIMIT are needed.
        limited: bool,
    },
    /// The same for each value of a set in place of one field of the key: those of the block first, then the equal ones.
    Each {
        field: usize,
        set: InSet,
        of: Box<Reading>,
    },
    /// Everything.
    Scan,
}

/// A range of the entry field that follows the equal ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyRange {
    pub low: Option<(Operand, Inclusive)>,
    pub high: Option<(Operand, Inclusive)>,
    /// STARTS WITH
    pub prefix: Option<Operand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Inclusive {
    Yes,
    No,
}

impl KeyRange {
    pub const ALL: Self = Self { low: None, high: None, prefix: None };

    /// Narrows by a comparison `field op operand`. False if it is no range.
    pub fn narrow(&mut self, op: Comparison, operand: &Operand) -> bool {
        let (bound, inclusive) = match op {
            Comparison::Greater => (&mut self.low, Inclusive::No),
            Comparison::GreaterOrEqual => (&mut self.low, Inclusive::Yes),
            Comparison::Less => (&mut self.high, Inclusive::No),
            Comparison::LessOrEqual => (&mut self.high, Inclusive::Yes),
            Comparison::Equal | Comparison::NotEqual => return false,
        };
        if bound.is_some() || self.prefix.is_some() {
            return false;
        }
        *bound = Some((operand.clone(), inclusive));
        true
    }
}

/// How a further position is reached from the ones before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JoinStep {
    pub position: PositionId,
    pub how: Joining,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Joining {
    /// A part, a list or a set of ids: inside the aggregate that is there already.
    Inside,
    /// The instances that a stored reference names, by their ids, in one batch.
    LookUp { master: CollectionId },
    /// Those that refer back, by an index from the target; then they are looked up.
    Back { index: CollectionId, master: CollectionId },
    /// Those that refer back, by reading all of them.
    BackByScan { master: CollectionId },
}

/// What a plan is expected to cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Estimate {
    pub requests: f64,
    pub partitions: f64,
    pub rows: f64,
    pub bytes: f64,
}

/// Which copies a write has to keep right, and what has to be read for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Upkeep {
    pub collection: CollectionId,
    /// Positions of the collection at which the written class stands.
    pub positions: Vec<PositionId>,
    /// How the root instances of the affected rows are found from the written one: ends walked backwards,
    /// nearest first, with the index that serves each.
    pub back: Vec<BackStep>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackStep {
    pub end: EndId,
    pub index: Option<CollectionId>,
}
