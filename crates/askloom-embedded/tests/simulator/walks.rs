//! Random schedules of more writers, rows and mishaps than can be explored completely.

use crate::double::{Habits, Op, Reply, State};
use crate::port::{Process, Waits};
use crate::random::Random;
use crate::toy::{Do, Ending, Join, KeyOf, Program, Rules, Value};
use crate::verdict;
use askloom_engine::intents::{Refresh, WriteId};
use askloom_model::OnDelete;
use std::collections::BTreeMap;

const REFERRERS: [u8; 3] = [0, 1, 2];
const TARGETS: [u8; 3] = [10, 11, 12];
const WRITES: u128 = 24;
const AT_ONCE: usize = 5;

/// A run of many writers on one store.
struct Walk {
    rules: Rules,
    habits: Habits,
    random: Random,
    state: State,
    running: Vec<(Program, Process, Op)>,
    late: Vec<Op>,
    started: u128,
    told: BTreeMap<WriteId, Ending>,
    steps: usize,
    /// What a listing of hints that lags may show.
    old_hints: Reply,
}

/// What a walk has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) steps: usize,
    pub(crate) acknowledged: usize,
    pub(crate) crashed: usize,
}

pub(crate) fn walk(rules: Rules, habits: Habits, seed: u64) -> Result<Seen, String> {
    let mut random = Random::new(seed);
    let mut values = Vec::new();
    for id in REFERRERS.into_iter().chain(TARGETS) {
        if random.below(4) > 0 {
            values.push((id, any_value(id, &mut random)));
        }
    }
    let lives = |id: u8| values.iter().any(|(of, _)| *of == id);
    let values: Vec<(u8, Value)> = values
        .iter()
        .map(|&(id, value)| {
            (id, Value { to: value.to.filter(|to| rules.join.checked.is_none() || lives(*to)), ..value })
        })
        .collect();
    let state = verdict::settled(rules, &values);
    let mut walk = Walk {
        rules,
        habits,
        random,
        state,
        running: Vec::new(),
        late: Vec::new(),
        started: 0,
        told: BTreeMap::new(),
        steps: 0,
        old_hints: Reply::Hints(Vec::new()),
    };
    walk.run();
    walk.end()?;
    let acknowledged = walk.told.values().filter(|ending| **ending == Ending::Acknowledged).count();
    let crashed = usize::try_from(walk.started).unwrap() - walk.told.len();
    Ok(Seen { steps: walk.steps, acknowledged, crashed })
}

fn any_value(id: u8, random: &mut Random) -> Value {
    let to = (REFERRERS.contains(&id) && random.below(5) > 0).then(|| *random.pick(&TARGETS));
    Value { field: small(random), data: small(random), to }
}

fn small(random: &mut Random) -> u8 {
    u8::try_from(random.below(4)).unwrap()
}

impl Walk {
    fn run(&mut self) {
        while self.started < WRITES || !self.running.is_empty() {
            assert!(self.steps < 200_000, "the writers never end");
            if self.started < WRITES && self.running.len() < AT_ONCE && self.random.one_in(4) {
                self.started += 1;
                let program = self.any_write();
                self.start(program);
            } else if self.running.is_empty() || self.running.len() < AT_ONCE && self.random.one_in(60) {
                self.start(Program::Sweep);
            } else if !self.late.is_empty() && self.random.one_in(10) {
                let op = self.late.swap_remove(self.random.below(self.late.len()));
                self.state.apply(&op, self.habits);
            } else {
                self.step();
            }
            if self.random.one_in(20) {
                self.old_hints = self.state.apply(&Op::Hints, self.habits);
            }
        }
    }

    fn any_write(&mut self) -> Program {
        let random = &mut self.random;
        let id = if random.one_in(2) { *random.pick(&REFERRERS) } else { *random.pick(&TARGETS) };
        let what = match random.below(6) {
            0 => Do::Delete,
            1 => Do::Store(any_value(id, random)),
            2 => Do::Data(small(random)),
            3 if REFERRERS.contains(&id) => Do::Refer((!random.one_in(5)).then(|| *random.pick(&TARGETS))),
            _field => Do::Field(small(random)),
        };
        let clock = if random.one_in(3) { random.below(40) as u64 } else { 0 };
        Program::Write { id, write: self.started, what, clock }
    }

    fn start(&mut self, program: Program) {
        let (process, waits) = Process::start(self.rules, program);
        self.go_on(program, process, waits);
    }

    fn go_on(&mut self, program: Program, process: Process, waits: Waits) {
        match (waits, program) {
            (Waits::For(op), _) => self.running.push((program, process, op)),
            (Waits::Ended(ending), Program::Write { write, .. }) => {
                self.told.insert(WriteId(write), ending);
            }
            (Waits::Ended(_), Program::Sweep) => {}
        }
    }

    fn step(&mut self) {
        self.steps += 1;
        let chosen = self.random.below(self.running.len());
        let (program, mut process, op) = self.running.swap_remove(chosen);
        let reply = match self.random.below(100) {
            0..2 => {
                // A crash. What it was about to do may still happen.
                if !op.is_read() {
                    self.late.push(op);
                }
                return;
            }
            2..4 if !op.is_read() => {
                self.late.push(op);
                Reply::Lost
            }
            4..6 => {
                self.state.apply(&op, self.habits);
                Reply::Lost
            }
            6..8 if !op.is_read() => {
                self.late.push(op.clone());
                self.state.apply(&op, self.habits)
            }
            8..50 if op == Op::Hints => self.old_hints.clone(),
            _ordinary => self.state.apply(&op, self.habits),
        };
        let waits = process.answer(reply);
        self.go_on(program, process, waits);
    }

    /// Some of what is late comes, a sweep, the rest, another sweep: then everything must be right.
    fn end(&mut self) -> Result<(), String> {
        for part in 0..2 {
            for op in std::mem::take(&mut self.late) {
                if part == 0 && self.random.one_in(2) {
                    self.late.push(op);
                } else {
                    self.state.apply(&op, self.habits);
                }
            }
            self.sweep_up();
            let told: Vec<(WriteId, Ending)> =
                self.told.iter().map(|(write, told)| (*write, *told)).collect();
            verdict::judge(&self.state, self.rules, &told)?;
        }
        Ok(())
    }

    fn sweep_up(&mut self) {
        for _ in 0..4 {
            let (mut process, mut waits) = Process::start(self.rules, Program::Sweep);
            while let Waits::For(op) = waits {
                let reply = self.state.apply(&op, self.habits);
                waits = process.answer(reply);
            }
            if waits == Waits::Ended(Ending::Swept(0)) {
                return;
            }
        }
    }
}

pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn walks(refresh: Refresh, join: Join, count: u64) {
    let rules = Rules { join, refresh, fault: None };
    let first = number("ASKLOOM_SEED", 1);
    let mut all = Seen::default();
    for seed in first..first + count {
        let habits = Habits { first_stays: seed % 2 == 0, ..Habits::default() };
        match walk(rules, habits, seed) {
            Ok(seen) => {
                all.steps += seen.steps;
                all.acknowledged += seen.acknowledged;
                all.crashed += seen.crashed;
            }
            Err(wrong) => panic!("seed {seed} of {refresh:?} with {join:?}: {wrong}"),
        }
    }
    println!("{count} walks of {refresh:?} with {join:?} from seed {first}: {all:?}");
    assert!(all.acknowledged > 0 && all.crashed > 0, "the walks do not say much");
}

#[test]
fn random_walks_leave_the_copy_right() {
    let count = number("ASKLOOM_WALKS", 1_000);
    for checked in [None, Some(OnDelete::Refuse)] {
        walks(Refresh::Checked, Join { key_of: KeyOf::Both, checked }, count);
        walks(Refresh::Stamped, Join { key_of: KeyOf::Referrer, checked }, count);
    }
    for checked in [OnDelete::Cascade, OnDelete::Clear] {
        walks(Refresh::Checked, Join { key_of: KeyOf::Both, checked: Some(checked) }, count);
    }
}
