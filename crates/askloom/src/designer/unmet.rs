//! Why the choice by cost is not as somebody wanted it.

use crate::error::Error;
use crate::human;
use askloom_design::method::Paper;
use askloom_design::method::cost::Unmet;

/// Whether a design is as it was wanted.
pub(super) fn met(paper: &Paper) -> Result<(), Error> {
    match paper {
        Paper::Cost(report) => report.unmet.as_ref().map_or(Ok(()), |unmet| Err(error(unmet))),
        Paper::Noam(_) | Paper::Qodm(_) | Paper::Kvmod(_) | Paper::Given => Ok(()),
    }
}

pub(super) fn error(unmet: &Unmet) -> Error {
    match unmet {
        Unmet::Unknown { name, known } => Error::Call(format!(
            "no candidate is called `{name}`; some are {}; `--dump-lp` lists all",
            known.join(", ")
        )),
        Unmet::Needed { name } => Error::Call(format!("`{name}` is in every design: it cannot be left out")),
        Unmet::Contradiction { name } => {
            Error::Call(format!("`{name}` is forbidden, and what is pinned cannot be kept right without it"))
        }
        Unmet::Storage { least } => Error::Input(format!(
            "no design is that small: the smallest takes {}; give --storage more",
            human::bytes(*least)
        )),
        Unmet::Collections { least } => Error::Input(format!(
            "no design has so few collections: {least} are needed; give --max-collections more"
        )),
        Unmet::NoPlan { statement } => {
            Error::Input(format!("`{statement}` has no plan that the store can do"))
        }
        Unmet::Time => Error::Input(
            "no design that is as it must be was found in the time; give --time-limit more".to_owned(),
        ),
    }
}
