//! What the model says about designs: invariants, representations, given collections and mixes.

use crate::{ClassId, Condition, Member, Path, Position, PositionId, Span, Table};
use serde::Serialize;

/// Paths that must change together, atomically.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Invariant {
    pub name: String,
    pub class: ClassId,
    pub paths: Vec<Vec<Member>>,
    #[serde(skip)]
    pub span: Span,
}

/// NoAM's rules for one class, or for every root class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Representation {
    pub name: String,
    /// `None` is `*`.
    pub class: Option<ClassId>,
    pub rules: Vec<Rule>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// `None` is `*`.
    pub class: Option<ClassId>,
    pub steps: Vec<RuleStep>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleStep {
    /// `name`, or with `each` `name[*]`
    Field { name: String, each: bool },
    /// `*`, or with `each` `*[*]`
    AnyField { each: bool },
    /// `**`
    EachAtom,
}

/// A collection that exists already.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GivenCollection {
    pub name: String,
    /// What it is called in the store, if not by its name.
    pub physical_name: Option<String>,
    pub class: ClassId,
    pub positions: Table<PositionId, Position>,
    pub key: Vec<Path>,
    pub sort: Vec<SortField>,
    pub keep: Keep,
    pub condition: Option<Condition>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SortField {
    pub path: Path,
    pub descending: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// The whole aggregate.
    All,
    Fields(Vec<Path>),
}

/// A named mix of statements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mix {
    pub name: String,
    pub entries: Vec<MixEntry>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MixEntry {
    pub statement: String,
    pub share: Share,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Share {
    Weight(f64),
    PerSecond(f64),
}
