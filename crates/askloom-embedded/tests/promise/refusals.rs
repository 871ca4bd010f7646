//! Why a write was refused, in terms that the oracle and the store have in common.

use askloom_engine::RunError;
use askloom_oracle::WriteError;

/// Why a write was refused: the kind of reason.
pub(crate) fn meant_refusal(error: &WriteError) -> String {
    let kind = match error {
        WriteError::MissingParameter { .. } => "missing parameter",
        WriteError::UnknownParameter { .. } => "unknown parameter",
        WriteError::WrongType { .. } => "wrong type",
        WriteError::AlreadyExists { .. } => "already exists",
        WriteError::NotFound { .. } => "not found",
        WriteError::Required { .. } => "required",
        WriteError::OutOfRange { .. } => "out of range",
        WriteError::TooMany { max, count, .. } => return format!("{count} of {max}"),
        WriteError::NotUnique { .. } => "not unique",
        WriteError::Immutable { .. } => "immutable",
        WriteError::ImmutableEntity { .. } => "immutable entity",
        WriteError::RequiredEnd { .. } => "required link",
        WriteError::UpperBound { .. } => "upper bound",
        WriteError::Refused { .. } => "refused",
        WriteError::NoSuchTarget { .. } => "no such target",
        WriteError::StepMatchedNothing { step } => return format!("statement {step} matched nothing"),
        WriteError::NotARoot { .. } => "not a root",
        WriteError::MissingUuid => "missing uuid",
    };
    kind.to_owned()
}

pub(crate) fn refusal(error: &RunError) -> String {
    let kind = match error {
        RunError::MissingParameter(_) => "missing parameter",
        RunError::UnknownParameter(_) => "unknown parameter",
        RunError::WrongType { .. } => "wrong type",
        RunError::AlreadyExists => "already exists",
        RunError::NotFound => "not found",
        RunError::Required { .. } => "required",
        RunError::OutOfRange { .. } => "out of range",
        RunError::TooMany { max, count, .. } => return format!("{count} of {max}"),
        RunError::NotUnique { .. } => "not unique",
        RunError::Immutable { .. } => "immutable",
        RunError::ImmutableEntity { .. } => "immutable entity",
        RunError::RequiredLink { .. } => "required link",
        RunError::UpperBound { .. } => "upper bound",
        RunError::Refused { .. } => "refused",
        RunError::NoSuchTarget { .. } => "no such target",
        RunError::MatchedNothing { step } => return format!("statement {step} matched nothing"),
        RunError::NotARoot { .. } => "not a root",
        RunError::MissingUuid => "missing uuid",
        other => return other.to_string(),
    };
    kind.to_owned()
}
