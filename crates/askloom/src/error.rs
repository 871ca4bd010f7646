//! Why the library could not do what it was asked to.

use crate::human::amount;
use askloom_embedded::database::OpenError;
use askloom_engine::RunError;
use askloom_lang::Checked;
use askloom_model::Diagnostic;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why something was not done. The variants are the kinds that a caller treats differently; the text is for people.
#[derive(Debug)]
pub enum Error {
    /// The call is wrong: nothing was done.
    Call(String),
    /// The input is wrong: a file, a parameter's value, data.
    Input(String),
    /// The model cannot be used, and its diagnostics say why.
    Model(Box<RefusedModel>),
    /// The saved design does not fit the model, and its diagnostics say why.
    SavedDesign(Box<RefusedDesign>),
    /// A store could not be reached, or refused.
    Store(String),
}

/// A model that cannot be designed.
#[derive(Debug)]
pub struct RefusedModel {
    /// The file as the caller named it.
    pub file: PathBuf,
    /// The texts, and only the diagnostics for which the model is refused.
    pub checked: Checked,
    pub reason: ModelRefusal,
}

/// Why a model is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelRefusal {
    /// It has errors.
    Errors,
    /// It is right, and has something that no method designs for yet.
    NotDesignedYet,
}

/// A saved design that does not fit its model.
#[derive(Debug)]
pub struct RefusedDesign {
    pub path: PathBuf,
    /// The file's text, into which the spans of the diagnostics point.
    pub text: String,
    pub diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// A file that could not be read.
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        Self::Input(format!("cannot read {}: {}", path.display(), io_reason(error)))
    }

    /// A file that could not be written.
    #[must_use]
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        Self::Input(format!("cannot write {}: {}", path.display(), io_reason(error)))
    }

    /// Whether the caller asked for something that there is not.
    #[must_use]
    pub fn is_call(&self) -> bool {
        matches!(self, Self::Call(_))
    }

    /// Whether what was given (a model, a design, a file, data) is wrong.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Input(_) | Self::Model(_) | Self::SavedDesign(_))
    }

    /// Whether a store could not be reached, or refused.
    #[must_use]
    pub fn is_store(&self) -> bool {
        matches!(self, Self::Store(_))
    }
}

impl From<RunError> for Error {
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

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Store(error) => error.into(),
            OpenError::SameName(_) => Self::Input(error.to_string()),
            OpenError::NotApplied | OpenError::Different(_) => Self::Store(error.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(message) | Self::Input(message) | Self::Store(message) => f.write_str(message),
            Self::Model(refused) => refused.fmt(f),
            Self::SavedDesign(refused) => refused.fmt(f),
        }
    }
}

impl fmt::Display for RefusedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.reason {
            ModelRefusal::Errors => {
                let errors = amount(self.checked.errors, "error");
                write!(f, "{file} has {errors}; `askloom check` tells more")
            }
            ModelRefusal::NotDesignedYet => write!(f, "{file} cannot be designed yet"),
        }
    }
}

impl fmt::Display for RefusedDesign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = "cannot be used; `askloom design --save` writes a new one";
        write!(f, "the saved design {} {why}", self.path.display())
    }
}

impl std::error::Error for Error {}

/// What the system says, without the number that means nothing to a reader.
#[must_use]
pub fn io_reason(error: &io::Error) -> String {
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
