//! Writes that may not take longer than they say: how long they take by what is chosen.
//!
//! A write finds what it is about by the cheapest plan that there is, which need not be the quickest: a choice is as
//! quick as what is done, not as what could be.

use super::choice::{Choice, Slow};
use askloom_model::{Estimate, Write};
use askloom_plan::cost::Costing;
use std::collections::BTreeSet;

/// A write that may not take longer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wait {
    pub(super) statement: usize,
    /// Milliseconds.
    pub(super) most: f64,
}

/// More than this share longer is longer: sums of the same numbers need not be the same.
pub(super) const ROUNDING: f64 = 1e-9;

impl Choice {
    /// Notes how long a write may take, whose charges are known. If it takes longer whatever is chosen, that is told
    /// instead.
    pub(super) fn wait(&mut self, costing: &Costing<'_>, statement: usize, write: &Write) {
        let Some(most) = write.latency_ms.filter(|_| costing.milliseconds(&Estimate::default()).is_some())
        else {
            return;
        };
        let charges = self.charges.iter().filter(|charge| charge.statement == statement);
        let least = charges.map(|charge| match charge.of {
            None => charge.takes,
            Some(_) => charge.takes.min(0.0),
        });
        let finds = self.served.iter().filter(|served| served.statement == statement);
        let quickest = finds.map(|served| {
            let takes = served.alternatives.iter().filter_map(|one| one.takes);
            takes.reduce(f64::min).unwrap_or(0.0)
        });
        let takes = least.sum::<f64>() + quickest.sum::<f64>();
        if takes > most * (1.0 + ROUNDING) {
            self.slow.push(Slow { statement: write.header.name.clone(), takes, most });
        } else {
            self.waits.push(Wait { statement, most });
        }
    }

    pub(super) fn waits_for(&self, statement: usize) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.statement == statement)
    }

    /// Milliseconds that a write takes if these are chosen.
    pub(super) fn takes(&self, statement: usize, chosen: &[bool], happens: &[bool]) -> f64 {
        let charges = self.charges.iter().filter(|charge| charge.statement == statement);
        let paid = charges.filter(|charge| charge.is_paid(chosen, happens)).map(|charge| charge.takes);
        let finds = self.served.iter().filter(|served| served.statement == statement);
        let found = finds.filter_map(|served| self.taken(served, chosen)?.takes);
        paid.sum::<f64>() + found.sum::<f64>()
    }

    /// The writes that take longer than they may if these are chosen.
    pub(super) fn late(&self, chosen: &[bool]) -> Vec<Slow> {
        if self.waits.is_empty() {
            return Vec::new();
        }
        let happens = self.events(chosen);
        let late = |wait: &Wait| {
            let takes = self.takes(wait.statement, chosen, &happens);
            let statement = self.statements.get(wait.statement)?.name.clone();
            (takes > wait.most * (1.0 + ROUNDING)).then_some(Slow { statement, takes, most: wait.most })
        };
        self.waits.iter().filter_map(late).collect()
    }

    /// What may make a write slower that may not take longer, and what may make it quicker.
    pub(super) fn paces(&self) -> Paces {
        let mut paces = Paces::default();
        let timed = self.charges.iter().filter(|charge| charge.takes != 0.0);
        for charge in timed.filter(|charge| self.waits_for(charge.statement).is_some()) {
            let Some(of) = charge.of else { continue };
            let (by, against) = (self.behind(of), self.kept_by(of));
            let (slower, quicker) = if charge.takes > 0.0 { (by, against) } else { (against, by) };
            paces.slower.extend(slower);
            paces.quicker.extend(quicker);
        }
        for served in self.served.iter().filter(|served| self.waits_for(served.statement).is_some()) {
            // A cheaper plan may be a slower one.
            paces.slower.extend(served.reads.picks().iter().copied());
            paces.quicker.extend(served.reads.picks().iter().copied());
        }
        paces
    }
}

/// Picks that change how long a write takes that may not take longer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Paces {
    pub(super) slower: BTreeSet<usize>,
    pub(super) quicker: BTreeSet<usize>,
}
