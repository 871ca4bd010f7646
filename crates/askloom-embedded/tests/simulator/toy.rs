//! A small world for the protocol: referrers, targets, and one copy that joins them.

use askloom_engine::intents::{
    Block, Error, Found, Intents, Known, Need, Next, Refresh, Rows, Terms, WriteId,
};
use askloom_model::OnDelete;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Toy;

/// Below ten are referrers, from ten on targets.
pub(crate) type Id = u8;

pub(crate) fn is_target(id: Id) -> bool {
    id >= 10
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Value {
    /// The key of a row may depend on it.
    pub(crate) field: u8,
    /// The entry of a row holds it.
    pub(crate) data: u8,
    pub(crate) to: Option<Id>,
}

/// Referrer and target.
pub(crate) type Row = (Id, Id);
pub(crate) type Key = (Id, Id, u8, u8);
pub(crate) type Entry = (u8, u8);

impl Terms for Toy {
    type Id = Id;
    type Origin = Id;
    type Value = Value;
    type Row = Row;
    type Key = Key;
    type Entry = Entry;
}

/// Which masters the key of a row depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum KeyOf {
    Both,
    Referrer,
    Target,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Join {
    pub(crate) key_of: KeyOf,
    /// Whether a target must live, and what its end means for who refers to it.
    pub(crate) checked: Option<OnDelete>,
}

impl Join {
    /// What the copy is, by definition, of two masters.
    pub(crate) fn row(&self, (a, b): Row, from: Option<Value>, to: Option<Value>) -> Option<(Key, Entry)> {
        let (from, to) = (from?, to?);
        (from.to == Some(b)).then(|| (self.key((a, b), from, to), (from.data, to.data)))
    }

    fn follows(&self, how: OnDelete, value: &Value, gone: &BTreeSet<Id>) -> bool {
        self.checked == Some(how) && value.to.is_some_and(|to| gone.contains(&to))
    }

    fn key(&self, (a, b): Row, from: Value, to: Value) -> Key {
        match self.key_of {
            KeyOf::Both => (a, b, from.field, to.field),
            KeyOf::Referrer => (a, b, from.field, 0),
            KeyOf::Target => (a, b, 0, to.field),
        }
    }
}

impl Rows<Toy> for Join {
    fn references(&self, value: &Value) -> BTreeSet<Id> {
        value.to.into_iter().collect()
    }

    fn checked(&self, before: Option<&Value>, value: &Value) -> BTreeSet<Id> {
        let known = before.and_then(|before| before.to);
        value.to.into_iter().filter(|to| self.checked.is_some() && known != Some(*to)).collect()
    }

    fn claims(&self, _value: &Value) -> BTreeSet<Id> {
        BTreeSet::new()
    }

    fn may_claim(&self, _id: &Id, _origin: &Id) -> bool {
        false
    }

    fn lost(&self, id: &Id, _before: &Value, after: Option<&Value>) -> BTreeSet<Id> {
        let is_lost = self.checked.is_some() && is_target(*id) && after.is_none();
        is_lost.then_some(*id).into_iter().collect()
    }

    fn home(&self, _value: &Value, origin: &Id, known: &Known<Toy>) -> Result<Found<Toy, Option<Id>>, Error> {
        Ok(match known.masters.get(origin) {
            Some(block) => Found::Ready(block.value.map(|_| *origin)),
            None => Found::Need(Need::Master(*origin)),
        })
    }

    fn cascade(&self, value: &Value, gone: &BTreeSet<Id>) -> Next<Value> {
        if self.follows(OnDelete::Cascade, value, gone) { Next::Delete } else { Next::Keep }
    }

    fn refuses(&self, value: &Value, gone: &BTreeSet<Id>) -> bool {
        self.follows(OnDelete::Refuse, value, gone)
    }

    fn clear(&self, value: &Value, gone: &BTreeSet<Id>) -> Next<Value> {
        match self.follows(OnDelete::Clear, value, gone) {
            true => Next::Put(Value { to: None, ..*value }),
            false => Next::Keep,
        }
    }

    fn remembered(&self, value: &Value) -> Value {
        // Without anchors the field is needed, too, to know the key that a row had.
        Value { data: 0, ..*value }
    }

    fn holding(
        &self,
        id: &Id,
        values: &[&Value],
        known: &Known<Toy>,
    ) -> Result<Found<Toy, BTreeSet<Row>>, Error> {
        if !is_target(*id) {
            return Ok(Found::Ready(values.iter().filter_map(|value| Some((*id, value.to?))).collect()));
        }
        Ok(match known.referrers.get(id) {
            Some(referrers) => Found::Ready(referrers.iter().map(|referrer| (*referrer, *id)).collect()),
            None => Found::Need(Need::Referrers(*id)),
        })
    }

    fn entries(&self, row: &Row, known: &Known<Toy>) -> Result<Found<Toy, BTreeMap<Key, Entry>>, Error> {
        let Some(from) = known.masters.get(&row.0) else { return Ok(Found::Need(Need::Master(row.0))) };
        let Some(to) = known.masters.get(&row.1) else { return Ok(Found::Need(Need::Master(row.1))) };
        Ok(Found::Ready(self.row(*row, from.value, to.value).into_iter().collect()))
    }

    fn possible(&self, row: &Row, known: &Known<Toy>) -> BTreeSet<Key> {
        let value = |id: Id| known.masters.get(&id).and_then(|block| block.value);
        let blank = Value { field: 0, data: 0, to: None };
        let from = value(row.0).filter(|value| value.to == Some(row.1));
        let key = match self.key_of {
            KeyOf::Both => from.zip(value(row.1)).map(|(from, to)| self.key(*row, from, to)),
            KeyOf::Referrer => from.map(|from| self.key(*row, from, blank)),
            KeyOf::Target => value(row.1).map(|to| self.key(*row, blank, to)),
        };
        key.into_iter().collect()
    }
}

/// What a writer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Do {
    Field(u8),
    Data(u8),
    Refer(Option<Id>),
    /// Replaces, or inserts if there is none.
    Store(Value),
    Delete,
}

impl Do {
    pub(crate) fn next(self, block: &Block<Toy>) -> Next<Value> {
        let change = |change: fn(Value, u8) -> Value, to: u8| match block.value {
            Some(value) => Next::Put(change(value, to)),
            None => Next::Keep,
        };
        match (self, block.value) {
            (Self::Field(field), _) => change(|value, field| Value { field, ..value }, field),
            (Self::Data(data), _) => change(|value, data| Value { data, ..value }, data),
            (Self::Refer(to), Some(value)) => Next::Put(Value { to, ..value }),
            (Self::Store(value), _) => Next::Put(value),
            (Self::Delete, Some(_)) => Next::Delete,
            (Self::Refer(_) | Self::Delete, None) => Next::Keep,
        }
    }
}

/// What a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Program {
    Write { id: Id, write: u128, what: Do, clock: u64 },
    Sweep,
}

/// How it ended. Of a write: what its caller was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ending {
    Acknowledged,
    Refused,
    Unknown,
    Swept(usize),
}

/// How the protocol is to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) join: Join,
    pub(crate) refresh: Refresh,
    pub(crate) fault: Option<askloom_engine::intents::Fault>,
}

pub(crate) async fn run(rules: Rules, program: Program, port: crate::port::Port) -> Ending {
    let clock = match program {
        Program::Write { clock, .. } => clock,
        Program::Sweep => 0,
    };
    let clock = move || clock;
    let intents = Intents {
        blocks: &port,
        rows: &rules.join,
        clock: &clock,
        refresh: rules.refresh,
        fault: rules.fault,
    };
    match program {
        Program::Write { id, write, what, .. } => {
            use askloom_engine::intents::Outcome;
            match intents.write(&id, WriteId(write), |block| what.next(block)).await {
                Ok(Outcome::Done | Outcome::Owed) => Ending::Acknowledged,
                Ok(Outcome::Unchanged) => Ending::Refused,
                Err(Error::Conflict | Error::Missing | Error::Refused | Error::Taken) => Ending::Refused,
                Err(Error::Unknown) => Ending::Unknown,
                Err(Error::Rows(why)) => panic!("{why}"),
            }
        }
        Program::Sweep => Ending::Swept(intents.sweep().await.unwrap_or(usize::MAX)),
    }
}
