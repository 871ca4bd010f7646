//! How the program ends. The numbers are part of its interface.

pub(crate) use askloom::error::{Failure, words};

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

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Call(_) => Self::CallWrong,
            Failure::Input(_) | Failure::Model(_) | Failure::SavedDesign(_) => Self::InputWrong,
            Failure::Store(_) => Self::StoreFailed,
        }
    }
}
