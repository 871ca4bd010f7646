//! What can be told of a choice without solving anything: collections that can never pay, and such that another one
//! replaces.

use super::choice::{Choice, Event, Of, Served};
use super::enumerate::Alternative;
use super::reads::is_within;
use super::wait::Paces;
use std::collections::{BTreeMap, BTreeSet};

/// What is settled of a pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Open,
    Chosen,
    Left,
}

/// What must be so, in terms of picks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rules {
    pub(super) pinned: BTreeSet<usize>,
    pub(super) forbidden: BTreeSet<usize>,
    /// Bytes in all.
    pub(super) storage: Option<f64>,
    /// Collections that may be kept besides those that every design has.
    pub(super) most: Option<usize>,
    pub(super) rates: Vec<f64>,
}

/// How many were settled, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Settled {
    /// Nobody saves as much by them as keeping them costs.
    pub useless: usize,
    /// Another one does all that they do for no more.
    pub dominated: usize,
    /// With them more would be stored than may be.
    pub over_budget: usize,
}

/// What picks cost.
struct Marginal {
    /// By itself.
    direct: Vec<f64>,
    /// Events that it can make happen, or keep from it, with the least and the most that it adds by that.
    by_event: Vec<BTreeMap<usize, (f64, f64)>>,
    /// Whether each event happens with any of those that add to it.
    any: Vec<bool>,
}

impl Marginal {
    fn direct(&self, pick: usize) -> f64 {
        self.direct.get(pick).copied().unwrap_or(f64::INFINITY)
    }

    /// What a pick costs at least, whatever else is chosen.
    fn least(&self, pick: usize) -> f64 {
        let events = self.by_event.get(pick).into_iter().flatten();
        self.direct(pick) + events.map(|(_, (least, _))| least).sum::<f64>()
    }

    /// What it adds at most to events that another one is not part of.
    fn most_beside(&self, pick: usize, beside: usize) -> f64 {
        self.beside(pick, beside).map(|(_, most)| most).sum()
    }

    fn least_beside(&self, pick: usize, beside: usize) -> f64 {
        self.beside(pick, beside).map(|(least, _)| least).sum()
    }

    /// An event that two picks add the same to happens with either of them.
    fn beside(&self, pick: usize, beside: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let other = self.by_event.get(beside);
        let own = self.by_event.get(pick).into_iter().flatten();
        let any = |event: usize| self.any.get(event).copied().unwrap_or(false);
        own.filter(move |(event, adds)| {
            !any(**event) || other.and_then(|other| other.get(event)) != Some(adds)
        })
        .map(|(_, adds)| *adds)
    }
}

pub(super) struct Presolve<'p> {
    choice: &'p Choice,
    rules: &'p Rules,
    states: Vec<State>,
    /// By pick, who could read it.
    readers: Vec<Vec<usize>>,
    /// Of each of these, what is settled.
    standing: Vec<Standing>,
    /// The picks that are ways to cut masters: one of each is there anyway.
    cuts: BTreeSet<usize>,
    needed: BTreeMap<usize, Vec<usize>>,
    paces: Paces,
    settled: Settled,
}

/// Of a statement the plans that are possible still; and of the picks that its plans read, those that are chosen, and the
/// cuts.
struct Standing {
    possible: Vec<usize>,
    chosen: Vec<u64>,
    cuts: Vec<u64>,
}

/// Bytes that are this share of all are no difference.
const ROUNDING: f64 = 1e-9;

/// Rounds after which what is left is left to the solver.
const ROUNDS: usize = 5;

pub(super) fn presolve(choice: &Choice, rules: &Rules) -> (Vec<State>, Settled) {
    let mut presolve = Presolve::new(choice, rules);
    presolve.wishes();
    for _ in 0..ROUNDS {
        let before = presolve.settled;
        presolve.budget();
        let marginal = presolve.marginal();
        presolve.useless(&marginal);
        presolve.dominated(&marginal);
        if presolve.settled == before {
            break;
        }
    }
    (presolve.states, presolve.settled)
}

impl<'p> Presolve<'p> {
    fn new(choice: &'p Choice, rules: &'p Rules) -> Self {
        let cuts: BTreeSet<usize> = choice.groups.iter().flatten().copied().collect();
        let standing = choice.served.iter().map(|served| Standing {
            possible: (0..served.alternatives.len()).collect(),
            chosen: served.reads.mask(|_| false),
            cuts: served.reads.mask(|pick| cuts.contains(&pick)),
        });
        let standing = standing.collect();
        let mut needed: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, needs) in choice.needs.iter().enumerate() {
            needs.iter().for_each(|&other| needed.entry(other).or_default().push(at));
        }
        let states = vec![State::Open; choice.picks.len()];
        let readers = choice.readers();
        let (paces, settled) = (choice.paces(), Settled::default());
        Self { choice, rules, states, readers, standing, cuts, needed, paces, settled }
    }

    fn state(&self, pick: usize) -> State {
        self.states.get(pick).copied().unwrap_or(State::Left)
    }

    fn set(&mut self, pick: usize, state: State) {
        let Some(slot) = self.states.get_mut(pick) else { return };
        *slot = state;
        for &at in self.readers.get(pick).into_iter().flatten() {
            let (Some(served), Some(standing)) = (self.choice.served.get(at), self.standing.get_mut(at))
            else {
                continue;
            };
            let Some(bit) = served.reads.bit(pick) else { continue };
            match state {
                State::Open => {}
                State::Chosen => bit.add_to(&mut standing.chosen),
                State::Left => {
                    standing.possible.retain(|&plan| !bit.is_in(served.reads.row(plan)));
                    bit.take_from(&mut standing.chosen);
                }
            }
        }
    }

    /// Leaves a pick, and all that cannot be without it.
    fn leave(&mut self, pick: usize) {
        let mut open = vec![pick];
        while let Some(pick) = open.pop() {
            if self.state(pick) != State::Left {
                self.set(pick, State::Left);
                open.extend(self.needed.get(&pick).into_iter().flatten());
            }
        }
    }

    fn wishes(&mut self) {
        for &pick in &self.rules.forbidden {
            self.leave(pick);
        }
        let mut pinned = vec![false; self.choice.picks.len()];
        for &pick in &self.rules.pinned {
            pinned.get_mut(pick).into_iter().for_each(|slot| *slot = true);
        }
        self.choice.close(&mut pinned);
        for (pick, _) in pinned.iter().enumerate().filter(|(_, pinned)| **pinned) {
            self.set(pick, State::Chosen);
        }
        for group in &self.choice.groups {
            let open: Vec<usize> =
                group.iter().copied().filter(|&pick| self.state(pick) != State::Left).collect();
            if let [only] = open.as_slice() {
                self.set(*only, State::Chosen);
            }
        }
    }

    /// Leaves what is larger than all that may be stored besides what must be.
    fn budget(&mut self) {
        let Some(storage) = self.rules.storage else { return };
        let bytes = |pick: usize| self.choice.bytes.get(pick).copied().unwrap_or(0.0);
        let mut least = vec![0.0; self.choice.picks.len()];
        let mut must = self.choice.stored;
        for group in &self.choice.groups {
            let open = group.iter().filter(|&&pick| self.state(pick) != State::Left);
            let smallest = open.map(|&pick| bytes(pick)).reduce(f64::min).unwrap_or(0.0);
            must += smallest;
            for &pick in group {
                least.get_mut(pick).into_iter().for_each(|slot| *slot = smallest);
            }
        }
        let chosen = (0..self.choice.picks.len()).filter(|pick| self.state(*pick) == State::Chosen);
        must += chosen.filter(|pick| !self.cuts.contains(pick)).map(bytes).sum::<f64>();
        for (pick, least) in least.iter().enumerate() {
            // Sums of the same numbers need not be the same.
            let too_large = must + (bytes(pick) - least) > storage * (1.0 + ROUNDING);
            if too_large && self.state(pick) == State::Open {
                self.leave(pick);
                self.settled.over_budget += 1;
            }
        }
    }

    fn rate(&self, statement: usize) -> f64 {
        self.rules.rates.get(statement).copied().unwrap_or(0.0)
    }

    fn marginal(&self) -> Marginal {
        let choice = self.choice;
        let count = choice.picks.len();
        let mut direct: Vec<f64> = choice.bytes.iter().map(|bytes| bytes * choice.price).collect();
        let mut of_events = vec![0.0; choice.events.len()];
        for charge in &choice.charges {
            let cost = self.rate(charge.statement) * charge.cost;
            let slot = match charge.of {
                None => None,
                Some(Of::Pick(at)) => direct.get_mut(at),
                Some(Of::Event(at)) => of_events.get_mut(at),
            };
            slot.into_iter().for_each(|slot| *slot += cost);
        }
        let mut by_event: Vec<BTreeMap<usize, (f64, f64)>> = vec![BTreeMap::new(); count];
        for (at, event) in choice.events.iter().enumerate() {
            let cost = of_events.get(at).copied().unwrap_or(0.0);
            let mut add = |pick: usize, (least, most): (f64, f64)| {
                let slot = by_event.get_mut(pick).map(|events| events.entry(at).or_default());
                slot.into_iter().for_each(|adds| *adds = (adds.0 + least, adds.1 + most));
            };
            for pick in choice.involved(event) {
                add(pick, (cost.min(0.0), cost.max(0.0)));
            }
            for pick in choice.prevented(event) {
                add(pick, (-cost.max(0.0), -cost.min(0.0)));
            }
        }
        let any = choice.events.iter().map(|event| matches!(event, Event::Any { .. })).collect();
        Marginal { direct, by_event, any }
    }

    /// Those that nothing open needs: they can be left without taking another one along.
    fn candidates(&self) -> Vec<usize> {
        let free = |pick: &usize| {
            let needed = self.needed.get(pick).into_iter().flatten();
            self.state(*pick) == State::Open
                && !self.cuts.contains(pick)
                // Without it a write may take longer than it may.
                && !self.paces.quicker.contains(pick)
                && needed.into_iter().all(|&other| self.state(other) == State::Left)
        };
        (0..self.choice.picks.len()).filter(free).collect()
    }

    /// Leaves what costs more than all statements together can save by it.
    fn useless(&mut self, marginal: &Marginal) {
        for pick in self.candidates() {
            let readers = self.readers.get(pick).into_iter().flatten();
            let saved: f64 = readers.map(|&at| self.saving(at, pick)).sum();
            if saved <= marginal.least(pick) {
                self.leave(pick);
                self.settled.useless += 1;
            }
        }
    }

    fn served(&self, at: usize) -> Option<(&Served, &Standing)> {
        self.choice.served.get(at).zip(self.standing.get(at))
    }

    /// How much a statement can save by a pick at most.
    fn saving(&self, at: usize, pick: usize) -> f64 {
        let Some((served, standing)) = self.served(at) else { return 0.0 };
        let Some(bit) = served.reads.bit(pick) else { return 0.0 };
        let rate = self.rate(served.statement);
        let with = possible(served, standing).find(|(_, row)| bit.is_in(row)).map(|(one, _)| one.cost);
        let Some(with) = with else { return 0.0 };
        match without(served, standing) {
            Some(without) => rate * (without - with).max(0.0),
            None => f64::INFINITY,
        }
    }

    /// Leaves what another one replaces for no more.
    fn dominated(&mut self, marginal: &Marginal) {
        for pick in self.candidates() {
            let near = self.replacements(pick);
            if near.into_iter().any(|other| self.replaces(other, pick, marginal)) {
                self.leave(pick);
                self.settled.dominated += 1;
            }
        }
    }

    /// Others that the first statement which reads a pick could read.
    fn replacements(&self, pick: usize) -> BTreeSet<usize> {
        let first = self.readers.get(pick).and_then(|readers| readers.first());
        let Some((served, standing)) = first.and_then(|&at| self.served(at)) else { return BTreeSet::new() };
        let others = possible(served, standing).flat_map(|(one, _)| one.reads.iter().copied());
        others.filter(|&other| other != pick).collect()
    }

    fn replaces(&self, other: usize, pick: usize, marginal: &Marginal) -> bool {
        let chosen = self.state(other) == State::Chosen;
        // To cut a master in one way is not to cut it in another: all statements about it change.
        if self.cuts.contains(&other) && !chosen {
            return false;
        }
        let needs = self.more_needs(other, pick);
        let slower = |pick: &usize| self.paces.slower.contains(pick);
        if !chosen && needs.iter().chain([&other]).any(slower) {
            return false;
        }
        let with_needs =
            || needs.iter().map(|&need| marginal.direct(need) + marginal.most_beside(need, pick));
        let costs = match chosen {
            true => 0.0,
            false => marginal.direct(other) + marginal.most_beside(other, pick) + with_needs().sum::<f64>(),
        };
        let saves = marginal.direct(pick) + marginal.least_beside(pick, other);
        // Of two that replace each other, the earlier one is kept.
        if costs > saves || (costs == saves && other > pick) {
            return false;
        }
        let bytes = |pick: usize| self.choice.bytes.get(pick).copied().unwrap_or(0.0);
        let added = bytes(other) + needs.iter().map(|&need| bytes(need)).sum::<f64>();
        let larger = !chosen && added > bytes(pick);
        if (self.rules.storage.is_some() && larger)
            || (self.rules.most.is_some() && !chosen && !needs.is_empty())
        {
            return false;
        }
        let mut bounds = self.choice.bounds.iter().filter(|(own, _)| own.contains(&other));
        if bounds.any(|(own, _)| !own.contains(&pick)) {
            return false;
        }
        let mut readers = self.readers.get(pick).into_iter().flatten().filter_map(|&at| self.served(at));
        readers.all(|(served, standing)| is_matched(served, standing, other, pick))
    }

    /// What a pick needs that another one does not need.
    fn more_needs(&self, pick: usize, than: usize) -> Vec<usize> {
        let needs = |pick: usize| self.choice.needs.get(pick).map(Vec::as_slice).unwrap_or_default();
        let open = needs(pick).iter().copied().filter(|&need| self.state(need) == State::Open);
        open.filter(|need| !needs(than).contains(need) && *need != than).collect()
    }
}

/// The plans that are possible still, with what they read.
fn possible<'s>(
    served: &'s Served,
    standing: &'s Standing,
) -> impl Iterator<Item = (&'s Alternative, &'s [u64])> + Clone {
    let plans = standing.possible.iter();
    plans.filter_map(|&at| Some((served.alternatives.get(at)?, served.reads.row(at))))
}

/// What a statement costs at most if nothing is kept, however masters are cut.
fn without(served: &Served, standing: &Standing) -> Option<f64> {
    let always: Vec<u64> =
        standing.chosen.iter().zip(&standing.cuts).map(|(chosen, cuts)| chosen | cuts).collect();
    let (mut any, mut worst) = (false, 0.0f64);
    for (one, row) in possible(served, standing).filter(|(_, row)| is_within(row, &always)) {
        any = true;
        worst = worst.max(one.cost);
        if is_within(row, &standing.chosen) {
            break;
        }
    }
    any.then_some(worst)
}

/// Whether for each plan of a statement that reads a pick there is one that is as cheap with another pick instead.
fn is_matched(served: &Served, standing: &Standing, other: usize, pick: usize) -> bool {
    let Some(bit) = served.reads.bit(pick) else { return true };
    let other = served.reads.bit(other);
    let mut instead = Vec::new();
    possible(served, standing).filter(|(_, row)| bit.is_in(row)).all(|(one, row)| {
        instead.clear();
        instead.extend_from_slice(row);
        bit.take_from(&mut instead);
        other.into_iter().for_each(|other| other.add_to(&mut instead));
        let mut cheap = possible(served, standing).take_while(|(found, _)| found.cost <= one.cost);
        cheap.any(|(_, row)| is_within(row, &instead))
    })
}
