//! How a write is done over a design: what it reads, puts and deletes, and what makes that one.

use crate::{Assumption, ClassId, CollectionId, CopyLevel, EndId, Estimate, Joining, Member, Plan, Work};
use serde::Serialize;
use std::borrow::Cow;

/// How a write is done: which records are read, put and deleted, and what makes that one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WritePlan {
    pub of: WriteOf,
    pub target: &'static str,
    /// What costs are counted in.
    pub unit: Cow<'static, str>,
    pub steps: Vec<WriteStepPlan>,
    /// What makes all of it one: the weakest of its copies decides.
    pub level: CopyLevel,
    /// The sum of the steps.
    pub estimate: Estimate,
    pub assumed: Vec<Assumption>,
}

/// A write of the workload, or one that any program may do at any time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteOf {
    Statement(String),
    Create(ClassId),
    /// A whole aggregate in place of the one before.
    Store(ClassId),
    Delete(ClassId),
    /// Another target of a stored link.
    Relink(EndId),
}

impl WritePlan {
    /// What every step is expected to do, in execution order.
    pub fn work(&self) -> impl Iterator<Item = &Work> {
        self.steps.iter().flat_map(WriteStepPlan::work)
    }
}

/// One statement of a write.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WriteStepPlan {
    pub action: WriteAction,
    pub class: ClassId,
    /// Whether it only puts: nothing is read of the aggregate, and no condition guards it.
    pub blind: bool,
    /// How the instances are found. For a new one: how it is seen that there is none. Of a blind put, how it would be.
    pub find: Plan,
    /// Instances that are written.
    pub matched: f64,
    pub master: MasterWrite,
    /// Values that no other instance may have.
    pub reservations: Vec<Reservation>,
    pub checks: Vec<ReferenceCheck>,
    pub copies: Vec<CopyWrite>,
}

impl WriteStepPlan {
    /// What every part of the statement is expected to do.
    pub fn work(&self) -> impl Iterator<Item = &Work> {
        let reserved = self.reservations.iter().map(|reservation| &reservation.work);
        let checked = self.checks.iter().map(|check| &check.work);
        let copied = self.copies.iter().flat_map(CopyWrite::work);
        self.find.work().chain([&self.master.work]).chain(reserved).chain(checked).chain(copied)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteAction {
    Insert,
    Upsert,
    Store,
    Update,
    /// Of elements of a list.
    UpdateElements(Member),
    Delete,
    Add(Member),
    Remove(Member),
    Connect(EndId),
    Disconnect(EndId),
}

/// What is written of the aggregates themselves, with the version that makes writers of one aggregate collide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MasterWrite {
    pub collection: CollectionId,
    pub work: Work,
    pub estimate: Estimate,
}

/// A value that is taken before it is used, so that no other instance takes it too.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reservation {
    /// From the root of the aggregate, through parts, to the value.
    pub path: Vec<Member>,
    /// Where values are taken. `None`: all instances have to be read.
    pub index: Option<CollectionId>,
    pub work: Work,
    pub estimate: Estimate,
}

/// What a reference asks of a write: that its other end is looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReferenceCheck {
    pub end: EndId,
    pub what: CheckOf,
    pub work: Work,
    pub estimate: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOf {
    /// The target of a checked reference is there, and stays until the write is done.
    TargetLives { how: Joining },
    /// Those that refer to what is deleted by a checked reference.
    Referrers { how: Joining },
    /// The instance at the other end of a link: it holds the link too, or instead, or must not lose its last one.
    Partner { how: Joining },
    /// Those that hold a link to the same instance, which may have only so many, or must have one.
    Holders { how: Joining },
}

impl CheckOf {
    /// How the instances are found.
    #[must_use]
    pub fn how(&self) -> &Joining {
        match self {
            Self::TargetLives { how }
            | Self::Referrers { how }
            | Self::Partner { how }
            | Self::Holders { how } => how,
        }
    }
}

/// How one copy is brought after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CopyWrite {
    pub collection: CollectionId,
    pub cause: CopyCause,
    pub level: CopyLevel,
    /// Reads that find the rows, then those that rebuild them.
    pub support: Vec<SupportRead>,
    /// What is put and deleted, without the support reads.
    pub work: Work,
    /// The price of that.
    pub estimate: Estimate,
}

/// Why rows of a copy change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyCause {
    /// They hold something of what is written.
    Written,
    /// They hold only what checked references delete or clear along with it.
    Followed,
}

impl CopyWrite {
    /// What is expected to be done for the copy, support reads included.
    pub fn work(&self) -> impl Iterator<Item = &Work> {
        std::iter::once(&self.work).chain(self.support.iter().map(|read| &read.work))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SupportRead {
    pub of: SupportOf,
    /// Another copy of the same step has read it already.
    pub shared: bool,
    pub work: Work,
    pub estimate: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportOf {
    /// Those that refer to the written instance.
    Back(BackStep),
    /// What else stands in the rows, by the steps from their root.
    Rebuild { steps: Vec<Member>, how: Joining },
}

/// From an instance to those that refer to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackStep {
    pub end: EndId,
    /// Whether it starts from what is written, and not from what an earlier step has found.
    pub first: bool,
    /// `None`: all that may refer to it are read.
    pub index: Option<CollectionId>,
    /// Where those that refer to it are.
    pub master: CollectionId,
}
