//! What a statement of the model does on a store, before it is in any store's words: reads of blocks and ranges, then
//! changes that belong together. A target turns each step into one statement of its own.

mod beyond_plan;
mod bind;
mod carried;
mod cascades;
mod client;
mod copies;
mod each;
mod elements;
mod entry;
mod expiry;
mod fit;
mod frame;
mod instance;
mod lookups;
mod merge;
mod missing;
mod needs;
mod note;
mod preconditions;
mod prefix;
mod pushdown;
mod read;
mod retrieval;
mod words;
mod write;
mod write_reads;

pub use each::{Each, EachChange, Holder, IdentityIn, LinkCause, LoopOf, StepIndex, ValueLoop};
pub use entry::EntryPath;
pub use expiry::{later_seconds, millis, without_native_expiry};
pub use frame::Frame;
pub use needs::{ExpiryUse, Needs, StampUse, TableInputs, WriteInputs};
pub use note::{Note, Start};
pub use preconditions::{Preconditions, Version, Versioned};
pub use prefix::text_after;
pub use pushdown::{ColumnPredicate, Pushdown};
pub use read::query;
pub use retrieval::{FetchedRows, FirstRows, Retrieval, Way, Ways};
pub use words::Words;
pub use write::write;

use crate::layout::Layout;
use askloom_model::{ClassId, CollectionId, CopyLevel, Member, Parameter, TimeBucket, Value};
use std::sync::Arc;

/// All that is done on the store for one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub name: String,
    /// Those of the statement, and behind them the list of ids that is looked up first, if there is one.
    pub parameters: Vec<Parameter>,
    pub steps: Vec<Step>,
    /// Of a query: how its rows come from what the steps read.
    pub retrieval: Option<Box<Retrieval>>,
    /// What is left to do with the rows that were read.
    pub client: Vec<Client>,
    /// The form of the statement whose text is not generated yet. There are no steps then.
    pub missing: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub note: Note,
    pub each: Each,
    pub action: Action,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Read(Read),
    Change(Batch),
}

/// A read of some records of one table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Read {
    pub table: CollectionId,
    pub how: How,
    /// What a store that can search may do for the client, of a read of every record.
    pub pushdown: Option<Box<Pushdown>>,
    /// The members that are needed of the records that an index of the store's own leads to. Nothing if all of it is.
    pub members: Option<Vec<Member>>,
}

impl Read {
    #[must_use]
    pub fn new(table: CollectionId, how: How) -> Self {
        Self { table, how, pushdown: None, members: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum How {
    /// All records of a block: a term for each column of the block.
    Block(Vec<Term>),
    /// Records of a block in their order.
    Range(Box<Range>),
    /// One record: a term for each column of the key.
    Record(Vec<Term>),
    /// Every record.
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Range {
    /// For each column of the block.
    pub block: Vec<Term>,
    /// For the first of the columns that sort.
    pub equal: Vec<Term>,
    /// For the one that follows.
    pub bounds: Option<Bounds>,
    pub backwards: bool,
    pub limit: Option<Term>,
}

/// Null is in no range.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Which column of the table.
    pub column: usize,
    pub low: Option<(Term, bool)>,
    pub high: Option<(Term, bool)>,
    /// A text that all start with, instead of the two.
    pub prefix: Option<Term>,
}

/// A value in a statement: a slot until it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// What the slot is called in print, without the colon. Nothing is decided by it.
    pub name: Arc<str>,
    pub from: ValueFrom,
    /// Of a constant, or of a parameter that was given.
    pub value: Option<Value>,
    /// The column of the table that it is compared with or put into. Nothing for a number of rows.
    pub column: Option<usize>,
}

/// Where the value of a term comes from when the statement is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueFrom {
    /// The statement itself says it.
    Statement,
    /// A parameter by its place among all; of an identity, one part.
    Parameter { index: usize, part: Option<usize> },
    /// What the step is repeated for in the place of a field of the key; of an identity, one part.
    Loop { field: usize, part: Option<usize> },
    /// One part of the identity that the step is repeated for.
    Identity { part: usize },
    /// The hour, day or month of an instant.
    TimeBucket { unit: TimeBucket, of: InstantFrom },
    /// The number of rows that LIMIT or PAGE asks for, and some more.
    Rows { parameter: Option<usize>, more: i64 },
    /// The column of the term, in the state before the write.
    Before,
    /// The column of the term, in the state after the write.
    After,
    /// The column of the term, of another aggregate that the write reaches.
    Other,
}

/// Where an instant comes from whose bucket of time is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstantFrom {
    Parameter { index: usize, part: Option<usize> },
    Loop { field: usize, part: Option<usize> },
    Identity { part: usize },
}

/// Changes that are done together, as far as the store can.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub changes: Vec<Change>,
    pub level: CopyLevel,
    pub preconditions: Preconditions,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub table: CollectionId,
    /// Of what is written: it may be a subclass of the table's.
    pub class: ClassId,
    pub kind: ChangeKind,
    pub each: EachChange,
    /// Of a row of an index: it takes a value that is unique. No other aggregate that lives may have a row in its block.
    pub unique: bool,
    /// Of a new aggregate of a class with `@ttl`, and of an entry that such a one gets. A store that deletes by itself
    /// may do so some time later.
    pub expires: Option<Expires>,
}

/// When an aggregate is gone for every reader, whatever is still stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Expires {
    /// In milliseconds since 1970: the time when it was made, and `after_ms`. One that is replaced keeps its own.
    pub at: Term,
    /// Nothing if the time counts from an attribute: `@ttl(90 days from at)`.
    pub after_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// A new aggregate, where there is none: a term for each column.
    Create(Vec<Term>),
    /// Some members of the aggregate with the version that was read, or a new one where there was none.
    Replace(Vec<Term>),
    /// Some members of the aggregate with the version that was read: the key, and what is set.
    Set {
        key: Vec<Term>,
        set: Vec<Term>,
    },
    /// The aggregate with the version that was read goes; its version stays.
    Bury {
        key: Vec<Term>,
    },
    /// An entry of its own in the block of an aggregate. Its block changes with it, so `Set` or `Create` is beside it.
    PutEntry {
        key: Vec<Term>,
        path: EntryPath,
        value: Term,
    },
    DropEntry {
        key: Vec<Term>,
        path: EntryPath,
    },
    /// A record of a copy: a term for each column.
    PutRow(Vec<Term>),
    /// The same by its key alone.
    DropRow(Vec<Term>),
}

impl ChangeKind {
    /// Terms that have those of the key among them.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        match self {
            Self::Create(terms) | Self::Replace(terms) | Self::PutRow(terms) | Self::DropRow(terms) => terms,
            Self::Set { key, .. }
            | Self::Bury { key }
            | Self::PutEntry { key, .. }
            | Self::DropEntry { key, .. } => key,
        }
    }
}

/// What the client does with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Puts the rows of several statements together, or takes lists apart.
    Join,
    Filter,
    Group,
    Sort,
    Limit,
    /// Takes the columns out of an aggregate.
    Project,
}

impl Client {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Filter => "filter",
            Self::Group => "group",
            Self::Sort => "sort",
            Self::Limit => "limit",
            Self::Project => "project",
        }
    }
}

impl Program {
    /// Whether it is one statement that gives the answer as it stands.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        let once = matches!(self.steps.as_slice(), [Step { each: Each::Once, .. }]);
        once && self.client.is_empty()
    }

    /// The sentences for its notes and loops.
    #[must_use]
    pub fn words<'w>(&'w self, layout: &'w Layout) -> Words<'w> {
        Words { layout, parameters: &self.parameters }
    }
}

impl Term {
    /// A value that a record has in a column.
    #[must_use]
    pub fn known(value: Value, column: usize) -> Self {
        Self { name: "".into(), from: ValueFrom::Statement, value: Some(value), column: Some(column) }
    }

    /// The value, unless it is still a slot.
    #[must_use]
    pub fn literal(&self) -> Option<&Value> {
        self.value.as_ref()
    }
}
