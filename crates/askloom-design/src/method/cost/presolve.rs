//! What can be told of a choice without solving anything: collections that can never pay, and such that another one
//! replaces.

use super::choice::{Choice, Event, Of, Served};
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
        own.filter(move |(event, adds)| other.and_then(|other| other.get(event)) != Some(adds))
            .map(|(_, adds)| *adds)
    }
}

pub(super) struct Presolve<'p> {
    choice: &'p Choice,
    rules: &'p Rules,
    states: Vec<State>,
    /// Where each pick is read: which statement's alternatives.
    read: BTreeMap<usize, Vec<(usize, usize)>>,
    needed: BTreeMap<usize, Vec<usize>>,
    settled: Settled,
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
        let mut read: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, served) in choice.served.iter().enumerate() {
            for (index, one) in served.alternatives.iter().enumerate() {
                one.reads.iter().for_each(|&pick| read.entry(pick).or_default().push((at, index)));
            }
        }
        let mut needed: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, needs) in choice.needs.iter().enumerate() {
            needs.iter().for_each(|&other| needed.entry(other).or_default().push(at));
        }
        let states = vec![State::Open; choice.picks.len()];
        Self { choice, rules, states, read, needed, settled: Settled::default() }
    }

    fn state(&self, pick: usize) -> State {
        self.states.get(pick).copied().unwrap_or(State::Left)
    }

    fn set(&mut self, pick: usize, state: State) {
        if let Some(slot) = self.states.get_mut(pick) {
            *slot = state;
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
        let cuts: BTreeSet<usize> = self.choice.groups.iter().flatten().copied().collect();
        let chosen = (0..self.choice.picks.len()).filter(|pick| self.state(*pick) == State::Chosen);
        must += chosen.filter(|pick| !cuts.contains(pick)).map(bytes).sum::<f64>();
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
            for pick in self.involved(event) {
                add(pick, (cost.min(0.0), cost.max(0.0)));
            }
            for pick in self.prevented(event) {
                add(pick, (-cost.max(0.0), -cost.min(0.0)));
            }
        }
        Marginal { direct, by_event }
    }

    /// The picks that can make an event happen.
    fn involved(&self, event: &Event) -> Vec<usize> {
        match event {
            Event::Any { of, .. } => of.clone(),
            Event::Both(a, b) => [a, b].into_iter().flat_map(|of| self.behind(*of)).collect(),
        }
    }

    fn behind(&self, of: Of) -> Vec<usize> {
        match of {
            Of::Pick(at) => vec![at],
            Of::Event(at) => self.choice.events.get(at).map(|event| self.involved(event)).unwrap_or_default(),
        }
    }

    /// The picks that can keep an event from happening.
    fn prevented(&self, event: &Event) -> Vec<usize> {
        let by = |of: Of| match of {
            Of::Pick(_) => Vec::new(),
            Of::Event(at) => {
                self.choice.events.get(at).map(|event| self.prevented(event)).unwrap_or_default()
            }
        };
        match event {
            Event::Any { but: Some(other), .. } => self.behind(Of::Event(*other)),
            Event::Any { but: None, .. } => Vec::new(),
            Event::Both(a, b) => by(*a).into_iter().chain(by(*b)).collect(),
        }
    }

    /// Those that nothing open needs: they can be left without taking another one along.
    fn candidates(&self) -> Vec<usize> {
        let cuts: BTreeSet<usize> = self.choice.groups.iter().flatten().copied().collect();
        let free = |pick: &usize| {
            let needed = self.needed.get(pick).into_iter().flatten();
            self.state(*pick) == State::Open
                && !cuts.contains(pick)
                && needed.into_iter().all(|&other| self.state(other) == State::Left)
        };
        (0..self.choice.picks.len()).filter(free).collect()
    }

    /// Leaves what costs more than all statements together can save by it.
    fn useless(&mut self, marginal: &Marginal) {
        for pick in self.candidates() {
            let saved: f64 = self.reading(pick).into_iter().map(|at| self.saving(at, pick)).sum();
            if saved <= marginal.least(pick) {
                self.leave(pick);
                self.settled.useless += 1;
            }
        }
    }

    /// The statements that could read a pick.
    fn reading(&self, pick: usize) -> BTreeSet<usize> {
        self.read.get(&pick).into_iter().flatten().map(|&(at, _)| at).collect()
    }

    /// How much a statement can save by a pick at most.
    fn saving(&self, at: usize, pick: usize) -> f64 {
        let Some(served) = self.choice.served.get(at) else { return 0.0 };
        let rate = self.rate(served.statement);
        let possible = self.possible(served);
        let with = possible.clone().find(|one| one.reads.contains(&pick)).map(|one| one.cost);
        let Some(with) = with else { return 0.0 };
        match self.without(served) {
            Some(without) => rate * (without - with).max(0.0),
            None => f64::INFINITY,
        }
    }

    fn possible<'s>(
        &'s self,
        served: &'s Served,
    ) -> impl Iterator<Item = &'s super::enumerate::Alternative> + Clone {
        served.alternatives.iter().filter(|one| one.reads.iter().all(|&pick| self.state(pick) != State::Left))
    }

    /// What a statement costs at most if nothing is kept, however masters are cut.
    fn without(&self, served: &Served) -> Option<f64> {
        let cuts = |pick: &usize| self.choice.groups.iter().any(|group| group.contains(pick));
        let always = |pick: &usize| self.state(*pick) == State::Chosen || cuts(pick);
        let free = self.possible(served).filter(|one| one.reads.iter().all(always));
        let (mut any, mut worst) = (false, 0.0f64);
        for one in free {
            any = true;
            worst = worst.max(one.cost);
            if one.reads.iter().all(|&pick| self.state(pick) == State::Chosen) {
                break;
            }
        }
        any.then_some(worst)
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
        let first = self.reading(pick).into_iter().next();
        let Some(served) = first.and_then(|at| self.choice.served.get(at)) else { return BTreeSet::new() };
        let others = self.possible(served).flat_map(|one| one.reads.iter().copied());
        others.filter(|&other| other != pick && self.state(other) != State::Left).collect()
    }

    fn replaces(&self, other: usize, pick: usize, marginal: &Marginal) -> bool {
        let chosen = self.state(other) == State::Chosen;
        let needs = self.more_needs(other, pick);
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
        let places = self.read.get(&pick).into_iter().flatten();
        places.into_iter().all(|&(at, index)| self.matched(at, index, other, pick))
    }

    /// What a pick needs that another one does not need.
    fn more_needs(&self, pick: usize, than: usize) -> Vec<usize> {
        let needs = |pick: usize| self.choice.needs.get(pick).map(Vec::as_slice).unwrap_or_default();
        let open = needs(pick).iter().copied().filter(|&need| self.state(need) == State::Open);
        open.filter(|need| !needs(than).contains(need) && *need != than).collect()
    }

    /// Whether a statement has a plan that is as cheap with another pick instead.
    fn matched(&self, at: usize, index: usize, other: usize, pick: usize) -> bool {
        let Some(served) = self.choice.served.get(at) else { return false };
        let Some(one) = served.alternatives.get(index) else { return false };
        if one.reads.iter().any(|&read| self.state(read) == State::Left) {
            return true;
        }
        let instead = |&read: &usize| read == other || (read != pick && one.reads.contains(&read));
        let mut cheap = served.alternatives.iter().take_while(|found| found.cost <= one.cost);
        cheap.any(|found| found.reads.iter().all(instead))
    }
}
