//! What the protocol keeps in a store: master blocks with their system entry, anchors, hints.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::hash::Hash;

/// The types that masters and copies are made of.
pub trait Terms: Clone + Eq + Ord + Hash + Debug + 'static {
    /// What names a master.
    type Id: Clone + Eq + Ord + Hash + Debug;
    /// Where ways back start: what masters refer to, or have and no other may have.
    type Origin: Clone + Eq + Ord + Hash + Debug;
    /// What a master holds.
    type Value: Clone + Eq + Hash + Debug;
    /// What is refreshed as one: a row, or the rows of one root. It has an anchor of its own.
    type Row: Clone + Eq + Ord + Hash + Debug;
    /// Where an entry of a copy is.
    type Key: Clone + Eq + Ord + Hash + Debug;
    /// What is there.
    type Entry: Clone + Eq + Hash + Debug;
}

/// A random number for each write. A write that is tried again keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteId(pub u128);

/// What every swap of a master block is conditional on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision {
    /// Grows with every write, also across delete and re-insert. It is the version that users see.
    pub n: u64,
    /// Grows with every change that is no write: what is owed, closing, a touch. Without it a swap that drops what is
    /// owed would have to take the next n, and a user's own version would be refused for no reason they could see.
    pub e: u64,
}

/// A master block. Absent is the default; deleted has no value, but goes on counting.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Block<T: Terms> {
    pub revision: Revision,
    pub value: Option<T::Value>,
    /// The last writes, the newest last, each with the n that it made.
    pub recent: Vec<(u64, WriteId)>,
    pub owed: BTreeMap<WriteId, Owed<T>>,
    pub closing: Option<Closing<T>>,
}

/// That a write is about to take something away. Nobody may come to refer to it meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Closing<T: Terms> {
    pub write: WriteId,
    /// The master that the write is about. Its swap decides for all that the write has closed; whoever makes it
    /// impossible may open the others again.
    pub at: T::Id,
    /// What will no longer be here.
    pub gone: BTreeSet<T::Origin>,
}

/// What a write still has to do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owed<T: Terms> {
    /// The master before the write, as far as rows are found by it.
    pub previous: Option<T::Value>,
    /// Where entries may be, if rows have no anchors.
    pub keys: BTreeSet<(T::Row, T::Key)>,
    /// What has gone. It must not come back before all that referred to it has been followed up. At the master that a
    /// write is about, that is what has gone anywhere.
    pub gone: BTreeSet<T::Origin>,
    /// The master that the write is about, if it is another.
    pub cause: Option<T::Id>,
}

/// Where entries of a row may be. Absent is the default.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Anchor<T: Terms> {
    pub token: u64,
    pub keys: BTreeSet<T::Key>,
}

/// That a write may be under way. There is one for each attempt, so that one that comes late, or is taken away late, is
/// not mistaken for another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hint<T: Terms> {
    pub id: T::Id,
    pub write: WriteId,
    /// What the attempt is conditional on: as soon as the master has moved on, it can no longer happen.
    pub base: Revision,
    /// To where the attempt has put a way back.
    pub targets: BTreeSet<T::Origin>,
}

/// How many writes a block remembers.
const REMEMBERED: usize = 16;

impl<T: Terms> Default for Block<T> {
    fn default() -> Self {
        Self {
            revision: Revision::default(),
            value: None,
            recent: Vec::new(),
            owed: BTreeMap::new(),
            closing: None,
        }
    }
}

impl<T: Terms> Default for Owed<T> {
    fn default() -> Self {
        Self { previous: None, keys: BTreeSet::new(), gone: BTreeSet::new(), cause: None }
    }
}

impl<T: Terms> Default for Anchor<T> {
    fn default() -> Self {
        Self { token: 0, keys: BTreeSet::new() }
    }
}

impl<T: Terms> Block<T> {
    /// Whether something that it has may be referred to.
    #[must_use]
    pub fn is_open(&self, origin: &T::Origin) -> bool {
        self.closing.as_ref().is_none_or(|closing| !closing.gone.contains(origin))
    }

    #[must_use]
    pub fn is_closed_by(&self, write: WriteId) -> bool {
        self.closing.as_ref().is_some_and(|closing| closing.write == write)
    }

    #[must_use]
    pub fn has_seen(&self, write: WriteId) -> bool {
        self.owed.contains_key(&write) || self.recent.iter().any(|(_, seen)| *seen == write)
    }

    /// Whether every write since a revision is still remembered.
    pub(super) fn remembers_since(&self, base: Revision) -> bool {
        self.recent.len() < REMEMBERED || self.recent.iter().any(|(n, _)| *n <= base.n)
    }

    pub(super) fn written(&self, write: WriteId, n: u64, value: Option<T::Value>, owed: Owed<T>) -> Self {
        let mut next = self.clone();
        next.revision.n = n;
        next.value = value;
        next.recent.push((n, write));
        if next.recent.len() > REMEMBERED {
            next.recent.remove(0);
        }
        next.owed.insert(write, owed);
        next
    }

    /// The same, so that whoever builds on what it was has to look again.
    pub(super) fn touched(&self) -> Self {
        let mut next = self.clone();
        next.revision.e += 1;
        next
    }

    pub(super) fn closed_by(&self, closing: Option<Closing<T>>) -> Self {
        Self { closing, ..self.touched() }
    }

    pub(super) fn without_owed(&self, write: WriteId) -> Self {
        let mut next = self.touched();
        next.owed.remove(&write);
        next
    }

    pub(super) fn at(&self, n: u64) -> Self {
        let mut next = self.clone();
        next.revision.n = n;
        next
    }
}

/// The stamp of a way back that an attempt puts. It beats what was decided by the state that the attempt builds on, and
/// is beaten by all that is decided later, whether the attempt succeeds or not.
pub(super) fn put_stamp(base: Revision) -> u64 {
    base.n * 2 + 1
}

/// The stamp of taking a way back away, by a state in which the reference is not.
pub(super) fn drop_stamp(now: Revision) -> u64 {
    now.n * 2
}
