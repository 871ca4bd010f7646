//! The cheapest choice that is as it must be.

use super::choice::Choice;
use super::lower::{Lowered, lower};
use super::presolve::{Rules, Settled, State, presolve};
use super::solve;
use crate::method::Progress;
use std::time::Duration;

/// What was decided, and how.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decided {
    pub(super) chosen: Vec<bool>,
    /// What the workload costs in a second.
    pub(super) cost: f64,
    /// No choice costs less than this.
    pub(super) bound: f64,
    pub(super) settled: Settled,
    pub(super) variables: usize,
    pub(super) rows: usize,
    pub(super) parts: usize,
    pub(super) nodes: usize,
}

impl Choice {
    /// The cheapest of what a solver finds and of these starts. Nothing if nothing is as it must be.
    pub(super) fn decide(
        &self,
        rules: &Rules,
        starts: &[Vec<bool>],
        limit: Option<Duration>,
        progress: &Progress,
    ) -> Option<Decided> {
        let (states, settled) = presolve(self, rules);
        let Lowered { programme, picks } = lower(self, rules, &states, &[]);
        let priced =
            |chosen: &Vec<bool>| self.meets(rules, chosen).then(|| self.cost_at(chosen, &rules.rates))?;
        let starts = starts.iter().map(|start| self.completed(start, rules));
        let started = starts.filter_map(|start| Some((priced(&start)?, start)));
        let started = started.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let answer = solve::solve(&programme, limit, progress);
        let mut chosen: Vec<bool> = states.iter().map(|state| *state == State::Chosen).collect();
        let fallback = started.as_ref().map(|(_, start)| start.as_slice()).unwrap_or_default();
        for part in &answer.parts {
            for (index, variable) in part.variables.iter().enumerate() {
                let Some(&pick) = picks.get(*variable) else { continue };
                let found =
                    part.values.as_ref().and_then(|values| values.get(index)).map(|&value| value > 0.5);
                let found = found.unwrap_or_else(|| fallback.get(pick).copied().unwrap_or(false));
                chosen.get_mut(pick).into_iter().for_each(|slot| *slot = found);
            }
        }
        self.close(&mut chosen);
        let solved = priced(&chosen).map(|cost| (cost, chosen));
        let best = solved.into_iter().chain(started).min_by(|(a, _), (b, _)| a.total_cmp(b));
        let (_, best) = best?;
        let used = self.used(&best, &rules.pinned);
        let chosen = if self.late(&used).is_empty() { used } else { best };
        let cost = self.cost_at(&chosen, &rules.rates)?;
        Some(Decided {
            bound: answer.bound.min(cost),
            chosen,
            cost,
            settled,
            variables: programme.variables.len(),
            rows: programme.rows.len(),
            parts: answer.parts.len(),
            nodes: answer.parts.iter().map(|part| part.nodes).sum(),
        })
    }

    /// A start with what it must have and needs.
    fn completed(&self, start: &[bool], rules: &Rules) -> Vec<bool> {
        let mut start = start.to_vec();
        for &pick in &rules.pinned {
            start.get_mut(pick).into_iter().for_each(|slot| *slot = true);
        }
        for group in &self.groups {
            let first = group.iter().copied().find(|&pick| start.get(pick).copied().unwrap_or(false));
            let first = first.or_else(|| group.first().copied());
            for &pick in group {
                start.get_mut(pick).into_iter().for_each(|slot| *slot = Some(pick) == first);
            }
        }
        self.close(&mut start);
        start
    }

    /// Whether all is as it must be.
    pub(super) fn meets(&self, rules: &Rules, chosen: &[bool]) -> bool {
        let is = |pick: &usize| chosen.get(*pick).copied().unwrap_or(false);
        let count = |picks: &[usize]| picks.iter().filter(|pick| is(pick)).count();
        let cuts: usize = self.groups.iter().map(|group| count(group)).sum();
        let kept = chosen.iter().filter(|chosen| **chosen).count() - cuts.min(chosen.len());
        rules.storage.is_none_or(|most| self.storage(chosen) <= most)
            && rules.most.is_none_or(|most| kept <= most)
            && rules.pinned.iter().all(is)
            && !rules.forbidden.iter().any(is)
            && self.groups.iter().all(|group| count(group) == 1)
            && self.bounds.iter().all(|(own, most)| count(own) <= *most)
            && self.late(chosen).is_empty()
    }
}
