//! What a query does with what its steps read, so that whoever carries it out decides nothing.

use super::StepIndex;
use askloom_model::{ClassId, CollectionId, Condition, EndId, Mapped, PositionId, Query};

/// How the rows of a query come from the steps of its program.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieval {
    /// What is answered: positions, groups, order, limit and columns.
    pub query: Query,
    /// What finds a list of ids before anything else is read. The list is the last parameter.
    pub key_lookup: Option<Box<Retrieval>>,
    pub access: FirstRows,
    /// Positions that the first rows do not have, in the order in which they are joined.
    pub joins: Vec<PositionId>,
    /// Copies that have an entry for each row.
    pub fetches: Vec<FetchedRows>,
    pub ways: Ways,
    /// What the reads and the joins do not guarantee.
    pub filter: Option<Condition>,
    /// Whether the rows have to be sorted.
    pub sorts: bool,
}

/// Where the first rows come from.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstRows {
    pub collection: CollectionId,
    /// For each position of the collection, the query's.
    pub positions: Mapped,
    pub steps: Vec<StepIndex>,
    /// Whether each read gives its rows in the query's order, so that it may stop when there are enough.
    pub in_order: bool,
    /// Whether one row can come from several reads.
    pub repeats: bool,
}

/// A copy in which a row is found by its own identity.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedRows {
    /// What reads them: of what a master carries, the first read of its records.
    pub step: StepIndex,
    pub collection: CollectionId,
    pub positions: Mapped,
}

/// Which steps lead from an id to the aggregates that hold it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ways {
    /// By a stored end and the root of aggregates that refer by it.
    pub referrers: Vec<(EndId, ClassId, Way)>,
    /// By the class of a part and the root of the aggregates that it can be in.
    pub owners: Vec<(ClassId, ClassId, Way)>,
}

/// How aggregates that hold an id are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// By indexes from the id.
    Indexes(Vec<StepIndex>),
    /// By reading all aggregates of a root.
    Scan,
}

impl Ways {
    pub(super) fn refer(&mut self, end: EndId, root: ClassId, way: Way) {
        match self.referrers.iter_mut().find(|(own, of, _)| (*own, *of) == (end, root)) {
            Some((_, _, own)) => own.join(way),
            None => self.referrers.push((end, root, way)),
        }
    }

    pub(super) fn own(&mut self, part: ClassId, root: ClassId, way: Way) {
        match self.owners.iter_mut().find(|(class, of, _)| (*class, *of) == (part, root)) {
            Some((_, _, own)) => own.join(way),
            None => self.owners.push((part, root, way)),
        }
    }
}

impl Way {
    /// Where both are planned, at two places of one query, the index serves both.
    fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Indexes(own), Self::Indexes(more)) => {
                own.extend(more);
                own.sort_unstable();
                own.dedup();
            }
            (Self::Scan, indexes @ Self::Indexes(_)) => *self = indexes,
            (Self::Indexes(_) | Self::Scan, Self::Scan) => {}
        }
    }
}
