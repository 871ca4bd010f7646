use crate::error::QueryError;
use askloom_model::{ClassId, EndId, Identity, Member};
use std::fmt;

/// Why a write changed nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteError {
    MissingParameter {
        name: String,
    },
    /// The statement has no such parameter.
    UnknownParameter {
        name: String,
    },
    WrongType {
        name: String,
    },
    /// An instance of the hierarchy has that id.
    AlreadyExists {
        class: ClassId,
        identity: Identity,
    },
    /// There is no such instance to replace.
    NotFound {
        class: ClassId,
        identity: Identity,
    },
    /// The member must have a value.
    Required {
        member: Member,
    },
    /// A result that the member's type cannot hold.
    OutOfRange {
        member: Member,
    },
    /// A list is given more elements than its `@max`.
    TooMany {
        member: Member,
        max: u64,
        count: u64,
    },
    NotUnique {
        member: Member,
    },
    /// The member never changes.
    Immutable {
        member: Member,
    },
    /// An instance of an immutable entity would change or be deleted.
    ImmutableEntity {
        class: ClassId,
    },
    /// The end would be left without a link.
    RequiredEnd {
        end: EndId,
    },
    /// More links or parts than the end may have.
    UpperBound {
        end: EndId,
    },
    /// A checked reference says `on delete refuse`.
    Refused {
        end: EndId,
    },
    /// A checked reference to what does not exist.
    NoSuchTarget {
        end: EndId,
    },
    /// A statement of a compound write matched no instance; they are counted from 0.
    StepMatchedNothing {
        step: usize,
    },
    /// A part is written with its owner, and an abstract entity has no instances.
    NotARoot {
        class: ClassId,
    },
    /// Too few uuids were made before.
    MissingUuid,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MissingParameter { name } => return write!(f, "the parameter `{name}` is missing"),
            Self::UnknownParameter { name } => return write!(f, "there is no parameter `{name}`"),
            Self::WrongType { name } => return write!(f, "`{name}` has a value of another type"),
            Self::TooMany { max, count, .. } => {
                return write!(f, "a list has {count} elements, and may have {max}");
            }
            Self::StepMatchedNothing { step } => return write!(f, "statement {step} matched nothing"),
            Self::AlreadyExists { .. } => "an instance of that id exists already",
            Self::NotFound { .. } => "there is no instance of that id",
            Self::Required { .. } => "a required member has no value",
            Self::OutOfRange { .. } => "a result does not fit its type",
            Self::NotUnique { .. } => "a unique value is taken",
            Self::Immutable { .. } => "an immutable member would change",
            Self::ImmutableEntity { .. } => "an instance of an immutable entity would change",
            Self::RequiredEnd { .. } => "a required link would be missing",
            Self::UpperBound { .. } => "there would be more links than allowed",
            Self::Refused { .. } => "something refers to what would be deleted",
            Self::NoSuchTarget { .. } => "a checked reference leads nowhere",
            Self::NotARoot { .. } => "this is no root of an aggregate",
            Self::MissingUuid => "too few uuids were made",
        })
    }
}

impl std::error::Error for WriteError {}

impl From<QueryError> for WriteError {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::MissingParameter { name } => Self::MissingParameter { name },
            QueryError::UnknownParameter { name } => Self::UnknownParameter { name },
            QueryError::WrongType { name } => Self::WrongType { name },
            // These belong to rows, which no write has.
            QueryError::BadLimit
            | QueryError::OutOfRange
            | QueryError::BadContinuation
            | QueryError::WrongKeys => Self::WrongType { name: String::new() },
        }
    }
}
