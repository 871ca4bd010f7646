//! Programs and states as numbers. A future cannot be copied, but it is determined by the replies it has had: so each
//! history of replies is a node, worked out once by running the program from its start, and from then on exploring is
//! looking up numbers.

use crate::double::{Habits, Op, Reply, State};
use crate::port::{Process, Waits};
use crate::toy::{Ending, Program, Rules};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

/// A quick hash for numbers; nobody attacks a test.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Values as numbers.
#[derive(Debug)]
pub(crate) struct Numbered<X> {
    values: Vec<Rc<X>>,
    numbers: QuickMap<Rc<X>, u32>,
}

impl<X: Eq + Hash> Numbered<X> {
    pub(crate) fn new() -> Self {
        Self { values: Vec::new(), numbers: QuickMap::default() }
    }

    pub(crate) fn number(&mut self, value: X) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = u32::try_from(self.values.len()).unwrap();
        let value = Rc::new(value);
        self.values.push(Rc::clone(&value));
        self.numbers.insert(value, number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> Rc<X> {
        Rc::clone(&self.values[number as usize])
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}

/// What a history of replies has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Waits for the operation with this number.
    Waits(u32),
    Ended(Ending),
}

struct History {
    program: Program,
    /// The history before the last reply, and that reply.
    before: Option<(u32, u32)>,
    standing: Standing,
}

/// All that is known of programs, operations and states.
pub(crate) struct Machine {
    pub(crate) rules: Rules,
    pub(crate) habits: Habits,
    pub(crate) ops: Numbered<Op>,
    pub(crate) states: Numbered<State>,
    replies: Numbered<Reply>,
    histories: Vec<History>,
    next: QuickMap<(u32, u32), u32>,
    /// Histories of which nothing differs that matters.
    alike: HashMap<(Program, Vec<u64>), u32>,
    effects: QuickMap<(u32, u32), (u32, u32)>,
}

impl Machine {
    pub(crate) fn new(rules: Rules, habits: Habits) -> Self {
        Self {
            rules,
            habits,
            ops: Numbered::new(),
            states: Numbered::new(),
            replies: Numbered::new(),
            histories: Vec::new(),
            next: QuickMap::default(),
            alike: HashMap::new(),
            effects: QuickMap::default(),
        }
    }

    pub(crate) fn start(&mut self, program: Program) -> u32 {
        let (process, waits) = Process::start(self.rules, program);
        self.add(program, None, process.knows(), waits)
    }

    fn add(&mut self, program: Program, before: Option<(u32, u32)>, knows: Vec<u64>, waits: Waits) -> u32 {
        let standing = match waits {
            Waits::For(op) => Standing::Waits(self.ops.number(op)),
            Waits::Ended(ending) => Standing::Ended(ending),
        };
        if let Some(alike) = self.alike.get(&(program, knows.clone())) {
            assert_eq!(self.histories[*alike as usize].standing, standing, "alike, and not the same");
            return *alike;
        }
        self.histories.push(History { program, before, standing });
        let number = u32::try_from(self.histories.len() - 1).unwrap();
        self.alike.insert((program, knows), number);
        number
    }

    pub(crate) fn standing(&self, history: u32) -> Standing {
        self.histories[history as usize].standing
    }

    pub(crate) fn lost(&mut self) -> u32 {
        self.replies.number(Reply::Lost)
    }

    /// What an operation does to a state: the state after it, and the reply.
    pub(crate) fn effect(&mut self, state: u32, op: u32) -> (u32, u32) {
        if let Some(known) = self.effects.get(&(state, op)) {
            return *known;
        }
        let mut after = (*self.states.get(state)).clone();
        let reply = after.apply(&self.ops.get(op), self.habits);
        let effect = (self.states.number(after), self.replies.number(reply));
        self.effects.insert((state, op), effect);
        effect
    }

    /// The history with one more reply.
    pub(crate) fn reply(&mut self, history: u32, reply: u32) -> u32 {
        if let Some(known) = self.next.get(&(history, reply)) {
            return *known;
        }
        let mut replies = vec![reply];
        let mut at = history;
        while let Some((before, reply)) = self.histories[at as usize].before {
            replies.push(reply);
            at = before;
        }
        let program = self.histories[history as usize].program;
        let (mut process, mut waits) = Process::start(self.rules, program);
        for reply in replies.into_iter().rev() {
            waits = process.answer((*self.replies.get(reply)).clone());
        }
        let next = self.add(program, Some((history, reply)), process.knows(), waits);
        self.next.insert((history, reply), next);
        next
    }
}
