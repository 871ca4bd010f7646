//! How the program ends. The numbers are part of its interface.

use askloom::Error;

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

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        match error {
            Error::Call(_) => Self::CallWrong,
            Error::Input(_) | Error::Model(_) | Error::SavedDesign(_) => Self::InputWrong,
            Error::Store(_) => Self::StoreFailed,
        }
    }
}
