//! Runs a design: reads by plans, writes with every copy kept right. [`embedded`] is the store that needs no server.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value has eighteen kinds, and each place here is about the few that nest or refer"
)]

pub mod embedded;
pub mod execute;
mod instances;
pub mod intents;
mod keyspace;
mod schema;
pub mod write;

pub use instances::{Instances, Overlay, Reader, Stored, System};
pub use keyspace::{Keyspace, Memory, Visit};
pub use schema::Schema;

use std::fmt;

/// Why a statement could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// A parameter that the statement needs was not given.
    MissingParameter(String),
    /// A parameter is not of its type.
    WrongType {
        parameter: String,
        message: String,
    },
    AlreadyExists,
    /// A unique value is taken.
    NotUnique {
        field: String,
    },
    /// A number past the bounds of its type.
    OutOfRange {
        field: String,
    },
    /// More links or elements than the model allows.
    UpperBound {
        field: String,
    },
    /// An end that must not be empty would be.
    Required {
        field: String,
    },
    /// A checked reference still holds what is to be deleted.
    Refused {
        field: String,
    },
    /// A statement of a compound write matched nothing; nothing was written.
    MatchedNothing {
        step: usize,
    },
    /// Somebody else was faster, again and again.
    Conflict,
    /// The store does not hold what its design says.
    Corrupted(String),
    /// The store itself failed, in its own words.
    Store(String),
    /// Something that can be written down but not yet run.
    NotYet(&'static str),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingParameter(name) => write!(f, "the parameter `:{name}` is missing"),
            Self::WrongType { parameter, message } => write!(f, "the parameter `:{parameter}`: {message}"),
            Self::AlreadyExists => f.write_str("an instance with this id exists already"),
            Self::NotUnique { field } => write!(f, "the value of `{field}` is taken"),
            Self::OutOfRange { field } => write!(f, "the value of `{field}` would leave its type's range"),
            Self::UpperBound { field } => write!(f, "`{field}` would hold more than it may"),
            Self::Required { field } => write!(f, "`{field}` must not be empty"),
            Self::Refused { field } => write!(f, "`{field}` still refers to it"),
            Self::MatchedNothing { step } => {
                write!(f, "statement {} matched nothing, so nothing was written", step + 1)
            }
            Self::Conflict => f.write_str("other writers were faster every time"),
            Self::Corrupted(what) => write!(f, "the store does not hold what it should: {what}"),
            Self::Store(message) => write!(f, "the store failed: {message}"),
            Self::NotYet(what) => write!(f, "{what} cannot be run yet"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<askloom_target::embedded::DecodeError> for RunError {
    fn from(error: askloom_target::embedded::DecodeError) -> Self {
        Self::Corrupted(error.to_string())
    }
}

/// For looking at single aggregates, where no statement is around.
fn no_positions() -> askloom_model::Table<askloom_model::PositionId, askloom_model::Position> {
    askloom_model::Table::default()
}
