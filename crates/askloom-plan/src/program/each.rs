//! How often a step, or a change of a batch, is carried out.

use askloom_model::{BucketsBetween, CollectionId, EndId, InSet, Path, PositionId};

/// The place of a step in its program.
pub type StepIndex = usize;

/// How often a step is carried out.
#[derive(Debug, Clone, PartialEq)]
pub enum Each {
    Once,
    /// Once for each combination of these values.
    Values(Vec<ValueLoop>),
    /// Once for each different identity that the rows so far have in any of these places. The terms of the step are its
    /// parts.
    Rows(Vec<IdentityIn>),
    /// Once for each identity that an earlier step gives.
    Found(StepIndex),
    /// Once for each row of a copy that is being rebuilt.
    RowsOfCopy(CollectionId),
    /// Once for each identity that leads back into such a row.
    FoundOfCopy(CollectionId),
}

impl Each {
    #[must_use]
    pub fn is_once(&self) -> bool {
        *self == Self::Once
    }

    /// Whether both are repeated in the same way, whatever for.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::RowsOfCopy(_), Self::RowsOfCopy(_)) | (Self::FoundOfCopy(_), Self::FoundOfCopy(_)) => true,
            (Self::Rows(_), Self::RowsOfCopy(_)) | (Self::RowsOfCopy(_), Self::Rows(_)) => true,
            (Self::Found(_), Self::FoundOfCopy(_)) | (Self::FoundOfCopy(_), Self::Found(_)) => true,
            (_, _) => self == other,
        }
    }
}

/// Values that stand, one after the other, in the place of one field of the key.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueLoop {
    /// Which field: those of the block first, then those that sort.
    pub field: usize,
    pub of: LoopOf,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LoopOf {
    Set(InSet),
    /// Every bucket, by its number.
    Buckets(u32),
    /// Every bucket of time between two instants, in the order of time or against it.
    TimeBuckets {
        between: BucketsBetween,
        latest_first: bool,
    },
}

/// Where a row has an identity.
#[derive(Debug, Clone, PartialEq)]
pub enum IdentityIn {
    /// Of what stands at a position.
    Position(PositionId),
    /// A reference at the end of a path.
    Path(Path),
    /// Of the whole row: the identities of its positions make up the key of an entry.
    Row,
}

/// How often a change of a batch is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EachChange {
    Once,
    /// The row of the written aggregate, as it was before.
    OldRow,
    /// The row of the written aggregate, if it meets the condition of the copy.
    RowIfHeld,
    /// Every row of a copy that the written aggregate was in.
    OldRows(CollectionId),
    /// Every row of a copy that the written aggregate is in.
    NewRows(CollectionId),
    /// Every other instance that holds a link which changes.
    Holder(Holder),
    /// Every row of a copy that such a holder was in.
    OldRowsOfHolder(CollectionId, Holder),
    /// Every row of a copy that such a holder is in.
    NewRowsOfHolder(CollectionId, Holder),
    /// Every other record that the aggregate has in a table.
    OtherRecords(CollectionId),
}

impl EachChange {
    #[must_use]
    pub fn is_once(self) -> bool {
        self == Self::Once
    }
}

/// Another instance whose link to what is written changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    pub end: EndId,
    pub because: LinkCause,
}

/// Why the link of another instance changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkCause {
    /// Its target is deleted.
    TargetDeleted,
    /// A target has one holder at most, and gets another.
    TakenOver,
    /// The statement names the link by the end that does not hold it.
    OtherEnd,
    /// Both sides of a symmetric relationship hold the link.
    Mirrored,
}
