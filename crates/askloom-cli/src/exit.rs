//! How the program ends. The numbers are part of its interface.

use askloom_store::RunError;
use askloom_store::database::OpenError;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// The input is wrong, and what is wrong has been printed.
    InputWrong,
    /// The call is wrong: nothing was done.
    CallWrong,
    /// A store could not be reached, or refused.
    StoreFailed,
}

impl Exit {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::InputWrong => 1,
            Self::CallWrong => 2,
            Self::StoreFailed => 3,
        })
    }

    /// `InputWrong` if any of several inputs was.
    pub(crate) fn any_wrong(wrong: bool) -> Self {
        if wrong { Self::InputWrong } else { Self::Done }
    }
}

/// Why a command stopped before its end.
#[derive(Debug)]
pub(crate) enum Failure {
    Call(String),
    Input(String),
    Store(String),
}

impl Failure {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Call(_) => Exit::CallWrong,
            Self::Input(_) => Exit::InputWrong,
            Self::Store(_) => Exit::StoreFailed,
        }
    }

    /// A file that could not be written, in words.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        Self::Input(format!("cannot write {}: {}", path.display(), words(error)))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::MissingParameter(_)
            | RunError::UnknownParameter(_)
            | RunError::WrongType { .. }
            | RunError::BadContinuation => Self::Call(error.to_string()),
            RunError::AlreadyExists
            | RunError::NotFound
            | RunError::NotUnique { .. }
            | RunError::OutOfRange { .. }
            | RunError::TooMany { .. }
            | RunError::UpperBound { .. }
            | RunError::Required { .. }
            | RunError::RequiredLink { .. }
            | RunError::Immutable { .. }
            | RunError::ImmutableEntity { .. }
            | RunError::NoSuchTarget { .. }
            | RunError::NotARoot { .. }
            | RunError::Refused { .. }
            | RunError::Undeclared { .. }
            | RunError::MatchedNothing { .. }
            | RunError::TooLarge(_)
            | RunError::NotYet(_) => Self::Input(error.to_string()),
            RunError::MissingUuid
            | RunError::AlreadyWritten
            | RunError::Unknown(_)
            | RunError::Conflict
            | RunError::Corrupted(_)
            | RunError::Store(_) => Self::Store(error.to_string()),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Store(error) => error.into(),
            OpenError::SameName(_) => Self::Input(error.to_string()),
            OpenError::NotApplied | OpenError::Different(_) => Self::Store(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(message) | Self::Input(message) | Self::Store(message) => f.write_str(message),
        }
    }
}

/// What the system says, without the number that means nothing to a reader.
pub(crate) fn words(error: &io::Error) -> String {
    let known = [
        (io::ErrorKind::NotFound, "no such file"),
        (io::ErrorKind::PermissionDenied, "permission denied"),
        (io::ErrorKind::IsADirectory, "it is a directory"),
    ];
    if let Some((_, words)) = known.iter().find(|(kind, _)| *kind == error.kind()) {
        return (*words).to_owned();
    }
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text.get(..end).unwrap_or_default().to_lowercase()
}
