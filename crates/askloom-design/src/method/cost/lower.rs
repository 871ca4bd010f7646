//! A choice as a programme, of what presolving has left open.

use super::choice::{Choice, Event, Of, Served};
use super::enumerate::Alternative;
use super::presolve::{Rules, State};
use super::programme::{Op, Programme};
use super::wait::ROUNDING;
use std::collections::{BTreeMap, BTreeSet};

/// A programme, and which pick each of its first variables is.
#[derive(Debug, Clone, Default)]
pub(super) struct Lowered {
    pub(super) programme: Programme,
    pub(super) picks: Vec<usize>,
}

/// What becomes of something that happens or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Never,
    Always,
    Variable(usize),
}

struct Lowering<'l> {
    choice: &'l Choice,
    rules: &'l Rules,
    states: &'l [State],
    programme: Programme,
    variables: BTreeMap<usize, usize>,
    events: Vec<Value>,
    /// Of each statement, the variables of its plans and of what these read.
    taken: Vec<Vec<(usize, BTreeSet<usize>)>>,
    /// Where a variable is read.
    read: BTreeMap<usize, BTreeSet<usize>>,
    /// Of each write that may not take longer, by its statement.
    times: BTreeMap<usize, Time>,
}

/// How long a write takes.
#[derive(Default)]
struct Time {
    /// Milliseconds with each variable.
    with: BTreeMap<usize, f64>,
    /// Whatever is chosen.
    always: f64,
}

/// What pushes a variable that follows from others up or down, if anything does.
#[derive(Clone, Copy, Default)]
struct Pushed {
    up: bool,
    down: bool,
}

impl Pushed {
    /// What is paid for is left if it can be; what saves something is not.
    fn by(&mut self, spent: f64) {
        self.down |= spent > 0.0;
        self.up |= spent < 0.0;
    }
}

pub(super) fn lower(choice: &Choice, rules: &Rules, states: &[State], names: &[String]) -> Lowered {
    let mut lowering = Lowering {
        choice,
        rules,
        states,
        programme: Programme::default(),
        variables: BTreeMap::new(),
        events: Vec::new(),
        taken: Vec::new(),
        read: BTreeMap::new(),
        times: choice.waits.iter().map(|wait| (wait.statement, Time::default())).collect(),
    };
    let picks = lowering.picks(names);
    for served in &choice.served {
        lowering.serve(served);
    }
    lowering.rows_of_picks();
    lowering.events();
    lowering.waits();
    Lowered { programme: lowering.programme, picks }
}

impl Lowering<'_> {
    fn rate(&self, statement: usize) -> f64 {
        self.rules.rates.get(statement).copied().unwrap_or(0.0)
    }

    fn pick(&self, pick: usize) -> Value {
        match self.states.get(pick).copied().unwrap_or(State::Left) {
            State::Left => Value::Never,
            State::Chosen => Value::Always,
            State::Open => self.variables.get(&pick).map_or(Value::Never, |&at| Value::Variable(at)),
        }
    }

    fn of(&self, of: Of) -> Value {
        match of {
            Of::Pick(at) => self.pick(at),
            Of::Event(at) => self.events.get(at).copied().unwrap_or(Value::Never),
        }
    }

    fn pay(&mut self, value: Value, cost: f64) {
        match value {
            Value::Never => {}
            Value::Always => self.programme.constant += cost,
            Value::Variable(at) => {
                if let Some(variable) = self.programme.variables.get_mut(at) {
                    variable.cost += cost;
                }
            }
        }
    }

    /// Notes how long something takes that a statement does.
    fn spend(&mut self, statement: usize, value: Value, takes: f64) {
        let Some(time) = self.times.get_mut(&statement) else { return };
        match value {
            Value::Never => {}
            Value::Always => time.always += takes,
            Value::Variable(at) => *time.with.entry(at).or_default() += takes,
        }
    }

    /// In shares of how long each write may take.
    fn waits(&mut self) {
        for wait in &self.choice.waits {
            let Some(Time { with, always }) = self.times.remove(&wait.statement) else { continue };
            let share = |takes: f64| takes / wait.most.max(f64::MIN_POSITIVE);
            let terms = with.into_iter().map(|(at, takes)| (at, share(takes))).collect();
            self.programme.row(terms, Op::AtMost, share(wait.most * (1.0 + ROUNDING) - always));
        }
    }

    fn picks(&mut self, names: &[String]) -> Vec<usize> {
        let mut picks = Vec::new();
        self.programme.constant = self.choice.price * self.choice.stored;
        for pick in 0..self.choice.picks.len() {
            if self.states.get(pick) == Some(&State::Open) {
                let name = names.get(pick).cloned().unwrap_or_default();
                let variable = self.programme.variable(name, 0.0, true);
                self.variables.insert(pick, variable);
                picks.push(pick);
            }
            let bytes = self.choice.bytes.get(pick).copied().unwrap_or(0.0);
            self.pay(self.pick(pick), bytes * self.choice.price);
        }
        for charge in &self.choice.charges {
            let cost = self.rate(charge.statement) * charge.cost;
            let value = match charge.of {
                None => Value::Always,
                Some(Of::Pick(at)) => self.pick(at),
                // Paid when events have their variables.
                Some(Of::Event(_)) => continue,
            };
            self.pay(value, cost);
            self.spend(charge.statement, value, charge.takes);
        }
        picks
    }

    /// The open ones of some picks, and how many are chosen.
    fn open(&self, picks: &[usize]) -> (Vec<usize>, usize) {
        let (mut open, mut chosen) = (Vec::new(), 0);
        for &pick in picks {
            match self.pick(pick) {
                Value::Never => {}
                Value::Always => chosen += 1,
                Value::Variable(at) => open.push(at),
            }
        }
        (open, chosen)
    }

    fn rows_of_picks(&mut self) {
        let mut needing: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (pick, needs) in self.choice.needs.iter().enumerate() {
            let Value::Variable(own) = self.pick(pick) else { continue };
            for &needed in needs {
                if let Value::Variable(needed) = self.pick(needed) {
                    self.programme.row(vec![(own, 1.0), (needed, -1.0)], Op::AtMost, 0.0);
                    needing.entry(needed).or_default().push(own);
                }
            }
        }
        // Nothing new, but what a solver that splits plans would not see.
        for (needed, by) in needing {
            for plans in self.plans_of(&by) {
                let mut terms = ones(&plans);
                terms.push((needed, -1.0));
                self.programme.row(terms, Op::AtMost, 0.0);
            }
        }
        for group in &self.choice.groups {
            let (open, chosen) = self.open(group);
            if chosen == 0 && !open.is_empty() {
                self.programme.row(ones(&open), Op::Equal, 1.0);
            }
        }
        for (own, most) in &self.choice.bounds {
            let (open, chosen) = self.open(own);
            if open.len() + chosen > *most {
                self.programme.row(ones(&open), Op::AtMost, *most as f64 - chosen as f64);
            }
        }
        let keeps: Vec<usize> = (0..self.choice.picks.len())
            .filter(|pick| !self.choice.groups.iter().any(|group| group.contains(pick)))
            .collect();
        let (open, chosen) = self.open(&keeps);
        if let Some(most) = self.rules.most {
            self.programme.row(ones(&open), Op::AtMost, most as f64 - chosen as f64);
        }
        self.storage();
    }

    /// In shares of the budget: solvers do not like large numbers.
    fn storage(&mut self) {
        let Some(budget) = self.rules.storage else { return };
        let mut left = budget - self.choice.stored;
        let mut terms = Vec::new();
        for pick in 0..self.choice.picks.len() {
            let bytes = self.choice.bytes.get(pick).copied().unwrap_or(0.0);
            match self.pick(pick) {
                Value::Never => {}
                Value::Always => left -= bytes,
                Value::Variable(at) => terms.push((at, bytes / budget.max(1.0))),
            }
        }
        self.programme.row(terms, Op::AtMost, left / budget.max(1.0));
    }

    fn events(&mut self) {
        let mut costs = vec![0.0; self.choice.events.len()];
        let mut pushed = vec![Pushed::default(); self.choice.events.len()];
        for charge in &self.choice.charges {
            let cost = self.rate(charge.statement) * charge.cost;
            let Some(Of::Event(at)) = charge.of else { continue };
            costs.get_mut(at).into_iter().for_each(|slot| *slot += cost);
            if self.times.contains_key(&charge.statement) {
                pushed.get_mut(at).into_iter().for_each(|slot| slot.by(charge.takes));
            }
        }
        for (pushed, cost) in pushed.iter_mut().zip(&costs) {
            pushed.by(*cost);
        }
        // What other events follow from is exactly what it is.
        for event in &self.choice.events {
            let refers: Vec<usize> = match event {
                Event::Any { but, .. } => but.iter().copied().collect(),
                Event::Both(a, b) => [a, b].into_iter().filter_map(event_of).collect(),
            };
            let both = Pushed { up: true, down: true };
            refers.into_iter().for_each(|at| pushed.get_mut(at).into_iter().for_each(|slot| *slot = both));
        }
        for (at, event) in self.choice.events.iter().enumerate() {
            let cost = costs.get(at).copied().unwrap_or(0.0);
            let pushed = pushed.get(at).copied().unwrap_or_default();
            let value = match event {
                Event::Any { of, but } => self.any(at, of, *but, pushed),
                Event::Both(a, b) => self.both(at, *a, *b, pushed),
            };
            self.events.push(value);
            self.pay(value, cost);
        }
        for charge in &self.choice.charges {
            if let Some(Of::Event(at)) = charge.of {
                self.spend(charge.statement, self.of(Of::Event(at)), charge.takes);
            }
        }
    }

    /// Something is 1 if any of these is. Rows that no cost pushes against are left out.
    fn any(&mut self, at: usize, of: &[usize], but: Option<usize>, pushed: Pushed) -> Value {
        let (open, chosen) = self.open(of);
        let but = but.map_or(Value::Never, |but| self.of(Of::Event(but)));
        match (but, chosen, open.as_slice()) {
            (Value::Always, _, _) | (_, 0, []) => return Value::Never,
            (Value::Never, 1.., _) => return Value::Always,
            (Value::Never, 0, [only]) => return Value::Variable(*only),
            (Value::Never | Value::Variable(_), _, _) => {}
        }
        let not = match but {
            Value::Variable(not) => Some(not),
            Value::Never | Value::Always => None,
        };
        let variable = self.programme.variable(format!("event_{at}"), 0.0, false);
        if pushed.down {
            let forced = (chosen > 0).then_some((vec![(variable, 1.0)], 1.0));
            let by = open.iter().map(|&one| (vec![(variable, 1.0), (one, -1.0)], 0.0));
            let plans = self.plans_of(&open).into_iter().map(|plans| {
                let terms = plans.iter().map(|&plan| (plan, -1.0)).chain([(variable, 1.0)]);
                (terms.collect(), 0.0)
            });
            for (mut terms, bound) in by.chain(plans).chain(forced).collect::<Vec<(Vec<_>, f64)>>() {
                terms.extend(not.map(|not| (not, 1.0)));
                self.programme.row(terms, Op::AtLeast, bound);
            }
        }
        if pushed.up {
            if chosen == 0 {
                let mut terms = vec![(variable, 1.0)];
                terms.extend(open.iter().map(|&one| (one, -1.0)));
                self.programme.row(terms, Op::AtMost, 0.0);
            }
            if let Some(not) = not {
                self.programme.row(vec![(variable, 1.0), (not, 1.0)], Op::AtMost, 1.0);
            }
        }
        Value::Variable(variable)
    }

    fn both(&mut self, at: usize, a: Of, b: Of, pushed: Pushed) -> Value {
        let (a, b) = match (self.of(a), self.of(b)) {
            (Value::Never, _) | (_, Value::Never) => return Value::Never,
            (Value::Always, other) | (other, Value::Always) => return other,
            (Value::Variable(a), Value::Variable(b)) if a == b => return Value::Variable(a),
            (Value::Variable(a), Value::Variable(b)) => (a, b),
        };
        let variable = self.programme.variable(format!("event_{at}"), 0.0, false);
        if pushed.up {
            self.programme.row(vec![(variable, 1.0), (a, -1.0)], Op::AtMost, 0.0);
            self.programme.row(vec![(variable, 1.0), (b, -1.0)], Op::AtMost, 0.0);
        }
        if pushed.down {
            self.programme.row(vec![(variable, 1.0), (a, -1.0), (b, -1.0)], Op::AtLeast, -1.0);
        }
        Value::Variable(variable)
    }

    /// Exactly one plan is taken, and what it reads is chosen.
    fn serve(&mut self, served: &Served) {
        let rate = self.rate(served.statement);
        let name = self.choice.statements.get(served.statement).map(|one| one.name.clone());
        let name = name.unwrap_or_default();
        let mut taken: Vec<(usize, BTreeSet<usize>)> = Vec::new();
        let left = self.left(served);
        let timed = self.times.contains_key(&served.statement);
        let free = left.iter().find(|one| one.reads.is_empty());
        if let Some(free) = free
            && (left.len() == 1 || (rate <= 0.0 && !timed))
        {
            self.programme.constant += rate * free.cost;
            self.spend(served.statement, Value::Always, free.takes.unwrap_or(0.0));
            return;
        }
        for (index, one) in left.into_iter().enumerate() {
            let variable = self.programme.variable(format!("{name}_{index}"), rate * one.cost, false);
            self.spend(served.statement, Value::Variable(variable), one.takes.unwrap_or(0.0));
            if timed {
                self.only_the_cheapest(variable, &taken);
            }
            taken.push((variable, one.reads));
        }
        let all: Vec<usize> = taken.iter().map(|(variable, _)| *variable).collect();
        self.programme.row(ones(&all), Op::Equal, 1.0);
        let read: BTreeSet<usize> = taken.iter().flat_map(|(_, reads)| reads.iter().copied()).collect();
        for at in read {
            let by = taken.iter().filter(|(_, reads)| reads.contains(&at));
            let mut terms: Vec<(usize, f64)> = by.map(|(variable, _)| (*variable, 1.0)).collect();
            terms.push((at, -1.0));
            self.programme.row(terms, Op::AtMost, 0.0);
            self.read.entry(at).or_default().insert(self.taken.len());
        }
        self.taken.push(taken);
    }

    /// A plan is not taken where a cheaper one can be, though it may be quicker.
    fn only_the_cheapest(&mut self, plan: usize, cheaper: &[(usize, BTreeSet<usize>)]) {
        for (_, reads) in cheaper {
            let mut terms: Vec<(usize, f64)> = reads.iter().map(|&at| (at, 1.0)).collect();
            terms.push((plan, 1.0));
            self.programme.row(terms, Op::AtMost, reads.len() as f64);
        }
    }

    /// For each statement whose plans read several of these, the plans that do: one of them at most is taken.
    fn plans_of(&self, variables: &[usize]) -> Vec<Vec<usize>> {
        let mut reading: BTreeMap<usize, usize> = BTreeMap::new();
        for at in variables.iter().filter_map(|variable| self.read.get(variable)).flatten() {
            *reading.entry(*at).or_default() += 1;
        }
        let several = reading.into_iter().filter(|(_, count)| *count > 1);
        several
            .filter_map(|(at, _)| self.taken.get(at))
            .map(|taken| {
                let reads = |reads: &BTreeSet<usize>| variables.iter().any(|one| reads.contains(one));
                taken.iter().filter(|(_, read)| reads(read)).map(|(variable, _)| *variable).collect()
            })
            .collect()
    }

    /// The plans of a statement that are possible still, in terms of variables.
    fn left(&self, served: &Served) -> Vec<Alternative> {
        let mut left: Vec<Alternative> = Vec::new();
        for one in &served.alternatives {
            let values: Vec<Value> = one.reads.iter().map(|&pick| self.pick(pick)).collect();
            if values.contains(&Value::Never) {
                continue;
            }
            let open = values.into_iter().filter_map(|value| match value {
                Value::Variable(at) => Some(at),
                Value::Never | Value::Always => None,
            });
            let reads: BTreeSet<usize> = open.collect();
            if !left.iter().any(|other| other.reads.is_subset(&reads)) {
                left.push(Alternative { cost: one.cost, takes: one.takes, reads });
            }
        }
        left
    }
}

fn event_of(of: &Of) -> Option<usize> {
    match of {
        Of::Pick(_) => None,
        Of::Event(at) => Some(*at),
    }
}

fn ones(of: &[usize]) -> Vec<(usize, f64)> {
    of.iter().map(|&at| (at, 1.0)).collect()
}
