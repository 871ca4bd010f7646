use std::fmt;

/// Why a query has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryError {
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
    /// LIMIT or PAGE is less than one row.
    BadLimit,
    /// A sum of doubles that no double can hold.
    OutOfRange,
    /// A continuation that was made for another query.
    BadContinuation,
    /// As many ids as key classes have to be given to an `ask`.
    WrongKeys,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingParameter { name } => write!(f, "the parameter `{name}` is missing"),
            Self::UnknownParameter { name } => write!(f, "there is no parameter `{name}`"),
            Self::WrongType { name } => write!(f, "`{name}` has a value of another type"),
            Self::BadLimit => f.write_str("at least one row has to be asked for"),
            Self::OutOfRange => f.write_str("the sum is larger than any double"),
            Self::BadContinuation => f.write_str("this continuation belongs to another query"),
            Self::WrongKeys => f.write_str("one id for each key class has to be given"),
        }
    }
}

impl std::error::Error for QueryError {}
