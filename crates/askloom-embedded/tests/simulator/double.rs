//! The store double: operations as values, and what each does to a state.

use crate::toy::{Entry, Id, Key, Row, Toy};
use askloom_engine::intents::{Anchor, Block, Hint, Revision, Swap, WriteId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Read(Id),
    Swap(Id, Revision, Block<Toy>),
    ReadAnchor(Row),
    SwapAnchor(Row, u64, Anchor<Toy>),
    Put(Key, u64, Option<Entry>),
    PutReferrer(Id, Id, u64, bool),
    Referrers(Id),
    PutHint(Hint<Toy>),
    DropHint(Hint<Toy>),
    Hints,
}

impl Op {
    /// Whether it can be exchanged with every operation of others: nobody reads a copy, and of two stamped writes the
    /// higher stays whichever comes first.
    pub(crate) fn is_exchangeable(&self) -> bool {
        matches!(self, Self::Put(..))
    }

    pub(crate) fn is_of_hints(&self) -> bool {
        matches!(self, Self::PutHint(_) | Self::DropHint(_))
    }

    pub(crate) fn is_read(&self) -> bool {
        matches!(self, Self::Read(_) | Self::ReadAnchor(_) | Self::Referrers(_) | Self::Hints)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Reply {
    Block(Block<Toy>),
    Anchor(Anchor<Toy>),
    Swap(Swap),
    Ids(BTreeSet<Id>),
    Hints(Vec<Hint<Toy>>),
    Done,
    Lost,
}

/// What a store may do wrong, and what it may do either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Habits {
    /// A delete leaves nothing behind.
    pub(crate) no_tombstones: bool,
    /// The last to come wins, whatever its stamp.
    pub(crate) no_stamps: bool,
    /// Of two writes with the same stamp the first stays. A store may do it this way or the other.
    pub(crate) first_stays: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct State {
    pub(crate) masters: BTreeMap<Id, Block<Toy>>,
    pub(crate) anchors: BTreeMap<Row, Anchor<Toy>>,
    pub(crate) copy: BTreeMap<Key, (u64, Option<Entry>)>,
    pub(crate) back: BTreeMap<(Id, Id), (u64, Option<()>)>,
    pub(crate) hints: BTreeSet<Hint<Toy>>,
    /// Whether two different entries came with one stamp. No store knows it; the verdict does.
    pub(crate) tie: bool,
    /// How often each write took effect. No store knows it either.
    pub(crate) applied: BTreeMap<(WriteId, Id), usize>,
}

impl State {
    pub(crate) fn apply(&mut self, op: &Op, habits: Habits) -> Reply {
        match op {
            Op::Read(id) => Reply::Block(self.masters.get(id).cloned().unwrap_or_default()),
            Op::Swap(id, from, to) => self.swap(*id, *from, to),
            Op::ReadAnchor(row) => Reply::Anchor(self.anchors.get(row).cloned().unwrap_or_default()),
            Op::SwapAnchor(row, from, to) => {
                let now = self.anchors.get(row).map_or(0, |anchor| anchor.token);
                if now != *from {
                    return Reply::Swap(Swap::Moved);
                }
                self.anchors.insert(*row, to.clone());
                Reply::Swap(Swap::Done)
            }
            Op::Put(key, stamp, entry) => {
                self.tie |= self.copy.get(key).is_some_and(|held| held.0 == *stamp && held.1 != *entry);
                stamped(&mut self.copy, *key, *stamp, *entry, habits)
            }
            Op::PutReferrer(target, referrer, stamp, there) => {
                stamped(&mut self.back, (*target, *referrer), *stamp, there.then_some(()), habits)
            }
            Op::Referrers(target) => Reply::Ids(self.referrers(*target)),
            Op::PutHint(hint) => {
                self.hints.insert(hint.clone());
                Reply::Done
            }
            Op::DropHint(hint) => {
                self.hints.remove(hint);
                Reply::Done
            }
            Op::Hints => Reply::Hints(self.hints.iter().cloned().collect()),
        }
    }

    fn swap(&mut self, id: Id, from: Revision, to: &Block<Toy>) -> Reply {
        let now = self.masters.get(&id).cloned().unwrap_or_default();
        if now.revision != from {
            return Reply::Swap(Swap::Moved);
        }
        if let Some((_, write)) = to.recent.last().filter(|last| Some(*last) != now.recent.last()) {
            *self.applied.entry((*write, id)).or_default() += 1;
        }
        self.masters.insert(id, to.clone());
        Reply::Swap(Swap::Done)
    }

    pub(crate) fn referrers(&self, target: Id) -> BTreeSet<Id> {
        let entries = self.back.range((target, Id::MIN)..=(target, Id::MAX));
        entries.filter(|(_, (_, there))| there.is_some()).map(|((_, referrer), _)| *referrer).collect()
    }
}

fn stamped<K: Ord, V>(
    at: &mut BTreeMap<K, (u64, Option<V>)>,
    key: K,
    stamp: u64,
    value: Option<V>,
    habits: Habits,
) -> Reply {
    let held = at.get(&key).map(|(held, _)| *held);
    let loses = held.is_some_and(|held| held > stamp || held == stamp && habits.first_stays);
    if loses && !habits.no_stamps {
        return Reply::Done;
    }
    if value.is_none() && habits.no_tombstones {
        at.remove(&key);
    } else {
        at.insert(key, (stamp, value));
    }
    Reply::Done
}
