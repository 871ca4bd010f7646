//! Why a statement could not be carried out.

use std::fmt;

/// Why a statement could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// A parameter that the statement needs was not given.
    MissingParameter(String),
    /// A parameter that the statement does not have.
    UnknownParameter(String),
    /// A parameter is not of its type.
    WrongType {
        parameter: String,
        message: String,
    },
    AlreadyExists,
    /// There is no instance of that id.
    NotFound,
    /// A unique value is taken.
    NotUnique {
        field: String,
    },
    /// A number past the bounds of its type.
    OutOfRange {
        field: String,
    },
    /// A list is given more elements than its `@max`.
    TooMany {
        field: String,
        max: u64,
        count: u64,
    },
    /// More links or elements than the model allows.
    UpperBound {
        field: String,
    },
    /// A value that must be there is not.
    Required {
        field: String,
    },
    /// A link that must be there would be missing.
    RequiredLink {
        field: String,
    },
    /// A member that never changes would.
    Immutable {
        field: String,
    },
    /// An instance of an immutable entity would change or be deleted.
    ImmutableEntity {
        class: String,
    },
    /// A checked reference to what does not exist.
    NoSuchTarget {
        field: String,
    },
    /// A part is written with its owner, and an abstract entity has no instances.
    NotARoot {
        class: String,
    },
    /// The model does not declare this write.
    Undeclared {
        write: String,
        /// What to add to the model.
        line: String,
    },
    /// Fewer uuids were made than the write needs.
    MissingUuid,
    /// A checked reference still holds what is to be deleted.
    Refused {
        field: String,
    },
    /// A statement of a compound write matched nothing; nothing was written.
    MatchedNothing {
        step: usize,
    },
    /// A continuation that is not one of this query.
    BadContinuation,
    /// The write was done before; its answer had been lost.
    AlreadyWritten,
    /// Whether it was written is not known: the store failed before it answered.
    Unknown(String),
    /// A key, a value or a write is larger than the store takes; nothing was written.
    TooLarge(String),
    /// Somebody else was faster, again and again.
    Conflict,
    /// The store does not hold what its design says.
    Corrupted(String),
    /// The store itself failed, in its own words.
    Store(String),
    /// Something that can be written down but not yet run.
    NotYet(&'static str),
}

impl RunError {
    /// Whether a statement is refused by what is stored, rather than that the store failed.
    pub fn refuses(&self) -> bool {
        match self {
            Self::AlreadyExists
            | Self::NotFound
            | Self::NotUnique { .. }
            | Self::OutOfRange { .. }
            | Self::TooMany { .. }
            | Self::UpperBound { .. }
            | Self::Required { .. }
            | Self::RequiredLink { .. }
            | Self::Immutable { .. }
            | Self::ImmutableEntity { .. }
            | Self::NoSuchTarget { .. }
            | Self::NotARoot { .. }
            | Self::Refused { .. }
            | Self::MatchedNothing { .. } => true,
            Self::MissingParameter(_)
            | Self::UnknownParameter(_)
            | Self::WrongType { .. }
            | Self::MissingUuid
            | Self::Undeclared { .. }
            | Self::BadContinuation
            | Self::AlreadyWritten
            | Self::Unknown(_)
            | Self::TooLarge(_)
            | Self::Conflict
            | Self::Corrupted(_)
            | Self::Store(_)
            | Self::NotYet(_) => false,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingParameter(name) => write!(f, "the parameter `:{name}` is missing"),
            Self::UnknownParameter(name) => write!(f, "there is no parameter `:{name}`"),
            Self::WrongType { parameter, message } => write!(f, "the parameter `:{parameter}`: {message}"),
            Self::AlreadyExists => f.write_str("an instance with this id exists already"),
            Self::NotFound => f.write_str("there is no instance with this id"),
            Self::NotUnique { field } => write!(f, "the value of `{field}` is taken"),
            Self::OutOfRange { field } => write!(f, "the value of `{field}` would leave its type's range"),
            Self::TooMany { field, max, count } => {
                write!(f, "`{field}` is given {count} elements, and its `@max` is {max}")
            }
            Self::UpperBound { field } => write!(f, "`{field}` would hold more than it may"),
            Self::Required { field } => write!(f, "`{field}` must have a value"),
            Self::RequiredLink { field } => write!(f, "`{field}` must not be empty"),
            Self::Immutable { field } => write!(f, "`{field}` never changes"),
            Self::ImmutableEntity { class } => {
                write!(
                    f,
                    "`{class}` is immutable: what is stored under this id neither changes nor is deleted"
                )
            }
            Self::NoSuchTarget { field } => write!(f, "`{field}` is checked, and refers to nothing"),
            Self::NotARoot { class } => write!(f, "`{class}` is no root of an aggregate"),
            Self::Undeclared { write, line } => write!(
                f,
                "the model declares no `{write}`: add `{line}` to it, or `@writes(any)` to the entity, and apply it"
            ),
            Self::MissingUuid => f.write_str("fewer uuids were made than the write needs"),
            Self::Refused { field } => write!(f, "`{field}` still refers to it"),
            Self::MatchedNothing { step } => {
                write!(f, "statement {} matched nothing, so nothing was written", step + 1)
            }
            Self::BadContinuation => {
                f.write_str("this continuation is not one of this query: start again from the first page")
            }
            Self::AlreadyWritten => f.write_str("this write was done before"),
            Self::Unknown(why) => write!(f, "whether it was written is not known: {why}"),
            Self::TooLarge(what) => f.write_str(what),
            Self::Conflict => f.write_str("other writers were faster every time"),
            Self::Corrupted(what) => write!(f, "the store does not hold what it should: {what}"),
            Self::Store(message) => write!(f, "the store failed: {message}"),
            Self::NotYet(what) => write!(f, "{what} cannot be run yet"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<askloom_plan::ordered_bytes::DecodeError> for RunError {
    fn from(error: askloom_plan::ordered_bytes::DecodeError) -> Self {
        Self::Corrupted(error.to_string())
    }
}
