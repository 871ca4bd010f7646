//! Why the choice by cost is not as somebody wanted it.

use crate::error::Failure;
use crate::human;
use askloom_design::method::Paper;
use askloom_design::method::cost::Unmet;

/// Whether a design is as it was wanted.
pub(super) fn met(paper: &Paper) -> Result<(), Failure> {
    match paper {
        Paper::Cost(report) => report.unmet.as_ref().map_or(Ok(()), |unmet| Err(failure(unmet))),
        Paper::Noam(_) | Paper::Qodm(_) | Paper::Kvmod(_) | Paper::Given => Ok(()),
    }
}

pub(super) fn failure(unmet: &Unmet) -> Failure {
    match unmet {
        Unmet::Unknown { name, known } => Failure::Call(format!(
            "no candidate is called `{name}`; some are {}; `--dump-lp` lists all",
            known.join(", ")
        )),
        Unmet::Needed { name } => {
            Failure::Call(format!("`{name}` is in every design: it cannot be left out"))
        }
        Unmet::Contradiction { name } => Failure::Call(format!(
            "`{name}` is forbidden, and what is pinned cannot be kept right without it"
        )),
        Unmet::Storage { least } => Failure::Input(format!(
            "no design is that small: the smallest takes {}; give --storage more",
            human::bytes(*least)
        )),
        Unmet::Collections { least } => Failure::Input(format!(
            "no design has so few collections: {least} are needed; give --max-collections more"
        )),
        Unmet::NoPlan { statement } => {
            Failure::Input(format!("`{statement}` has no plan that the store can do"))
        }
        Unmet::Time => Failure::Input(
            "no design that is as it must be was found in the time; give --time-limit more".to_owned(),
        ),
    }
}
