//! The method that asks what a design costs: collections and plans chosen together, for the store that it is for.
//!
//! - [`candidate`], [`buckets`], [`pool`]: collections that could serve, and ways to cut masters;
//! - [`enumerate`], [`dominance`], [`reads`], [`upkeep`], [`choice`]: what each plan costs over them and what each of them costs to keep;
//! - [`presolve`], [`lower`], [`programme`], [`solve`], [`solver`], [`bound`], [`prove`], [`decide`]: the cheapest choice, and the proof;
//! - [`wishes`], [`study`], [`whatif`]: what must be so, and what would be if;
//! - [`judge`], [`shape`], [`report`]: how a choice came about;
//! - [`threads`]: what does not depend on each other is done at once.
//!
//! "Optimal" is over the candidates and plans that were looked at.

mod bound;
mod buckets;
mod candidate;
mod choice;
mod decide;
mod dominance;
mod enumerate;
mod judge;
mod lower;
mod pool;
mod presolve;
pub mod programme;
mod prove;
mod reads;
mod report;
mod shape;
pub mod solve;
mod solver;
mod study;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
mod threads;
mod upkeep;
mod wait;
mod whatif;
mod wishes;

use super::{Options, Paper, Proposal};
use askloom_model::Model;
use askloom_plan::cost::Costing;
pub use choice::Slow;
pub use presolve::Settled;
pub use report::{CutWorth, LookedAt, Paid, Report, Turn, Worth, often, paid, told, total};
pub use shape::shape;
pub use study::{Study, Unmet};
pub use whatif::{Point, Range};
pub use wishes::Wishes;

/// The cheapest design that was found, at least as cheap as those of the other methods. If nothing is as it must be, the
/// report says so, and the design is the cheapest that there is without that.
#[must_use]
pub fn propose(model: &Model, costing: &Costing<'_>, options: &Options) -> Proposal {
    let study = Study::new(model, costing, options);
    let wishes = &options.wishes;
    let (found, unmet) = match study.best(wishes) {
        Ok(found) => (Some(found), None),
        Err(unmet) => {
            let without = Wishes { time_limit: wishes.time_limit, ..Wishes::default() };
            (study.best(&without).ok(), Some(unmet))
        }
    };
    let Some((design, mut report)) = found else {
        return Proposal {
            design: study.bare(),
            decisions: Vec::new(),
            paper: Paper::Cost(Box::new(Report { unmet, ..Report::default() })),
        };
    };
    report.unmet = unmet;
    let decisions = report.decisions(costing);
    Proposal { design, decisions, paper: Paper::Cost(Box::new(report)) }
}
