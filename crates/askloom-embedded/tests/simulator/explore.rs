//! Every interleaving of a few processes, the shortest first, so that what goes wrong is seen in as few steps as it can.

use crate::automaton::{Machine, QuickMap, Standing};
use crate::double::{Habits, State};
use crate::toy::{Ending, Program, Rules, Value};
use crate::verdict;
use askloom_engine::intents::WriteId;
use std::fmt::Write;

/// What is explored.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) rules: Rules,
    pub(crate) habits: Habits,
    pub(crate) values: Vec<(u8, Value)>,
    pub(crate) writers: Vec<Program>,
    pub(crate) mishaps: Mishaps,
    pub(crate) sweeps: Sweeps,
    /// Whether a put to the copy, which can be exchanged with whatever others do, is taken at once: what comes of it is
    /// the same, and there is less to explore. Only where no two puts to one key have the same stamp.
    pub(crate) reduced: bool,
    /// How often at most a process is interrupted before it has ended. Without it every interleaving is taken.
    pub(crate) interruptions: Option<u8>,
}

/// When a sweep runs. There is always one when everybody has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sweeps {
    Last,
    /// Also beside the writers, from a crash on.
    AfterCrash,
    /// Also beside the writers, from the start.
    Always,
}

/// How much may go wrong in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Mishaps {
    /// A process is gone; the operation it waited for may still take effect, at any time.
    pub(crate) crashes: u8,
    /// No reply comes; the operation takes effect at once, or later, or never.
    pub(crate) losses: u8,
    /// An operation takes effect, and again at any time.
    pub(crate) duplicates: u8,
}

/// One step of a schedule. Processes are numbered in the order of the writers; the sweep is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Step(usize),
    Crash(usize),
    LoseReply(usize),
    LoseForNow(usize),
    Duplicate(usize),
    /// An operation that is late takes effect.
    Late(usize),
}

#[derive(Debug)]
pub(crate) struct Report {
    /// Different situations: what the store holds, and what each process has seen.
    pub(crate) situations: usize,
    pub(crate) steps: usize,
    pub(crate) ends: usize,
    pub(crate) states: usize,
    pub(crate) wrong: Option<Wrong>,
}

/// A schedule after which something is wrong.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) schedule: Vec<Choice>,
    pub(crate) what: String,
    pub(crate) story: String,
}

const PROCESSES: usize = 5;
const LATE: usize = 2;
const CRASHED: u32 = u32::MAX;
const ASLEEP: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX;
/// Those that have ended differ by their ending only.
const ENDED: u32 = u32::MAX - 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Situation {
    state: u32,
    at: [u32; PROCESSES],
    late: [u32; LATE],
    left: Mishaps,
    /// Only if interruptions are counted: how many are left, and who runs.
    interruptions: u8,
    running: u8,
}

const NOBODY: u8 = u8::MAX;

fn ended(ending: Ending) -> u32 {
    ENDED
        + match ending {
            Ending::Acknowledged => 0,
            Ending::Refused => 1,
            Ending::Unknown => 2,
            Ending::Swept(_) => 3,
        }
}

fn ending(at: u32) -> Option<Ending> {
    match at.checked_sub(ENDED)? {
        0 => Some(Ending::Acknowledged),
        1 => Some(Ending::Refused),
        2 => Some(Ending::Unknown),
        3 => Some(Ending::Swept(0)),
        _crashed_or_asleep => None,
    }
}

pub(crate) struct Explorer<'s> {
    scenario: &'s Scenario,
    machine: Machine,
    sweep: u32,
    swept: QuickMap<u32, u32>,
    judged: QuickMap<(u32, [u32; PROCESSES]), Option<String>>,
}

/// Explores until something is wrong, or everything has been seen, or there is more than a limit.
pub(crate) fn explore(scenario: &Scenario, limit: usize) -> Report {
    let mut explorer = Explorer::new(scenario);
    let first = explorer.first();
    let mut seen: QuickMap<Situation, u32> = QuickMap::default();
    let mut list: Vec<(Situation, u32, Choice)> = vec![(first, 0, Choice::Step(0))];
    seen.insert(first, 0);
    let mut report = Report { situations: 0, steps: 0, ends: 0, states: 0, wrong: None };
    let mut next = 0;
    while next < list.len() {
        let (situation, ..) = list[next];
        let choices = explorer.choices(&situation);
        if !choices.iter().any(|choice| matches!(choice, Choice::Step(_))) {
            report.ends += 1;
            if let Some(what) = explorer.judge(&situation) {
                let mut schedule = Vec::new();
                let mut at = next;
                while at != 0 {
                    schedule.push(list[at].2);
                    at = list[at].1 as usize;
                }
                schedule.reverse();
                let story = Explorer::new(scenario).tell(&schedule);
                report.wrong = Some(Wrong { schedule, what, story });
                break;
            }
        }
        for choice in choices {
            let after = explorer.take(&situation, choice);
            report.steps += 1;
            if let std::collections::hash_map::Entry::Vacant(place) = seen.entry(after) {
                place.insert(u32::try_from(list.len()).unwrap());
                list.push((after, u32::try_from(next).unwrap(), choice));
            }
        }
        next += 1;
        assert!(list.len() <= limit, "more than {limit} situations");
    }
    report.situations = list.len();
    report.states = explorer.machine.states.len();
    report
}

/// What is wrong after one schedule, if anything.
pub(crate) fn replay(scenario: &Scenario, schedule: &[Choice]) -> Option<String> {
    let mut explorer = Explorer::new(scenario);
    let mut situation = explorer.first();
    for &choice in schedule {
        assert!(explorer.choices(&situation).contains(&choice), "{choice:?} is not possible");
        situation = explorer.take(&situation, choice);
    }
    let open = explorer.choices(&situation).iter().any(|choice| matches!(choice, Choice::Step(_)));
    assert!(!open, "the schedule stops before everybody has ended");
    explorer.judge(&situation)
}

impl<'s> Explorer<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        let mut machine = Machine::new(scenario.rules, scenario.habits);
        let sweep = machine.start(Program::Sweep);
        Self { scenario, machine, sweep, swept: QuickMap::default(), judged: QuickMap::default() }
    }

    fn first(&mut self) -> Situation {
        let rules = self.scenario.rules;
        let state: State = verdict::settled(rules, &self.scenario.values);
        let mut at = [ASLEEP; PROCESSES];
        for (place, program) in at.iter_mut().zip(&self.scenario.writers) {
            *place = self.machine.start(*program);
        }
        if self.scenario.sweeps == Sweeps::Always {
            at[self.scenario.writers.len()] = self.sweep;
        }
        let state = self.machine.states.number(state);
        let interruptions = self.scenario.interruptions.unwrap_or_default();
        let left = self.scenario.mishaps;
        Situation { state, at, late: [NONE; LATE], left, interruptions, running: NOBODY }
    }

    /// The operation that a process waits for.
    fn waits(&self, at: u32) -> Option<u32> {
        if at >= ENDED {
            return None;
        }
        match self.machine.standing(at) {
            Standing::Waits(op) => Some(op),
            Standing::Ended(_) => None,
        }
    }

    fn choices(&self, situation: &Situation) -> Vec<Choice> {
        let mut choices = Vec::new();
        let alone = self.exchangeable(situation);
        for (process, &at) in situation.at.iter().enumerate() {
            match self.waits(at) {
                Some(op)
                    if alone.is_none_or(|alone| alone == process) && self.may_run(situation, process) =>
                {
                    self.choices_of(situation, process, op, &mut choices);
                }
                Some(_) | None => {}
            }
        }
        if alone.is_none() {
            choices.extend((0..LATE).filter(|&late| situation.late[late] != NONE).map(Choice::Late));
        }
        choices
    }

    fn may_run(&self, situation: &Situation, process: usize) -> bool {
        self.scenario.interruptions.is_none()
            || situation.interruptions > 0
            || !self.interrupts(situation, process)
    }

    /// Whether somebody else could go on.
    fn interrupts(&self, situation: &Situation, process: usize) -> bool {
        let running = usize::from(situation.running);
        running != process && situation.at.get(running).is_some_and(|&at| self.waits(at).is_some())
    }

    /// A process whose operation can be exchanged with whatever others may do before it.
    fn exchangeable(&self, situation: &Situation) -> Option<usize> {
        let hints_matter = match self.scenario.sweeps {
            Sweeps::Last => false,
            Sweeps::AfterCrash | Sweeps::Always => true,
        };
        let exchangeable = |at: &u32| {
            self.waits(*at).is_some_and(|op| {
                let op = self.machine.ops.get(op);
                op.is_exchangeable() && self.scenario.reduced || op.is_of_hints() && !hints_matter
            })
        };
        situation.at.iter().position(exchangeable)
    }

    fn choices_of(&self, situation: &Situation, process: usize, op: u32, choices: &mut Vec<Choice>) {
        let room = situation.late.contains(&NONE);
        let is_read = self.machine.ops.get(op).is_read();
        choices.push(Choice::Step(process));
        if process < self.scenario.writers.len() && situation.left.crashes > 0 && room {
            choices.push(Choice::Crash(process));
        }
        if situation.left.losses > 0 && !is_read && room {
            choices.extend([Choice::LoseReply(process), Choice::LoseForNow(process)]);
        }
        if situation.left.duplicates > 0 && !is_read && room {
            choices.push(Choice::Duplicate(process));
        }
    }

    fn take(&mut self, from: &Situation, choice: Choice) -> Situation {
        let mut to = *from;
        if let (Some(_), Choice::Step(process)) = (self.scenario.interruptions, choice) {
            to.interruptions -= u8::from(self.interrupts(from, process));
            to.running = u8::try_from(process).unwrap();
        }
        match choice {
            Choice::Step(process) => self.step(&mut to, process),
            Choice::Duplicate(process) => {
                to.left.duplicates -= 1;
                self.make_late(&mut to, process);
                self.step(&mut to, process);
            }
            Choice::Crash(process) => {
                to.left.crashes -= 1;
                self.make_late(&mut to, process);
                to.at[process] = CRASHED;
                let sweep = self.scenario.writers.len();
                if to.at[sweep] == ASLEEP && self.scenario.sweeps == Sweeps::AfterCrash {
                    to.at[sweep] = self.sweep;
                }
            }
            Choice::LoseReply(process) => {
                to.left.losses -= 1;
                let op = self.waits(to.at[process]).unwrap();
                to.state = self.machine.effect(to.state, op).0;
                self.lose(&mut to, process);
            }
            Choice::LoseForNow(process) => {
                to.left.losses -= 1;
                self.make_late(&mut to, process);
                self.lose(&mut to, process);
            }
            Choice::Late(late) => {
                let op = std::mem::replace(&mut to.late[late], NONE);
                to.state = self.machine.effect(to.state, op).0;
            }
        }
        to.late.sort_unstable();
        to
    }

    fn step(&mut self, to: &mut Situation, process: usize) {
        let op = self.waits(to.at[process]).unwrap();
        let (state, reply) = self.machine.effect(to.state, op);
        to.state = state;
        self.answer(to, process, reply);
    }

    fn lose(&mut self, to: &mut Situation, process: usize) {
        let reply = self.machine.lost();
        self.answer(to, process, reply);
    }

    fn answer(&mut self, to: &mut Situation, process: usize, reply: u32) {
        let next = self.machine.reply(to.at[process], reply);
        to.at[process] = match self.machine.standing(next) {
            Standing::Waits(_) => next,
            Standing::Ended(ending) => ended(ending),
        };
    }

    /// Reads that come late do nothing.
    fn make_late(&mut self, to: &mut Situation, process: usize) {
        let op = self.waits(to.at[process]).unwrap();
        if !self.machine.ops.get(op).is_read() {
            *to.late.iter_mut().find(|place| **place == NONE).unwrap() = op;
        }
    }

    /// What is wrong at the end: after a sweep, and after everything that is late has come and was swept again.
    fn judge(&mut self, situation: &Situation) -> Option<String> {
        let mut state = self.sweep_up(situation.state);
        if let Some(wrong) = self.judge_state(state, situation.at) {
            return Some(wrong);
        }
        for op in situation.late.into_iter().filter(|op| *op != NONE) {
            state = self.machine.effect(state, op).0;
            state = self.sweep_up(state);
            if let Some(wrong) = self.judge_state(state, situation.at) {
                return Some(format!("after what was late came last: {wrong}"));
            }
        }
        None
    }

    fn judge_state(&mut self, state: u32, at: [u32; PROCESSES]) -> Option<String> {
        if let Some(known) = self.judged.get(&(state, at)) {
            return known.clone();
        }
        let told: Vec<(WriteId, Ending)> = self
            .scenario
            .writers
            .iter()
            .zip(at)
            .filter_map(|(program, at)| match program {
                Program::Write { write, .. } => Some((WriteId(*write), ending(at)?)),
                Program::Sweep => None,
            })
            .collect();
        let verdict = verdict::judge(&self.machine.states.get(state), self.scenario.rules, &told).err();
        self.judged.insert((state, at), verdict.clone());
        verdict
    }

    /// Sweeps, alone, until there is nothing to sweep.
    fn sweep_up(&mut self, from: u32) -> u32 {
        if let Some(known) = self.swept.get(&from) {
            return *known;
        }
        let mut state = from;
        for _ in 0..4 {
            let mut at = self.sweep;
            while let Standing::Waits(op) = self.machine.standing(at) {
                let (after, reply) = self.machine.effect(state, op);
                state = after;
                at = self.machine.reply(at, reply);
            }
            if self.machine.standing(at) == Standing::Ended(Ending::Swept(0)) {
                break;
            }
        }
        self.swept.insert(from, state);
        state
    }

    /// A schedule in words.
    fn tell(&mut self, schedule: &[Choice]) -> String {
        let mut story = String::new();
        let mut situation = self.first();
        for &choice in schedule {
            let op = match choice {
                Choice::Late(late) => Some(situation.late[late]),
                Choice::Step(process)
                | Choice::Crash(process)
                | Choice::LoseReply(process)
                | Choice::LoseForNow(process)
                | Choice::Duplicate(process) => self.waits(situation.at[process]),
            };
            let op = op.map(|op| format!("{:?}", self.machine.ops.get(op))).unwrap_or_default();
            writeln!(story, "{choice:?}: {op}").unwrap();
            situation = self.take(&situation, choice);
        }
        story
    }
}
