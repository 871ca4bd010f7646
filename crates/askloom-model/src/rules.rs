//! What the model says about designs: invariants, representations, given collections and mixes.

use crate::{ClassId, Condition, EndId, Member, Path, Position, PositionId, Span, Table};
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

/// A collection that says more than which rows it holds: that it is the master of its class, keyed by time buckets, or
/// with several classes in one partition. Methods design masters; the others are checked only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeclaredCollection {
    pub name: String,
    /// What it is called in the store, if not by its name.
    pub physical_name: Option<String>,
    /// Whether it is the master of its classes.
    pub master: bool,
    /// The classes whose instances share its partitions. `key` is of the first.
    pub classes: Vec<DeclaredClass>,
    pub positions: Table<PositionId, Position>,
    pub key: Vec<DeclaredField>,
    pub sort: Vec<DeclaredField>,
    /// Beside what a master holds in any case: attributes that it carries over to-one references.
    pub keep: DeclaredKeep,
    pub condition: Option<Condition>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DeclaredClass {
    pub class: ClassId,
    /// The reference by which it belongs to the first class; `None` for the first class itself.
    pub by: Option<EndId>,
}

/// A field of the key or of the order within a partition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeclaredField {
    /// Where the path starts: one of the collection's classes.
    pub class: ClassId,
    pub path: Path,
    /// `day(at)`: the part of a timestamp, in UTC, that stands in the key.
    pub bucket: Option<TimeBucket>,
    pub descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeBucket {
    Hour,
    Day,
    Month,
}

impl TimeBucket {
    pub const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Month];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeclaredKeep {
    /// The whole aggregates.
    All,
    Fields(Vec<DeclaredField>),
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
